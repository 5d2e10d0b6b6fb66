# The Python module _galop, and an importable package in the build tree: PYTHONPATH=<build>/python.

file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS python/src/*.cpp)
nanobind_add_module(_galop NB_STATIC NOMINSIZE NB_DOMAIN galop NB_SUPPRESS_WARNINGS ${python_sources})
galop_own(_galop)
target_include_directories(_galop PRIVATE python/src src)
target_link_libraries(_galop PRIVATE galop::galop Python::NumPy)
set_target_properties(_galop PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/galop" INSTALL_RPATH "$ORIGIN")

file(GLOB_RECURSE package_files RELATIVE "${PROJECT_SOURCE_DIR}/python/galop" CONFIGURE_DEPENDS
  python/galop/*.py python/galop/*.pyi python/galop/py.typed)
foreach(name IN LISTS package_files)
  cmake_path(GET name PARENT_PATH folder)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/python/galop/${folder}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/galop/${name}" "${PROJECT_BINARY_DIR}/python/galop/${name}" SYMBOLIC)
endforeach()
