# coop_layer(name DEPENDS layer...): one static library of every source in this directory and below.
# tools/layers.txt says which layers may include which; tools/check_layers checks it.
function(coop_layer name)
  cmake_parse_arguments(LAYER "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main/main.cc$")
  add_library(coop_${name} STATIC ${sources})
  target_include_directories(coop_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  foreach(dependency IN LISTS LAYER_DEPENDS)
    target_link_libraries(coop_${name} PUBLIC coop_${dependency})
  endforeach()
endfunction()
