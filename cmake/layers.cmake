# coop_unite(target): compiles the sources of each directory of `target` together. Most of the time a source takes goes
# into templates that its neighbours use too. Names in anonymous namespaces therefore differ within a directory.
# scripts/check_tidy compiles each source by itself, so that it names the headers it needs.
function(coop_unite target)
  if(NOT COOP_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE relative)
    cmake_path(GET relative PARENT_PATH directory)
    string(MAKE_C_IDENTIFIER "${directory}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# coop_layer(name [SEPARATE] DEPENDS layer...): one static library of every source in this directory and below.
# scripts/layers.txt says which layers may include which; scripts/check_layers checks it.
function(coop_layer name)
  cmake_parse_arguments(LAYER "SEPARATE" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main/main.cc$")
  if(name STREQUAL report)  # its sub-room is a layer of its own, below policy
    list(FILTER sources EXCLUDE REGEX "/report/words/")
  endif()
  string(REPLACE "/" "_" name ${name})
  add_library(coop_${name} STATIC ${sources})
  target_include_directories(coop_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  if(name STREQUAL base)
    target_precompile_headers(coop_base PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/precompiled.h)
  elseif(NOT name STREQUAL child)  # the child has flags of its own
    target_precompile_headers(coop_${name} REUSE_FROM coop_base)
  endif()
  if(NOT LAYER_SEPARATE)
    coop_unite(coop_${name})
  endif()
  foreach(dependency IN LISTS LAYER_DEPENDS)
    target_link_libraries(coop_${name} PUBLIC coop_${dependency})
  endforeach()
endfunction()
