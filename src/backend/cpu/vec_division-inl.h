// Division of integers over lanes, exact through floats: float holds every quotient of 8- and 16-bit integers, double
// those of 32-bit ones, and of 64-bit ones below 2**51 (larger ones go lane by lane). A rounded quotient never falls
// below the true one's integer part, and reaches the next integer only where the remainder then shows it.
//
// x / 0 is 0 and raises the division flag; the lowest integer divided by -1 wraps to itself (NumPy's rules).
#if defined(GALOP_CPU_VEC_DIVISION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_VEC_DIVISION_INL_H_
#undef GALOP_CPU_VEC_DIVISION_INL_H_
#else
#define GALOP_CPU_VEC_DIVISION_INL_H_
#endif

#include "backend/cpu/scalar_math.hpp"
#include "backend/cpu/vec_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

template <class T>
using Quotient = std::conditional_t<sizeof(T) <= 2, float, double>;

/// The lanes in which integers of type T are divided: as many as the floats that hold their quotients.
template <class T>
using DivisionLanes = std::conditional_t<sizeof(T) == 8, V<T>, Part<T, V<Quotient<T>>::N>>;

template <class T, int N>
GALOP_INLINE V<Quotient<T>> to_quotient(Part<T, N> x) {
  return V<Quotient<T>>(simple<Quotient<T>>(x).v);
}
template <class T, int N>
GALOP_INLINE Part<T, N> from_quotient(V<Quotient<T>> q) {
  using Ints = typename Part<std::int32_t, N>::Raw;
  if constexpr (std::is_same_v<T, std::uint32_t>) {  // no instruction for it before AVX-512
    const auto upper = q.v >= 0x1p31;
    const Ints low = __builtin_convertvector(upper ? q.v - 0x1p31 : q.v, Ints);
    const Ints top = __builtin_convertvector(upper, Ints) & std::numeric_limits<std::int32_t>::min();
    return {(typename Part<T, N>::Raw)(low ^ top)};
  } else {
    return simple<T>(Part<std::int32_t, N>{__builtin_convertvector(q.v, Ints)});
  }
}

/// Quotient and remainder in whole floats, rounded down if Floor, else towards zero.
template <bool Floor, class F>
GALOP_INLINE Pair<V<F>, V<F>> divide_whole(V<F> x, V<F> y) {
  const V<F> zero(F(0));
  const V<F> one(F(1));
  const MaskOf<F> by_zero = y == zero;
  V<F> q = trunc(select(by_zero, one, x) / y);
  q = select(by_zero, zero, q);
  V<F> r = select(by_zero, zero, x - q * y);
  if constexpr (Floor) {
    const MaskOf<F> below = (r != zero) & ((r < zero) ^ (y < zero));
    q = select(below, q - one, q);
    r = select(below, r + y, r);
  }
  return {q, r};
}

template <class T, int N>
GALOP_INLINE Pair<Part<T, N>, Part<T, N>> divmod(Part<T, N> x, Part<T, N> y) {
  const auto r = divide_whole<std::is_signed_v<T>>(to_quotient(x), to_quotient(y));
  return {from_quotient<T, N>(r.first), from_quotient<T, N>(r.second)};
}
template <class T, int N>
GALOP_INLINE Part<T, N> floor_divide(Part<T, N> x, Part<T, N> y) {
  return divmod(x, y).first;
}
template <class T, int N>
GALOP_INLINE Part<T, N> remainder(Part<T, N> x, Part<T, N> y) {
  return divmod(x, y).second;
}
template <class T, int N>
GALOP_INLINE Part<T, N> fmod(Part<T, N> x, Part<T, N> y) {
  return from_quotient<T, N>(divide_whole<false>(to_quotient(x), to_quotient(y)).second);
}

// 64 bits. Integers within 2**51 and doubles meet in the bits of 1.5 * 2**52 + x.

inline constexpr double kMagic = 0x1.8p52;
inline constexpr std::int64_t kMagicBits = 0x4338000000000000;

template <bool Floor, class T>
GALOP_INLINE Pair<V<T>, V<T>> divide_long(V<T> x, V<T> y) {
  using I = V<std::int64_t>;
  const I a = signed_bits(x);
  const I b = signed_bits(y);
  const I limit(std::int64_t(1) << 51);
  const MaskOf<T> large = ~((a < limit) & (a > negative(limit)) & (b < limit) & (b > negative(limit)));
  const bool beyond = any(large) || (std::is_unsigned_v<T> && any((a < I(std::int64_t(0))) | (b < I(std::int64_t(0)))));
  if (__builtin_expect(beyond, 0)) {
    alignas(kBytes) T p[V<T>::N], d[V<T>::N];
    x.store(reinterpret_cast<char*>(p));
    y.store(reinterpret_cast<char*>(d));
    for (int i = 0; i < V<T>::N; ++i) {
      const Lane<T> n{p[i]};
      const Lane<T> m{d[i]};
      const auto both = divmod(n, m);
      p[i] = both.first.v;
      d[i] = Floor ? both.second.v : fmod(n, m).v;
    }
    return {V<T>::load(reinterpret_cast<const char*>(p)), V<T>::load(reinterpret_cast<const char*>(d))};
  }
  const auto to_double = [](I i) HWY_ATTR { return from_bits<double>(bits(i + I(kMagicBits))) - V<double>(kMagic); };
  const V<double> zero(0.0);
  const V<double> divisor = to_double(b);
  const MaskOf<T> by_zero = divisor == zero;
  const V<double> ratio = trunc(select(by_zero, V<double>(1.0), to_double(a)) / divisor);
  const I none(std::int64_t(0));
  I q = signed_bits(select(by_zero, zero, ratio) + V<double>(kMagic)) - I(kMagicBits);
  I r = select(by_zero, none, a - q * b);
  // The rounded ratio may be one too far from zero; then the remainder has the wrong sign.
  const MaskOf<T> over = (r != none) & ((r < none) ^ (a < none));
  const I step = select((a < none) ^ (b < none), I(std::int64_t(-1)), I(std::int64_t(1)));
  q = select(over, q - step, q);
  r = select(over, r + select((a < none) ^ (b < none), negative(b), b), r);
  if constexpr (Floor && std::is_signed_v<T>) {
    const MaskOf<T> below = (r != none) & ((r < none) ^ (b < none));
    q = select(below, q - I(std::int64_t(1)), q);
    r = select(below, r + b, r);
  }
  return {from_bits<T>(bits(q)), from_bits<T>(bits(r))};
}
template <class T>
requires std::is_integral_v<T> GALOP_INLINE Pair<V<T>, V<T>> divmod(V<T> x, V<T> y) { return divide_long<true>(x, y); }
template <class T>
requires std::is_integral_v<T> GALOP_INLINE V<T> floor_divide(V<T> x, V<T> y) { return divide_long<true>(x, y).first; }
template <class T>
requires std::is_integral_v<T> GALOP_INLINE V<T> remainder(V<T> x, V<T> y) { return divide_long<true>(x, y).second; }
template <class T>
requires std::is_integral_v<T> GALOP_INLINE V<T> fmod(V<T> x, V<T> y) { return divide_long<false>(x, y).second; }

/// x ** y by squaring, modulo 2**width; as many rounds as the greatest exponent has bits. Exponents are not negative,
/// so unsigned lanes serve signed integers as well.
template <class T>
requires std::is_integral_v<T> GALOP_INLINE V<T> power(V<T> x, V<T> y) {
  const V<T> zero(T(0));
  V<T> result(T(1));
  while (any(y != zero)) {
    result = select((y & V<T>(T(1))) != zero, result * x, result);
    x = x * x;
    y = V<T>(y.v >> 1);
  }
  return result;
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
