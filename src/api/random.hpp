// Draws whose arguments the public classes cannot express: integer bounds of more than 64 bits, as Python has them.
#pragma once

#include <optional>

#include "galop/array.hpp"
#include "random/integers.hpp"

namespace galop::random {

/// A bound of integers: a number, or an array where `a` is set.
struct Bound {
  i128 number = 0;
  const array* a = nullptr;
};

/// Generator.integers (Lemire's method) and RandomState.randint (masks). `size` unset: the bounds' common shape.
array integers(std::string_view op, AnyBitStream& bits, Method method, Bound low, Bound high, bool endpoint,
               const std::optional<Dims>& size, DType t);

/// The dtype as the streams name it. Throws TypeError unless it is an integer dtype or bool.
IntType int_type(std::string_view op, DType t);

/// Throws TypeError unless the dtype is float64 or float32.
void require_float(std::string_view op, DType t);

}  // namespace galop::random
