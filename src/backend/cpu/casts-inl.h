// Conversions between lanes of any two dtypes, by the rules of NumPy's astype(casting="unsafe") on x86-64.
//
// Floats become integers by truncation. Where the value does not fit (NumPy leaves that to the compiler): to int8,
// int16, uint8 and uint16 through int32, whose low bits remain; to int32 and int64 the lowest integer; to an unsigned
// type of width w from 2**(w-1) on through x - 2**(w-1), below that through the signed type. These are the results of
// NumPy's contiguous loops; its strided ones differ for uint32. ARM's instructions saturate instead. A signalling NaN
// turns quiet on its way between float types and keeps its payload.
#if defined(GALOP_CPU_CASTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_CASTS_INL_H_
#undef GALOP_CPU_CASTS_INL_H_
#else
#define GALOP_CPU_CASTS_INL_H_
#endif

#include "backend/cpu/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

/// N halves; `v` holds their bits.
template <int Lanes>
struct HalfPart {
  using Raw = typename RawOf<std::uint16_t, Lanes>::type;
  static constexpr int N = Lanes;
  static constexpr int kItem = 2;
  Raw v;
  static GALOP_INLINE HalfPart load(const char* p) { return {Part<std::uint16_t, Lanes>::load(p).v}; }
  GALOP_INLINE void store(char* p) const { Part<std::uint16_t, Lanes>{v}.store(p); }
};

template <class To, class From, int N>
GALOP_INLINE Part<To, N> same_bits(Part<From, N> x) {
  return {(typename Part<To, N>::Raw)x.v};
}

template <int N>
GALOP_INLINE Part<float, N> to_float(HalfPart<N> x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  if constexpr (N == 4) {
    std::uint64_t low;
    std::memcpy(&low, &x.v, 8);
    return {(typename Part<float, N>::Raw)_mm_cvtph_ps(_mm_cvtsi64_si128(static_cast<long long>(low)))};
  } else if constexpr (N == 8) {
    return {(typename Part<float, N>::Raw)_mm256_cvtph_ps((__m128i)x.v)};
  } else if constexpr (N == 16 && HWY_TARGET == HWY_AVX3) {
    return {(typename Part<float, N>::Raw)_mm512_maskz_cvtph_ps(0xffff, (__m256i)x.v)};
  }
#else
  using U = Part<std::uint32_t, N>;
  using Raw = typename U::Raw;
  const Raw bits = simple<std::uint32_t>(Part<std::uint16_t, N>{x.v}).v;
  const Raw sign = (bits & 0x8000u) << 16;
  const Raw magnitude = bits & 0x7fffu;
  // The shifted exponent is off by 112; a multiplication sets it right and normalises halves below 2**-14.
  const Part<float, N> scaled = same_bits<float>(U{magnitude << 13});
  const Raw finite = same_bits<std::uint32_t>(Part<float, N>{scaled.v * 0x1p112f}).v;
  const Raw nan_bit = magnitude > 0x7c00u ? Raw{} + 0x400000u : Raw{};  // a NaN turns quiet, as by the instruction
  const Raw special = (magnitude << 13) | 0x7f800000u | nan_bit;
  return same_bits<float>(U{(magnitude >= 0x7c00u ? special : finite) | sign});
#endif
}

template <int N>
GALOP_INLINE HalfPart<N> to_half(Part<float, N> x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  if constexpr (N == 4) {
    const __m128i r = _mm_cvtps_ph((__m128)x.v, 0);
    HalfPart<N> h;
    std::memcpy(&h.v, &r, 8);
    return h;
  } else if constexpr (N == 8) {
    return {(typename HalfPart<N>::Raw)_mm256_cvtps_ph((__m256)x.v, 0)};
  } else if constexpr (N == 16 && HWY_TARGET == HWY_AVX3) {
    return {(typename HalfPart<N>::Raw)_mm512_maskz_cvtps_ph(0xffff, (__m512)x.v, 0)};
  }
#else
  using U = Part<std::uint32_t, N>;
  using Raw = typename U::Raw;
  const Raw bits = same_bits<std::uint32_t>(x).v;
  const Raw magnitude = bits & 0x7fffffffu;
  // Normal halves: rounding is an integer addition on the float's bits. Smaller ones: adding 0.5 lets the adder round
  // at 2**-24.
  const Raw odd = (magnitude >> 13) & 1u;
  const Raw normal = (magnitude + 0xfffu + odd - 0x38000000u) >> 13;
  const Part<float, N> shifted{same_bits<float>(U{magnitude}).v + 0.5f};
  const Raw small = same_bits<std::uint32_t>(shifted).v - 0x3f000000u;
  const Raw nan = ((magnitude >> 13) & 0x3ffu) | 0x7e00u;
  Raw r = magnitude < 0x38800000u ? small : normal;
  // Too large: an infinity, by a product that raises the overflow flag as the instruction does.
  const Raw large = magnitude >= 0x477ff000u ? magnitude : Raw{};
  const Raw product = same_bits<std::uint32_t>(Part<float, N>{same_bits<float>(U{large}).v * 0x1p113f}).v;
  r = magnitude >= 0x477ff000u ? (product >> 13) & 0x7c00u : r;
  r = magnitude > 0x7f800000u ? nan : r;
  r |= (bits >> 16) & 0x8000u;
  return {simple<std::uint16_t>(U{r}).v};
#endif
}

/// x truncated to float, the last bit set where bits were lost: rounded on to half, that is x rounded once. (Below the
/// floats' normal range the conversion rounds, but every such value becomes a zero half.)
template <int N>
GALOP_INLINE Part<float, N> rounded_to_odd(Part<double, N> x) {
  using Raw = typename Part<std::uint64_t, N>::Raw;
  const Raw tail = Raw{} + 0x1fffffffu;
  const Raw bits = same_bits<std::uint64_t>(x).v;
  const Raw mark = (bits & tail) != 0 ? tail + 1u : Raw{};
  return simple<float>(same_bits<double>(Part<std::uint64_t, N>{(bits & ~tail) | mark}));
}

template <class To, class From, int N>
GALOP_INLINE Part<To, N> float_to_integer(Part<From, N> x) {
  if constexpr (sizeof(To) < 4) {
    return simple<To>(simple<std::int32_t>(x));
  } else if constexpr (std::is_signed_v<To>) {
    return simple<To>(x);
  } else {
    using I = std::make_signed_t<To>;
    using Raw = typename Part<From, N>::Raw;
    using Bits = typename Part<To, N>::Raw;
    const Raw half = Raw{} + static_cast<From>(To(1) << (8 * sizeof(To) - 1));
    const auto below = ~(x.v >= half);  // true for NaN
    const Bits low = (Bits)simple<I>(Part<From, N>{below ? x.v : x.v - half}).v;
    const Bits is_low = (Bits) __builtin_convertvector(below, typename Part<I, N>::Raw);
    return {low ^ (~is_low & (To(1) << (8 * sizeof(To) - 1)))};
  }
}

template <class To>
struct Cast {
  template <class From, int N>
  static GALOP_INLINE auto call(Part<From, N> x) {
    if constexpr (std::is_same_v<To, bool>) {
      const Part<Int<From>, N> mask{(typename Part<Int<From>, N>::Raw)(x.v != From(0))};
      return Part<std::int8_t, N>{simple<std::int8_t>(mask).v & 1};
    } else if constexpr (std::is_same_v<To, half>) {
      if constexpr (std::is_same_v<From, double>)
        return to_half(rounded_to_odd(x));
      else if constexpr (std::is_same_v<From, float>)
        return to_half(x);
      else
        return to_half(simple<float>(x));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      return float_to_integer<To>(x);
    } else {
      return simple<To>(x);
    }
  }
  template <int N>
  static GALOP_INLINE auto call(HalfPart<N> x) {
    if constexpr (std::is_same_v<To, bool>) {
      return call(Part<std::uint16_t, N>{x.v & 0x7fff});
    } else if constexpr (std::is_same_v<To, std::uint32_t>) {
      const auto r =
          simple<std::int32_t>(to_float(x)).v;  // the lowest integer for infinities and NaN, which NumPy makes 0
      return same_bits<To>(Part<std::int32_t, N>{r & (r != std::numeric_limits<std::int32_t>::min())});
    } else {
      return call(to_float(x));
    }
  }
  template <class From, int N>
  static GALOP_INLINE auto call(ComplexPart<From, N> x) {
    if constexpr (std::is_same_v<To, bool>) {
      using Bytes = Part<std::int8_t, N>;
      return Bytes{call(Part<From, N>{x.re}).v | call(Part<From, N>{x.im}).v};
    } else {
      return call(Part<From, N>{x.re});
    }
  }
};
template <class T>
struct Cast<std::complex<T>> {
  template <class Lanes>
  static GALOP_INLINE auto call(Lanes x) {
    return ComplexPart<T, Lanes::N>{Cast<T>::call(x).v, {}};
  }
};

template <class T, int Lanes>
struct CastLanes {
  using type = Part<T, Lanes>;
};
template <int Lanes>
struct CastLanes<bool, Lanes> {
  using type = Part<std::uint8_t, Lanes>;
};
template <int Lanes>
struct CastLanes<half, Lanes> {
  using type = HalfPart<Lanes>;
};
template <class T, int Lanes>
struct CastLanes<std::complex<T>, Lanes> {
  using type = ComplexPart<T, Lanes>;
};

template <class T>
struct PartSize : std::integral_constant<int, sizeof(T)> {};
template <>
struct PartSize<half> : std::integral_constant<int, 4> {};  // computed as float
template <class T>
struct PartSize<std::complex<T>> : std::integral_constant<int, sizeof(T)> {};

/// n complex numbers are 2 n parts.
template <class From, class To>
void cast_parts(void* const* out, const void* const* in, std::int64_t n) {
  KernelOf<Cast<To>, typename CastLanes<From, kBytes / 8>::type>::run(out, in, 2 * n);
}

template <class From, class To>
void enter_cast(Kernels& kernels) {
  constexpr int wide = PartSize<From>::value > PartSize<To>::value ? PartSize<From>::value : PartSize<To>::value;
  constexpr DType from = dtype_of<From>;
  constexpr DType to = dtype_of<To>;
  Kernel& entry = kernels.cast[static_cast<int>(from)][static_cast<int>(to)];
  if constexpr (canonical_cast(from, to) != Conversion{from, to}) {
    return;
  } else if constexpr (is_complex(from) && is_complex(to)) {
    entry = cast_parts<typename From::value_type, typename To::value_type>;
  } else {
    entry = KernelOf<Cast<To>, typename CastLanes<From, kBytes / wide>::type>::run;
  }
}

template <class From, class... To>
void enter_casts(Kernels& kernels) {
  (enter_cast<From, To>(kernels), ...);
}
/// Enters the casts from one dtype to all.
template <class From>
void fill_casts(Kernels& kernels) {
  enter_casts<From, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
              std::uint32_t, std::uint64_t, half, float, double, std::complex<float>, std::complex<double>>(kernels);
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
