// The leaf functions of ops.def over lanes of integers and floats. A new one is written here once, in terms of V<T>,
// and in the CUDA prelude. Functions of the C library's kind are bound in vec_libm-inl.h, complex numbers are in
// vec_complex-inl.h.
#if defined(GALOP_CPU_VEC_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_VEC_MATH_INL_H_
#undef GALOP_CPU_VEC_MATH_INL_H_
#else
#define GALOP_CPU_VEC_MATH_INL_H_
#endif

#include <limits>

#include "backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

template <class T>
inline constexpr Uint<T> kSignBit = static_cast<Uint<T>>(Uint<T>(1) << (8 * sizeof(T) - 1));
template <class T>
inline constexpr Uint<T> kInfBits = static_cast<Uint<T>>(sizeof(T) == 4 ? 0x7f800000u : 0x7ff0000000000000u);
inline constexpr bool kHasFma = HWY_TARGET != HWY_SSE4;

// Instructions that the vector types do not name.
#define GALOP_BY_TYPE(f64, f32)             \
  if constexpr (sizeof(T) == 8)             \
    return V<T>((typename V<T>::Raw)(f64)); \
  else                                      \
    return V<T>((typename V<T>::Raw)(f32))
#if HWY_TARGET == HWY_AVX3
template <class T>
GALOP_INLINE V<T> sqrt(V<T> x) {
  GALOP_BY_TYPE(_mm512_maskz_sqrt_pd(0xff, (__m512d)x.v), _mm512_maskz_sqrt_ps(0xffff, (__m512)x.v));
}
template <int Mode, class T>
GALOP_INLINE V<T> rounded(V<T> x) {
  GALOP_BY_TYPE(_mm512_maskz_roundscale_pd(0xff, (__m512d)x.v, Mode | 8),
                _mm512_maskz_roundscale_ps(0xffff, (__m512)x.v, Mode | 8));
}
template <class T>
GALOP_INLINE V<T> fused(V<T> x, V<T> y, V<T> z) {  // x * y + z, rounded once
  GALOP_BY_TYPE(_mm512_fmadd_pd((__m512d)x.v, (__m512d)y.v, (__m512d)z.v),
                _mm512_fmadd_ps((__m512)x.v, (__m512)y.v, (__m512)z.v));
}
#elif HWY_TARGET == HWY_AVX2
template <class T>
GALOP_INLINE V<T> sqrt(V<T> x) {
  GALOP_BY_TYPE(_mm256_sqrt_pd((__m256d)x.v), _mm256_sqrt_ps((__m256)x.v));
}
template <int Mode, class T>
GALOP_INLINE V<T> rounded(V<T> x) {
  GALOP_BY_TYPE(_mm256_round_pd((__m256d)x.v, Mode | 8), _mm256_round_ps((__m256)x.v, Mode | 8));
}
template <class T>
GALOP_INLINE V<T> fused(V<T> x, V<T> y, V<T> z) {
  GALOP_BY_TYPE(_mm256_fmadd_pd((__m256d)x.v, (__m256d)y.v, (__m256d)z.v),
                _mm256_fmadd_ps((__m256)x.v, (__m256)y.v, (__m256)z.v));
}
#elif HWY_TARGET == HWY_SSE4
template <class T>
GALOP_INLINE V<T> sqrt(V<T> x) {
  GALOP_BY_TYPE(_mm_sqrt_pd((__m128d)x.v), _mm_sqrt_ps((__m128)x.v));
}
template <int Mode, class T>
GALOP_INLINE V<T> rounded(V<T> x) {
  GALOP_BY_TYPE(_mm_round_pd((__m128d)x.v, Mode | 8), _mm_round_ps((__m128)x.v, Mode | 8));
}
template <class T>
GALOP_INLINE V<T> fused(V<T> x, V<T> y, V<T> z) {  // rounded twice, where there is no such instruction
  return V<T>(x.v * y.v + z.v);
}
#else
template <class T>
GALOP_INLINE V<T> sqrt(V<T> x) {
  GALOP_BY_TYPE(vsqrtq_f64((float64x2_t)x.v), vsqrtq_f32((float32x4_t)x.v));
}
template <int Mode, class T>  // x86's modes: 0 nearest, 1 down, 2 up, 3 towards zero
GALOP_INLINE V<T> rounded(V<T> x) {
  if constexpr (Mode == 0) {
    GALOP_BY_TYPE(vrndnq_f64((float64x2_t)x.v), vrndnq_f32((float32x4_t)x.v));
  } else if constexpr (Mode == 1) {
    GALOP_BY_TYPE(vrndmq_f64((float64x2_t)x.v), vrndmq_f32((float32x4_t)x.v));
  } else if constexpr (Mode == 2) {
    GALOP_BY_TYPE(vrndpq_f64((float64x2_t)x.v), vrndpq_f32((float32x4_t)x.v));
  } else {
    GALOP_BY_TYPE(vrndq_f64((float64x2_t)x.v), vrndq_f32((float32x4_t)x.v));
  }
}
template <class T>
GALOP_INLINE V<T> fused(V<T> x, V<T> y, V<T> z) {
  GALOP_BY_TYPE(vfmaq_f64((float64x2_t)z.v, (float64x2_t)x.v, (float64x2_t)y.v),
                vfmaq_f32((float32x4_t)z.v, (float32x4_t)x.v, (float32x4_t)y.v));
}
#endif
#undef GALOP_BY_TYPE

template <class T>
GALOP_INLINE V<T> rint(V<T> x) {
  return rounded<0>(x);
}
template <class T>
GALOP_INLINE V<T> floor(V<T> x) {
  return rounded<1>(x);
}
template <class T>
GALOP_INLINE V<T> ceil(V<T> x) {
  return rounded<2>(x);
}
template <class T>
GALOP_INLINE V<T> trunc(V<T> x) {
  return rounded<3>(x);
}

// Signs, classes and parts.

template <class T>
GALOP_INLINE V<T> absolute(V<T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return from_bits<T>(bits(x) & V<Uint<T>>(static_cast<Uint<T>>(~kSignBit<T>)));
  } else {
    return select(x < V<T>(T(0)), V<T>(T(0)) - x, x);
  }
}
template <class T>
GALOP_INLINE V<T> negative(V<T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return V<T>(-x.v);
  } else {
    return V<T>(T(0)) - x;
  }
}
template <class T>
GALOP_INLINE V<T> conjugate(V<T> x) {
  return x;
}
template <class T>
GALOP_INLINE V<T> copysign(V<T> x, V<T> y) {
  const V<Uint<T>> sign(kSignBit<T>);
  return from_bits<T>((bits(x) & ~sign) | (bits(y) & sign));
}
template <class T>
GALOP_INLINE V<T> sign(V<T> x) {
  const V<T> zero(T(0));
  V<T> r = select(x > zero, V<T>(T(1)), zero);
  if constexpr (std::is_signed_v<T>) r = select(x < zero, V<T>(T(-1)), r);
  if constexpr (std::is_floating_point_v<T>) r = select(x != x, x, r);
  return r;
}
template <class T>
GALOP_INLINE MaskOf<T> truth(V<T> x) {
  return x != V<T>(T(0));
}
template <class T>
GALOP_INLINE MaskOf<T> isnan(V<T> x) {
  return x != x;
}
template <class T>
GALOP_INLINE MaskOf<T> isfinite(V<T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return signed_bits(absolute(x)) < V<Int<T>>(static_cast<Int<T>>(kInfBits<T>));
  } else {
    return x == x;
  }
}
template <class T>
GALOP_INLINE MaskOf<T> isinf(V<T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return signed_bits(absolute(x)) == V<Int<T>>(static_cast<Int<T>>(kInfBits<T>));
  } else {
    return x != x;
  }
}
template <class T>
GALOP_INLINE MaskOf<T> signbit(V<T> x) {
  return signed_bits(x) < V<Int<T>>(Int<T>(0));
}
template <class T>
GALOP_INLINE V<T> heaviside(V<T> x, V<T> y) {
  const V<T> zero(T(0));
  return select(x != x, x, select(x == zero, y, select(x < zero, zero, V<T>(T(1)))));
}
template <class T>
GALOP_INLINE V<T> nextafter(V<T> x, V<T> y) {
  using I = Int<T>;
  const V<T> zero(T(0));
  const MaskOf<T> outwards = (x < y) ^ (x < zero);  // away from zero, for x other than 0
  V<T> r = from_bits<T>(bits(x) + bits(select(outwards, V<I>(I(1)), V<I>(I(-1)))));
  r = select(x == zero, copysign(V<T>(std::numeric_limits<T>::denorm_min()), y), r);
  r = select(x == y, y, r);
  return select((x != x) | (y != y), x + y, r);
}
template <class T>
GALOP_INLINE V<T> spacing(V<T> x) {
  const V<T> next = from_bits<T>(bits(x) + V<Uint<T>>(Uint<T>(1)));
  return select(isinf(x), x - x, select(x == V<T>(T(0)), V<T>(std::numeric_limits<T>::denorm_min()), next - x));
}
template <class T>
GALOP_INLINE Pair<V<T>, V<T>> modf(V<T> x) {
  const V<T> whole = trunc(x);
  return {copysign(select(isinf(x), V<T>(T(0)), x - whole), x), whole};
}
/// Mantissa in [0.5, 1) and exponent; numbers below the normal range are scaled up first.
template <class T>
GALOP_INLINE Pair<V<T>, Part<std::int32_t, V<T>::N>> frexp(V<T> x) {
  using I = Int<T>;
  constexpr int digits = std::numeric_limits<T>::digits;
  constexpr I bias = static_cast<I>(std::numeric_limits<T>::max_exponent - 2);
  const V<I> none(I(0));
  const MaskOf<T> small = absolute(x) < V<T>(std::numeric_limits<T>::min());
  const V<T> scaled = select(small, x * V<T>(static_cast<T>(std::int64_t(1) << digits)), x);
  const V<Uint<T>> field(kInfBits<T>);
  const V<I> power_of_two(((typename V<I>::Raw)(bits(scaled) & field).v) >> (digits - 1));
  const MaskOf<T> itself = ~isfinite(x) | (x == V<T>(T(0)));
  const V<I> exponent =
      select(itself, none, power_of_two - select(small, V<I>(static_cast<I>(bias + digits)), V<I>(bias)));
  const V<T> mantissa =
      from_bits<T>((bits(scaled) & ~field) | V<Uint<T>>(static_cast<Uint<T>>(Uint<T>(bias) << (digits - 1))));
  return {select(itself, x, mantissa),
          {__builtin_convertvector(exponent.v, typename Part<std::int32_t, V<T>::N>::Raw)}};
}

// Least and greatest. Of equal values the second counts, as in the x86 instructions that NumPy uses: maximum(-0.0, 0.0)
// is 0.0 and maximum(0.0, -0.0) is -0.0.

template <class T>
GALOP_INLINE V<T> maximum(V<T> x, V<T> y) {
  if constexpr (std::is_floating_point_v<T>)
    return select((x > y) | (x != x), x, y);
  else
    return select(x > y, x, y);
}
template <class T>
GALOP_INLINE V<T> minimum(V<T> x, V<T> y) {
  if constexpr (std::is_floating_point_v<T>)
    return select((x < y) | (x != x), x, y);
  else
    return select(x < y, x, y);
}
template <class T>
GALOP_INLINE V<T> fmax(V<T> x, V<T> y) {
  return select((x > y) | (y != y), x, y);
}
template <class T>
GALOP_INLINE V<T> fmin(V<T> x, V<T> y) {
  return select((x < y) | (y != y), x, y);
}
template <class T>
GALOP_INLINE V<T> clip(V<T> x, V<T> low, V<T> high) {
  return minimum(maximum(x, low), high);
}

// Arithmetic.

template <class T>
GALOP_INLINE V<T> reciprocal(V<T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return V<T>(T(1)) / x;
  } else {  // NumPy converts 1.0 / x: 0 gives x86's conversion of an infinity
    const T of_zero = std::is_signed_v<T> && sizeof(T) >= 4 ? std::numeric_limits<T>::min() : T(0);
    V<T> r = select(x == V<T>(T(1)), x, V<T>(T(0)));
    if constexpr (std::is_signed_v<T>) r = select(x == V<T>(T(-1)), x, r);
    return select(x == V<T>(T(0)), V<T>(of_zero), r);
  }
}
template <class T>
GALOP_INLINE V<T> degrees(V<T> x) {
  return x * V<T>(T(180) / static_cast<T>(3.141592653589793238462643383279502884L));
}
template <class T>
GALOP_INLINE V<T> radians(V<T> x) {
  return x * V<T>(static_cast<T>(3.141592653589793238462643383279502884L) / T(180));
}

/// Exact remainder of truncated division. Quotients below 2**(digits - 1) come from one fused multiplication; the rest,
/// and every special value, from the C library, which is exact as well.
template <class T>
requires std::is_floating_point_v<T> GALOP_INLINE V<T> fmod(V<T> x, V<T> y) {
  const auto by_library = [](T a, T b) { return std::fmod(a, b); };
  if constexpr (!kHasFma) {
    return lane_by_lane(x, y, by_library);
  } else {
    const V<T> zero(T(0));
    const V<T> ratio = x / y;
    const V<T> q = trunc(ratio);
    V<T> r = select(q == zero, x, fused(negative(q), y, x));
    // The rounded ratio may have reached the next integer; then the remainder is short of one y.
    const MaskOf<T> over = (r != zero) & ((r < zero) ^ (x < zero));
    r = copysign(select(over, r + copysign(y, x), r), x);
    const T limit = static_cast<T>(std::int64_t(1) << (std::numeric_limits<T>::digits - 1));
    const MaskOf<T> beyond = ~(absolute(ratio) < V<T>(limit));
    if (__builtin_expect(any(beyond), 0)) r = select(beyond, lane_by_lane(x, y, by_library), r);
    return r;
  }
}
template <class T>
requires std::is_floating_point_v<T> GALOP_INLINE Pair<V<T>, V<T>> divmod(V<T> x, V<T> y) {
  const V<T> zero(T(0));
  const V<T> one(T(1));
  const V<T> ratio = x / y;
  V<T> r = fmod(x, y);
  V<T> q = (x - r) / y;
  const MaskOf<T> adjust = (r != zero) & ((y < zero) ^ (r < zero));
  q = select(adjust, q - one, q);
  r = select(r == zero, copysign(zero, y), select(adjust, r + y, r));
  V<T> down = floor(q);
  down = select(q - down > V<T>(T(0.5)), down + one, down);
  down = select(q == zero, copysign(zero, ratio), down);
  return {select(y == zero, ratio, down), r};
}
template <class T>
requires std::is_floating_point_v<T> GALOP_INLINE V<T> floor_divide(V<T> x, V<T> y) { return divmod(x, y).first; }
template <class T>
requires std::is_floating_point_v<T> GALOP_INLINE V<T> remainder(V<T> x, V<T> y) {
  const V<T> zero(T(0));
  const V<T> r = fmod(x, y);
  return select(r == zero, copysign(zero, y), select((y < zero) ^ (r < zero), r + y, r));
}

// Bits. Shifts by the width or more, and by negative amounts, give 0, or -1 for a negative number shifted right.

template <class T>
GALOP_INLINE V<T> left_shift(V<T> x, V<T> y) {
  constexpr T width = static_cast<T>(8 * sizeof(T));
  const V<T> low = y & V<T>(static_cast<T>(width - 1));
  return select(bits(y) < V<Uint<T>>(static_cast<Uint<T>>(width)), V<T>(x.v << low.v), V<T>(T(0)));
}
template <class T>
GALOP_INLINE V<T> right_shift(V<T> x, V<T> y) {
  constexpr T last = static_cast<T>(8 * sizeof(T) - 1);
  const MaskOf<T> within = bits(y) <= V<Uint<T>>(static_cast<Uint<T>>(last));
  if constexpr (std::is_signed_v<T>) {
    return V<T>(x.v >> select(within, y, V<T>(last)).v);
  } else {
    return select(within, V<T>(x.v >> (y & V<T>(last)).v), V<T>(T(0)));
  }
}
template <class T>
GALOP_INLINE Part<std::uint8_t, V<T>::N> bitwise_count(V<T> x) {
  using U = Uint<T>;
  constexpr U ones = static_cast<U>(~U(0));
  auto b = bits(std::is_signed_v<T> ? absolute(x) : x).v;
  b = b - ((b >> 1) & V<U>(U{ones / 3}).v);
  b = (b & V<U>(U{ones / 5}).v) + ((b >> 2) & V<U>(U{ones / 5}).v);
  b = (b + (b >> 4)) & V<U>(U{ones / 17}).v;
  if constexpr (sizeof(T) > 1) b = b + (b >> 8);
  if constexpr (sizeof(T) > 2) b = b + (b >> 16);
  if constexpr (sizeof(T) > 4) b = b + (b >> 32);
  b = b & V<U>(U{0x7f}).v;
  return {__builtin_convertvector(b, typename Part<std::uint8_t, V<T>::N>::Raw)};
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
