// What every row of ops.def gives for one element, written out plainly: the C library in long double, 128-bit integers,
// loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include <gtest/gtest.h>

#include "core/op.hpp"

namespace galop::reference {

using Real = long double;  // holds every element of every real dtype exactly
using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
struct Parts : std::false_type {
  using type = T;
};
template <class T>
struct Parts<std::complex<T>> : std::true_type {
  using type = T;
};
template <class T>
inline constexpr bool is_complex_v = Parts<T>::value;

/// Wraps around to T.
template <class T>
Real wrap(Wide v) {
  return static_cast<Real>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(v)));
}

/// The product modulo 2^128: its low bits are those of a product that wraps around.
inline Wide product(Wide a, Wide b) {
  return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
}

/// Result `k` of an integer row; bool counts as uint8 with values 0 and 1.
template <class T>
Real integer(Op op, T x, T y, T z, int k) {
  const Wide a = x, b = y;
  constexpr int width = 8 * sizeof(T);
  const Wide magnitude = a < 0 ? -a : a;
  const Wide quotient = b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  const Wide modulus = b == 0 ? 0 : a - quotient * b;
  const bool shifts = b >= 0 && b < width;
  switch (op) {
    case Op::add:
      return wrap<T>(a + b);
    case Op::subtract:
      return wrap<T>(a - b);
    case Op::multiply:
      return wrap<T>(product(a, b));
    case Op::square:
      return wrap<T>(product(a, a));
    case Op::floor_divide:
      return wrap<T>(quotient);
    case Op::remainder:
      return wrap<T>(modulus);
    case Op::divmod:
      return wrap<T>(k == 0 ? quotient : modulus);
    case Op::fmod:
      return wrap<T>(b == 0 ? 0 : a % b);
    case Op::power: {
      std::uint64_t r = 1;
      for (Wide i = 0; i < b; ++i) r *= static_cast<std::uint64_t>(a);
      return wrap<T>(static_cast<Wide>(r));
    }
    case Op::negative:
      return wrap<T>(-a);
    case Op::positive:
    case Op::conjugate:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
      return static_cast<Real>(x);
    case Op::absolute:
      return wrap<T>(magnitude);
    case Op::sign:
      return static_cast<Real>((a > 0) - (a < 0));
    case Op::reciprocal:
      if (a == 0) return std::is_signed_v<T> && width >= 32 ? static_cast<Real>(std::numeric_limits<T>::min()) : 0;
      return magnitude == 1 ? static_cast<Real>(x) : 0;
    case Op::gcd:
    case Op::lcm: {
      Wide p = magnitude, q = b < 0 ? -b : b;
      while (q != 0) std::swap(p %= q, q);
      return wrap<T>(op == Op::gcd ? p : p == 0 ? 0 : product(magnitude / p, b < 0 ? -b : b));
    }
    case Op::bitwise_and:
      return static_cast<Real>(static_cast<T>(x & y));
    case Op::bitwise_or:
      return static_cast<Real>(static_cast<T>(x | y));
    case Op::bitwise_xor:
      return static_cast<Real>(static_cast<T>(x ^ y));
    case Op::invert:
      return wrap<T>(-a - 1);
    case Op::left_shift:
      return shifts ? wrap<T>(a * (Wide(1) << static_cast<int>(b))) : 0;
    case Op::right_shift:
      return static_cast<Real>(static_cast<T>(shifts ? a >> static_cast<int>(b) : a < 0 ? -1 : 0));
    case Op::bitwise_count: {
      int n = 0;
      for (Wide left = magnitude; left != 0; left >>= 1) n += static_cast<int>(left & 1);
      return n;
    }
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::maximum:
    case Op::fmax:
      return static_cast<Real>(std::max(x, y));
    case Op::minimum:
    case Op::fmin:
      return static_cast<Real>(std::min(x, y));
    case Op::clip:
      return static_cast<Real>(std::min(std::max(x, y), z));
    case Op::logical_and:
      return a != 0 && b != 0;
    case Op::logical_or:
      return a != 0 || b != 0;
    case Op::logical_xor:
      return (a != 0) != (b != 0);
    case Op::logical_not:
      return a == 0;
    case Op::isfinite:
      return 1;
    case Op::isinf:
    case Op::isnan:
      return 0;
    default:
      ADD_FAILURE() << "no reference for integer " << info(op).name;
      return 0;
  }
}

/// Result `k` of a row over floats. Rows of bound 0 are computed in T, the others in long double.
template <class T>
Real floating(Op op, T x, T y, T z, int k) {
  const Real a = x, b = y, nan = std::numeric_limits<Real>::quiet_NaN();
  const Real ln2 = std::log(Real(2)), pi = std::acos(Real(-1));
  const auto largest = [](T p, T q) { return std::isnan(p) || p > q ? p : q; };
  const auto smallest = [](T p, T q) { return std::isnan(p) || p < q ? p : q; };
  T quotient{}, modulus = std::fmod(x, y);
  if (y == 0) {
    quotient = x / y;
  } else {  // Python's rule for floats
    quotient = (x - modulus) / y;
    if (modulus != 0 && (modulus < 0) != (y < 0)) modulus += y, quotient -= 1;
    if (modulus == 0) modulus = std::copysign(T(0), y);
    const T down = std::floor(quotient);
    quotient = quotient == 0 ? std::copysign(T(0), x / y) : quotient - down > T(0.5) ? down + 1 : down;
  }
  int exponent = 0;
  switch (op) {
    case Op::add:
      return static_cast<T>(x + y);
    case Op::subtract:
      return static_cast<T>(x - y);
    case Op::multiply:
      return static_cast<T>(x * y);
    case Op::square:
      return static_cast<T>(x * x);
    case Op::divide:
      return static_cast<T>(x / y);
    case Op::floor_divide:
      return quotient;
    case Op::remainder:
      return modulus;
    case Op::divmod:
      return k == 0 ? quotient : modulus;
    case Op::fmod:
      return std::fmod(x, y);
    case Op::power:
    case Op::float_power:
      return std::pow(a, b);
    case Op::negative:
      return -x;
    case Op::positive:
    case Op::conjugate:
      return x;
    case Op::absolute:
    case Op::fabs:
      return std::fabs(x);
    case Op::sign:
      return std::isnan(x) ? nan : x > 0 ? 1 : x < 0 ? -1 : 0;
    case Op::reciprocal:
      return 1 / a;
    case Op::sqrt:
      return std::sqrt(x);
    case Op::cbrt:
      return std::cbrt(a);
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::expm1:
      return std::expm1(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::log10:
      return std::log10(a);
    case Op::log1p:
      return std::log1p(a);
    case Op::logaddexp:
    case Op::logaddexp2: {
      const bool two = op == Op::logaddexp2;
      if (a == b) return a + (two ? 1 : ln2);
      const Real d = -std::fabs(a - b);
      return std::isnan(d) ? nan : std::fmax(a, b) + (two ? std::log1p(std::exp2(d)) / ln2 : std::log1p(std::exp(d)));
    }
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::arcsin:
      return std::asin(a);
    case Op::arccos:
      return std::acos(a);
    case Op::arctan:
      return std::atan(a);
    case Op::arctan2:
      return std::atan2(a, b);
    case Op::hypot:
      return std::hypot(a, b);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::arcsinh:
      return std::asinh(a);
    case Op::arccosh:
      return std::acosh(a);
    case Op::arctanh:
      return std::atanh(a);
    case Op::degrees:
    case Op::rad2deg:
      return a * (180 / pi);
    case Op::radians:
    case Op::deg2rad:
      return a * (pi / 180);
    case Op::erf:
      return std::erf(a);
    case Op::erfc:
      return std::erfc(a);
    case Op::equal:
      return x == y;
    case Op::not_equal:
      return x != y;
    case Op::less:
      return x < y;
    case Op::less_equal:
      return x <= y;
    case Op::greater:
      return x > y;
    case Op::greater_equal:
      return x >= y;
    case Op::maximum:
      return largest(x, y);
    case Op::minimum:
      return smallest(x, y);
    case Op::fmax:
      return std::isnan(y) || x > y ? x : y;
    case Op::fmin:
      return std::isnan(y) || x < y ? x : y;
    case Op::clip:
      return smallest(largest(x, y), z);
    case Op::logical_and:
      return x != 0 && y != 0;
    case Op::logical_or:
      return x != 0 || y != 0;
    case Op::logical_xor:
      return (x != 0) != (y != 0);
    case Op::logical_not:
      return x == 0;
    case Op::isfinite:
      return std::isfinite(x);
    case Op::isinf:
      return std::isinf(x);
    case Op::isnan:
      return std::isnan(x);
    case Op::signbit:
      return std::signbit(x);
    case Op::copysign:
      return std::copysign(x, y);
    case Op::nextafter:
      return std::nextafter(x, y);
    case Op::spacing: {
      if (!std::isfinite(x)) return nan;
      const T outwards = std::copysign(std::numeric_limits<T>::infinity(), x);
      return x == 0 ? std::numeric_limits<T>::denorm_min() : std::nextafter(x, outwards) - x;
    }
    case Op::heaviside:
      return std::isnan(x) ? nan : x == 0 ? b : x < 0 ? 0 : 1;
    case Op::frexp: {
      const T mantissa = std::frexp(x, &exponent);
      return k == 0 ? static_cast<Real>(mantissa) : std::isfinite(x) ? static_cast<Real>(exponent) : 0;
    }
    case Op::modf: {
      T whole{};
      const T fraction = std::modf(x, &whole);
      return k == 0 ? fraction : whole;
    }
    case Op::floor:
      return std::floor(x);
    case Op::ceil:
      return std::ceil(x);
    case Op::trunc:
      return std::trunc(x);
    case Op::rint:
      return std::nearbyint(x);
    default:
      ADD_FAILURE() << "no reference for float " << info(op).name;
      return 0;
  }
}

/// A row over complex numbers whose result is complex.
template <class T>
std::complex<Real> complex(Op op, std::complex<T> x, std::complex<T> y) {
  using Z = std::complex<Real>;
  const Z a(x.real(), x.imag()), b(y.real(), y.imag()), one(1, 0);
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::square:
      return a * a;
    case Op::divide:
      return a / b;
    case Op::reciprocal:
      return one / a;
    case Op::power:
    case Op::float_power:
      return b == Z(0, 0) ? one : std::pow(a, b);
    case Op::negative:
      return -a;
    case Op::positive:
      return a;
    case Op::conjugate:
      return std::conj(a);
    case Op::sign:
      return std::abs(a) == 0 ? Z(0, 0) : a / std::abs(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp(a * std::log(Real(2)));
    case Op::expm1:
      if (std::abs(a) >= Real(1e-3)) return std::exp(a) - one;
      return a * (one + a / Real(2) * (one + a / Real(3) * (one + a / Real(4))));
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log(a) / std::log(Real(2));
    case Op::log10:
      return std::log(a) / std::log(Real(10));
    case Op::log1p:
      return std::log(one + a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::arcsin:
      return std::asin(a);
    case Op::arccos:
      return std::acos(a);
    case Op::arctan:
      return std::atan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::arcsinh:
      return std::asinh(a);
    case Op::arccosh:
      return std::acosh(a);
    case Op::arctanh:
      return std::atanh(a);
    case Op::rint:
      return {std::nearbyint(a.real()), std::nearbyint(a.imag())};
    default:
      ADD_FAILURE() << "no reference for complex " << info(op).name;
      return 0;
  }
}

/// Whether the complex x comes before y: by real part, then imaginary part; no order beside a NaN in an imaginary part
/// unless the real parts decide by equality.
template <class T>
bool before(std::complex<T> x, std::complex<T> y) {
  if (x.real() == y.real()) return x.imag() < y.imag();
  return x.real() < y.real() && !std::isnan(x.imag()) && !std::isnan(y.imag());
}

}  // namespace galop::reference
