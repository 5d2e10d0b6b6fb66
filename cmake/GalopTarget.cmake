# galop_own(target): the flags that every target of our own is built with.
# galop_knows_interface(target): it may include "galop_interface_version.hpp".

function(galop_own target)
  # Contraction would let fusing change a result, so it is off everywhere, tests and bindings included.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -ffp-contract=off)
  # GCC 12 sees overlaps in std::string's own concatenation that are not there (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(GALOP_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_compile_definitions(${target} PRIVATE GALOP_VERSION="${PROJECT_VERSION}")
  if(GALOP_SANITIZE)
    set(flags -DGALOP_SANITIZED -fsanitize=${GALOP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
endfunction()

function(galop_knows_interface target)
  add_dependencies(${target} galop_interface)
  target_include_directories(${target} PRIVATE "${GALOP_INTERFACE_DIR}")
endfunction()
