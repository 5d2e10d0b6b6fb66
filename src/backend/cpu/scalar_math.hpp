// Operations that no vector instruction serves, over one element at a time: Lane<T> is a lane class of one lane, so
// that the rows of ops.def compile against it as they do against vectors. Compiled once, for the baseline target.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace galop::cpu {

/// One element; T is an integer, a float or std::complex.
template <class T>
struct Lane {
  static constexpr int N = 1;
  static constexpr int kItem = sizeof(T);
  T v;
  static Lane load(const char* p) {
    Lane r;
    std::memcpy(&r.v, p, sizeof(T));
    return r;
  }
  void store(char* p) const { std::memcpy(p, &v, sizeof(T)); }
};

/// Two results of one element each.
template <class A, class B>
struct LanePair {
  Lane<A> first;
  Lane<B> second;
};

// Division of 64-bit integers too large for doubles: x / 0 is 0 and raises the division flag, the lowest integer
// divided by -1 wraps to itself (NumPy's rules).

template <class T>
inline bool no_division(T x, T y) {
  if (y == 0) std::feraiseexcept(FE_DIVBYZERO);
  if constexpr (std::is_signed_v<T>) return y == 0 || (y == -1 && x == std::numeric_limits<T>::min());
  return y == 0;
}

template <class T>
inline LanePair<T, T> divmod(Lane<T> x, Lane<T> y) {
  if (no_division(x.v, y.v)) return {{y.v == 0 ? T(0) : x.v}, {T(0)}};
  T q = static_cast<T>(x.v / y.v);
  T r = static_cast<T>(x.v % y.v);
  if constexpr (std::is_signed_v<T>) {
    if (r != 0 && (r < 0) != (y.v < 0)) {
      q = static_cast<T>(q - 1);
      r = static_cast<T>(r + y.v);
    }
  }
  return {{q}, {r}};
}
template <class T>
inline Lane<T> fmod(Lane<T> x, Lane<T> y) {
  return {no_division(x.v, y.v) ? T(0) : static_cast<T>(x.v % y.v)};
}

// |x|, in the unsigned type so that the lowest integer has one.
template <class T>
inline std::make_unsigned_t<T> magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(U(0) - static_cast<U>(x)) : static_cast<U>(x);
}

template <class U>
inline U gcd_unsigned(U a, U b) {
  if (a == 0) return b;
  if (b == 0) return a;
  const int shift = std::countr_zero(static_cast<U>(a | b));
  a = static_cast<U>(a >> std::countr_zero(a));
  while (b != 0) {
    b = static_cast<U>(b >> std::countr_zero(b));
    const U low = a < b ? a : b;
    b = static_cast<U>((a < b ? b : a) - low);
    a = low;
  }
  return static_cast<U>(a << shift);
}
template <class T>
inline Lane<T> gcd(Lane<T> x, Lane<T> y) {
  return {static_cast<T>(gcd_unsigned(magnitude(x.v), magnitude(y.v)))};
}
template <class T>
inline Lane<T> lcm(Lane<T> x, Lane<T> y) {
  using U = std::make_unsigned_t<T>;
  const U a = magnitude(x.v);
  const U b = magnitude(y.v);
  const U g = gcd_unsigned(a, b);
  return {g == 0 ? T(0) : static_cast<T>(static_cast<U>(static_cast<std::uint64_t>(a / g) * b))};
}

template <class T>
inline Lane<T> ldexp(Lane<T> x, Lane<std::int64_t> y) {
  const std::int64_t limit = 1 << 20;  // far past every exponent
  return {std::ldexp(x.v, static_cast<int>(y.v < -limit ? -limit : y.v > limit ? limit : y.v))};
}

// Complex functions, as the C library has them (NumPy calls the same).

#define GALOP_COMPLEX(name, f)                                 \
  template <class T>                                           \
  inline Lane<std::complex<T>> name(Lane<std::complex<T>> x) { \
    return {f(x.v)};                                           \
  }
GALOP_COMPLEX(exp, std::exp)
GALOP_COMPLEX(log, std::log)
GALOP_COMPLEX(sqrt, std::sqrt)
GALOP_COMPLEX(sin, std::sin)
GALOP_COMPLEX(cos, std::cos)
GALOP_COMPLEX(tan, std::tan)
GALOP_COMPLEX(sinh, std::sinh)
GALOP_COMPLEX(cosh, std::cosh)
GALOP_COMPLEX(tanh, std::tanh)
GALOP_COMPLEX(arcsin, std::asin)
GALOP_COMPLEX(arccos, std::acos)
GALOP_COMPLEX(arctan, std::atan)
GALOP_COMPLEX(arcsinh, std::asinh)
GALOP_COMPLEX(arccosh, std::acosh)
GALOP_COMPLEX(arctanh, std::atanh)
#undef GALOP_COMPLEX

template <class T>
inline constexpr T kLn2 = static_cast<T>(0.693147180559945309417232121458176568L);
template <class T>
inline constexpr T kLog2E = static_cast<T>(1.442695040888963407359924681001892137L);
template <class T>
inline constexpr T kLog10E = static_cast<T>(0.434294481903251827651128918916605082L);

template <class T>
inline Lane<std::complex<T>> exp2(Lane<std::complex<T>> x) {
  return {std::exp(std::complex<T>(x.v.real() * kLn2<T>, x.v.imag() * kLn2<T>))};
}
template <class T>
inline Lane<std::complex<T>> log2(Lane<std::complex<T>> x) {
  const std::complex<T> r = std::log(x.v);
  return {{r.real() * kLog2E<T>, r.imag() * kLog2E<T>}};
}
template <class T>
inline Lane<std::complex<T>> log10(Lane<std::complex<T>> x) {
  const std::complex<T> r = std::log(x.v);
  return {{r.real() * kLog10E<T>, r.imag() * kLog10E<T>}};
}
template <class T>
inline Lane<std::complex<T>> log1p(Lane<std::complex<T>> x) {
  const T re = x.v.real() + 1;
  return {{std::log(std::hypot(re, x.v.imag())), std::atan2(x.v.imag(), re)}};
}
template <class T>
inline Lane<std::complex<T>> expm1(Lane<std::complex<T>> x) {
  const T half = std::sin(x.v.imag() / 2);
  return {
      {std::expm1(x.v.real()) * std::cos(x.v.imag()) - 2 * half * half, std::exp(x.v.real()) * std::sin(x.v.imag())}};
}

template <class T>
inline Lane<std::complex<T>> sign(Lane<std::complex<T>> x) {
  const T re = x.v.real();
  const T im = x.v.imag();
  const T modulus = std::hypot(re, im);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(modulus) || (std::isinf(re) && std::isinf(im))) return {{nan, nan}};
  if (std::isinf(re)) return {{std::copysign(T(1), re), T(0)}};
  if (std::isinf(modulus)) return {{T(0), std::copysign(T(1), im)}};  // also where finite parts overflow
  if (modulus == 0) return {{T(0), T(0)}};
  return {{re / modulus, im / modulus}};
}

// NumPy multiplies out small integer exponents and leaves the others to the C library.
template <class T>
inline std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// a / b by Smith's method, as NumPy divides.
template <class T>
inline std::complex<T> over(std::complex<T> a, std::complex<T> b) {
  const T abs_re = std::fabs(b.real());
  const T abs_im = std::fabs(b.imag());
  if (abs_re >= abs_im) {
    if (abs_re == 0) return {a.real() / abs_re, a.imag() / abs_re};
    const T ratio = b.imag() / b.real();
    const T scale = 1 / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const T ratio = b.real() / b.imag();
  const T scale = 1 / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

template <class T>
inline Lane<std::complex<T>> power(Lane<std::complex<T>> x, Lane<std::complex<T>> y) {
  using Z = std::complex<T>;
  const Z a = x.v;
  const T br = y.v.real();
  const T bi = y.v.imag();
  if (br == 0 && bi == 0) return {Z(1, 0)};
  if (a.real() == 0 && a.imag() == 0) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    return {br > 0 ? Z(0, 0) : Z(nan, nan)};
  }
  if (bi == 0 && br > -100 && br < 100 && br == std::trunc(br)) {
    const int n = static_cast<int>(br);
    if (n == 1) return {a};
    if (n == 2) return {times(a, a)};
    if (n == 3) return {times(a, times(a, a))};
    Z result(1, 0);
    Z square = a;
    for (int left = n < 0 ? -n : n;;) {
      if (left & 1) result = times(result, square);
      left >>= 1;
      if (left == 0) break;
      square = times(square, square);
    }
    return {br < 0 ? over(Z(1, 0), result) : result};
  }
  return {std::pow(a, y.v)};
}

}  // namespace galop::cpu
