// A blocked product: tiles of c are independent chunks; inside one, packed panels feed a kernel of 4 rows by 2 vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/matmul_plain.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/cpu/matmul_plain.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/threads.hpp"
#include "core/visit.hpp"

#ifndef GALOP_CPU_MATMUL_PLAIN_ONCE
#define GALOP_CPU_MATMUL_PLAIN_ONCE
namespace galop::cpu {
namespace {

inline float to_float(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16;
  const std::uint32_t rest = h & 0x7FFFu;
  if (rest < 0x0400u) {  // zero or subnormal: a multiple of 2^-24, exact in float
    const float magnitude = static_cast<float>(rest) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t exponent_shift = rest >= 0x7C00u ? 0x70000000u : 0x38000000u;
  return std::bit_cast<float>(sign | ((rest << 13) + exponent_shift));
}

inline std::uint16_t to_half(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  std::uint32_t rest = bits & 0x7FFFFFFFu;
  if (rest > 0x7F800000u) {
    const std::uint32_t payload = (rest >> 13) & 0x3FFu;
    rest = 0x7C00u | std::max(payload, 1u);
  } else if (rest >= 0x477FF000u) {
    rest = 0x7C00u;
  } else if (rest < 0x38800000u) {  // below 2^-14: adding 1/2 rounds to multiples of 2^-24
    rest = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + 0.5f) - 0x3F000000u;
  } else {
    rest += 0xFFFu + ((rest >> 13) & 1u);
    rest = (rest - 0x38000000u) >> 13;
  }
  return static_cast<std::uint16_t>(sign | rest);
}

// How a type is stored, computed and multiplied. Signed and unsigned integers share the low bits of their products.
template <class S, class C>
struct Wrapping {
  using Stored = S;
  using Computed = C;
  static constexpr bool is_bool = false;
  static C load(S x) { return static_cast<C>(x); }
  static S store(C x) { return static_cast<S>(x); }
  static C step(C sum, C x, C y) { return static_cast<C>(sum + static_cast<C>(x * y)); }
};
template <int kSize>
using Int = Wrapping<Word<kSize>, Word<std::max(kSize, 2)>>;  // no vector multiplies bytes

struct Bool {
  using Stored = std::uint8_t;
  using Computed = std::uint8_t;
  static constexpr bool is_bool = true;
  static std::uint8_t load(std::uint8_t x) { return x != 0; }
  static std::uint8_t store(std::uint8_t x) { return x; }
  static std::uint8_t step(std::uint8_t sum, std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(sum | (x & y));
  }
};

struct Half {
  using Stored = std::uint16_t;
  using Computed = float;
  static constexpr bool is_bool = false;
  static float load(std::uint16_t x) { return to_float(x); }
  static std::uint16_t store(float x) { return to_half(x); }
  static float step(float sum, float x, float y) { return sum + x * y; }
};

/// f(std::type_identity<P>()) for how a bool, a float16 or an integer is multiplied.
template <class F>
[[gnu::always_inline]] inline decltype(auto) visit_plain(DType t, F&& f) {
  if (t == DType::bool_) return f(std::type_identity<Bool>());
  if (t == DType::float16) return f(std::type_identity<Half>());
  return visit_itemsize(
      itemsize(t), [&](auto size) -> decltype(auto) { return f(std::type_identity<Int<std::min<int>(size, 8)>>()); });
}

template <class P>
typename P::Computed load_at(const char* at) {
  typename P::Stored x;
  std::memcpy(&x, at, sizeof x);  // arrays may be unaligned
  return P::load(x);
}

template <class P>
void store_at(char* at, typename P::Computed value) {
  const typename P::Stored x = P::store(value);
  std::memcpy(at, &x, sizeof x);
}

constexpr std::int64_t kRows = 64, kCols = 256, kDepth = 256;  // of a tile of c, and of the panels that feed it
constexpr std::int64_t kMicroRows = 4;

}  // namespace
}  // namespace galop::cpu
#endif  // GALOP_CPU_MATMUL_PLAIN_ONCE

HWY_BEFORE_NAMESPACE();
namespace galop::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// sum[kMicroRows rows of kCols][2 vectors] += a panel (depth x kMicroRows) times b panel (depth x 2 vectors).
template <class P, class C = typename P::Computed>
void micro(const C* a, const C* b, std::int64_t depth, C* sum) {
  const hn::ScalableTag<C> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto step = [](auto acc, auto x, auto y) HWY_ATTR {
    if constexpr (P::is_bool) {
      return hn::Or(acc, hn::And(x, y));
    } else {
      return hn::Add(acc, hn::Mul(x, y));  // two roundings, or exact: float16 products are exact in float32
    }
  };
  C* row[kMicroRows];
  for (int r = 0; r < kMicroRows; ++r) row[r] = sum + r * kCols;
  auto s00 = hn::LoadU(d, row[0]), s01 = hn::LoadU(d, row[0] + lanes);
  auto s10 = hn::LoadU(d, row[1]), s11 = hn::LoadU(d, row[1] + lanes);
  auto s20 = hn::LoadU(d, row[2]), s21 = hn::LoadU(d, row[2] + lanes);
  auto s30 = hn::LoadU(d, row[3]), s31 = hn::LoadU(d, row[3] + lanes);
  for (std::int64_t k = 0; k < depth; ++k) {
    const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
    b += 2 * lanes;
    const auto a0 = hn::Set(d, a[0]), a1 = hn::Set(d, a[1]), a2 = hn::Set(d, a[2]), a3 = hn::Set(d, a[3]);
    a += kMicroRows;
    s00 = step(s00, a0, b0);
    s01 = step(s01, a0, b1);
    s10 = step(s10, a1, b0);
    s11 = step(s11, a1, b1);
    s20 = step(s20, a2, b0);
    s21 = step(s21, a2, b1);
    s30 = step(s30, a3, b0);
    s31 = step(s31, a3, b1);
  }
  hn::StoreU(s00, d, row[0]), hn::StoreU(s01, d, row[0] + lanes);
  hn::StoreU(s10, d, row[1]), hn::StoreU(s11, d, row[1] + lanes);
  hn::StoreU(s20, d, row[2]), hn::StoreU(s21, d, row[2] + lanes);
  hn::StoreU(s30, d, row[3]), hn::StoreU(s31, d, row[3] + lanes);
}

// Copies `major` x `depth` elements into panels of `width` along major, depth outside width, zeros past the end.
template <class P>
void pack(const char* from, std::int64_t major, std::int64_t major_step, std::int64_t depth, std::int64_t depth_step,
          std::int64_t width, typename P::Computed* to) {
  for (std::int64_t at = 0; at < major; at += width) {
    const std::int64_t there = std::min(width, major - at);
    for (std::int64_t k = 0; k < depth; ++k, to += width) {
      const char* source = from + at * major_step + k * depth_step;
      for (std::int64_t i = 0; i < there; ++i) to[i] = load_at<P>(source + i * major_step);
      for (std::int64_t i = there; i < width; ++i) to[i] = typename P::Computed{};
    }
  }
}

// One tile of c: `rows` <= kRows, `cols` <= kCols; scratch holds both panels and the sums.
template <class P>
void tile(std::int64_t rows, std::int64_t cols, std::int64_t k, const MatrixRef& a, const MatrixRef& b,
          const MatrixMut& c, void* scratch) {
  using C = typename P::Computed;
  const auto width = static_cast<std::int64_t>(2 * hn::Lanes(hn::ScalableTag<C>()));
  C* const sums = static_cast<C*>(scratch);
  C* const a_panel = sums + kRows * kCols;
  C* const b_panel = a_panel + kRows * kDepth;
  std::fill(sums, sums + kRows * kCols, C{});
  const auto* a_data = static_cast<const char*>(a.data);
  const auto* b_data = static_cast<const char*>(b.data);
  for (std::int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - k0);
    pack<P>(a_data + k0 * a.col, rows, a.row, depth, a.col, kMicroRows, a_panel);
    pack<P>(b_data + k0 * b.row, cols, b.col, depth, b.row, width, b_panel);
    for (std::int64_t j = 0; j < cols; j += width)
      for (std::int64_t i = 0; i < rows; i += kMicroRows)
        micro<P>(a_panel + i * depth, b_panel + j * depth, depth, sums + i * kCols + j);
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      store_at<P>(static_cast<char*>(c.data) + i * c.row + j * c.col, sums[i * kCols + j]);
}

using Tile = void (*)(std::int64_t, std::int64_t, std::int64_t, const MatrixRef&, const MatrixRef&, const MatrixMut&,
                      void*);

Tile tile_of(DType t) {
  return visit_plain(t, []<class P>(std::type_identity<P>) -> Tile { return tile<P>; });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace galop::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {
namespace {

HWY_EXPORT(tile_of);

template <class P>
void dot_of(std::int64_t n, const void* x, std::int64_t sx, const void* y, std::int64_t sy, void* out) {
  const auto* a = static_cast<const char*>(x);
  const auto* b = static_cast<const char*>(y);
  typename P::Computed sum{};
  for (std::int64_t i = 0; i < n; ++i) sum = P::step(sum, load_at<P>(a + i * sx), load_at<P>(b + i * sy));
  store_at<P>(static_cast<char*>(out), sum);
}

}  // namespace

void plain_dot(DType t, std::int64_t n, const void* x, std::int64_t sx, const void* y, std::int64_t sy, void* out) {
  visit_plain(t, [&]<class P>(std::type_identity<P>) { dot_of<P>(n, x, sx, y, sy, out); });
}

void plain_gemm(DType t, std::int64_t m, std::int64_t n, std::int64_t k, const MatrixRef& a, const MatrixRef& b,
                const MatrixMut& c) {
  const auto a_at = [&](std::int64_t i) { return static_cast<const char*>(a.data) + i * a.row; };
  const auto b_at = [&](std::int64_t j) { return static_cast<const char*>(b.data) + j * b.col; };
  const auto c_at = [&](std::int64_t i, std::int64_t j) { return static_cast<char*>(c.data) + i * c.row + j * c.col; };
  constexpr std::int64_t kLittle = 1 << 15;  // products that are not worth a panel, or another thread
  if (n == 1 || (n <= kLittle && m <= kLittle && m * n <= kLittle && m * n * std::min(k, kLittle) <= kLittle)) {
    parallel_for(m, std::max<std::int64_t>(kLittle / std::max<std::int64_t>(std::min(k, kLittle) * n, 1), 1),
                 [&](std::int64_t begin, std::int64_t end, int) {
                   for (std::int64_t i = begin; i < end; ++i)
                     for (std::int64_t j = 0; j < n; ++j) plain_dot(t, k, a_at(i), a.col, b_at(j), b.row, c_at(i, j));
                 });
    return;
  }
  const auto one_tile = HWY_DYNAMIC_DISPATCH(tile_of)(t);
  const std::int64_t item = std::max<std::int64_t>(itemsize(t), t == DType::bool_ ? 1 : t == DType::float16 ? 4 : 2);
  const std::int64_t scratch = (kRows * kCols + kRows * kDepth + kCols * kDepth) * item;
  const std::int64_t down = (m + kRows - 1) / kRows, across = (n + kCols - 1) / kCols;
  const int workers = in_parallel() ? 1 : static_cast<int>(std::min<std::int64_t>(thread_count(), down * across));
  const Block memory = allocate(scratch * workers);
  struct Releaser {
    const Block& block;
    ~Releaser() { release(block); }
  } releaser{memory};
  parallel_chunks(down * across, [&](std::int64_t chunk, int worker) {
    const std::int64_t i = chunk / across * kRows, j = chunk % across * kCols;
    one_tile(std::min(kRows, m - i), std::min(kCols, n - j), k, {a_at(i), a.row, a.col}, {b_at(j), b.row, b.col},
             {c_at(i, j), c.row, c.col}, static_cast<char*>(memory.data) + worker * scratch);
  });
}

}  // namespace galop::cpu
#endif  // HWY_ONCE
