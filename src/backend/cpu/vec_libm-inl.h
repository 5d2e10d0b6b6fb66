// The C library's functions over lanes of float and double, from the libraries that libm.def names, and what is built
// on them.
#if defined(GALOP_CPU_VEC_LIBM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_VEC_LIBM_INL_H_
#undef GALOP_CPU_VEC_LIBM_INL_H_
#else
#define GALOP_CPU_VEC_LIBM_INL_H_
#endif

#include "backend/cpu/vec_math-inl.h"

// Clang passes vectors of more than 16 bytes in memory where only a pragma enables AVX, and not its whole file (LLVM's
// issues 53619 and 64706). The libraries expect them in registers, so with clang they are called through libm_avx2.cpp
// and libm_avx3.cpp, which are compiled for their instruction set as a whole.
#undef GALOP_LIBM_CALLS
#if defined(__clang__) && HWY_TARGET == HWY_AVX2
#define GALOP_LIBM_CALLS libm_avx2
#elif defined(__clang__) && HWY_TARGET == HWY_AVX3
#define GALOP_LIBM_CALLS libm_avx3
#endif

#ifdef GALOP_LIBM_CALLS
namespace galop::cpu::GALOP_LIBM_CALLS {
#define GALOP_LIBM1_D(ours, symbol_d) void ours##_d(void* r, const void* x) noexcept;
#define GALOP_LIBM1(ours, symbol_d, symbol_f) \
  GALOP_LIBM1_D(ours, symbol_d)               \
  void ours##_f(void* r, const void* x) noexcept;
#define GALOP_LIBM2(ours, symbol_d, symbol_f)                    \
  void ours##_d(void* r, const void* x, const void* y) noexcept; \
  void ours##_f(void* r, const void* x, const void* y) noexcept;
#include "backend/cpu/libm.def"
}  // namespace galop::cpu::GALOP_LIBM_CALLS
#endif

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

#ifdef GALOP_LIBM_CALLS
template <class T>
GALOP_INLINE V<T> call_out(void (*f)(void*, const void*) noexcept, V<T> x) {
  V<T> r;
  f(&r.v, &x.v);
  return r;
}
template <class T>
GALOP_INLINE V<T> call_out(void (*f)(void*, const void*, const void*) noexcept, V<T> x, V<T> y) {
  V<T> r;
  f(&r.v, &x.v, &y.v);
  return r;
}
#define GALOP_LIBM1_D(ours, symbol_d) \
  GALOP_INLINE V<double> ours(V<double> x) { return call_out(GALOP_LIBM_CALLS::ours##_d, x); }
#define GALOP_LIBM1(ours, symbol_d, symbol_f) \
  GALOP_LIBM1_D(ours, symbol_d)               \
  GALOP_INLINE V<float> ours(V<float> x) { return call_out(GALOP_LIBM_CALLS::ours##_f, x); }
#define GALOP_LIBM2(ours, symbol_d, symbol_f)                                                                  \
  GALOP_INLINE V<double> ours(V<double> x, V<double> y) { return call_out(GALOP_LIBM_CALLS::ours##_d, x, y); } \
  GALOP_INLINE V<float> ours(V<float> x, V<float> y) { return call_out(GALOP_LIBM_CALLS::ours##_f, x, y); }
#else
// Neither library's header declares functions for a target that a pragma chooses, so they are declared here.
using RawD = V<double>::Raw;
using RawF = V<float>::Raw;
#define GALOP_LIBM1_D(ours, symbol_d) \
  extern "C" RawD symbol_d(RawD);     \
  GALOP_INLINE V<double> ours(V<double> x) { return V<double>(symbol_d(x.v)); }
#define GALOP_LIBM1(ours, symbol_d, symbol_f) \
  GALOP_LIBM1_D(ours, symbol_d)               \
  extern "C" RawF symbol_f(RawF);             \
  GALOP_INLINE V<float> ours(V<float> x) { return V<float>(symbol_f(x.v)); }
#define GALOP_LIBM2(ours, symbol_d, symbol_f)                                                     \
  extern "C" RawD symbol_d(RawD, RawD);                                                           \
  extern "C" RawF symbol_f(RawF, RawF);                                                           \
  GALOP_INLINE V<double> ours(V<double> x, V<double> y) { return V<double>(symbol_d(x.v, y.v)); } \
  GALOP_INLINE V<float> ours(V<float> x, V<float> y) { return V<float>(symbol_f(x.v, y.v)); }
#endif
#include "backend/cpu/libm.def"

#ifdef GALOP_USE_MVEC
// libmvec's reduction of huge float64 angles loses up to 8 ULP near multiples of pi / 2; SLEEF's does not.
#define GALOP_ANGLE(name)                                                       \
  GALOP_INLINE V<double> name(V<double> x) {                                    \
    const auto huge = absolute(x) > V<double>(0x1p20);                          \
    V<double> r = name##_of(x);                                                 \
    if (__builtin_expect(any(huge), 0)) r = select(huge, name##_of_huge(x), r); \
    return r;                                                                   \
  }                                                                             \
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

// libmvec computes what is beyond the domain one after the other.
template <class T>
GALOP_INLINE V<T> nan_beyond(MaskOf<T> inside, V<T> x, V<T> r) {
  return select(inside, r, select(x != x, x, V<T>(std::numeric_limits<T>::quiet_NaN())));
}
template <class T>
GALOP_INLINE V<T> arcsin(V<T> x) {
  const MaskOf<T> inside = absolute(x) <= V<T>(T(1));
  return nan_beyond(inside, x, arcsin_of(select(inside, x, V<T>(T(0)))));
}
template <class T>
GALOP_INLINE V<T> arctanh(V<T> x) {
  const V<T> one(T(1)), a = absolute(x);
  const V<T> r = arctanh_of(select(a < one, x, V<T>(T(0))));
  return nan_beyond(a <= one, x, select(a == one, copysign(V<T>(std::numeric_limits<T>::infinity()), x), r));
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
  if (!any(x != y)) return x + log2;
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
