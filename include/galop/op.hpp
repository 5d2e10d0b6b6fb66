// The rows of ops.def as an enumeration.
#pragma once

#include <cstdint>

namespace galop {

enum class Op : std::uint8_t {
#define UNARY(name, ...) name,
#define BINARY(name, ...) name,
#define TERNARY(name, ...) name,
#define UNARY2(name, ...) name,
#define BINARY2(name, ...) name,
#define BINARY_INT(name, ...) name,
#include "galop/ops.def"
  table_end,          // the rows of ops.def end here; what follows has no public ufunc
  where = table_end,  // mask (bool), x, y
  cast,               // from the loop dtype to the result dtype
  end,
};

}  // namespace galop
