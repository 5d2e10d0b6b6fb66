// The float64 functions of prelude_math.cuh on the host: their greatest error against the C library's wide format, what
// they give where numbers end, and quotients and roots rounded once.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

namespace galop::cuda::test {
namespace host {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

using std::min;

int __double2hiint(double x) { return static_cast<int>(std::bit_cast<std::int64_t>(x) >> 32); }
int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::int64_t>(x)); }
double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::int64_t>(high) << 32 | static_cast<std::uint32_t>(low));
}
float __int_as_float(int x) { return std::bit_cast<float>(x); }
float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }

// The unit reads the high word and gives one; numbers below the normal ones are 0 to it. `nudge` moves what it gives by
// units of that word, since it is not the nearest.
int nudge = 0;
double word_of(double x) {
  const double y = __hiloint2double(__double2hiint(x) + (x != 0 && std::isfinite(x) ? nudge : 0), 0);
  return std::fabs(y) < std::numeric_limits<double>::min() ? std::copysign(0.0, x) : y;
}
double flushed(double x) {
  return std::fabs(x) < std::numeric_limits<double>::min() ? std::copysign(0.0, x)
                                                           : __hiloint2double(__double2hiint(x), 0);
}
double near_reciprocal(double x) { return word_of(1 / flushed(x)); }
double near_inverse_root(double x) { return word_of(1 / std::sqrt(flushed(x))); }

#define GALOP_ON_HOST
#define __constant__
#include "backend/cuda/prelude_math.cuh"
#undef __constant__
#undef GALOP_ON_HOST

#pragma GCC diagnostic pop

}  // namespace host

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kMost = std::numeric_limits<double>::max();

bool same(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) || (std::isnan(x) && std::isnan(y));
}

// In units of the last place of the truth.
double error(double got, long double want) {
  if (got == static_cast<double>(want)) return 0;
  const auto nearest = static_cast<double>(want);
  if (std::isnan(got) || std::isinf(got) || std::isinf(nearest)) return kInf;
  int exponent = 0;
  std::frexp(want, &exponent);
  return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

class CudaFunctions : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { host::nudge = GetParam(); }
  void TearDown() override { host::nudge = 0; }

  double beside_a_power() {
    const auto units = static_cast<double>(static_cast<int>(random_() % 17) - 8);
    return std::ldexp(1 + units * 0x1p-53, static_cast<int>(random_() % 101) - 50);
  }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  // Every pattern of bits is as likely as another.
  double any() { return std::bit_cast<double>(random_()); }
  double of_any_size(double low, double high) {
    return std::copysign(std::exp2(uniform(low, high)), uniform(-1, 1)) * uniform(0.5, 1);
  }

  template <class F, class Truth, class Draw>
  void bounded(const char* name, double bound, F f, Truth truth, Draw draw) {
    double worst = 0, at = 0;
    for (int i = 0; i < 300'000; ++i) {
      const double x = draw();
      const double e = error(f(x), truth(static_cast<long double>(x)));
      if (e > worst) worst = e, at = x;
    }
    std::printf("%s: %.2f ULP at %a\n", name, worst, at);
    EXPECT_LE(worst, bound) << name << " at " << at;
  }

  std::mt19937_64 random_{7};
};

TEST_P(CudaFunctions, Erf) {
  const auto f = [](double x) { return host::g::erf(x); };
  const auto truth = [](long double x) { return std::erf(x); };
  bounded("erf, -6 to 6", 4, f, truth, [&] { return uniform(-6, 6); });
  bounded("erf of any size", 4, f, truth, [&] { return of_any_size(-1000, 5); });
  for (int i = 0; i < 300'000; ++i) {
    const double x = uniform(0, 7);
    ASSERT_LE(std::fabs(f(x)), 1) << x;
    ASSERT_EQ(f(-x), -f(x)) << x;
  }
  for (const double x : {5.95, 6.0, 100.0, 1e150, 1e200, 1e308, kMost, kInf}) {
    EXPECT_EQ(f(x), 1) << x;
    EXPECT_EQ(f(-x), -1) << x;
  }
  for (const double x : {0.0, -0.0, kNaN, -kNaN}) EXPECT_TRUE(same(f(x), x)) << x;
  EXPECT_TRUE(std::isnan(f(std::bit_cast<double>(0x7ff0000000000001))));
  EXPECT_LE(std::fabs(f(kLeast) - kLeast), kLeast);
}

TEST_P(CudaFunctions, Exp) {
  const auto f = [](double x) { return host::g::exp(x); };
  const auto truth = [](long double x) { return std::exp(x); };
  bounded("exp, -1 to 1", 2, f, truth, [&] { return uniform(-1, 1); });
  bounded("exp, -745 to 709", 2, f, truth, [&] { return uniform(-745, 709); });
  bounded("exp of any size", 2, f, truth, [&] { return of_any_size(-1000, 9); });
  EXPECT_EQ(f(0.0), 1);
  EXPECT_EQ(f(-0.0), 1);
  EXPECT_EQ(f(kInf), kInf);
  EXPECT_EQ(f(710.0), kInf);
  EXPECT_EQ(f(-746.0), 0);
  EXPECT_EQ(f(-kInf), 0);
  EXPECT_TRUE(std::isnan(f(kNaN)) && std::isnan(f(-kNaN)));
}

TEST_P(CudaFunctions, Log) {
  const auto f = [](double x) { return host::g::log(x); };
  const auto truth = [](long double x) { return std::log(x); };
  bounded("log near 1", 3, f, truth, [&] { return 1 + of_any_size(-52, -1); });
  bounded("log, 0 to 10", 3, f, truth, [&] { return uniform(0, 10); });
  bounded("log of any size", 3, f, truth, [&] { return std::fabs(of_any_size(-1074, 1023)); });
  EXPECT_TRUE(same(f(1.0), 0.0));
  EXPECT_EQ(f(kInf), kInf);
  EXPECT_EQ(f(0.0), -kInf);
  EXPECT_EQ(f(-0.0), -kInf);
  EXPECT_TRUE(std::isnan(f(-1.0)) && std::isnan(f(-kLeast)) && std::isnan(f(-kInf)) && std::isnan(f(kNaN)));
  EXPECT_LE(error(f(kMost), std::log(static_cast<long double>(kMost))), 2);
  EXPECT_LE(error(f(kLeast), std::log(static_cast<long double>(kLeast))), 2);
}

TEST_P(CudaFunctions, SineAndCosine) {
  const auto sine = [](double x) { return host::g::sin(x); };
  const auto cosine = [](double x) { return host::g::cos(x); };
  const auto sine_truth = [](long double x) { return std::sin(x); };
  const auto cosine_truth = [](long double x) { return std::cos(x); };
  for (const double size : {1.0, 10.0, 1e4, 1e9}) {
    bounded("sin", 1.5, sine, sine_truth, [&] { return uniform(-size, size); });
    bounded("cos", 1.5, cosine, cosine_truth, [&] { return uniform(-size, size); });
  }
  bounded("sin of any size", 1.5, sine, sine_truth, [&] { return of_any_size(-1000, 35); });
  bounded("cos of any size", 1.5, cosine, cosine_truth, [&] { return of_any_size(-1000, 35); });
  // Nearest to the quarter turns, where the wide format's own functions still hold.
  const auto quarter = [&] { return static_cast<double>(std::floor(uniform(1, 1e6)) * 1.57079632679489661923L); };
  bounded("sin near its zeros", 1.5, sine, sine_truth, quarter);
  bounded("cos near its zeros", 1.5, cosine, cosine_truth, quarter);
  EXPECT_TRUE(same(sine(0.0), 0.0) && same(sine(-0.0), -0.0) && same(sine(kLeast), kLeast));
  EXPECT_EQ(cosine(0.0), 1);
  EXPECT_EQ(cosine(-0.0), 1);
  EXPECT_TRUE(std::isnan(sine(kInf)) && std::isnan(cosine(-kInf)) && std::isnan(sine(kNaN)) &&
              std::isnan(cosine(kNaN)));
  for (int i = 0; i < 300'000; ++i) {
    const double x = uniform(-1e3, 1e3);
    ASSERT_LE(std::fabs(sine(x)), 1) << x;
    ASSERT_LE(std::fabs(cosine(x)), 1) << x;
  }
}

// What the forms for several elements give is what one element gives, whatever its neighbours are.
TEST_P(CudaFunctions, SideBySide) {
  constexpr int n = 4;
  const double special[] = {0.0,    -0.0,  kLeast, -kLeast, 1.0,  -1.0,  709.9, -720.0,
                            1e-310, 1e300, kMost,  -kMost,  kInf, -kInf, kNaN};
  const auto draw = [&] {
    const auto kind = random_() % 16;
    return kind == 0 ? any() : kind == 1 ? special[random_() % std::size(special)] : of_any_size(-8, 8);
  };
  for (int i = 0; i < 300'000; ++i) {
    double x[n], y[n], r[n];
    for (int k = 0; k < n; ++k) x[k] = draw(), y[k] = draw();
    host::g::lanes_exp(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], host::g::exp(x[k]))) << x[k];
    host::g::lanes_log(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], host::g::log(x[k]))) << x[k];
    host::g::lanes_erf(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], host::g::erf(x[k]))) << x[k];
    double sine[n], cosine[n];
    host::g::lanes_sincos(x, sine, cosine);
    host::g::lanes_sin(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], host::g::sin(x[k])) && same(r[k], sine[k])) << x[k];
    host::g::lanes_cos(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], host::g::cos(x[k])) && same(r[k], cosine[k])) << x[k];
    host::g::lanes_sqrt(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], std::sqrt(x[k]))) << x[k];
    host::g::lanes_divide(x, y, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], x[k] / y[k])) << x[k] << " / " << y[k];
    host::g::lanes_divided(x, y[0], 1 / y[0], r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], x[k] / y[0])) << x[k] << " / " << y[0];
  }
}

// Operands of any exponent, those beside powers of two, and those whose quotient lies near the middle between two
// numbers.
TEST_P(CudaFunctions, RoundedOnce) {
  constexpr int n = 4;
  for (int i = 0; i < 300'000; ++i) {
    double x[n], y[n], r[n];
    for (int k = 0; k < n; ++k) {
      y[k] = i % 2 ? any() : uniform(1, 2);
      x[k] = i % 2 ? any() : y[k] * (uniform(1, 2) + 0x1p-53);
      if (i % 8 == 0) y[k] = std::nextafter(2.0, 0.0);
      if (GetParam() < 0) continue;  // further off than the unit is, the compiler's own steps fail beside powers too
      if (i % 8 == 2) y[k] = beside_a_power();
      if (i % 8 == 4) x[k] = beside_a_power(), y[k] = beside_a_power();
    }
    host::g::lanes_divide(x, y, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], x[k] / y[k])) << std::hexfloat << x[k] << " / " << y[k];
    host::g::lanes_divided(x, y[0], 1 / y[0], r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], x[k] / y[0])) << std::hexfloat << x[k] << " / " << y[0];
    host::g::lanes_sqrt(x, r);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(same(r[k], std::sqrt(x[k]))) << std::hexfloat << x[k];
  }
}

INSTANTIATE_TEST_SUITE_P(Reciprocals, CudaFunctions, testing::Values(0, 1, -1), [](const auto& p) {
  return p.param == 0 ? "Down" : p.param > 0 ? "Up" : "Further";
});

}  // namespace
}  // namespace galop::cuda::test
