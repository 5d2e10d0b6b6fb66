# Finds what Galop is built from; a missing piece is named with the Debian package that brings it.

# Asks for a package with a CMake configuration.
macro(galop_find_package name debian)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "Galop needs ${name}: install ${debian} (apt-get install ${debian}), or set ${name}_DIR.")
  endif()
endmacro()

# Makes galop_deps::<name> of a header and a library, for packages whose own configuration differs between systems.
function(galop_find_library name debian header library)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "DEFINE;SUFFIXES")
  string(TOUPPER "${name}" upper)
  find_path(GALOP_${upper}_INCLUDE ${header} PATH_SUFFIXES ${arg_SUFFIXES})
  find_library(GALOP_${upper}_LIBRARY ${library} PATH_SUFFIXES ${arg_SUFFIXES})
  mark_as_advanced(GALOP_${upper}_INCLUDE GALOP_${upper}_LIBRARY)
  if(NOT GALOP_${upper}_INCLUDE OR NOT GALOP_${upper}_LIBRARY)
    message(FATAL_ERROR "Galop needs ${name} (${header}, lib${library}): install ${debian} "
                        "(apt-get install ${debian}), or set GALOP_${upper}_INCLUDE and GALOP_${upper}_LIBRARY.")
  endif()
  add_library(galop_deps::${name} UNKNOWN IMPORTED)
  set_target_properties(galop_deps::${name} PROPERTIES
    IMPORTED_LOCATION "${GALOP_${upper}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${GALOP_${upper}_INCLUDE}"
    INTERFACE_COMPILE_DEFINITIONS "${arg_DEFINE}")
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
galop_find_package(TBB libtbb-dev)
galop_find_package(fmt libfmt-dev)
galop_find_library(zlib zlib1g-dev zlib.h z)
galop_find_library(hwy libhwy-dev hwy/highway.h hwy DEFINE HWY_SHARED_DEFINE)
galop_find_library(sleef libsleef-dev sleef.h sleef)
# Opened at run time (src/backend/cpu/openblas.hpp says why), so it is only looked for here, never linked.
galop_find_library(openblas libopenblas-dev cblas.h openblas SUFFIXES openblas openblas-pthread)

# glibc's vector mathematics: x86-64 only; elsewhere SLEEF does all of it.
add_library(galop_deps::mvec INTERFACE IMPORTED)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  find_library(GALOP_MVEC_LIBRARY mvec)
  mark_as_advanced(GALOP_MVEC_LIBRARY)
  if(GALOP_MVEC_LIBRARY)
    set_target_properties(galop_deps::mvec PROPERTIES
      INTERFACE_LINK_LIBRARIES "${GALOP_MVEC_LIBRARY}" INTERFACE_COMPILE_DEFINITIONS GALOP_HAVE_MVEC=1)
  endif()
endif()

if(GALOP_CLI)
  galop_find_package(CLI11 libcli11-dev)
  galop_find_package(nlohmann_json nlohmann-json3-dev)
endif()
if(GALOP_TESTS)
  galop_find_package(GTest libgtest-dev)
endif()
if(GALOP_BENCHMARKS)
  galop_find_package(benchmark libbenchmark-dev)
endif()

if(GALOP_PYTHON)
  # The checkout's own environment first, which `make` sets up; pip names its Python itself.
  if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
    set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python to build for")
  endif()
  galop_find_package(Python "python3-dev" 3.11 COMPONENTS Interpreter Development.Module NumPy)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_dir RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "Galop's Python module needs nanobind in ${Python_EXECUTABLE}: "
                        "run tools/setup.sh, or install it with pip, or set GALOP_PYTHON=OFF.")
  endif()
  # Set anew at each configuration: pip's isolated environments come and go.
  set(nanobind_DIR "${nanobind_dir}" CACHE PATH "nanobind's CMake folder" FORCE)
  find_package(nanobind CONFIG REQUIRED)
endif()
