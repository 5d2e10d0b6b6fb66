// Turns every row of ops.def into kernels: a functor from the body, one loop over blocks of lanes, and the table's
// entries.
#if defined(GALOP_CPU_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_LOOPS_INL_H_
#undef GALOP_CPU_LOOPS_INL_H_
#else
#define GALOP_CPU_LOOPS_INL_H_
#endif

#include "backend/cpu/kernels.hpp"
#include "backend/cpu/rows.hpp"
#include "backend/cpu/scalar_math.hpp"
#include "backend/cpu/vec_complex-inl.h"
#include "backend/cpu/vec_division-inl.h"
#include "backend/cpu/vec_libm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

// The functors. The body sees x, y, z of lane type T.
#define UNARY(name, types, result, ulp, summary, ...) \
  struct Row_##name {                                 \
    template <class T>                                \
    static GALOP_INLINE auto call(T x) {              \
      return __VA_ARGS__;                             \
    }                                                 \
  };
#define BINARY(name, types, result, identity, ulp, summary, ...) \
  struct Row_##name {                                            \
    template <class T>                                           \
    static GALOP_INLINE auto call(T x, T y) {                    \
      return __VA_ARGS__;                                        \
    }                                                            \
  };
#define TERNARY(name, types, result, ulp, summary, ...) \
  struct Row_##name {                                   \
    template <class T>                                  \
    static GALOP_INLINE auto call(T x, T y, T z) {      \
      return __VA_ARGS__;                               \
    }                                                   \
  };
#define UNARY2(name, types, result, second, ulp, summary, ...) UNARY(name, types, result, ulp, summary, __VA_ARGS__)
#define BINARY2(name, types, result, second, ulp, summary, ...) \
  BINARY(name, types, result, ORDERED, ulp, summary, __VA_ARGS__)
#define BINARY_INT(name, types, result, ulp, summary, ...) \
  struct Row_##name {                                      \
    template <class T, class Integer>                      \
    static GALOP_INLINE auto call(T x, Integer y) {        \
      return __VA_ARGS__;                                  \
    }                                                      \
  };
#include "galop/ops.def"

struct Row_where {
  template <class Mask, class T>
  static GALOP_INLINE T call(Mask x, T y, T z) {
    return select(x, y, z);
  }
};

// One or two results: how many, their bytes a lane, and how to store them.
template <class R>
struct Results {
  static constexpr int kCount = 1;
  static constexpr int kItem[1] = {R::kItem};
  static GALOP_INLINE void store(const R& r, char* const* q) { r.store(q[0]); }
};
template <class A, class B>
struct Results<Pair<A, B>> {
  static constexpr int kCount = 2;
  static constexpr int kItem[2] = {A::kItem, B::kItem};
  static GALOP_INLINE void store(const Pair<A, B>& r, char* const* q) {
    r.first.store(q[0]);
    r.second.store(q[1]);
  }
};
template <class A, class B>
struct Results<LanePair<A, B>> {
  static constexpr int kCount = 2;
  static constexpr int kItem[2] = {sizeof(A), sizeof(B)};
  static GALOP_INLINE void store(const LanePair<A, B>& r, char* const* q) {
    r.first.store(q[0]);
    r.second.store(q[1]);
  }
};

/// Fills `staged`, room for `lanes` items, with the `rest` items at p and copies of the first one after them: padding
/// that computes nothing new, so it raises no floating-point flag of its own.
template <int Item>
__attribute__((noinline)) void stage(char* staged, const char* p, int rest, int lanes) {
  std::memcpy(staged, p, static_cast<std::size_t>(rest * Item));
  for (int i = rest; i < lanes; ++i) std::memcpy(staged + i * Item, p, Item);
}

/// The kernel of F over operand lanes X…: full vectors from memory, and the rest by the same instructions: as the last
/// full vector, which computes some elements twice, or where there are too few for one through a staging buffer.
template <class F, class... X>
struct KernelOf {
  using R = decltype(F::call(std::declval<X>()...));
  using Out = Results<R>;
  static constexpr int kIn = sizeof...(X);
  static constexpr int kItem[sizeof...(X)] = {X::kItem...};
  static constexpr int N = std::min({X::N...});

  template <std::size_t... K>
  static GALOP_INLINE void step(char* const* q, const char* const* p, std::index_sequence<K...>) {
    Out::store(F::call(X::load(p[K])...), q);
  }
  template <std::size_t... K>
  static GALOP_INLINE void stage_all(char* staged, const char** p, int rest, std::index_sequence<K...>) {
    ((stage<X::kItem>(staged + K * N * 16, p[K], rest, N), p[K] = staged + K * N * 16), ...);
  }

  static void run(void* const* out, const void* const* in, std::int64_t n) {
    constexpr std::make_index_sequence<kIn> operands;
    const char* p[kIn];
    char* q[Out::kCount];
    for (int k = 0; k < kIn; ++k) p[k] = static_cast<const char*>(in[k]);
    for (int k = 0; k < Out::kCount; ++k) q[k] = static_cast<char*>(out[k]);
    if constexpr (N == 1) {
      for (; n > 0; --n) {
        step(q, p, operands);
        for (int k = 0; k < kIn; ++k) p[k] += kItem[k];
        for (int k = 0; k < Out::kCount; ++k) q[k] += Out::kItem[k];
      }
    } else {
      const int rest = static_cast<int>(n % N);
      const std::int64_t first = n < N ? 0 : n - N;  // of the last vector
      alignas(kBytes) char staged[kIn * N * 16];
      alignas(kBytes) char results[Out::kCount * N * 16];
      std::int64_t steps = n / N;
      if (rest != 0) {
        // The last vector comes first, since results may overwrite operands, and is stored last.
        for (int k = 0; k < kIn; ++k) p[k] += first * kItem[k];
        for (int k = 0; k < Out::kCount; ++k) q[k] = results + k * N * 16;
        if (n < N) stage_all(staged, p, rest, operands);
        steps = 1;
      }
      for (bool last = rest != 0;; last = false) {
        for (; steps > 0; --steps) {
          step(q, p, operands);
          for (int k = 0; k < kIn; ++k) p[k] += N * kItem[k];
          for (int k = 0; k < Out::kCount; ++k) q[k] += N * Out::kItem[k];
        }
        if (!last) break;
        steps = n / N;
        for (int k = 0; k < kIn; ++k) p[k] = static_cast<const char*>(in[k]);
        for (int k = 0; k < Out::kCount; ++k) q[k] = static_cast<char*>(out[k]);
      }
      if (rest == 0) return;
      for (int k = 0; k < Out::kCount; ++k) {
        char* target = static_cast<char*>(out[k]) + first * Out::kItem[k];
        if (n < N)
          std::memcpy(target, results + k * N * 16, static_cast<std::size_t>(rest * Out::kItem[k]));
        else
          std::memcpy(target, results + k * N * 16, static_cast<std::size_t>(N * Out::kItem[k]));
      }
    }
  }
};

// The lanes that stand for a dtype.
template <class T>
struct LanesOf {
  using type = V<T>;
  using Mask = MaskOf<T>;
};
template <class T>
struct LanesOf<std::complex<T>> {
  using type = C<T>;
  using Mask = MaskOf<T>;
};

/// The lanes of row O over T: scalar, of division, or plain vectors.
template <Op O, class T>
struct RowLanes {
  static auto choose() {
    if constexpr (scalar_row(O, dtype_of<T>))
      return std::type_identity<Lane<T>>{};
    else if constexpr (integer_division(O, dtype_of<T>))
      return std::type_identity<DivisionLanes<T>>{};
    else
      return std::type_identity<typename LanesOf<T>::type>{};
  }
  using type = typename decltype(choose())::type;
};

/// Enters the kernels of the rows' loops over T into the table. Rows without vector instructions are there for the
/// baseline only.
template <class T>
void fill_rows(Kernels& kernels) {
  constexpr DType t = dtype_of<T>;
  constexpr bool baseline = HWY_TARGET == HWY_STATIC_TARGET;
#define GALOP_ENTER(name, types, ...)                                                                     \
  if constexpr (own_kernel(types, Op::name, t) && (baseline || !scalar_row(Op::name, t))) {               \
    using X = typename RowLanes<Op::name, T>::type;                                                       \
    kernels.op[static_cast<int>(Op::name)][static_cast<int>(t)] = KernelOf<Row_##name, __VA_ARGS__>::run; \
  }
#define UNARY(name, types, ...) GALOP_ENTER(name, types, X)
#define UNARY2(name, types, ...) GALOP_ENTER(name, types, X)
#define BINARY(name, types, ...) GALOP_ENTER(name, types, X, X)
#define BINARY2(name, types, ...) GALOP_ENTER(name, types, X, X)
#define TERNARY(name, types, ...) GALOP_ENTER(name, types, X, X, X)
#define BINARY_INT(name, types, ...) GALOP_ENTER(name, types, X, Lane<std::int64_t>)
#include "galop/ops.def"
#undef GALOP_ENTER
  if constexpr (canonical(Op::where, t) == Loop{Op::where, t}) {
    using X = typename LanesOf<T>::type;
    kernels.op[static_cast<int>(Op::where)][static_cast<int>(t)] =
        KernelOf<Row_where, typename LanesOf<T>::Mask, X, X>::run;
  }
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
