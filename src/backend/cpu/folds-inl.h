// Folds and scans of the binary rows. Sums of floats are NumPy's pairwise sums, bit for bit; the frequent folds run
// over vectors; all others call their kernel an element at a time.
#if defined(GALOP_CPU_FOLDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_FOLDS_INL_H_
#undef GALOP_CPU_FOLDS_INL_H_
#else
#define GALOP_CPU_FOLDS_INL_H_
#endif

#include "backend/cpu/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {
  using Part = T;
};

// Pairwise summation, as NumPy's: up to 128 numbers in eight accumulators, more by halves whose first is a multiple of
// eight. Complex numbers count twice, real parts in the even accumulators and imaginary parts in the odd ones.

template <class T>
struct Eight {
  static constexpr int L = V<T>::N < 8 ? V<T>::N : 8;
  static constexpr int K = 8 / L;
  Part<T, L> v[K];
  static GALOP_INLINE Eight load(const T* p) {
    Eight r;
    for (int k = 0; k < K; ++k) r.v[k] = Part<T, L>::load(reinterpret_cast<const char*>(p + k * L));
    return r;
  }
  GALOP_INLINE void add(const T* p) {
    for (int k = 0; k < K; ++k) v[k].v += Part<T, L>::load(reinterpret_cast<const char*>(p + k * L)).v;
  }
  GALOP_INLINE void multiply(const T* p) {
    for (int k = 0; k < K; ++k) v[k].v *= Part<T, L>::load(reinterpret_cast<const char*>(p + k * L)).v;
  }
  GALOP_INLINE void store(T* p) const {
    for (int k = 0; k < K; ++k) v[k].store(reinterpret_cast<char*>(p + k * L));
  }
};

template <class S>  // float, double, std::complex<float>, std::complex<double>
struct Pairwise {
  static constexpr bool kComplex = IsComplex<S>::value;
  using T = typename std::conditional_t<kComplex, S, std::complex<S>>::value_type;

  static GALOP_INLINE void add_rest(S& sum, const T* p, std::int64_t n) {
    if constexpr (kComplex) {
      for (std::int64_t i = 0; i < n; i += 2) sum = {sum.real() + p[i], sum.imag() + p[i + 1]};
    } else {
      for (std::int64_t i = 0; i < n; ++i) sum += p[i];
    }
  }
  static GALOP_INLINE S finish(const Eight<T>& eight, const T* rest, std::int64_t n) {
    T r[8];
    eight.store(r);
    S sum;
    if constexpr (kComplex) {
      sum = {(r[0] + r[2]) + (r[4] + r[6]), (r[1] + r[3]) + (r[5] + r[7])};
    } else {
      sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    add_rest(sum, rest, n);
    return sum;
  }
  static S leaf(const T* p, std::int64_t n) {
    Eight<T> a = Eight<T>::load(p);
    std::int64_t i = 8;
    for (; i + 8 <= n; i += 8) a.add(p + i);
    return finish(a, p + i, n - i);
  }
  /// The sum of two neighbouring leaves, the first a multiple of eight long and not longer: two chains of additions at
  /// once.
  static S two_leaves(const T* p, std::int64_t n1, std::int64_t n2) {
    const T* q = p + n1;
    Eight<T> a = Eight<T>::load(p);
    Eight<T> b = Eight<T>::load(q);
    std::int64_t i = 8;
    for (; i < n1; i += 8) {
      a.add(p + i);
      b.add(q + i);
    }
    for (; i + 8 <= n2; i += 8) b.add(q + i);
    const S first = finish(a, nullptr, 0);
    return plus(first, finish(b, q + i, n2 - i));
  }
  static GALOP_INLINE S plus(S a, S b) {
    if constexpr (kComplex)
      return {a.real() + b.real(), a.imag() + b.imag()};
    else
      return a + b;
  }
  static S sum(const T* p, std::int64_t n) {
    if (n < 8) {
      S r;
      if constexpr (kComplex)
        r = {T(-0.0), T(-0.0)};
      else
        r = T(-0.0);
      add_rest(r, p, n);
      return r;
    }
    if (n <= 128) return leaf(p, n);
    const std::int64_t n1 = n / 2 - n / 2 % 8;
    if (n - n1 <= 128) return two_leaves(p, n1, n - n1);
    const S first = sum(p, n1);
    return plus(first, sum(p + n1, n - n1));
  }
  static void fold(void* acc, const void* in, std::int64_t n) {
    S& total = *static_cast<S*>(acc);
    total = plus(total, sum(static_cast<const T*>(in), kComplex ? 2 * n : n));
  }
};

/// A product in eight accumulators.
template <class T>
void fold_product(void* acc, const void* in, std::int64_t n) {
  const T* p = static_cast<const T*>(in);
  T total = *static_cast<T*>(acc);
  std::int64_t i = 0;
  if (n >= 16) {
    Eight<T> a = Eight<T>::load(p);
    for (i = 8; i + 8 <= n; i += 8) a.multiply(p + i);
    T r[8];
    a.store(r);
    total *= ((r[0] * r[1]) * (r[2] * r[3])) * ((r[4] * r[5]) * (r[6] * r[7]));
  }
  for (; i < n; ++i) total *= p[i];
  *static_cast<T*>(acc) = total;
}

/// a ∘ b of single elements for the frequent rows.
template <Op O, class T>
GALOP_INLINE T combine(T a, T b) {
  if constexpr (IsComplex<T>::value) {
    const bool nan = std::isnan(a.real()) || std::isnan(a.imag());
    const bool nan_b = std::isnan(b.real()) || std::isnan(b.imag());
    const bool same = a.real() == b.real();
    const bool above = same ? a.imag() >= b.imag() : a.real() > b.real() && !nan && !nan_b;
    const bool below = same ? a.imag() <= b.imag() : a.real() < b.real() && !nan && !nan_b;
    if constexpr (O == Op::add)
      return {a.real() + b.real(), a.imag() + b.imag()};
    else if constexpr (O == Op::multiply)
      return times(a, b);
    else if constexpr (O == Op::maximum)
      return nan || above ? a : b;
    else if constexpr (O == Op::minimum)
      return nan || below ? a : b;
    else if constexpr (O == Op::fmax)
      return nan_b || above ? a : b;
    else
      return nan_b || below ? a : b;
  } else {
    if constexpr (O == Op::add)
      return static_cast<T>(a + b);
    else if constexpr (O == Op::multiply)
      return static_cast<T>(std::conditional_t<sizeof(T) == 2, unsigned, T>(a) * b);
    else if constexpr (O == Op::maximum)
      return a > b || a != a ? a : b;
    else if constexpr (O == Op::minimum)
      return a < b || a != a ? a : b;
    else if constexpr (O == Op::fmax)
      return a > b || b != b ? a : b;
    else if constexpr (O == Op::fmin)
      return a < b || b != b ? a : b;
    else if constexpr (O == Op::bitwise_and)
      return static_cast<T>(a & b);
    else if constexpr (O == Op::bitwise_or)
      return static_cast<T>(a | b);
    else
      return static_cast<T>(a ^ b);
  }
}

constexpr bool frequent(Op op) {
  switch (op) {
    case Op::add:
    case Op::multiply:
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
      return true;
    default:
      return false;
  }
}

/// A fold in any order: eight vectors of accumulators, so that the processor need not wait for any.
template <Op O, class Row, class T>
void fold_vectors(void* acc, const void* in, std::int64_t n) {
  constexpr int N = V<T>::N, K = 8;
  const char* p = static_cast<const char*>(in);
  T total = *static_cast<T*>(acc);
  if (n >= K * N) {
    V<T> a[K];
    for (int k = 0; k < K; ++k) a[k] = V<T>::load(p + k * kBytes);
    for (p += K * kBytes, n -= K * N; n >= K * N; p += K * kBytes, n -= K * N)
      for (int k = 0; k < K; ++k) a[k] = Row::call(a[k], V<T>::load(p + k * kBytes));
    for (int half = K / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) a[k] = Row::call(a[k], a[k + half]);
    alignas(kBytes) T lanes[N];
    a[0].store(reinterpret_cast<char*>(lanes));
    for (int i = 0; i < N; ++i) total = combine<O>(total, lanes[i]);
  }
  const T* rest = reinterpret_cast<const T*>(p);
  for (std::int64_t i = 0; i < n; ++i) total = combine<O>(total, rest[i]);
  *static_cast<T*>(acc) = total;
}

template <Op O, class T>
void fold_in_order(void* acc, const void* in, std::int64_t n) {
  const T* p = static_cast<const T*>(in);
  T total = *static_cast<T*>(acc);
  for (std::int64_t i = 0; i < n; ++i) total = combine<O>(total, p[i]);
  *static_cast<T*>(acc) = total;
}
template <Op O, class T>
void scan_in_order(void* acc, const void* in, void* out, std::int64_t n) {
  const T* p = static_cast<const T*>(in);
  T* q = static_cast<T*>(out);
  T total = *static_cast<T*>(acc);
  for (std::int64_t i = 0; i < n; ++i) q[i] = total = combine<O>(total, p[i]);
  *static_cast<T*>(acc) = total;
}

template <Kernel K, int Item>
void fold_by_kernel(void* acc, const void* in, std::int64_t n) {
  const char* p = static_cast<const char*>(in);
  for (; n > 0; --n, p += Item) {
    const void* operands[] = {acc, p};
    K(&acc, operands, 1);
  }
}
template <Kernel K, int Item>
void scan_by_kernel(void* acc, const void* in, void* out, std::int64_t n) {
  const char* p = static_cast<const char*>(in);
  char* q = static_cast<char*>(out);
  for (; n > 0; --n, p += Item, q += Item) {
    const void* operands[] = {acc, p};
    K(&acc, operands, 1);
    std::memcpy(q, acc, Item);
  }
}

template <Op O, class Row, class T>
void enter_fold(Kernels& kernels) {
  constexpr DType t = dtype_of<T>;
  constexpr bool baseline = HWY_TARGET == HWY_STATIC_TARGET;
  using X = typename RowLanes<O, T>::type;
  Fold& fold = kernels.fold[static_cast<int>(O)][static_cast<int>(t)];
  Scan& scan = kernels.scan[static_cast<int>(O)][static_cast<int>(t)];
  if constexpr (O == Op::add && is_inexact(t)) {
    fold = Pairwise<T>::fold;
  } else if constexpr (O == Op::multiply && std::is_floating_point_v<T>) {
    fold = fold_product<T>;
  } else if constexpr (frequent(O) && !is_complex(t)) {
    fold = fold_vectors<O, Row, T>;
  } else if constexpr (baseline && frequent(O)) {
    fold = fold_in_order<O, T>;
  } else if constexpr (baseline) {
    fold = fold_by_kernel<KernelOf<Row, X, X>::run, sizeof(T)>;
  }
  if constexpr (baseline && frequent(O)) {
    scan = scan_in_order<O, T>;
  } else if constexpr (baseline) {
    scan = scan_by_kernel<KernelOf<Row, X, X>::run, sizeof(T)>;
  }
}

/// Enters the folds and scans over T. Only sums, products and the other frequent folds are there for every target.
template <class T>
void fill_folds(Kernels& kernels) {
  constexpr DType t = dtype_of<T>;
#define GALOP_FOLDS_SAME 1
#define GALOP_FOLDS_BOOL 0
#define BINARY(name, types, result, ...)                                  \
  if constexpr (GALOP_FOLDS_##result && own_kernel(types, Op::name, t)) { \
    enter_fold<Op::name, Row_##name, T>(kernels);                         \
  }
#include "galop/ops.def"
#undef GALOP_FOLDS_SAME
#undef GALOP_FOLDS_BOOL
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
