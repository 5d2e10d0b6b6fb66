// Kernels for cases too rare for lanes: the rows that run on float16 itself, because neighbours in float16 are their
// result (all others go through float32), and folds of comparisons over bool.
#include <cstring>

#include "backend/cpu/shards.hpp"

namespace galop::cpu {
namespace {

constexpr unsigned kSign = 0x8000, kInfinity = 0x7c00, kNan = 0x7e00;

constexpr bool is_nan(unsigned h) { return (h & 0x7fff) > kInfinity; }

// The numbers in order: -inf … -0 = +0 … +inf as consecutive integers.
constexpr int rank(unsigned h) { return h & kSign ? -static_cast<int>(h & 0x7fff) : static_cast<int>(h); }

constexpr unsigned next_after(unsigned x, unsigned y) {
  if (is_nan(x) || is_nan(y)) return kNan;
  if (rank(x) == rank(y)) return x;
  if (rank(x) == 0) return (y & kSign) + 1;
  return (rank(x) < rank(y)) == (rank(x) > 0) ? x + 1 : x - 1;
}

// One unit in the last place, positive as NumPy gives it; a power of two below zero has the finer spacing above it.
constexpr unsigned spacing_of(unsigned h) {
  const unsigned magnitude = h & 0x7fff;
  if (magnitude >= kInfinity) return kNan;
  if (h == 0x7bff) return kInfinity;
  const bool finer = (h & kSign) && (h & 0x3ff) == 0;
  const int exponent = static_cast<int>(magnitude >> 10) - 10 - finer;
  if (exponent > 0) return static_cast<unsigned>(exponent) << 10;  // a normal number
  return exponent + 9 > 0 ? 1u << (exponent + 9) : 1u;             // a denormal one
}

void nextafter_kernel(void* const* out, const void* const* in, std::int64_t n) {
  const auto* x = static_cast<const std::uint16_t*>(in[0]);
  const auto* y = static_cast<const std::uint16_t*>(in[1]);
  auto* r = static_cast<std::uint16_t*>(out[0]);
  for (std::int64_t i = 0; i < n; ++i) r[i] = static_cast<std::uint16_t>(next_after(x[i], y[i]));
}

void spacing_kernel(void* const* out, const void* const* in, std::int64_t n) {
  const auto* x = static_cast<const std::uint16_t*>(in[0]);
  auto* r = static_cast<std::uint16_t*>(out[0]);
  for (std::int64_t i = 0; i < n; ++i) r[i] = static_cast<std::uint16_t>(spacing_of(x[i]));
}

template <class T, class F>
void fold(void* acc, const void* in, std::int64_t n, F f) {
  auto& a = *static_cast<T*>(acc);
  for (std::int64_t i = 0; i < n; ++i) a = static_cast<T>(f(a, static_cast<const T*>(in)[i]));
}

template <class T, class F>
void scan(void* acc, const void* in, void* out, std::int64_t n, F f) {
  auto& a = *static_cast<T*>(acc);
  for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = a = static_cast<T>(f(a, static_cast<const T*>(in)[i]));
}

template <class T, class F>
void enter_folds(Kernels& kernels, Op op, DType t, F) {
  kernels.fold[static_cast<int>(op)][static_cast<int>(t)] = [](void* acc, const void* in, std::int64_t n) {
    fold<T>(acc, in, n, F());
  };
  kernels.scan[static_cast<int>(op)][static_cast<int>(t)] = [](void* acc, const void* in, void* out, std::int64_t n) {
    scan<T>(acc, in, out, n, F());
  };
}

// Of integers the answer is known.
template <int kByte>
void constant_kernel(void* const* out, const void* const*, std::int64_t n) {
  std::memset(out[0], kByte, static_cast<std::size_t>(n));
}

}  // namespace

void fill_rare(std::int64_t, Kernels& kernels) {
  kernels.op[static_cast<int>(Op::isinf)][static_cast<int>(DType::uint8)] = constant_kernel<0>;
  kernels.op[static_cast<int>(Op::isfinite)][static_cast<int>(DType::uint8)] = constant_kernel<1>;
  constexpr int t = static_cast<int>(DType::float16);
  kernels.op[static_cast<int>(Op::nextafter)][t] = nextafter_kernel;
  kernels.op[static_cast<int>(Op::spacing)][t] = spacing_kernel;
  enter_folds<std::uint16_t>(kernels, Op::nextafter, DType::float16,
                             [](unsigned x, unsigned y) { return next_after(x, y); });
  enter_folds<bool>(kernels, Op::equal, DType::bool_, [](bool x, bool y) { return x == y; });
  enter_folds<bool>(kernels, Op::not_equal, DType::bool_, [](bool x, bool y) { return x != y; });
  enter_folds<bool>(kernels, Op::less, DType::bool_, [](bool x, bool y) { return x < y; });
  enter_folds<bool>(kernels, Op::less_equal, DType::bool_, [](bool x, bool y) { return x <= y; });
  enter_folds<bool>(kernels, Op::greater, DType::bool_, [](bool x, bool y) { return x > y; });
  enter_folds<bool>(kernels, Op::greater_equal, DType::bool_, [](bool x, bool y) { return x >= y; });
}

}  // namespace galop::cpu
