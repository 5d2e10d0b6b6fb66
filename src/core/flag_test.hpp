// By which test the floating-point flags of an operation are found: the one place that both backends ask.
#pragma once

#include <cstdint>

#include "core/op.hpp"

namespace galop {

/// How the flags of one operation over one loop dtype are found. A backend whose processor has no flags tests operands
/// and results for `hardware` too.
enum class FlagTest : std::uint8_t {
  none,            // it raises none, whatever its kernel does
  hardware,        // the processor's, where the kernel is the operation itself
  results,         // NaN from no NaN, an infinity from finite operands
  integer_divide,  // a zero divisor; the lowest integer by -1
  integer_inverse,
  complex_power,   // the processor's, but NaN from no NaN for invalid
  complex_divide,  // the processor's, confirmed by another computation
};
FlagTest flag_test(Op op, DType loop);
FlagTest cast_flag_test(DType from, DType to);
/// Of a fold by the operation: `hardware`, or `none` where its kernels go other ways than the operation.
FlagTest fold_flag_test(Op op, DType t);

/// For `results`: where an infinite result of finite operands x, y is a pole of the function rather than too large.
enum class Pole : std::uint8_t { never, always, at_zero_x, at_zero_y };
Pole pole_of(Op op);

/// For `results`: where a result r of 0 or below the normal range has lost digits.
enum class Vanishing : std::uint8_t {
  never,
  always,
  of_power,    // x is not 0 and y is finite
  of_unequal,  // x is not y
  of_scaling,  // x is not 0 and r is
};
Vanishing vanishing_of(Op op);

}  // namespace galop
