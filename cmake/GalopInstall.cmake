# Two installations: the CMake package for C++ (`cmake --install`), and the component `python` that pip takes.

include(CMakePackageConfigHelpers)

install(TARGETS galop EXPORT galopTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT galop NAMELINK_COMPONENT galop)
# The plug-in stands beside the library, which looks for it there.
if(TARGET galop_cuda)
  set_target_properties(galop_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS galop_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT galop)
  install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/galop_cuda_kernels.bin" DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT galop OPTIONAL)
endif()
install(DIRECTORY include/galop DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT galop
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT galop)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/galop")
install(EXPORT galopTargets NAMESPACE galop:: DESTINATION ${package_dir} COMPONENT galop)
configure_package_config_file(cmake/galopConfig.cmake.in galopConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(galopConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/galopConfig.cmake" "${PROJECT_BINARY_DIR}/galopConfigVersion.cmake"
  DESTINATION ${package_dir} COMPONENT galop)

# The program finds the library in a C++ prefix, or in the package folder of the Python environment that it stands in.
if(GALOP_CLI)
  file(RELATIVE_PATH to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(cli_rpath "$ORIGIN/${to_lib}")
  if(GALOP_PYTHON)
    execute_process(COMMAND "${Python_EXECUTABLE}" -c
      "import os, sysconfig; print(os.path.relpath(sysconfig.get_path('platlib'), sysconfig.get_path('scripts')))"
      OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE to_platlib COMMAND_ERROR_IS_FATAL ANY)
    # A wheel is installed elsewhere than it was made: in virtual environments, for one user, in Debian's and Fedora's.
    set(python "python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}")
    foreach(folder "${to_platlib}" "../lib/${python}/site-packages" "../lib/${python}/dist-packages"
        "../lib64/${python}/site-packages")
      list(APPEND cli_rpath "$ORIGIN/${folder}/galop")
    endforeach()
    list(REMOVE_DUPLICATES cli_rpath)
  endif()
  set_target_properties(galop_cli PROPERTIES INSTALL_RPATH "${cli_rpath}")
  install(TARGETS galop_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT galop)
endif()

if(GALOP_PYTHON)
  install(TARGETS galop LIBRARY DESTINATION galop COMPONENT python EXCLUDE_FROM_ALL NAMELINK_SKIP)
  if(TARGET galop_cuda)
    install(TARGETS galop_cuda LIBRARY DESTINATION galop COMPONENT python EXCLUDE_FROM_ALL)
    install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/galop_cuda_kernels.bin" DESTINATION galop COMPONENT python OPTIONAL
      EXCLUDE_FROM_ALL)
  endif()
  install(TARGETS _galop LIBRARY DESTINATION galop COMPONENT python EXCLUDE_FROM_ALL)
  if(GALOP_CLI AND SKBUILD)
    install(TARGETS galop_cli RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endif()
