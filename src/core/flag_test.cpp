// Which test finds the floating-point flags of a row.
#include "core/flag_test.hpp"

namespace galop {

FlagTest flag_test(Op op, DType loop) {
  const bool real = kind(loop) == 'f';
  const bool integer = is_integer(loop);
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::square:
      return is_inexact(loop) ? FlagTest::hardware : FlagTest::none;
    case Op::divide:
      return is_complex(loop) ? FlagTest::complex_divide : FlagTest::hardware;
    case Op::reciprocal:
      return integer ? FlagTest::integer_inverse : FlagTest::hardware;
    case Op::sqrt:
    case Op::degrees:
    case Op::radians:
    case Op::rad2deg:
    case Op::deg2rad:
      return FlagTest::hardware;
    case Op::floor_divide:
    case Op::remainder:
    case Op::divmod:
    case Op::fmod:
      return integer ? FlagTest::integer_divide : FlagTest::results;
    case Op::power:
    case Op::float_power:
      return real ? FlagTest::results : integer ? FlagTest::none : FlagTest::complex_power;
    case Op::absolute:
      return is_complex(loop) ? FlagTest::results : FlagTest::none;
    case Op::sign:
      return FlagTest::none;
    default:
      // What rounds is a library's function, and these three are too. Complex functions are the C library's, one after
      // the other, as in NumPy.
      if (info(op).ulp == 0 && op != Op::ldexp && op != Op::nextafter && op != Op::spacing) return FlagTest::none;
      return loop == DType::float16 ? FlagTest::none : real ? FlagTest::results : FlagTest::hardware;
  }
}

FlagTest cast_flag_test(DType from, DType to) {
  if (from == to) return FlagTest::none;
  if (to == DType::float16) return from == DType::bool_ || itemsize(from) == 1 ? FlagTest::none : FlagTest::results;
  if (!is_inexact(from) || to == DType::bool_) return FlagTest::none;
  if (is_integer(to)) return FlagTest::hardware;
  return itemsize(real_dtype(to)) < itemsize(real_dtype(from)) ? FlagTest::hardware : FlagTest::none;
}

FlagTest fold_flag_test(Op op, DType t) {
  return flag_test(op, t) == FlagTest::hardware ? FlagTest::hardware : FlagTest::none;
}

Pole pole_of(Op op) {
  switch (op) {
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::arctan:  // of complex numbers
    case Op::arctanh:
      return Pole::always;
    case Op::power:
    case Op::float_power:
      return Pole::at_zero_x;
    case Op::floor_divide:
    case Op::divmod:
      return Pole::at_zero_y;
    default:
      return Pole::never;
  }
}

Vanishing vanishing_of(Op op) {
  switch (op) {
    case Op::exp:
    case Op::exp2:
    case Op::erfc:
      return Vanishing::always;
    case Op::power:
    case Op::float_power:
      return Vanishing::of_power;
    case Op::nextafter:
      return Vanishing::of_unequal;
    case Op::ldexp:
      return Vanishing::of_scaling;
    default:
      return Vanishing::never;
  }
}

}  // namespace galop
