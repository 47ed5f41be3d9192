# What `cmake --install` puts where: the program, the library with its headers, and what finds them.
include(CMakePackageConfigHelpers)

set(COOP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/coop)

if(TARGET coop_program)
  install(TARGETS coop_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Found by coop beside itself: bin/coop and libexec/coop/ have one parent.
if(TARGET coop_tools_program)
  install(TARGETS coop_tools_program RUNTIME DESTINATION libexec/coop)
endif()

if(TARGET coop_shared)
  install(TARGETS coop_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

if(TARGET coop)
  install(TARGETS coop ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coop DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")

  # coop::coop is written out in the config file, not exported from the build: the layers behind
  # libcoop.a are no part of the interface, and an export would have to name every one of them.
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/coopConfig.cmake.in ${PROJECT_BINARY_DIR}/coopConfig.cmake
    INSTALL_DESTINATION ${COOP_PACKAGE_DIR}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  # Before 1.0 a new minor version may break callers.
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/coopConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/coopConfig.cmake ${PROJECT_BINARY_DIR}/coopConfigVersion.cmake
          DESTINATION ${COOP_PACKAGE_DIR})

  # pkg-config finds the prefix from where coop.pc lies: `cmake --install --prefix` may move it.
  file(RELATIVE_PATH COOP_PREFIX_FROM_PC
       /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/coop.pc.in ${PROJECT_BINARY_DIR}/coop.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/coop.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# coop_install_if_present(FILE DIRECTORY [NAME])
function(coop_install_if_present file directory)
  set(path ${PROJECT_SOURCE_DIR}/${file})
  if(NOT EXISTS ${path})
    return()
  endif()
  set(name ${ARGN})
  if(NOT name)
    get_filename_component(name ${path} NAME)
  endif()
  install(FILES ${path} DESTINATION ${directory} RENAME ${name})
endfunction()

foreach(page coop.1 coop-run.1 coop-mcp.1)
  coop_install_if_present(docs/man/${page} ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()
coop_install_if_present(docs/man/coop-policy.5 ${CMAKE_INSTALL_MANDIR}/man5)
coop_install_if_present(completions/coop.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions coop)
coop_install_if_present(completions/_coop ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
coop_install_if_present(completions/coop.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
coop_install_if_present(LICENSE ${CMAKE_INSTALL_DOCDIR})
