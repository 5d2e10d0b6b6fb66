// Which floating-point flags a product of two matrices raised, by its operands and its result.
#include <complex>
#include <vector>

#include "backend/cpu/blas.hpp"
#include "backend/cpu/scalar_math.hpp"
#include "core/faults.hpp"
#include "core/visit.hpp"

namespace galop::cpu {
namespace {

using std::int64_t;

constexpr std::uint8_t kInfinity = 1, kNan = 2;

template <class T>
std::uint8_t special(const T& x) {
  return std::isfinite(x) ? std::uint8_t{0} : std::isnan(x) ? kNan : kInfinity;
}
template <class T>
std::uint8_t special(const std::complex<T>& x) {
  return static_cast<std::uint8_t>(special(x.real()) | special(x.imag()));
}
std::uint8_t special(const half& x) {
  if ((x.bits & 0x7c00u) != 0x7c00u) return 0;
  return (x.bits & 0x3ffu) != 0 ? kNan : kInfinity;
}

template <class T>
std::uint8_t special_at(const void* base, int64_t offset) {
  T x;
  std::memcpy(&x, static_cast<const char*>(base) + offset, sizeof x);
  return special(x);
}

/// What each of `n` rows has, `row` bytes apart, with `k` elements `col` bytes apart.
template <class T>
std::vector<std::uint8_t> specials(const void* data, int64_t n, int64_t row, int64_t k, int64_t col) {
  std::vector<std::uint8_t> has(static_cast<std::size_t>(n), 0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) has[static_cast<std::size_t>(i)] |= special_at<T>(data, i * row + j * col);
  return has;
}

template <class T>
std::uint8_t flags_of(int64_t m, int64_t n, int64_t k, const MatrixRef& a, const MatrixRef& b, const MatrixMut& c) {
  std::vector<std::uint8_t> rows, cols;  // once something is not finite
  unsigned flags = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const unsigned is = special_at<T>(c.data, i * c.row + j * c.col);
      if (is == 0) continue;
      if (rows.empty()) {
        rows = specials<T>(a.data, m, a.row, k, a.col);
        cols = specials<T>(b.data, n, b.col, k, b.row);
      }
      const unsigned from = rows[static_cast<std::size_t>(i)] | cols[static_cast<std::size_t>(j)];
      if (from & kNan) continue;
      if (from == 0) flags |= faults::kOverflow;
      if (is & kNan) flags |= faults::kInvalid;
      if (flags == (faults::kOverflow | faults::kInvalid)) return static_cast<std::uint8_t>(flags);
    }
  return static_cast<std::uint8_t>(flags);
}

}  // namespace

std::uint8_t product_flags(DType t, int64_t m, int64_t n, int64_t k, const MatrixRef& a, const MatrixRef& b,
                           const MatrixMut& c, std::uint8_t hardware) {
  const auto underflow = static_cast<std::uint8_t>(hardware & faults::kUnderflow);
  if ((hardware & (faults::kOverflow | faults::kInvalid)) == 0) return underflow;
  const auto of = [&]<class T>(std::type_identity<T>) { return flags_of<T>(m, n, k, a, b, c); };
  const auto others = [&] { return t == DType::float16 ? of(std::type_identity<half>()) : std::uint8_t{0}; };
  return static_cast<std::uint8_t>(underflow | visit_floating(t, of, others));
}

}  // namespace galop::cpu
