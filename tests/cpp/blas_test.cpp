// Matrix products: every dtype and layout against sums written out, symmetry, and the same bits from any number of
// threads.
#include "backend/cpu/blas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backend/cpu/threads.hpp"

namespace galop::cpu {
namespace {

using std::int64_t;

// A matrix in memory of its own: dense, transposed, reversed, with gaps, or unaligned.
enum class Layout { rows, columns, reversed, gaps, unaligned };
constexpr Layout kLayouts[] = {Layout::rows, Layout::columns, Layout::reversed, Layout::gaps, Layout::unaligned};

template <class T>
struct Matrix {
  Matrix(int64_t rows, int64_t cols, Layout layout) : rows(rows), cols(cols) {
    const auto item = static_cast<int64_t>(sizeof(T));
    memory.assign(static_cast<std::size_t>((rows * 2 + 1) * (cols * 3 + 1) * item + 64), std::byte{0x55});
    // The vector's memory is aligned to 16; an offset of one byte is not aligned to anything.
    int64_t first = layout == Layout::unaligned ? 1 : 0;
    row = cols * item, col = item;
    if (layout == Layout::columns) row = item, col = rows * item;
    if (layout == Layout::gaps) row = (cols * 3 + 1) * 2 * item, col = 3 * item;
    if (layout == Layout::reversed) {
      first = (rows * cols - 1) * item;
      row = -row, col = -col;
    }
    data = reinterpret_cast<char*>(memory.data()) + (rows * cols == 0 ? 0 : first);
  }

  T get(int64_t i, int64_t j) const {
    T x;
    std::memcpy(&x, data + i * row + j * col, sizeof x);
    return x;
  }
  void set(int64_t i, int64_t j, T x) { std::memcpy(data + i * row + j * col, &x, sizeof x); }
  MatrixRef ref() const { return {data, row, col}; }
  MatrixMut mut() { return {data, row, col}; }

  int64_t rows, cols, row, col;
  std::vector<std::byte> memory;
  char* data;
};

std::mt19937_64& random() {
  static std::mt19937_64 engine(5);
  return engine;
}

template <class T>
T random_value() {
  std::uniform_real_distribution<double> real(-1, 1);
  if constexpr (std::is_same_v<T, bool>) {
    return random()() % 5 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random()());
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(real(random()));
  } else {
    return T(static_cast<typename T::value_type>(real(random())), static_cast<typename T::value_type>(real(random())));
  }
}

template <class T>
void fill(Matrix<T>& m) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.cols; ++j) m.set(i, j, random_value<T>());
}

template <class T>
void expect_product(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j) {
      if constexpr (std::is_same_v<T, bool>) {
        bool any = false;
        for (int64_t k = 0; k < a.cols; ++k) any = any || (a.get(i, k) && b.get(k, j));
        ASSERT_EQ(c.get(i, j), any) << i << "," << j;
      } else if constexpr (std::is_integral_v<T>) {
        std::uint64_t sum = 0;
        for (int64_t k = 0; k < a.cols; ++k)
          sum += static_cast<std::uint64_t>(a.get(i, k)) * static_cast<std::uint64_t>(b.get(k, j));
        ASSERT_EQ(c.get(i, j), static_cast<T>(sum)) << i << "," << j;
      } else {
        std::complex<long double> sum = 0;
        long double scale = 0;
        for (int64_t k = 0; k < a.cols; ++k) {
          const std::complex<long double> x = a.get(i, k), y = b.get(k, j);
          sum += x * y;
          scale += std::abs(x) * std::abs(y);
        }
        using Real = decltype(std::abs(T{}));
        const std::complex<long double> got = c.get(i, j);
        const long double bound =
            std::numeric_limits<Real>::epsilon() * (4 + std::sqrt(static_cast<long double>(a.cols))) * scale;
        ASSERT_LE(std::abs(got - sum), bound) << i << "," << j;
      }
    }
}

struct Sizes {
  int64_t m, n, k;
};
constexpr Sizes kSizes[] = {{1, 1, 1}, {1, 1, 300}, {1, 9, 20},  {9, 1, 20},    {5, 6, 1},
                            {3, 4, 5}, {17, 33, 9}, {67, 5, 70}, {65, 260, 40}, {2, 3, 0}};

template <class T>
class Products : public testing::Test {};
using Types = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Products, Types);

TYPED_TEST(Products, EveryLayoutOfEveryOperand) {
  using T = TypeParam;
  for (const auto [m, n, k] : kSizes)
    for (const Layout la : kLayouts)
      for (const Layout lb : kLayouts)
        for (const Layout lc : kLayouts) {
          // Results' layouts need not meet all pairs, nor the largest product, which needs several tiles, all layouts.
          if (lc != Layout::rows && la != lb) continue;
          if (m * n * k > 100000 && (la != lb || la != lc)) continue;
          SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " layouts " << int(la) << int(lb) << int(lc));
          Matrix<T> a(m, k, la), b(k, n, lb), c(m, n, lc);
          fill(a);
          fill(b);
          if constexpr (!std::is_integral_v<T>)  // what was in the result must not count
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) c.set(i, j, T(std::numeric_limits<float>::quiet_NaN()));
          gemm(dtype_of<T>, m, n, k, a.ref(), b.ref(), c.mut());
          expect_product(a, b, c);
        }
}

TYPED_TEST(Products, DotOfAnySteps) {
  using T = TypeParam;
  for (const int64_t n : {0, 1, 7, 1000}) {
    Matrix<T> x(1, n, Layout::reversed), y(n, 1, Layout::gaps), out(1, 1, Layout::unaligned);
    fill(x);
    fill(y);
    dot(dtype_of<T>, n, x.data, x.col, y.data, y.row, out.data);
    expect_product(x, y, out);
  }
}

TYPED_TEST(Products, ZeroStepsRepeatAnElement) {
  using T = TypeParam;
  Matrix<T> one(1, 1, Layout::rows), a(6, 7, Layout::rows), b(7, 4, Layout::rows), c(6, 4, Layout::rows);
  fill(one);
  fill(b);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 7; ++j) a.set(i, j, one.get(0, 0));
  gemm(dtype_of<T>, 6, 4, 7, {one.data, 0, 0}, b.ref(), c.mut());
  expect_product(a, b, c);
}

TYPED_TEST(Products, BatchesBroadcast) {
  using T = TypeParam;
  const int64_t m = 3, n = 4, k = 5, item = sizeof(T);
  Matrix<T> a(2 * m, k, Layout::rows), b(3 * k, n, Layout::rows), c(6 * m, n, Layout::rows);
  fill(a);
  fill(b);
  const int64_t batch[] = {2, 3}, sa[] = {m * k * item, 0}, sb[] = {0, k * n * item},
                sc[] = {3 * m * n * item, m * n * item};
  matmul(dtype_of<T>, batch, m, n, k, a.ref(), sa, b.ref(), sb, c.mut(), sc);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      Matrix<T> x(m, k, Layout::rows), y(k, n, Layout::rows), z(m, n, Layout::rows);
      std::memcpy(x.data, a.data + i * sa[0], static_cast<std::size_t>(m * k * item));
      std::memcpy(y.data, b.data + j * sb[1], static_cast<std::size_t>(k * n * item));
      std::memcpy(z.data, c.data + i * sc[0] + j * sc[1], static_cast<std::size_t>(m * n * item));
      expect_product(x, y, z);
    }
  const int64_t nothing[] = {0, 3};
  matmul(dtype_of<T>, nothing, m, n, k, a.ref(), sa, b.ref(), sb, c.mut(), sc);
}

template <class T>
class FloatProducts : public testing::Test {};
using FloatTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FloatProducts, FloatTypes);

TYPED_TEST(FloatProducts, SameBitsFromAnyNumberOfThreads) {
  using T = TypeParam;
  const int before = thread_count();
  const Sizes sizes[] = {{300, 410, 120},  {2, 3, 70000},   {1, 1, 100000},  {1200, 1, 300},  {1, 1200, 300},
                         {3, 1, 50000},    {500, 1001, 48}, {997, 203, 113}, {3001, 21, 101}, {21, 3001, 101},
                         {410, 213, 2777}, {97, 6001, 12},  {20000, 7, 33},  {1003, 301, 53}, {97, 16385, 5}};
  for (const auto [m, n, k] : sizes) {
    Matrix<T> a(m, k, Layout::rows), b(k, n, Layout::rows), first(m, n, Layout::rows);
    fill(a);
    fill(b);
    for (const int threads : {1, 2, 5, 16}) {
      set_thread_count(threads);
      Matrix<T> c(m, n, Layout::rows);
      gemm(dtype_of<T>, m, n, k, a.ref(), b.ref(), c.mut());
      if (threads == 1) {
        first = c;
        first.data = reinterpret_cast<char*>(first.memory.data());
      }
      EXPECT_EQ(std::memcmp(first.data, c.data, static_cast<std::size_t>(m * n) * sizeof(T)), 0)
          << m << " " << n << " " << k;
    }
    set_thread_count(before);
    if (m * n * k < 10000000) expect_product(a, b, first);
  }
}

TYPED_TEST(FloatProducts, ProductWithOwnTransposeIsExactlySymmetric) {
  using T = TypeParam;
  for (const Layout layout : kLayouts)
    for (const auto& [m, k] : {std::pair<int64_t, int64_t>{40, 30}, {410, 25}, {5, 40000}}) {
      Matrix<T> a(m, k, layout), c(m, m, Layout::rows);
      fill(a);
      Matrix<T> transposed(k, m, Layout::rows);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < m; ++j) transposed.set(i, j, a.get(j, i));
      gemm(dtype_of<T>, m, m, k, a.ref(), {a.data, a.col, a.row}, c.mut());
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < i; ++j) ASSERT_EQ(c.get(i, j), c.get(j, i));
      if (m * m * k < 300000 || layout == Layout::rows) expect_product(a, transposed, c);
    }
}

TYPED_TEST(FloatProducts, NotANumberSpreadsAndOnlyWhereItShould) {
  using T = TypeParam;
  Matrix<T> a(40, 50, Layout::rows), b(50, 60, Layout::rows), c(40, 60, Layout::rows);
  fill(a);
  fill(b);
  a.set(7, 3, T(std::numeric_limits<float>::quiet_NaN()));
  gemm(dtype_of<T>, 40, 60, 50, a.ref(), b.ref(), c.mut());
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 60; ++j) EXPECT_EQ(std::isnan(std::abs(c.get(i, j))), i == 7);
}

// Halves that are small integers and powers of two, so that the expected bits can be written by hand.
std::uint16_t half_of(double x) {
  if (x == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  const auto mantissa = static_cast<int>(std::lround(fraction * 2048)) - 1024;
  return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | mantissa);
}

TEST(HalfProducts, SumInFloatAndRoundOnce) {
  // 2048 + 1 + 1 would stay 2048 if each step rounded to float16; 2049 rounds to even, 2051 up.
  struct Case {
    std::vector<double> x, y;
    std::uint16_t want;
  };
  const Case cases[] = {{{2048, 1, 1}, {1, 1, 1}, half_of(2050)},
                        {{2048, 1}, {1, 1}, half_of(2048)},
                        {{2048, 3}, {1, 1}, half_of(2052)},
                        {{1.5, -2, 0.25}, {4, 3, 8}, half_of(2)},
                        {{32768, 32768}, {1, 1}, 0x7C00},
                        {{-32768, -32768}, {1, 1}, 0xFC00},
                        {{0x1p-14}, {0x1p-10}, 0x0001},
                        {{0x1p-14}, {0x1p-11}, 0x0000},
                        {{0x1p-14, 0x1p-14}, {0x1p-10, 0x1p-11}, 0x0002},
                        {{}, {}, 0x0000}};
  for (const Case& c : cases) {
    const auto n = static_cast<int64_t>(c.x.size());
    // As a lone dot, and as one element of a product large enough for the blocked kernel.
    std::uint16_t out = 0xFFFF;
    std::vector<std::uint16_t> x, y;
    for (const double v : c.x) x.push_back(half_of(v));
    for (const double v : c.y) y.push_back(half_of(v));
    dot(DType::float16, n, x.data(), 2, y.data(), 2, &out);
    EXPECT_EQ(out, c.want);
    const int64_t m = 70, cols = 300;
    std::vector<std::uint16_t> big(static_cast<std::size_t>(m * cols), 0xFFFF);
    gemm(DType::float16, m, cols, n, {x.data(), 0, 2}, {y.data(), 2, 0}, {big.data(), cols * 2, 2});
    for (const std::uint16_t value : big) ASSERT_EQ(value, c.want);
  }
}

TEST(HalfProducts, InfinityAndNotANumber) {
  const std::uint16_t inf = 0x7C00, one = 0x3C00, zero = 0;
  std::uint16_t out = 0;
  dot(DType::float16, 1, &inf, 2, &one, 2, &out);
  EXPECT_EQ(out, inf);
  dot(DType::float16, 1, &inf, 2, &zero, 2, &out);
  EXPECT_EQ(out & 0x7C00, 0x7C00);
  EXPECT_NE(out & 0x3FF, 0);
}

TEST(Blas, LibraryDescribesItself) {
  const BlasLibrary library = blas_library();
  ASSERT_TRUE(library.loaded) << library.advice;
  EXPECT_NE(library.config.find("OpenBLAS"), std::string::npos);
  EXPECT_FALSE(library.core.empty());
}

}  // namespace
}  // namespace galop::cpu
