// The C library's functions over lanes of float and double: glibc's libmvec where its result is within 4 ULP everywhere
// and every special value exact, SLEEF elsewhere. tests/cpp/kernels_test.cpp holds both to that.
#if defined(GALOP_CPU_VEC_LIBM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_VEC_LIBM_INL_H_
#undef GALOP_CPU_VEC_LIBM_INL_H_
#else
#define GALOP_CPU_VEC_LIBM_INL_H_
#endif

#include "backend/cpu/vec_math-inl.h"

// Neither library's header declares functions for a target that a pragma chooses, so they are declared here.
#undef GALOP_SLEEF_D
#undef GALOP_SLEEF_F
#undef GALOP_MVEC_D
#undef GALOP_MVEC_F
#if HWY_TARGET == HWY_AVX3
#define GALOP_SLEEF_D(name, ulp) Sleef_##name##d8_##ulp##avx512f
#define GALOP_SLEEF_F(name, ulp) Sleef_##name##f16_##ulp##avx512f
#define GALOP_MVEC_D(args, name) _ZGVeN8##args##_##name
#define GALOP_MVEC_F(args, name) _ZGVeN16##args##_##name##f
#elif HWY_TARGET == HWY_AVX2
#define GALOP_SLEEF_D(name, ulp) Sleef_##name##d4_##ulp##avx2
#define GALOP_SLEEF_F(name, ulp) Sleef_##name##f8_##ulp##avx2
#define GALOP_MVEC_D(args, name) _ZGVdN4##args##_##name
#define GALOP_MVEC_F(args, name) _ZGVdN8##args##_##name##f
#elif HWY_TARGET == HWY_SSE4
#define GALOP_SLEEF_D(name, ulp) Sleef_##name##d2_##ulp##sse4
#define GALOP_SLEEF_F(name, ulp) Sleef_##name##f4_##ulp##sse4
#define GALOP_MVEC_D(args, name) _ZGVbN2##args##_##name
#define GALOP_MVEC_F(args, name) _ZGVbN4##args##_##name##f
#else
#define GALOP_SLEEF_D(name, ulp) Sleef_##name##d2_##ulp##advsimd
#define GALOP_SLEEF_F(name, ulp) Sleef_##name##f4_##ulp##advsimd
#endif

#undef GALOP_USE_MVEC
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(GALOP_NO_MVEC)
#if __GLIBC_PREREQ(2, 35)
#define GALOP_USE_MVEC 1
#endif
#endif

// libmvec's function, or SLEEF's of the same name and the given bound where there is no libmvec.
#undef GALOP_FAST_D
#undef GALOP_FAST_F
#ifdef GALOP_USE_MVEC
#define GALOP_FAST_D(args, name, ulp) GALOP_MVEC_D(args, name)
#define GALOP_FAST_F(args, name, ulp) GALOP_MVEC_F(args, name)
#else
#define GALOP_FAST_D(args, name, ulp) GALOP_SLEEF_D(name, ulp)
#define GALOP_FAST_F(args, name, ulp) GALOP_SLEEF_F(name, ulp)
#endif

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

using RawD = V<double>::Raw;
using RawF = V<float>::Raw;

#define GALOP_LIBM1(ours, symbol_d, symbol_f)                                   \
  extern "C" RawD symbol_d(RawD);                                               \
  extern "C" RawF symbol_f(RawF);                                               \
  GALOP_INLINE V<double> ours(V<double> x) { return V<double>(symbol_d(x.v)); } \
  GALOP_INLINE V<float> ours(V<float> x) { return V<float>(symbol_f(x.v)); }
#define GALOP_LIBM2(ours, symbol_d, symbol_f)                                                     \
  extern "C" RawD symbol_d(RawD, RawD);                                                           \
  extern "C" RawF symbol_f(RawF, RawF);                                                           \
  GALOP_INLINE V<double> ours(V<double> x, V<double> y) { return V<double>(symbol_d(x.v, y.v)); } \
  GALOP_INLINE V<float> ours(V<float> x, V<float> y) { return V<float>(symbol_f(x.v, y.v)); }

// SLEEF where it is both faster and no less exact; for log of float because NumPy's own error leaves no room beside
// libmvec's 3.9 ULP.
GALOP_LIBM1(exp, GALOP_FAST_D(v, exp, u10), GALOP_FAST_F(v, exp, u10))
GALOP_LIBM1(exp2, GALOP_FAST_D(v, exp2, u10), GALOP_FAST_F(v, exp2, u10))
GALOP_LIBM1(expm1, GALOP_FAST_D(v, expm1, u10), GALOP_FAST_F(v, expm1, u10))
GALOP_LIBM1(log, GALOP_FAST_D(v, log, u10), GALOP_SLEEF_F(log, u10))
GALOP_LIBM1(log2, GALOP_FAST_D(v, log2, u10), GALOP_FAST_F(v, log2, u10))
GALOP_LIBM1(log10, GALOP_FAST_D(v, log10, u10), GALOP_FAST_F(v, log10, u10))
GALOP_LIBM1(log1p_of, GALOP_FAST_D(v, log1p, u10), GALOP_FAST_F(v, log1p, u10))
GALOP_LIBM1(sin_of, GALOP_FAST_D(v, sin, u10), GALOP_FAST_F(v, sin, u10))
GALOP_LIBM1(cos_of, GALOP_FAST_D(v, cos, u10), GALOP_FAST_F(v, cos, u10))
GALOP_LIBM1(tan_of, GALOP_FAST_D(v, tan, u10), GALOP_FAST_F(v, tan, u10))
GALOP_LIBM1(arcsin, GALOP_FAST_D(v, asin, u35), GALOP_SLEEF_F(asin, u35))
GALOP_LIBM1(arccos, GALOP_SLEEF_D(acos, u35), GALOP_SLEEF_F(acos, u35))
GALOP_LIBM1(arctan, GALOP_FAST_D(v, atan, u35), GALOP_SLEEF_F(atan, u35))
GALOP_LIBM1(sinh_of, GALOP_FAST_D(v, sinh, u10), GALOP_FAST_F(v, sinh, u10))
GALOP_LIBM1(cosh_of, GALOP_FAST_D(v, cosh, u10), GALOP_FAST_F(v, cosh, u10))
GALOP_LIBM1(tanh, GALOP_SLEEF_D(tanh, u35), GALOP_FAST_F(v, tanh, u35))
GALOP_LIBM1(arcsinh_of, GALOP_FAST_D(v, asinh, u10), GALOP_FAST_F(v, asinh, u10))
GALOP_LIBM1(arccosh_of, GALOP_FAST_D(v, acosh, u10), GALOP_FAST_F(v, acosh, u10))
GALOP_LIBM1(arctanh, GALOP_FAST_D(v, atanh, u10), GALOP_FAST_F(v, atanh, u10))
GALOP_LIBM1(cbrt, GALOP_FAST_D(v, cbrt, u35), GALOP_FAST_F(v, cbrt, u35))
GALOP_LIBM1(erf, GALOP_FAST_D(v, erf, u10), GALOP_FAST_F(v, erf, u10))
GALOP_LIBM1(erfc, GALOP_FAST_D(v, erfc, u15), GALOP_FAST_F(v, erfc, u15))
GALOP_LIBM2(power_of, GALOP_FAST_D(vv, pow, u10), GALOP_FAST_F(vv, pow, u10))
GALOP_LIBM2(arctan2, GALOP_SLEEF_D(atan2, u35), GALOP_SLEEF_F(atan2, u35))
GALOP_LIBM2(hypot, GALOP_FAST_D(vv, hypot, u35), GALOP_FAST_F(vv, hypot, u35))
#undef GALOP_LIBM1
#undef GALOP_LIBM2

#ifdef GALOP_USE_MVEC
// libmvec's reduction of huge float64 angles loses up to 8 ULP near multiples of pi / 2; SLEEF's does not.
#define GALOP_ANGLE(name)                                                                              \
  extern "C" RawD GALOP_SLEEF_D(name, u10)(RawD);                                                      \
  GALOP_INLINE V<double> name(V<double> x) {                                                           \
    const auto huge = absolute(x) > V<double>(0x1p20);                                                 \
    V<double> r = name##_of(x);                                                                        \
    if (__builtin_expect(any(huge), 0)) r = select(huge, V<double>(GALOP_SLEEF_D(name, u10)(x.v)), r); \
    return r;                                                                                          \
  }                                                                                                    \
  GALOP_INLINE V<float> name(V<float> x) { return name##_of(x); }
#else
#define GALOP_ANGLE(name)                                           \
  GALOP_INLINE V<double> name(V<double> x) { return name##_of(x); } \
  GALOP_INLINE V<float> name(V<float> x) { return name##_of(x); }
#endif
GALOP_ANGLE(sin)
GALOP_ANGLE(cos)
GALOP_ANGLE(tan)
#undef GALOP_ANGLE

// SLEEF loses these functions near the end of the range of their operand or result.
inline constexpr bool kRepair =
#ifdef GALOP_USE_MVEC
    false;
#else
    true;
#endif
template <class T>
inline constexpr T kHuge = sizeof(T) == 4 ? T(0x1p60) : T(0x1p300);  // 1 + x and x * x + 1 are long x and x * x
template <class T>
inline constexpr T kExpLimit = sizeof(T) == 4 ? T(88) : T(709);
template <class T>
inline constexpr T kLogOf2 = static_cast<T>(0.693147180559945309417232121458176568L);

template <class T>
GALOP_INLINE V<T> log1p(V<T> x) {
  if constexpr (kRepair)
    return select(x > V<T>(kHuge<T>), log(x), log1p_of(x));
  else
    return log1p_of(x);
}
template <class T>
GALOP_INLINE V<T> half_exp(V<T> x) {  // exp(x) / 2 where exp(x) overflows
  const V<T> root = exp(x * V<T>(T(0.5)));
  return root * V<T>(T(0.5)) * root;
}
template <class T>
GALOP_INLINE V<T> sinh(V<T> x) {
  if constexpr (kRepair) {
    const V<T> a = absolute(x);
    return select(a > V<T>(kExpLimit<T>), copysign(half_exp(a), x), sinh_of(x));
  } else {
    return sinh_of(x);
  }
}
template <class T>
GALOP_INLINE V<T> cosh(V<T> x) {
  if constexpr (kRepair)
    return select(absolute(x) > V<T>(kExpLimit<T>), half_exp(absolute(x)), cosh_of(x));
  else
    return cosh_of(x);
}
template <class T>
GALOP_INLINE V<T> arcsinh(V<T> x) {
  if constexpr (kRepair) {
    const V<T> a = absolute(x);
    return select(a > V<T>(kHuge<T>), copysign(log(a) + V<T>(kLogOf2<T>), x), arcsinh_of(x));
  } else {
    return arcsinh_of(x);
  }
}
template <class T>
GALOP_INLINE V<T> arccosh(V<T> x) {
  if constexpr (kRepair)
    return select(x > V<T>(kHuge<T>), log(x) + V<T>(kLogOf2<T>), arccosh_of(x));
  else
    return arccosh_of(x);
}

/// 1 ** y and x ** 0 are 1, for NaN as well.
template <class T>
requires std::is_floating_point_v<T> GALOP_INLINE V<T> power(V<T> x, V<T> y) {
  const V<T> one(T(1));
  V<T> r = power_of(x, y);
  if constexpr (kRepair) {
    const MaskOf<T> beyond = isinf(r) & isfinite(x) & isfinite(y) & (x != V<T>(T(0)));
    if (any(beyond)) r = select(beyond, lane_by_lane(x, y, [](T a, T b) { return std::pow(a, b); }), r);
  }
  return select((x == one) | (y == V<T>(T(0))), one, r);
}

// log(exp(x) + exp(y)) without overflow; equal infinities must not meet in x - y. Where a negative operand and the
// logarithm nearly cancel, only the C library's own values, which NumPy uses, agree with NumPy to more than an absolute
// error.
template <class T, class Small, class Exact>
GALOP_INLINE V<T> log_of_sum(V<T> x, V<T> y, V<T> log2, Small small, Exact exact) {
  const V<T> d = x - y;
  const V<T> large = select(d > V<T>(T(0)), x, y);
  V<T> r = large + small(negative(absolute(d)));
  const MaskOf<T> cancels = (large < V<T>(T(0))) & (absolute(r) < V<T>(T(1)));
  if (__builtin_expect(any(cancels), 0)) r = select(cancels, lane_by_lane(x, y, exact), r);
  return select(x == y, x + log2, select(d != d, d, r));
}
template <class T>
GALOP_INLINE V<T> logaddexp(V<T> x, V<T> y) {
  const auto small = [](V<T> d) HWY_ATTR { return log1p(exp(d)); };
  const auto exact = [](T a, T b) { return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b)); };
  return log_of_sum(x, y, V<T>(kLogOf2<T>), small, exact);
}
template <class T>
GALOP_INLINE V<T> logaddexp2(V<T> x, V<T> y) {
  constexpr T log2e = static_cast<T>(1.442695040888963407359924681001892137L);
  const auto small = [](V<T> d) HWY_ATTR { return V<T>(log2e) * log1p(exp2(d)); };
  const auto exact = [](T a, T b) {
    return a > b ? a + log2e * std::log1p(std::exp2(b - a)) : b + log2e * std::log1p(std::exp2(a - b));
  };
  return log_of_sum(x, y, V<T>(T(1)), small, exact);
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
