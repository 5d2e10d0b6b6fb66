// The C library's functions over lanes of float and double: glibc's libmvec where its result is within 4 ULP everywhere and every
// special value exact, SLEEF elsewhere. tests/cpp/vec_libm_test.cpp holds both to that.
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
#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define GALOP_USE_MVEC 1
#endif
#endif

// GALOP_<source>_<type>(args, libmvec's name, SLEEF's name, SLEEF's bound): the symbol.
#undef GALOP_FAST_D
#undef GALOP_FAST_F
#ifdef GALOP_USE_MVEC
#define GALOP_FAST_D(args, name, sleef, ulp) GALOP_MVEC_D(args, name)
#define GALOP_FAST_F(args, name, sleef, ulp) GALOP_MVEC_F(args, name)
#else
#define GALOP_FAST_D(args, name, sleef, ulp) GALOP_SLEEF_D(sleef, ulp)
#define GALOP_FAST_F(args, name, sleef, ulp) GALOP_SLEEF_F(sleef, ulp)
#endif
#undef GALOP_EXACT_D
#undef GALOP_EXACT_F
#define GALOP_EXACT_D(args, name, sleef, ulp) GALOP_SLEEF_D(sleef, ulp)
#define GALOP_EXACT_F(args, name, sleef, ulp) GALOP_SLEEF_F(sleef, ulp)

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

using RawD = V<double>::Raw;
using RawF = V<float>::Raw;

#define GALOP_LIBM1(ours, symbol_d, symbol_f)                                                     \
  extern "C" RawD symbol_d(RawD);                                                                 \
  extern "C" RawF symbol_f(RawF);                                                                 \
  GALOP_INLINE V<double> ours(V<double> x) { return V<double>(symbol_d(x.v)); }                   \
  GALOP_INLINE V<float> ours(V<float> x) { return V<float>(symbol_f(x.v)); }
#define GALOP_LIBM2(ours, symbol_d, symbol_f)                                                              \
  extern "C" RawD symbol_d(RawD, RawD);                                                                    \
  extern "C" RawF symbol_f(RawF, RawF);                                                                    \
  GALOP_INLINE V<double> ours(V<double> x, V<double> y) { return V<double>(symbol_d(x.v, y.v)); }          \
  GALOP_INLINE V<float> ours(V<float> x, V<float> y) { return V<float>(symbol_f(x.v, y.v)); }

GALOP_LIBM1(exp, GALOP_FAST_D(v, exp, exp, u10), GALOP_FAST_F(v, exp, exp, u10))
GALOP_LIBM1(exp2, GALOP_FAST_D(v, exp2, exp2, u10), GALOP_FAST_F(v, exp2, exp2, u10))
GALOP_LIBM1(expm1, GALOP_FAST_D(v, expm1, expm1, u10), GALOP_FAST_F(v, expm1, expm1, u10))
GALOP_LIBM1(log, GALOP_FAST_D(v, log, log, u10), GALOP_FAST_F(v, log, log, u10))
GALOP_LIBM1(log2, GALOP_FAST_D(v, log2, log2, u10), GALOP_FAST_F(v, log2, log2, u10))
GALOP_LIBM1(log10, GALOP_FAST_D(v, log10, log10, u10), GALOP_FAST_F(v, log10, log10, u10))
GALOP_LIBM1(log1p, GALOP_FAST_D(v, log1p, log1p, u10), GALOP_FAST_F(v, log1p, log1p, u10))
GALOP_LIBM1(sin, GALOP_FAST_D(v, sin, sin, u10), GALOP_FAST_F(v, sin, sin, u10))
GALOP_LIBM1(cos, GALOP_FAST_D(v, cos, cos, u10), GALOP_FAST_F(v, cos, cos, u10))
GALOP_LIBM1(tan, GALOP_FAST_D(v, tan, tan, u10), GALOP_FAST_F(v, tan, tan, u10))
GALOP_LIBM1(arcsin, GALOP_FAST_D(v, asin, asin, u10), GALOP_FAST_F(v, asin, asin, u10))
GALOP_LIBM1(arccos, GALOP_FAST_D(v, acos, acos, u10), GALOP_FAST_F(v, acos, acos, u10))
GALOP_LIBM1(arctan, GALOP_FAST_D(v, atan, atan, u10), GALOP_FAST_F(v, atan, atan, u10))
GALOP_LIBM1(sinh, GALOP_FAST_D(v, sinh, sinh, u10), GALOP_FAST_F(v, sinh, sinh, u10))
GALOP_LIBM1(cosh, GALOP_FAST_D(v, cosh, cosh, u10), GALOP_FAST_F(v, cosh, cosh, u10))
GALOP_LIBM1(tanh, GALOP_FAST_D(v, tanh, tanh, u10), GALOP_FAST_F(v, tanh, tanh, u10))
GALOP_LIBM1(arcsinh, GALOP_FAST_D(v, asinh, asinh, u10), GALOP_FAST_F(v, asinh, asinh, u10))
GALOP_LIBM1(arccosh, GALOP_FAST_D(v, acosh, acosh, u10), GALOP_FAST_F(v, acosh, acosh, u10))
GALOP_LIBM1(arctanh, GALOP_FAST_D(v, atanh, atanh, u10), GALOP_FAST_F(v, atanh, atanh, u10))
GALOP_LIBM1(cbrt, GALOP_FAST_D(v, cbrt, cbrt, u10), GALOP_FAST_F(v, cbrt, cbrt, u10))
GALOP_LIBM1(erf, GALOP_FAST_D(v, erf, erf, u10), GALOP_FAST_F(v, erf, erf, u10))
GALOP_LIBM1(erfc, GALOP_FAST_D(v, erfc, erfc, u15), GALOP_FAST_F(v, erfc, erfc, u15))
GALOP_LIBM2(power, GALOP_FAST_D(vv, pow, pow, u10), GALOP_FAST_F(vv, pow, pow, u10))
GALOP_LIBM2(arctan2, GALOP_FAST_D(vv, atan2, atan2, u10), GALOP_FAST_F(vv, atan2, atan2, u10))
GALOP_LIBM2(hypot, GALOP_FAST_D(vv, hypot, hypot, u05), GALOP_FAST_F(vv, hypot, hypot, u05))
#undef GALOP_LIBM1
#undef GALOP_LIBM2

// log(exp(x) + exp(y)) without overflow; equal infinities must not meet in x - y.
template <class T>
GALOP_INLINE V<T> logaddexp(V<T> x, V<T> y) {
  const V<T> d = x - y;
  const V<T> r = select(d > V<T>(T(0)), x, y) + log1p(exp(negative(absolute(d))));
  return select(x == y, x + V<T>(static_cast<T>(0.693147180559945309417232121458176568L)), select(d != d, d, r));
}
template <class T>
GALOP_INLINE V<T> logaddexp2(V<T> x, V<T> y) {
  const V<T> d = x - y;
  const V<T> log2e(static_cast<T>(1.442695040888963407359924681001892137L));
  const V<T> r = select(d > V<T>(T(0)), x, y) + log2e * log1p(exp2(negative(absolute(d))));
  return select(x == y, x + V<T>(T(1)), select(d != d, d, r));
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
