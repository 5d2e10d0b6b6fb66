// Which rows need a kernel of their own. Rows that give the same bits for another dtype or under another name share
// that kernel, and rows without vector instructions are compiled once, for the baseline target: both keep the build
// short.
#pragma once

#include <string_view>

#include "core/op.hpp"

namespace galop::cpu {

struct Loop {
  Op op;
  DType dtype;
  friend constexpr bool operator==(Loop, Loop) = default;
};

constexpr DType unsigned_twin(DType t) {
  switch (t) {
    case DType::bool_:
    case DType::int8:
      return DType::uint8;
    case DType::int16:
      return DType::uint16;
    case DType::int32:
    case DType::float32:
      return DType::uint32;
    case DType::int64:
    case DType::float64:
    case DType::complex64:
      return DType::uint64;
    default:
      return t;
  }
}

/// Whether the bits of the result do not depend on the sign of the integers.
constexpr bool sign_blind(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::power:  // of exponents that are not negative, which alone reach the kernels
    case Op::negative:
    case Op::positive:
    case Op::square:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::invert:
    case Op::left_shift:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
    case Op::logical_not:
    case Op::where:
      return true;
    default:
      return false;
  }
}

/// The same operation under its other name.
constexpr Op same_op(Op op, DType t) {
  const bool integral = kind(t) != 'f' && kind(t) != 'c';
  const bool no_sign = kind(t) == 'u' || kind(t) == 'b';
  switch (op) {
    case Op::fabs:
      return Op::absolute;
    case Op::rad2deg:
      return Op::degrees;
    case Op::deg2rad:
      return Op::radians;
    case Op::float_power:
      return Op::power;
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
      return integral ? Op::positive : op;
    case Op::conjugate:
      return kind(t) == 'c' ? op : Op::positive;
    case Op::absolute:
      return no_sign ? Op::positive : op;
    case Op::fmod:
      return no_sign ? Op::remainder : op;
    case Op::fmax:
      return integral ? Op::maximum : op;
    case Op::fmin:
      return integral ? Op::minimum : op;
    case Op::isnan:
      return integral ? Op::isinf : op;
    default:
      return op;
  }
}

/// The loop whose kernel serves this loop: itself where it has its own.
constexpr Loop canonical(Op op, DType t) {
  op = same_op(op, t);
  if (op == Op::where || op == Op::positive) return {op, unsigned_twin(t)};
  if (kind(t) == 'f' || kind(t) == 'c') return {op, t};
  if (op == Op::isfinite || op == Op::isinf)
    return {op, DType::uint8};  // constants; the operand is not read past its first bytes
  if (t == DType::bool_) {
    switch (op) {
      case Op::add:
        return {Op::bitwise_or, DType::uint8};
      case Op::multiply:
        return {Op::bitwise_and, DType::uint8};
      case Op::invert:
        return {Op::logical_not, DType::uint8};
      default:
        return {op, DType::uint8};
    }
  }
  if (kind(t) == 'i' && sign_blind(op)) return {op, unsigned_twin(t)};
  return {op, t};
}

constexpr bool has_loop(std::string_view types, DType t) { return types.find(typecode(t)) != types.npos; }

/// Whether this loop has a kernel of its own.
constexpr bool own_kernel(std::string_view types, Op op, DType t) {
  return t != DType::float16 && has_loop(types, t) && canonical(op, t) == Loop{op, t};
}

struct Conversion {
  DType from;
  DType to;
  friend constexpr bool operator==(Conversion, Conversion) = default;
};

/// The cast whose kernel serves this cast.
constexpr Conversion canonical_cast(DType from, DType to) {
  if (from == to) {
    const DType bytes = from == DType::float16 ? DType::uint16 : unsigned_twin(from);
    return {bytes, bytes};
  }
  if (from == DType::bool_) return canonical_cast(DType::uint8, to);
  const bool narrow_float = is_inexact(from) && itemsize(to) < 4;  // goes through int32
  if (kind(to) == 'i' && (is_integer(from) || narrow_float)) return canonical_cast(from, unsigned_twin(to));
  if (kind(from) == 'i' && kind(to) != 'f' && kind(to) != 'c' && itemsize(to) <= itemsize(from)) {
    return canonical_cast(unsigned_twin(from), to);
  }
  return {from, to};
}

/// Whether the row runs lane by lane, compiled for the baseline target only.
constexpr bool scalar_row(Op op, DType t) {
  switch (op) {
    case Op::gcd:
    case Op::lcm:
    case Op::ldexp:
      return true;
    case Op::power:
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::arcsin:
    case Op::arccos:
    case Op::arctan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::arcsinh:
    case Op::arccosh:
    case Op::arctanh:
    case Op::sqrt:
    case Op::sign:
      return is_complex(t);
    default:
      return false;
  }
}

/// Whether the row divides integers, which has lanes of its own.
constexpr bool integer_division(Op op, DType t) {
  return is_integer(t) && (op == Op::floor_divide || op == Op::remainder || op == Op::divmod || op == Op::fmod);
}

}  // namespace galop::cpu
