// Floating-point flags by tests of operands and results, appended to the prelude of kernels that are watched: what the
// CPU finds with its processor's flags and in src/backend/cpu/fp_flags.cpp. Numbered as in NumPy. UNDER: underflow is
// wanted too.
namespace g {

constexpr u32 kDivide = 1, kOverflow = 2, kUnderflow = 4, kInvalid = 8;

// Infinite or NaN; below the normal range, zero included; within a factor of four of overflow.
inline u32 magnitude(float x) { return bits(x) & 0x7fffffffu; }
inline u32 magnitude(double x) { return (u32)(bits(x) >> 32) & 0x7fffffffu; }
inline u32 magnitude(f16 x) { return x.bits & 0x7fffu; }
inline constexpr u32 exponent_bits(float) { return 0x7f800000u; }
inline constexpr u32 exponent_bits(double) { return 0x7ff00000u; }
inline constexpr u32 exponent_bits(f16) { return 0x7c00u; }
inline constexpr u32 least_exponent(float) { return 0x00800000u; }
inline constexpr u32 least_exponent(double) { return 0x00100000u; }
inline constexpr u32 least_exponent(f16) { return 0x0400u; }
template <class T>
inline bool wild(T x) {
  return magnitude(x) >= exponent_bits(x);
}
template <class T>
inline bool tiny(T x) {
  return magnitude(x) < least_exponent(x);
}
template <class T>
inline bool huge(T x) {
  return magnitude(x) >= exponent_bits(x) - 2 * least_exponent(x);
}
template <class T>
inline bool wild(complex<T> x) {
  return wild(x.re) || wild(x.im);
}
template <class T>
inline bool tiny(complex<T> x) {
  return tiny(x.re) || tiny(x.im);
}
template <class T>
inline bool huge(complex<T> x) {
  return huge(x.re) || huge(x.im);
}
// NaN for good once an x was infinite or NaN, or near to where float64 ends: one instruction.
inline float glance(float seen, float x) { return __fmaf_rn(0.0f, x, seen); }
inline float glance(float seen, double x) { return __fmaf_rn(0.0f, __int_as_float(__double2hiint(x)), seen); }
template <class T>
inline float glance(float seen, T x) {
  return wild(x) ? __int_as_float(0x7fc00000) : seen;
}
template <class T>
inline bool nan_in(T x) {
  return isnan(x);
}
template <class T>
inline bool nan_in(complex<T> x) {
  return isnan(x.re) || isnan(x.im);
}

// NaN from no NaN, an infinity from finite operands: sums and roots.
template <class T>
inline u32 plain_flags(T x, T y, T r) {
  if (!wild(r)) return 0;
  if (isnan(r)) return isnan(x) || isnan(y) ? 0 : kInvalid;
  return wild(x) || wild(y) ? 0 : kOverflow;
}
template <class T>
inline T scaled(T x, i64 by) {
  return ldexp(x, Int<i64>{by});
}
// Whether r, below the normal range, is x * y to the last bit.
template <class T>
inline bool exact_product(T x, T y, T r) {
  if (x == 0 || y == 0) return true;
  const auto a = frexp(x), b = frexp(y);
  const T m = a.first * b.first;
  return fused(a.first, b.first, -m) == 0 && scaled(r, -(i64)a.second.v - b.second.v) == m;
}
template <class T>
inline bool exact_quotient(T x, T y, T r) {
  if (x == 0 || wild(y)) return true;
  const auto a = frexp(x), b = frexp(y);
  return fused(scaled(r, (i64)b.second.v - a.second.v), b.first, -a.first) == 0;
}
template <bool UNDER, class T>
inline u32 product_flags(T x, T y, T r) {
  if (UNDER && tiny(r) && !exact_product(x, y, r)) return kUnderflow;
  return plain_flags(x, y, r);
}
template <bool UNDER, class T>
inline u32 quotient_flags(T x, T y, T r) {
  if (UNDER && tiny(r) && !exact_quotient(x, y, r)) return kUnderflow;
  if (!wild(r)) return 0;
  if (isnan(r)) return isnan(x) || isnan(y) ? 0 : kInvalid;
  return wild(x) ? 0 : y == 0 ? kDivide : kOverflow;
}
// What a library computes. POLE and VANISHING are src/core/flag_test.hpp's, OP is one of those below.
constexpr int kFloorDivision = 1, kSpacing = 2, kNextafter = 3, kPower = 4;
template <int POLE, int VANISHING, int OP, class T>
inline u32 function_flags(T x, T y, T r) {
  if (!wild(r)) {
    if (VANISHING == 0 || !tiny(r) || wild(x)) return 0;
    const bool lost = VANISHING == 1 || (VANISHING == 2 && x != 0 && !wild(y)) || (VANISHING == 3 && x != y) ||
                      (VANISHING == 4 && x != 0 && r == 0);
    return lost ? kUnderflow : 0;
  }
  if (isnan(r)) return OP == kSpacing || isnan(x) || isnan(y) ? 0 : kInvalid;
  if (!wild(x) && (!wild(y) || OP == kNextafter)) {
    const bool pole = POLE == 1 || (POLE == 2 && x == 0) || (POLE == 3 && y == 0);
    return (pole ? kDivide : kOverflow) | (OP == kFloorDivision && y != 0 ? kInvalid : 0);
  }
  return OP == kPower && x == 0 && isinf(y) ? kDivide : 0;
}

// Integers.
template <bool WRAPS, class T>
inline u32 division_flags(T x, T y) {
  if (y == 0) return kDivide;
  return WRAPS && is_signed<T> && y == (T)-1 && x == lowest<T>() ? kOverflow : 0;
}
template <class T>
inline u32 inverse_flags(T x) {
  return x == 0 ? kDivide | kInvalid : 0;
}

// Casts.
template <class I, class F>
inline bool fits(F x) {
  constexpr F limit = (F)((u64)1 << (8 * sizeof(I) - 1));
  return sizeof(F) > sizeof(I) ? x > -limit - 1 && x < limit : x >= -limit && x < limit;
}
template <class To, class F>
inline u32 integer_flags(F x) {
  if constexpr (sizeof(To) < 4) {
    return fits<i32>(x) ? 0 : kInvalid;
  } else if constexpr (is_signed<To>) {
    return fits<To>(x) ? 0 : kInvalid;
  } else {
    const F half = (F)((To)1 << (8 * sizeof(To) - 1));
    return fits<typename traits<To>::I>(x >= half ? x - half : x) ? 0 : kInvalid;
  }
}
template <class To>
inline u32 integer_flags(f16 x) {
  if constexpr (sizeof(To) == 4) return integer_flags<i32>(to_float(x));
  return integer_flags<To>(to_float(x));
}
template <class To, class T>
inline u32 integer_flags(complex<T> x) {
  return integer_flags<To>(x.re);
}
template <bool UNDER, class T>
inline u32 half_flags(T x, f16 r) {  // from integers
  return wild(r) ? kOverflow : 0;
}
template <bool UNDER>
inline u32 half_flags(double x, f16 r) {
  if (wild(r)) return wild(x) ? 0 : kOverflow;
  return UNDER && tiny(r) && rint(x * 0x1p24) != x * 0x1p24 ? kUnderflow : 0;
}
template <bool UNDER>
inline u32 half_flags(float x, f16 r) {
  return half_flags<UNDER>((double)x, r);
}
template <bool UNDER, class T>
inline u32 half_flags(complex<T> x, f16 r) {
  return half_flags<UNDER>((double)x.re, r);
}
template <bool UNDER>
inline u32 narrow_flags(double x, float r) {
  if (wild(r)) return wild(x) ? 0 : kOverflow;
  return UNDER && tiny(r) && (double)r != x ? kUnderflow : 0;
}
template <bool UNDER>
inline u32 narrow_flags(complex<double> x, float r) {
  return narrow_flags<UNDER>(x.re, r);
}
template <bool UNDER>
inline u32 narrow_flags(double x, complex<float> r) {
  return narrow_flags<UNDER>(x, r.re);
}
template <bool UNDER>
inline u32 narrow_flags(complex<double> x, complex<float> r) {
  return narrow_flags<UNDER>(x.re, r.re) | narrow_flags<UNDER>(x.im, r.im);
}

// Complex arithmetic raises what its steps raise, in the order of prelude_complex.cuh.
template <bool UNDER, class T>
struct Steps {
  u32 flags = 0;
  inline T sum(T a, T b) {
    const T r = a + b;
    flags |= plain_flags(a, b, r);
    return r;
  }
  inline T product(T a, T b) {
    const T r = a * b;
    flags |= product_flags<UNDER>(a, b, r);
    return r;
  }
  inline T quotient(T a, T b) {
    const T r = a / b;
    flags |= quotient_flags<UNDER>(a, b, r);
    return r;
  }
  inline void compare(complex<T> z) { flags |= nan_in(z) ? kInvalid : 0; }
  inline void fused_sum(T a, T b, T c) {
    const T r = fused(a, b, c);
    if (isnan(r)) flags |= isnan(a) || isnan(b) || isnan(c) ? 0 : kInvalid;
    if (isinf(r)) flags |= wild(a) || wild(b) || wild(c) ? 0 : kOverflow;
    if (UNDER && tiny(r) && !exact_product(a, b, a * b)) flags |= kUnderflow;
  }
};
template <class T>
inline u32 plain_flags(complex<T> x, complex<T> y, complex<T> r) {
  return plain_flags(x.re, y.re, r.re) | plain_flags(x.im, y.im, r.im);
}
template <bool UNDER, class T>
inline u32 product_flags(complex<T> a, complex<T> b, complex<T>) {
  Steps<UNDER, T> s;
  s.fused_sum(a.re, b.re, -s.product(a.im, b.im));
  s.fused_sum(a.re, b.im, s.product(a.im, b.re));
  return s.flags;
}
template <bool UNDER, class T>
inline u32 quotient_flags(complex<T> a, complex<T> b, complex<T>) {
  Steps<UNDER, T> s;
  const T abs_re = absolute(b.re), abs_im = absolute(b.im);
  if (abs_re == 0 && abs_im == 0) {
    s.quotient(a.re, abs_re);
    s.quotient(a.im, abs_im);
    return s.flags;
  }
  s.compare(b);
  const bool by_re = abs_re >= abs_im;
  const T large = by_re ? b.re : b.im, small = by_re ? b.im : b.re;
  const T ratio = s.quotient(small, large);
  const T scale = s.quotient(T(1), s.sum(large, s.product(small, ratio)));
  const T p = s.product(by_re ? a.im : a.re, ratio), q = s.product(by_re ? a.re : a.im, ratio);
  s.product(by_re ? s.sum(a.re, p) : s.sum(p, a.im), scale);
  s.product(by_re ? s.sum(a.im, -q) : s.sum(q, -a.re), scale);
  return s.flags;
}
template <bool UNDER, class T>
inline u32 reciprocal_flags(complex<T> x) {
  Steps<UNDER, T> s;
  s.compare(x);
  const bool by_re = absolute(x.im) <= absolute(x.re);
  const T large = by_re ? x.re : x.im, small = by_re ? x.im : x.re;
  const T ratio = s.quotient(small, large);
  const T d = s.sum(large, s.product(small, ratio));
  s.quotient(by_re ? T(1) : ratio, d);
  s.quotient(by_re ? ratio : T(1), d);
  return s.flags;
}
template <bool UNDER, class T>
inline u32 reciprocal_flags(T x) {
  return quotient_flags<UNDER>(T(1), x, T(1) / x);
}
template <class T>
inline u32 modulus_flags(complex<T> x, T r) {
  return isinf(r) && !wild(x) ? kOverflow : 0;
}
template <int POLE, class T>
inline u32 complex_flags(complex<T> x, complex<T> r) {
  u32 flags = 0;
  if (nan_in(r) && !nan_in(x)) flags |= kInvalid;
  if ((isinf(r.re) || isinf(r.im)) && !wild(x)) flags |= POLE == 1 ? kDivide : kOverflow;
  return flags;
}
template <class T>
inline u32 power_flags(complex<T> x, complex<T> y, complex<T> r) {
  if (nan_in(x) || nan_in(y)) return 0;
  const bool beyond = wild(r) && !wild(x) && !wild(y) && (x.re != 0 || x.im != 0);
  return (nan_in(r) ? kInvalid : 0) | (beyond ? kOverflow : 0);
}

// Folds: which kinds of elements were met, and what a total says beside them. A sum or product that leaves the finite
// numbers never comes back.
constexpr u32 kNan = 1, kInfinite = 2, kMinusInfinite = 4, kTiny = 8, kZero = 16;
template <class T>
inline u32 kind_of(T x) {
  if (isnan(x)) return kNan;
  if (isinf(x)) return x > 0 ? kInfinite : kMinusInfinite;
  return !tiny(x) ? 0 : x == 0 ? kZero : kTiny;
}
template <class T>
inline u32 kind_of(complex<T> x) {
  return kind_of(x.re) | kind_of(x.im) << 8;
}
template <bool PRODUCT, bool UNDER, class T>
inline u32 fold_flags(u32 seen, T total) {
  const u32 infinite = seen & (kInfinite | kMinusInfinite);
  if (!wild(total)) {
    const bool lost = UNDER && PRODUCT && tiny(total) && !(seen & (total == 0 ? kZero : kZero | kTiny));
    return lost ? kUnderflow : 0;
  }
  if (!isnan(total)) return infinite ? 0 : kOverflow;
  if (seen & kNan) return 0;
  return kInvalid | ((PRODUCT ? infinite != 0 : infinite == (kInfinite | kMinusInfinite)) ? 0 : kOverflow);
}
template <bool PRODUCT, bool UNDER, class T>
inline u32 fold_flags(u32 seen, complex<T> total) {
  const u32 any = (seen | seen >> 8) & 255;
  return fold_flags<PRODUCT, UNDER>(PRODUCT ? any : seen & 255, total.re) |
         fold_flags<PRODUCT, UNDER>(PRODUCT ? any : seen >> 8, total.im);
}

// Four bits a step. The word stays on the device until somebody waits; who sets a bit tells the host, a byte a bit.
inline void report(u64 word, u64 host, u32 raised) {
  if (raised == 0) return;
  u32* const to = reinterpret_cast<u32*>(word);
  if ((raised & ~*reinterpret_cast<volatile u32*>(to)) == 0) return;
  volatile u8* const bytes = reinterpret_cast<u8*>(host);
#pragma unroll 1
  for (u32 fresh = raised & ~atomicOr(to, raised); fresh != 0; fresh &= fresh - 1) bytes[__ffs((int)fresh) - 1] = 1;
}

}  // namespace g
