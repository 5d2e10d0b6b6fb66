// Lanes: V<T>, a full vector of T; M<I>, a mask beside lanes of that width; C<T>, complex lanes as two vectors; Part<T,
// N>, N lanes of T whatever their width. All over the compiler's vector types, which have every operator, comparison
// and conversion.
//
// Every lane type has N (lanes), kItem (bytes of one lane in memory), load and store. Memory need not be aligned.
#if defined(GALOP_CPU_VEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_VEC_INL_H_
#undef GALOP_CPU_VEC_INL_H_
#else
#define GALOP_CPU_VEC_INL_H_
#endif

#include <hwy/ops/set_macros-inl.h>

#include "backend/cpu/targets.hpp"

#ifndef GALOP_INLINE
#define GALOP_INLINE inline __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

inline constexpr int kBytes = HWY_MAX_BYTES;

template <int Size>
struct IntOf {};
template <>
struct IntOf<1> {
  using I = std::int8_t;
  using U = std::uint8_t;
};
template <>
struct IntOf<2> {
  using I = std::int16_t;
  using U = std::uint16_t;
};
template <>
struct IntOf<4> {
  using I = std::int32_t;
  using U = std::uint32_t;
};
template <>
struct IntOf<8> {
  using I = std::int64_t;
  using U = std::uint64_t;
};
template <class T>
using Int = typename IntOf<sizeof(T)>::I;
template <class T>
using Uint = typename IntOf<sizeof(T)>::U;

template <class T, int Lanes>
struct RawOf {
  typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};

/// N lanes of T, only to be loaded, converted and stored.
template <class T, int Lanes>
struct Part {
  using Lane = T;
  using Raw = typename RawOf<T, Lanes>::type;
  static constexpr int N = Lanes;
  static constexpr int kItem = sizeof(T);
  Raw v;
  static GALOP_INLINE Part load(const char* p) {
    Part r;
    std::memcpy(&r.v, p, sizeof(Raw));
    return r;
  }
  GALOP_INLINE void store(char* p) const { std::memcpy(p, &v, sizeof(Raw)); }
};

/// The lanes as another type. Integers widen and narrow by factors of two, for which the compiler has instructions, and
/// meet floats at their own width or half of it.
template <class To, class From, int N>
GALOP_INLINE Part<To, N> simple(Part<From, N> x) {
  constexpr bool whole = std::is_integral_v<From> && std::is_integral_v<To>;
  using Middle = typename IntOf<sizeof(From) < sizeof(To) ? 2 * sizeof(From)
                                : sizeof(From) == 1       ? 1
                                                          : sizeof(From) / 2>::I;
  using Step = std::conditional_t<std::is_signed_v<From>, Middle, std::make_unsigned_t<Middle>>;
  if constexpr (whole && (sizeof(To) > 2 * sizeof(From) || sizeof(From) > 2 * sizeof(To))) {
    return simple<To>(Part<Step, N>{__builtin_convertvector(x.v, typename Part<Step, N>::Raw)});
  } else if constexpr (std::is_integral_v<From> && !whole && sizeof(From) < 4) {
    return simple<To>(simple<std::int32_t>(x));
  } else {
    return {__builtin_convertvector(x.v, typename Part<To, N>::Raw)};
  }
}

/// A full vector.
template <class T>
struct V {
  using Lane = T;
  static constexpr int N = kBytes / static_cast<int>(sizeof(T));
  static constexpr int kItem = sizeof(T);
  using Raw = typename RawOf<T, N>::type;
  using URaw = typename RawOf<Uint<T>, N>::type;
  Raw v;
  V() = default;
  GALOP_INLINE V(Raw raw) : v(raw) {}
  GALOP_INLINE explicit V(T s) : v(s - Raw{}) {}  // s - 0 keeps the sign of a zero
  static GALOP_INLINE V load(const char* p) {
    V r;
    std::memcpy(&r.v, p, kBytes);
    return r;
  }
  GALOP_INLINE void store(char* p) const { std::memcpy(p, &v, kBytes); }
};

/// A mask beside lanes of the size of I: all ones where true. Bytes 0 and 1 in memory.
template <class I>
struct M {
  using Lane = I;
  static constexpr int N = kBytes / static_cast<int>(sizeof(I));
  static constexpr int kItem = 1;
  using Raw = typename RawOf<I, N>::type;
  using Bytes = typename RawOf<std::int8_t, N>::type;
  using AllBytes = typename RawOf<std::int8_t, kBytes>::type;
  Raw v;
  static GALOP_INLINE M load(const char* p) {
    Bytes b;
    std::memcpy(&b, p, N);
    return {__builtin_convertvector(b != 0, Raw)};
  }
  GALOP_INLINE void store(char* p) const { store(p, std::make_index_sequence<N>{}); }

 private:
  template <std::size_t... K>
  GALOP_INLINE void store(char* p, std::index_sequence<K...>) const {
    if constexpr (kBytes == 64 || sizeof(I) == 1) {
      Bytes b = __builtin_convertvector(v, Bytes) & 1;
      std::memcpy(p, &b, N);
    } else {  // without AVX-512 the compiler narrows lane by lane, so pick the low bytes by a shuffle
      AllBytes all = (AllBytes)v;
      Bytes b = __builtin_shufflevector(all, all, static_cast<int>(K * sizeof(I))...) & 1;
      std::memcpy(p, &b, N);
    }
  }
};

/// Two results.
template <class A, class B>
struct Pair {
  A first;
  B second;
};

template <class T>
using MaskOf = M<Int<T>>;

// Integer arithmetic wraps around: signed lanes go through unsigned ones.
#define GALOP_OPERATOR(op)                        \
  template <class T>                              \
  GALOP_INLINE V<T> operator op(V<T> a, V<T> b) { \
    using Raw = typename V<T>::Raw;               \
    using URaw = typename V<T>::URaw;             \
    if constexpr (std::is_floating_point_v<T>) {  \
      return V<T>(a.v op b.v);                    \
    } else {                                      \
      return V<T>((Raw)((URaw)a.v op(URaw) b.v)); \
    }                                             \
  }
GALOP_OPERATOR(+)
GALOP_OPERATOR(-)
GALOP_OPERATOR(*)
#undef GALOP_OPERATOR

template <class T>
GALOP_INLINE V<T> operator/(V<T> a, V<T> b) {
  return V<T>(a.v / b.v);
}

#define GALOP_OPERATOR(op)                        \
  template <class T>                              \
  GALOP_INLINE V<T> operator op(V<T> a, V<T> b) { \
    return V<T>(a.v op b.v);                      \
  }                                               \
  template <class I>                              \
  GALOP_INLINE M<I> operator op(M<I> a, M<I> b) { \
    return {a.v op b.v};                          \
  }
GALOP_OPERATOR(&)
GALOP_OPERATOR(|)
GALOP_OPERATOR(^)
#undef GALOP_OPERATOR

#define GALOP_OPERATOR(op)                             \
  template <class T>                                   \
  GALOP_INLINE MaskOf<T> operator op(V<T> a, V<T> b) { \
    return {(typename MaskOf<T>::Raw)(a.v op b.v)};    \
  }
GALOP_OPERATOR(==)
GALOP_OPERATOR(!=)
GALOP_OPERATOR(<)
GALOP_OPERATOR(<=)
GALOP_OPERATOR(>)
GALOP_OPERATOR(>=)
#undef GALOP_OPERATOR

template <class T>
GALOP_INLINE V<T> operator~(V<T> a) {
  return V<T>(~a.v);
}
template <class I>
GALOP_INLINE M<I> operator~(M<I> a) {
  return {~a.v};
}

template <class T>
GALOP_INLINE V<T> select(MaskOf<T> m, V<T> a, V<T> b) {
  return V<T>(m.v ? a.v : b.v);
}

/// Whether any lane is true.
template <class I>
GALOP_INLINE bool any(M<I> m) {
#if HWY_TARGET == HWY_AVX3
  return _mm512_test_epi64_mask((__m512i)m.v, (__m512i)m.v) != 0;
#elif HWY_TARGET == HWY_AVX2
  return _mm256_testz_si256((__m256i)m.v, (__m256i)m.v) == 0;
#elif HWY_TARGET == HWY_SSE4
  return _mm_testz_si128((__m128i)m.v, (__m128i)m.v) == 0;
#else
  using Words = typename RawOf<std::uint64_t, kBytes / 8>::type;
  Words w = (Words)m.v;
  std::uint64_t r = 0;
  for (int i = 0; i < kBytes / 8; ++i) r |= w[i];
  return r != 0;
#endif
}

template <class T>
GALOP_INLINE V<Uint<T>> bits(V<T> x) {
  return V<Uint<T>>((typename V<T>::URaw)x.v);
}
template <class T>
GALOP_INLINE V<T> from_bits(V<Uint<T>> x) {
  return V<T>((typename V<T>::Raw)x.v);
}
template <class T>
GALOP_INLINE V<Int<T>> signed_bits(V<T> x) {
  return V<Int<T>>((typename V<Int<T>>::Raw)x.v);
}

/// f of each lane of x (and y), by the scalar function.
template <class T, class F>
GALOP_INLINE V<T> lane_by_lane(V<T> x, V<T> y, F f) {
  alignas(kBytes) T a[V<T>::N], b[V<T>::N];
  x.store(reinterpret_cast<char*>(a));
  y.store(reinterpret_cast<char*>(b));
  for (int i = 0; i < V<T>::N; ++i) a[i] = f(a[i], b[i]);
  return V<T>::load(reinterpret_cast<const char*>(a));
}

// Shuffles between (re, im, re, im, …) in memory and two vectors.
template <int First, class R, std::size_t... K>
GALOP_INLINE R every_second(R a, R b, std::index_sequence<K...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(2 * K + First)...);
}
template <class R, std::size_t... K>
GALOP_INLINE R zip_low(R a, R b, std::index_sequence<K...>) {
  constexpr int n = sizeof...(K);
  return __builtin_shufflevector(a, b, static_cast<int>(K / 2 + (K % 2) * n)...);
}
template <class R, std::size_t... K>
GALOP_INLINE R zip_high(R a, R b, std::index_sequence<K...>) {
  constexpr int n = sizeof...(K);
  return __builtin_shufflevector(a, b, static_cast<int>(K / 2 + n / 2 + (K % 2) * n)...);
}

/// N complex numbers, real and imaginary parts apart.
template <class T, int Lanes>
struct ComplexPart {
  using Raw = typename RawOf<T, Lanes>::type;
  static constexpr int N = Lanes;
  static constexpr int kItem = 2 * sizeof(T);
  Raw re, im;
  static GALOP_INLINE ComplexPart load(const char* p) {
    constexpr std::make_index_sequence<Lanes> lanes;
    Raw a, b;
    std::memcpy(&a, p, sizeof(Raw));
    std::memcpy(&b, p + sizeof(Raw), sizeof(Raw));
    return {every_second<0>(a, b, lanes), every_second<1>(a, b, lanes)};
  }
  GALOP_INLINE void store(char* p) const {
    constexpr std::make_index_sequence<Lanes> lanes;
    Raw a = zip_low(re, im, lanes);
    Raw b = zip_high(re, im, lanes);
    std::memcpy(p, &a, sizeof(Raw));
    std::memcpy(p + sizeof(Raw), &b, sizeof(Raw));
  }
};

/// A full pair of vectors of complex numbers.
template <class T>
struct C {
  static constexpr int N = V<T>::N;
  static constexpr int kItem = 2 * sizeof(T);
  V<T> re, im;
  static GALOP_INLINE C load(const char* p) {
    auto part = ComplexPart<T, N>::load(p);
    return {V<T>(part.re), V<T>(part.im)};
  }
  GALOP_INLINE void store(char* p) const { ComplexPart<T, N>{re.v, im.v}.store(p); }
};

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
