// Searches of dense elements: the first greatest or least, the first true or false, whether all are ordinary numbers.
#if defined(GALOP_CPU_SEARCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_SEARCH_INL_H_
#undef GALOP_CPU_SEARCH_INL_H_
#else
#define GALOP_CPU_SEARCH_INL_H_
#endif

#include "backend/cpu/kernels.hpp"
#include "backend/cpu/vec_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

// Keys: lanes X of memory's elements and One of them alone, in an order that only NaN stands out of. `after` says that
// a comes after b, in the other direction when it looks for the least.

template <class T>
struct RealKeys {
  using X = V<T>;
  using One = T;
  using Mask = MaskOf<T>;
  static constexpr bool kNan = std::is_floating_point_v<T>;
  static constexpr int kItem = sizeof(T);
  static GALOP_INLINE X load(const char* p) { return X::load(p); }
  static GALOP_INLINE One one(const char* p) {
    T r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  static GALOP_INLINE X all(One v) { return X(v); }
  template <bool Greatest>
  static constexpr One last() {
    using Limits = std::numeric_limits<T>;
    if constexpr (kNan) return Greatest ? -Limits::infinity() : Limits::infinity();
    return Greatest ? Limits::lowest() : Limits::max();
  }
  template <bool Greatest>
  static GALOP_INLINE Mask after(X a, X b) {
    return Greatest ? a > b : a < b;
  }
  template <bool Greatest>
  static GALOP_INLINE bool one_after(One a, One b) {
    return Greatest ? a > b : a < b;
  }
  static GALOP_INLINE X choose(Mask m, X a, X b) { return select(m, a, b); }
  static GALOP_INLINE Mask same(X a, X b) { return a == b; }
  static GALOP_INLINE Mask nan(X x) { return x != x; }
  static GALOP_INLINE bool one_nan(One x) { return x != x; }
  static GALOP_INLINE void store(X x, One* to) { x.store(reinterpret_cast<char*>(to)); }
};

/// Bytes other than 0 are true.
struct BoolKeys : RealKeys<std::uint8_t> {
  static GALOP_INLINE X load(const char* p) {
    const X x = X::load(p);
    return select(x != X(std::uint8_t{0}), X(std::uint8_t{1}), X(std::uint8_t{0}));
  }
  static GALOP_INLINE One one(const char* p) { return *p != 0; }
};

/// float16 as integers in its order, in which both zeros are 0 and NaN is beyond infinity in either direction.
struct HalfKeys : RealKeys<std::int16_t> {
  static constexpr bool kNan = true;
  static constexpr std::int16_t kInfinity = 0x7c00;
  static GALOP_INLINE X load(const char* p) {
    const X x = X::load(p), magnitude = x & X(std::int16_t{0x7fff});
    return select(x < X(std::int16_t{0}), negative(magnitude), magnitude);
  }
  static GALOP_INLINE One one(const char* p) {
    std::int16_t x;
    std::memcpy(&x, p, sizeof x);
    const auto magnitude = static_cast<std::int16_t>(x & 0x7fff);
    return static_cast<std::int16_t>(x < 0 ? -magnitude : magnitude);
  }
  template <bool Greatest>
  static constexpr One last() {
    return Greatest ? -kInfinity : kInfinity;
  }
  static GALOP_INLINE Mask nan(X x) { return (x > X(kInfinity)) | (x < X(static_cast<std::int16_t>(-kInfinity))); }
  static GALOP_INLINE bool one_nan(One x) { return x > kInfinity || x < -kInfinity; }
};

template <class T>
struct ComplexKeys {
  using X = C<T>;
  struct One {
    T re, im;
  };
  using Mask = MaskOf<T>;
  static constexpr bool kNan = true;
  static constexpr int kItem = 2 * sizeof(T);
  static GALOP_INLINE X load(const char* p) { return X::load(p); }
  static GALOP_INLINE One one(const char* p) {
    One r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  static GALOP_INLINE X all(One v) { return {V<T>(v.re), V<T>(v.im)}; }
  template <bool Greatest>
  static constexpr One last() {
    constexpr T r = RealKeys<T>::template last<Greatest>();
    return {r, r};
  }
  template <bool Greatest>
  static GALOP_INLINE Mask after(X a, X b) {
    using Part = RealKeys<T>;
    return Part::template after<Greatest>(a.re, b.re) | ((a.re == b.re) & Part::template after<Greatest>(a.im, b.im));
  }
  template <bool Greatest>
  static GALOP_INLINE bool one_after(One a, One b) {
    if (a.re == b.re) return Greatest ? a.im > b.im : a.im < b.im;
    return Greatest ? a.re > b.re : a.re < b.re;
  }
  static GALOP_INLINE X choose(Mask m, X a, X b) { return {select(m, a.re, b.re), select(m, a.im, b.im)}; }
  static GALOP_INLINE Mask same(X a, X b) { return (a.re == b.re) & (a.im == b.im); }
  static GALOP_INLINE Mask nan(X x) { return (x.re != x.re) | (x.im != x.im); }
  static GALOP_INLINE bool one_nan(One x) { return x.re != x.re || x.im != x.im; }
  static GALOP_INLINE void store(X x, One* to) { x.store(reinterpret_cast<char*>(to)); }
};

/// The first true lane of a mask that has one.
template <class I>
GALOP_INLINE int first_lane(M<I> m) {
  alignas(8) char bytes[(M<I>::N + 7) / 8 * 8] = {};
  m.store(bytes);
  for (int at = 0;; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    if (word != 0) return at + __builtin_ctzll(word) / 8;
  }
}

/// The first of n ≥ one vector elements for which `test` of its lanes holds, or n.
template <class K, class Test>
GALOP_INLINE std::int64_t first_where(const char* p, std::int64_t n, Test test) {
  constexpr int N = K::X::N;
  std::int64_t i = 0;
  for (; i + 4 * N <= n; i += 4 * N) {
    const char* q = p + i * K::kItem;
    typename K::Mask m[4];
    for (int k = 0; k < 4; ++k) m[k] = test(K::load(q + k * N * K::kItem));
    if (!any((m[0] | m[1]) | (m[2] | m[3]))) continue;
    for (int k = 0; k < 4; ++k)
      if (any(m[k])) return i + k * N + first_lane(m[k]);
  }
  for (; i < n; i += N) {
    if (i + N > n) i = n - N;  // the elements that it meets again are none
    const auto m = test(K::load(p + i * K::kItem));
    if (any(m)) return i + first_lane(m);
  }
  return n;
}

/// Vectors that are searched at once: for what comes after all before them, then, at the end, for where it is.
inline constexpr int kSearchBlock = 64;

template <class K, bool Greatest>
Found find_extreme(const void* in, std::int64_t n) {
  using X = typename K::X;
  constexpr int N = X::N;
  const char* p = static_cast<const char*>(in);
  if (n < N) {
    auto best = K::one(p);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto x = K::one(p + i * K::kItem);
      if (K::kNan && K::one_nan(x)) return {i, true};
      if (K::template one_after<Greatest>(x, best)) {
        best = x;
        at = i;
      }
    }
    return {at, false};
  }
  auto best = K::template last<Greatest>();
  X bests = K::all(best);
  std::int64_t place = 0, room = std::min<std::int64_t>(n, kSearchBlock * N);
  for (std::int64_t from = 0; from < n; from += kSearchBlock * N) {
    const std::int64_t here = std::min<std::int64_t>(n - from, kSearchBlock * N);
    const char* q = p + from * K::kItem;
    X a[4] = {bests, bests, bests, bests};
    typename K::Mask nan{};
    std::int64_t i = 0;
    for (; i + 4 * N <= here; i += 4 * N, q += 4 * N * K::kItem) {
      for (int k = 0; k < 4; ++k) {
        const X x = K::load(q + k * N * K::kItem);
        a[k] = K::choose(K::template after<Greatest>(x, a[k]), x, a[k]);
        if constexpr (K::kNan) nan = nan | K::nan(x);
      }
    }
    for (; i < here; i += N) {
      const std::int64_t at = std::min(from + i, n - N);
      const X x = K::load(p + at * K::kItem);
      a[0] = K::choose(K::template after<Greatest>(x, a[0]), x, a[0]);
      if constexpr (K::kNan) nan = nan | K::nan(x);
    }
    if constexpr (K::kNan) {
      if (__builtin_expect(any(nan), 0)) {
        const std::int64_t start = std::min(from, n - N);  // elements before `from` are no NaN
        return {start + first_where<K>(p + start * K::kItem, n - start, [](X x) HWY_ATTR { return K::nan(x); }), true};
      }
    }
    for (int k = 2; k > 0; k /= 2)
      for (int j = 0; j < k; ++j) a[j] = K::choose(K::template after<Greatest>(a[j + k], a[j]), a[j + k], a[j]);
    if (!any(K::template after<Greatest>(a[0], bests))) continue;
    alignas(kBytes) typename K::One lanes[N];
    K::store(a[0], lanes);
    for (int k = 0; k < N; ++k)
      if (K::template one_after<Greatest>(lanes[k], best)) best = lanes[k];
    bests = K::all(best);
    place = std::min(from, n - N);  // elements before `from` are not the best
    room = n - place;
  }
  return {place + first_where<K>(p + place * K::kItem, room, [&](X x) HWY_ATTR { return K::same(x, bests); }), false};
}

template <class K>
GALOP_INLINE typename K::Mask is_zero(typename K::X x) {
  return K::same(x, K::all(typename K::One{}));
}

/// The first element that is true, or false; n when there is none.
template <class K, bool Truth>
Found find_truth(const void* in, std::int64_t n) {
  const char* p = static_cast<const char*>(in);
  if (n < K::X::N) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto x = K::one(p + i * K::kItem), zero = typename K::One{};
      bool truth;
      if constexpr (requires { x.re; })
        truth = x.re != zero.re || x.im != zero.im;
      else
        truth = x != zero;
      if (truth == Truth) return {i, true};
    }
    return {n, false};
  }
  const std::int64_t at = first_where<K>(p, n, [](typename K::X x) HWY_ATTR {
    const auto zero = is_zero<K>(x);
    return Truth ? ~zero : zero;
  });
  return {at, at < n};
}

template <bool Greatest>
Found find_extreme_bool(const void* in, std::int64_t n) {
  const Found r = find_truth<RealKeys<std::uint8_t>, Greatest>(in, n);
  return r.last ? r : Found{0, false};
}

/// Of each of `width` ≥ one vector columns the first row of its extreme.
template <class K, bool Greatest>
void find_in_columns(const char* in, std::int64_t rows, std::int64_t step, std::int64_t width, std::int64_t* out) {
  using X = typename K::X;
  constexpr int N = X::N;
  using I = typename K::Mask::Lane;
  constexpr std::int64_t most = std::int64_t{std::numeric_limits<I>::max()};  // rows that a lane can number
  for (std::int64_t c = 0; c < width; c += N) {
    if (c + N > width) c = width - N;
    const char* p = in + c * K::kItem;
    X best = K::load(p);
    for (int k = 0; k < N; ++k) out[c + k] = 0;
    for (std::int64_t from = 0; from < rows; from += most) {
      const std::int64_t here = std::min(rows - from, most);
      V<I> at(static_cast<I>(-1)), row(I{0});
      for (std::int64_t i = 0; i < here; ++i, p += step) {
        const X x = K::load(p);
        auto better = K::template after<Greatest>(x, best);
        if constexpr (K::kNan) better = (better | K::nan(x)) & ~K::nan(best);
        best = K::choose(better, x, best);
        at = V<I>(better.v ? row.v : at.v);
        row = row + V<I>(I{1});
      }
      alignas(kBytes) I lanes[N];
      at.store(reinterpret_cast<char*>(lanes));
      for (int k = 0; k < N; ++k)
        if (lanes[k] >= 0) out[c + k] = from + lanes[k];
    }
  }
}

/// Whether the magnitudes of n numbers are all below infinity, and not below the least normal number when `normal`.
template <class T>
bool all_ordinary(const void* in, std::int64_t n, bool normal) {
  using U = Uint<T>;
  using K = RealKeys<T>;
  constexpr int N = V<T>::N;
  const char* p = static_cast<const char*>(in);
  const U least = normal ? Uint<T>(1) << (std::numeric_limits<T>::digits - 1) : U{0};
  const U room = static_cast<U>(kInfBits<T> - least);
  const auto odd = [=](V<T> x) HWY_ATTR {
    const V<U> magnitude = bits(x) & V<U>(static_cast<U>(~kSignBit<T>));
    return magnitude - V<U>(least) >= V<U>(room);
  };
  if (n >= N) {
    MaskOf<T> m[4] = {};
    std::int64_t i = 0;
    for (; i + 4 * N <= n; i += 4 * N)
      for (int k = 0; k < 4; ++k) m[k] = m[k] | odd(K::load(p + (i + k * N) * K::kItem));
    for (; i < n; i += N) m[0] = m[0] | odd(K::load(p + std::min(i, n - N) * K::kItem));
    return !any((m[0] | m[1]) | (m[2] | m[3]));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    U x;
    std::memcpy(&x, p + i * K::kItem, sizeof x);
    if (static_cast<U>((x & static_cast<U>(~kSignBit<T>)) - least) >= room) return false;
  }
  return true;
}

template <DType T, class K>
void enter_search(Kernels& kernels) {
  constexpr int t = static_cast<int>(T);
  kernels.extreme[0][t] = T == DType::bool_ ? find_extreme_bool<false> : find_extreme<K, false>;
  kernels.extreme[1][t] = T == DType::bool_ ? find_extreme_bool<true> : find_extreme<K, true>;
  kernels.truth[0][t] = find_truth<K, false>;
  kernels.truth[1][t] = find_truth<K, true>;
  kernels.columns[0][t] = {find_in_columns<K, false>, K::X::N};
  kernels.columns[1][t] = {find_in_columns<K, true>, K::X::N};
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
