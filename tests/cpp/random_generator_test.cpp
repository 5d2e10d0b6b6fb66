// Generator's distributions over both bit generators, beside NumPy's.

#include "random/generator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "galop/error.hpp"
#include "random_expected.hpp"

namespace galop::random {
namespace {

using namespace vectors;
using raw::Generator;

class GeneratorTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string named(const std::string& what) const { return std::string(GetParam()) + "." + what; }

  Generator fresh() const {
    const SeedSequence seed(20240229);
    if (std::string(GetParam()) == "pcg64") return Generator(seed);
    return Generator(AnyBitStream(Mt19937(seed)));
  }

  template <class T, class Fill>
  void expect(const std::string& what, std::size_t n, Fill&& fill) const {
    Generator g = fresh();
    const auto values = filled<T>(n, [&](std::size_t count, T* out) { fill(g, count, out); });
    EXPECT_EQ(hash_of(values), expected_hash(named(what))) << named(what);
  }

  template <class T, class Fill>
  void expect_near(const std::string& what, Fill&& fill) const {
    Generator g = fresh();
    expect_samples(named(what), filled<T>(20003, [&](std::size_t count, T* out) { fill(g, count, out); }));
  }
};

INSTANTIATE_TEST_SUITE_P(BitGenerators, GeneratorTest, ::testing::Values("pcg64", "mt19937"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(GeneratorTest, Random) {
  for (const std::size_t n : {1u, 63u, 64u, 1000u}) {
    expect<double>("random." + std::to_string(n), n, [](Generator& g, std::size_t c, double* o) { g.random(c, o); });
    expect<float>("random_f32." + std::to_string(n), n, [](Generator& g, std::size_t c, float* o) { g.random(c, o); });
  }
  expect<double>("uniform", 1001, [](Generator& g, std::size_t c, double* o) { g.uniform(-3.5, 1e6, c, o); });
  expect<std::uint8_t>("bytes", 1003, [](Generator& g, std::size_t c, std::uint8_t* o) { g.bytes(c, o); });
}

TEST_P(GeneratorTest, Integers) {
  const std::vector<IntegerCase> cases = integer_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [type, low, high] = cases[i];
    expect<std::uint8_t>("integers." + std::to_string(i), 500 * item_size(type),
                         [&, t = type, l = low, h = high](Generator& g, std::size_t c, std::uint8_t* o) {
                           if (i % 2 == 0) {
                             g.integers(t, l, h, true, c / item_size(t), o);
                           } else {
                             g.integers(t, l, h + 1, false, c / item_size(t), o);
                           }
                         });
  }
}

TEST_P(GeneratorTest, BoundsForEachElement) {
  // The same bounds for all give what one pair of bounds gives.
  for (const auto& [type, low, high] : integer_cases()) {
    for (const Method method : {Method::kLemire, Method::kMasked}) {
      const Bounds bounds = integer_bounds("integers", type, low, high, true);
      const std::vector<Bounds> each(300, bounds);
      std::array<std::uint64_t, 300> one{}, many{};
      Generator a = fresh(), b = fresh();
      std::visit([&, t = type](auto& g) { fill_integers(g, t, bounds, method, 300, one.data()); }, a.bits());
      std::visit([&, t = type](auto& g) { fill_integers_each(g, t, each.data(), method, 300, many.data()); }, b.bits());
      EXPECT_EQ(one, many) << name(type);
      EXPECT_EQ(hash_of(a.bits()), hash_of(b.bits())) << name(type);
    }
  }
}

TEST_P(GeneratorTest, Normal) {
  expect_near<double>("standard_normal", [](Generator& g, std::size_t c, double* o) { g.standard_normal(c, o); });
  expect_near<float>("standard_normal_f32", [](Generator& g, std::size_t c, float* o) { g.standard_normal(c, o); });
  expect_near<double>("normal", [](Generator& g, std::size_t c, double* o) { g.normal(3, 2.5, c, o); });
}

TEST_P(GeneratorTest, Exponential) {
  const std::pair<const char*, ExponentialMethod> methods[] = {{"zig", ExponentialMethod::kZiggurat},
                                                               {"inv", ExponentialMethod::kInversion}};
  for (const auto& [what, method] : methods) {
    const std::string name = std::string("exponential_") + what;
    expect_near<double>(name,
                        [m = method](Generator& g, std::size_t c, double* o) { g.standard_exponential(m, c, o); });
    expect_near<float>(name + "_f32",
                       [m = method](Generator& g, std::size_t c, float* o) { g.standard_exponential(m, c, o); });
  }
  expect_near<double>("exponential", [](Generator& g, std::size_t c, double* o) { g.exponential(0.3, c, o); });
}

TEST_P(GeneratorTest, Permutations) {
  expect<std::int64_t>("permutation", 777, [](Generator& g, std::size_t c, std::int64_t* o) { g.permutation(c, o); });
  for (const std::size_t size : {1u, 2u, 4u, 8u, 16u, 12u}) {
    Generator g = fresh();
    std::vector<std::uint8_t> x = items(300, size);
    g.shuffle(300, size, static_cast<std::ptrdiff_t>(size), x.data());
    EXPECT_EQ(hash_of(x), expected_hash(named("shuffle." + std::to_string(size))));
  }
  // A reversed view is shuffled as the view is, not as its memory.
  Generator a = fresh(), b = fresh();
  std::vector<std::int64_t> forward(100), backward(100);
  for (std::size_t i = 0; i < 100; ++i) backward[99 - i] = forward[i] = static_cast<std::int64_t>(i);
  a.shuffle(100, 8, 8, forward.data());
  b.shuffle(100, 8, -8, backward.data() + 99);
  EXPECT_EQ(forward, std::vector<std::int64_t>(backward.rbegin(), backward.rend()));
}

TEST_P(GeneratorTest, Choice) {
  const auto expect_choice = [this](const char* what, const Choice& choice, std::size_t n) {
    expect<std::int64_t>(what, n, [&](Generator& g, std::size_t c, std::int64_t* o) { g.choice(choice, c, o); });
  };
  const std::vector<double> p = weights(100);
  expect_choice("choice", {.population = 1000, .p = {}}, 400);
  expect_choice("choice_p", {.population = 100, .p = p}, 400);
  expect_choice("choice_floyd", {.population = 5000, .replace = false, .p = {}}, 400);
  expect_choice("choice_floyd_wide", {.population = std::int64_t{1} << 40, .replace = false, .p = {}}, 300);
  expect_choice("choice_floyd_ordered", {.population = 5000, .replace = false, .shuffle = false, .p = {}}, 400);
  expect_choice("choice_tail", {.population = 20000, .replace = false, .shuffle = false, .p = {}}, 1500);
  expect_choice("choice_rare", {.population = 100, .replace = false, .p = p}, 60);
}

TEST_P(GeneratorTest, CallsInterleave) {
  Generator g = fresh();
  std::uint64_t hash = kFirstHash;
  const auto integers = [&](IntType type, i128 low, i128 high, std::size_t n) {
    std::vector<std::uint8_t> out(n * item_size(type));
    g.integers(type, low, high, true, n, out.data());
    hash = hash_of(out, hash);
  };
  const auto add = [&](const auto& values) { hash = hash_of(values, hash); };
  for (std::size_t i = 0; i < 120; ++i) {
    const std::size_t n = i * 37 % 101;
    switch (i % 8) {
      case 0:
        add(filled<double>(n, [&](std::size_t c, double* o) { g.random(c, o); }));
        break;
      case 1:
        add(filled<float>(n, [&](std::size_t c, float* o) { g.random(c, o); }));
        break;
      case 2:
        integers(IntType::kUint8, 0, 9, n);
        break;
      case 3:
        integers(IntType::kInt16, -70, 20000, n);
        break;
      case 4:
        integers(IntType::kInt32, 0, 1000000, n);
        break;
      case 5:
        add(filled<std::uint8_t>(n, [&](std::size_t c, std::uint8_t* o) { g.bytes(c, o); }));
        break;
      case 6:
        add(filled<std::int64_t>(n, [&](std::size_t c, std::int64_t* o) { g.permutation(c, o); }));
        break;
      default:
        integers(IntType::kBool, 0, 1, n);
    }
    filled<double>(n, [&](std::size_t c, double* o) { g.standard_normal(c, o); });
    filled<float>(n, [&](std::size_t c, float* o) { g.standard_normal(c, o); });
    filled<float>(n, [&](std::size_t c, float* o) { g.standard_exponential(ExponentialMethod::kZiggurat, c, o); });
  }
  EXPECT_EQ(hash, expected_hash(named("interleaved")));
  EXPECT_EQ(hash_of(g.bits()), expected_hash(named("interleaved_state")));
}

TEST_P(GeneratorTest, ErrorsLeaveTheStateAlone) {
  Generator g = fresh();
  double d = 0;
  std::int64_t i = 0;
  const std::vector<double> short_p = {0.5, 0.5}, nan_p = {0.5, std::numeric_limits<double>::quiet_NaN(), 0.5},
                            negative_p = {1.5, -0.5, 0.0}, small_p = {0.1, 0.1, 0.1}, one_p = {1.0, 0.0, 0.0};
  EXPECT_THROW(g.uniform(1, 0, 1, &d), ValueError);
  EXPECT_THROW(g.uniform(-1e308, 1e308, 1, &d), OverflowError);
  EXPECT_THROW(g.normal(0, -1, 1, &d), ValueError);
  EXPECT_THROW(g.exponential(-0.0, 1, &d), ValueError);
  EXPECT_THROW(g.integers(IntType::kInt8, -129, 0, false, 1, &i), ValueError);
  EXPECT_THROW(g.integers(IntType::kInt8, 0, 129, false, 1, &i), ValueError);
  EXPECT_THROW(g.integers(IntType::kInt8, 0, 128, true, 1, &i), ValueError);
  EXPECT_THROW(g.integers(IntType::kUint64, 0, (i128{1} << 64) + 1, false, 1, &i), ValueError);
  EXPECT_THROW(g.integers(IntType::kBool, 0, 3, false, 1, &i), ValueError);
  EXPECT_THROW(g.integers(IntType::kInt64, 5, 5, false, 1, &i), ValueError);
  EXPECT_THROW(g.choice({.population = 0, .p = {}}, 1, &i), ValueError);
  EXPECT_THROW(g.choice({.population = 2, .replace = false, .p = {}}, 3, &i), ValueError);
  for (const auto& p : {short_p, nan_p, negative_p, small_p}) {
    EXPECT_THROW(g.choice({.population = 3, .p = p}, 1, &i), ValueError);
  }
  EXPECT_THROW(g.choice({.population = 3, .replace = false, .p = one_p}, 2, &i), ValueError);
  EXPECT_EQ(hash_of(g.bits()), hash_of(fresh().bits()));

  // Nothing asked for, nothing checked or drawn: as in NumPy.
  g.integers(IntType::kInt64, 5, 5, false, 0, &i);
  g.choice({.population = 0, .p = {}}, 0, &i);
  EXPECT_EQ(hash_of(g.bits()), hash_of(fresh().bits()));
}

TEST(IntegerBounds, MessagesNameTheFault) {
  try {
    integer_bounds("integers", IntType::kInt16, 7, 7, false);
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "[integers] low >= high; got low 7, high 7, dtype int16");
  }
}

}  // namespace
}  // namespace galop::random
