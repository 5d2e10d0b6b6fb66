// Loops for folds of many short rows.
#include "backend/cpu/reduce_rows.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/visit.hpp"

namespace galop::cpu {
namespace {

template <class T>
inline T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}
template <class T>
inline std::complex<T> plus(std::complex<T> a, std::complex<T> b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}
template <class T>
inline T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <class T, bool kSum, int kCount>
void fold_rows(T* acc, const void* const* row, std::int64_t n) {
  const T* p[kCount];
  for (int k = 0; k < kCount; ++k) p[k] = static_cast<const T*>(row[k]);
  for (std::int64_t c = 0; c < n; ++c) {
    T a = acc[c];
    for (int k = 0; k < kCount; ++k) {
      if constexpr (kSum)
        a = plus(a, p[k][c]);
      else
        a = times(a, p[k][c]);
    }
    acc[c] = a;
  }
}

template <class T, bool kSum>
void fold_up_to_four(void* acc, const void* const* row, int count, std::int64_t n) {
  T* a = static_cast<T*>(acc);
  switch (count) {
    case 1:
      return fold_rows<T, kSum, 1>(a, row, n);
    case 2:
      return fold_rows<T, kSum, 2>(a, row, n);
    case 3:
      return fold_rows<T, kSum, 3>(a, row, n);
    default:
      return fold_rows<T, kSum, 4>(a, row, n);
  }
}

// A complex sum is two sums side by side.
template <class T>
void sum_complex_rows(void* acc, const void* const* row, int count, std::int64_t n) {
  fold_up_to_four<T, true>(acc, row, count, 2 * n);
}

template <class T, int kWidth>
void sum_narrow(void* acc, const void* in, std::int64_t rows) {
  T* out = static_cast<T*>(acc);
  const T* p = static_cast<const T*>(in);
  T a[kWidth];
  for (int c = 0; c < kWidth; ++c) a[c] = out[c];
  for (; rows > 0; --rows, p += kWidth)
    for (int c = 0; c < kWidth; ++c) a[c] = plus(a[c], p[c]);
  for (int c = 0; c < kWidth; ++c) out[c] = a[c];
}

template <class T>
constexpr std::array<NarrowFold, kNarrow> kNarrowSums = []<int... kWidth>(std::integer_sequence<int, kWidth...>) {
  return std::array<NarrowFold, kNarrow>{sum_narrow<T, kWidth + 1>...};
}
(std::make_integer_sequence<int, kNarrow>());

template <class T, int kLength>
void sum_short(void* acc, const void* in, std::int64_t rows, std::int64_t) {
  T* out = static_cast<T*>(acc);
  const T* p = static_cast<const T*>(in);
  for (std::int64_t i = 0; i < rows; ++i, p += kLength) {
    T a = p[0];
    for (int k = 1; k < kLength; ++k) a = plus(a, p[k]);
    out[i] = plus(out[i], a);
  }
}

// Rows of 1 … kLongest elements: NumPy adds so few one after the other. Complex ones only to 3: from 4 on it uses
// lanes.
template <class T, int kLongest>
ShortSum short_sums(std::int64_t n) {
  static constexpr auto kSums = []<int... kLength>(std::integer_sequence<int, kLength...>) {
    return std::array<ShortSum, kLongest>{sum_short<T, kLength + 1>...};
  }
  (std::make_integer_sequence<int, kLongest>());
  return n <= kLongest ? kSums[static_cast<std::size_t>(n - 1)] : nullptr;
}

template <int kSize>
void gather_items(char* to, const char* from, std::int64_t blocks, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const char* row = from + r * width * kSize;
    if (width == 1) {
      for (std::int64_t b = 0; b < blocks; ++b, to += kSize, row += rows * kSize) std::memcpy(to, row, kSize);
      continue;
    }
    for (std::int64_t b = 0; b < blocks; ++b, row += rows * width * kSize)
      for (std::int64_t c = 0; c < width; ++c, to += kSize) std::memcpy(to, row + c * kSize, kSize);
  }
}

}  // namespace

void gather_rows(void* to, const void* from, std::int64_t blocks, std::int64_t rows, std::int64_t width,
                 std::int64_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  visit_itemsize(size, [&](auto item) { gather_items<item>(out, in, blocks, rows, width); });
}

RowFold row_fold(Op op, DType t) {
  const bool sum = op == Op::add;
  if (!sum && op != Op::multiply) return nullptr;
  return visit_dtype(t, [&]<class T>(std::type_identity<T>) -> RowFold {
    if constexpr (std::is_same_v<T, half> || sizeof(T) < 4)
      return nullptr;
    else if constexpr (is_complex(dtype_of<T>))
      return sum ? sum_complex_rows<typename T::value_type> : nullptr;
    else
      return sum ? fold_up_to_four<T, true> : fold_up_to_four<T, false>;
  });
}

NarrowFold narrow_fold(Op op, DType t, std::int64_t width) {
  if (op != Op::add || width > kNarrow) return nullptr;
  const auto i = static_cast<std::size_t>(width - 1);
  const auto sums = [&]<class T>(std::type_identity<T>) { return kNarrowSums<T>[i]; };
  return visit_floating(t, sums, [] { return NarrowFold{}; });
}

ShortSum short_sum(Op op, DType t, std::int64_t n) {
  if (op != Op::add) return nullptr;
  const auto sums = [&]<class T>(std::type_identity<T>) {
    return short_sums < T, is_complex(dtype_of<T>) ? 3 : 7 > (n);
  };
  return visit_floating(t, sums, [] { return ShortSum{}; });
}

}  // namespace galop::cpu
