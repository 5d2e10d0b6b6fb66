// Searches against plain loops, for every instruction set: sizes around vectors and blocks, ties, NaN everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/shards.hpp"

namespace galop::cpu {
namespace {

const std::vector<Kernels>& tables() {
  static const std::vector<Kernels> all = [] {
    std::vector<Kernels> r;
    for (const Isa& isa : isas())
      if (supported(isa)) r.push_back(make_kernels(isa));
    return r;
  }();
  return all;
}

template <class T>
bool is_nan(T x) {
  return x != x;
}
template <class T>
bool after(T a, T b, bool greatest) {
  return greatest ? a > b : a < b;
}
template <class T>
bool after(std::complex<T> a, std::complex<T> b, bool greatest) {
  return a.real() == b.real() ? after(a.imag(), b.imag(), greatest) : after(a.real(), b.real(), greatest);
}

template <class T>
std::int64_t expected(const std::vector<T>& x, bool greatest) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (is_nan(x[i])) return static_cast<std::int64_t>(i);
    if (after(x[i], x[best], greatest)) best = i;
  }
  return static_cast<std::int64_t>(best);
}

template <class T>
T number(std::mt19937_64& r, int range) {
  return static_cast<T>(static_cast<int>(r() % static_cast<unsigned>(2 * range + 1)) -
                        (std::is_unsigned_v<T> ? 0 : range));
}
template <>
std::complex<double> number(std::mt19937_64& r, int range) {
  return {number<double>(r, range), number<double>(r, range)};
}
template <>
std::complex<float> number(std::mt19937_64& r, int range) {
  return {number<float>(r, range), number<float>(r, range)};
}

template <class T>
void check(const Kernels& k, const std::vector<T>& x, const std::string& where) {
  constexpr int t = static_cast<int>(dtype_of<T>);
  const auto n = static_cast<std::int64_t>(x.size());
  for (int greatest = 0; greatest < 2; ++greatest)
    EXPECT_EQ(k.extreme[greatest][t](x.data(), n).at, expected(x, greatest)) << k.isa << " " << where;
  for (int truth = 0; truth < 2; ++truth) {
    std::int64_t want = 0;
    while (want < n && (x[static_cast<std::size_t>(want)] != T(0)) != (truth == 1)) ++want;
    const Found found = k.truth[truth][t](x.data(), n);
    EXPECT_EQ(found.at, want) << k.isa << " truth " << where;
    EXPECT_EQ(found.last, want < n) << k.isa << " truth " << where;
  }
}

template <class T>
class Searches : public testing::Test {};
using Types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Searches, Types);

TYPED_TEST(Searches, Lines) {
  using T = TypeParam;
  std::mt19937_64 r(11);
  for (const Kernels& k : tables()) {
    for (const std::size_t n :
         std::initializer_list<std::size_t>{1,   2,   3,   7,   8,   9,   15,  16,  17,   31,   33,   63,   64,  65,
                                            127, 129, 200, 255, 256, 257, 511, 513, 1030, 4095, 4096, 4097, 9000}) {
      for (int range : {0, 1, 3, 60}) {
        std::vector<T> x(n);
        for (T& v : x) v = number<T>(r, range);
        check(k, x, std::to_string(n) + " range " + std::to_string(range));
        // One element that decides.
        const T most = range & 1 ? T{1} : T{}, odd = range & 1 ? T{} : T{1};
        std::fill(x.begin(), x.end(), most);
        x[r() % n] = odd;
        check(k, x, std::to_string(n) + " with one odd");
        if constexpr (!std::is_integral_v<T>) {
          x[r() % n] = std::numeric_limits<double>::infinity();
          check(k, x, std::to_string(n) + " with infinity");
          x[r() % n] = T(-std::numeric_limits<float>::infinity());
          std::vector<T> low(n, T(-std::numeric_limits<float>::infinity()));
          check(k, low, std::to_string(n) + " infinities");
          x[r() % n] = T(std::numeric_limits<float>::quiet_NaN());
          x[r() % n] = T(std::numeric_limits<float>::quiet_NaN());
          check(k, x, std::to_string(n) + " with NaN");
        } else {
          check(k, std::vector<T>(n, std::numeric_limits<T>::min()), std::to_string(n) + " lowest");
          check(k, std::vector<T>(n, std::numeric_limits<T>::max()), std::to_string(n) + " highest");
        }
      }
    }
  }
}

TYPED_TEST(Searches, Columns) {
  using T = TypeParam;
  std::mt19937_64 r(12);
  for (const Kernels& k : tables()) {
    for (int greatest = 0; greatest < 2; ++greatest) {
      const ColumnSearch search = k.columns[greatest][static_cast<int>(dtype_of<T>)];
      for (int extra : {0, 1, 5}) {
        for (int rows : {1, 2, 50, 126, 127, 128, 129, 400}) {
          const int width = search.least + extra;
          std::vector<T> x(static_cast<std::size_t>(rows * width));
          for (T& v : x) v = number<T>(r, rows > 100 ? 60 : 2);
          if constexpr (!std::is_integral_v<T>)
            for (int j = 0; j < 3; ++j) x[r() % x.size()] = T(std::numeric_limits<float>::quiet_NaN());
          std::vector<std::int64_t> got(static_cast<std::size_t>(width));
          search.run(reinterpret_cast<const char*>(x.data()), rows, width * static_cast<std::int64_t>(sizeof(T)), width,
                     got.data());
          for (int c = 0; c < width; ++c) {
            std::vector<T> column;
            for (int i = 0; i < rows; ++i) column.push_back(x[static_cast<std::size_t>(i * width + c)]);
            ASSERT_EQ(got[static_cast<std::size_t>(c)], expected(column, greatest))
                << k.isa << " " << rows << " by " << width << " column " << c;
          }
        }
      }
    }
  }
}

template <class T>
void check_ordinary(int which) {
  using Limits = std::numeric_limits<T>;
  const T least = Limits::min(), below = std::nextafter(least, T(0));
  for (const Kernels& k : tables()) {
    for (const std::size_t n : std::initializer_list<std::size_t>{1, 3, 4, 15, 16, 17, 63, 64, 65, 300}) {
      for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        std::vector<T> x(n, T(1));
        const auto is = [&](T v, bool normal) {
          x[at] = v;
          return k.ordinary[which](x.data(), static_cast<std::int64_t>(n), normal);
        };
        for (T sign : {T(1), T(-1)}) {
          for (bool normal : {false, true}) {
            EXPECT_TRUE(is(sign * least, normal) && is(sign * Limits::max(), normal)) << k.isa << " " << n;
            EXPECT_FALSE(is(sign * Limits::infinity(), normal) || is(sign * Limits::quiet_NaN(), normal)) << k.isa;
            EXPECT_EQ(is(sign * below, normal), !normal) << k.isa << " " << n;
            EXPECT_EQ(is(sign * T(0), normal), !normal) << k.isa << " " << n;
          }
        }
      }
    }
  }
}

TEST(Ordinary, InfinitiesNanAndWhatIsBelowNormal) {
  check_ordinary<float>(0);
  check_ordinary<double>(1);
}

}  // namespace
}  // namespace galop::cpu
