// RandomState beside NumPy's: legacy seeds, and the frozen algorithms of its distributions.

#include "random/legacy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "galop/error.hpp"
#include "random_expected.hpp"

namespace galop::random {
namespace {

using namespace vectors;
using raw::RandomState;

template <class T, class Fill>
void expect(const std::string& what, std::size_t n, Fill&& fill) {
  RandomState r(20240229u);
  const auto values = filled<T>(n, [&](std::size_t count, T* out) { fill(r, count, out); });
  EXPECT_EQ(hash_of(values), expected_hash("legacy." + what)) << what;
}

TEST(RandomState, Uniform) {
  expect<double>("random_sample", 1001, [](RandomState& r, std::size_t c, double* o) { r.random_sample(c, o); });
  expect<double>("uniform", 1001, [](RandomState& r, std::size_t c, double* o) { r.uniform(1, 100, c, o); });
  expect<double>("uniform_falling", 100, [](RandomState& r, std::size_t c, double* o) { r.uniform(5, -7, c, o); });
  expect<std::uint8_t>("bytes", 1003, [](RandomState& r, std::size_t c, std::uint8_t* o) { r.bytes(c, o); });
}

TEST(RandomState, Randint) {
  const std::vector<IntegerCase> cases = integer_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [type, low, high] = cases[i];
    expect<std::uint8_t>("randint." + std::to_string(i), 500 * item_size(type),
                         [t = type, l = low, h = high](RandomState& r, std::size_t c, std::uint8_t* o) {
                           r.randint(t, l, h + 1, c / item_size(t), o);
                         });
  }
}

TEST(RandomState, PermutationsAndChoice) {
  expect<std::int64_t>("permutation", 777, [](RandomState& r, std::size_t c, std::int64_t* o) { r.permutation(c, o); });
  const std::vector<double> p = weights(100);
  const std::pair<const char*, Choice> choices[] = {
      {"choice", {.population = 1000, .p = {}}},
      {"choice_p", {.population = 100, .p = p}},
      {"choice_rare", {.population = 100, .replace = false, .p = p}},
      {"choice_all", {.population = 1000, .replace = false, .p = {}}},
  };
  for (const auto& [what, choice] : choices) {
    const std::size_t n = std::string(what) == "choice_rare" ? 60 : 400;
    expect<std::int64_t>(what, n,
                         [&c = choice](RandomState& r, std::size_t count, std::int64_t* o) { r.choice(c, count, o); });
  }
  RandomState r(20240229u);
  std::vector<std::uint8_t> x = items(300, 8);
  r.shuffle(300, 8, 8, x.data());
  EXPECT_EQ(hash_of(x), expected_hash("legacy.shuffle"));
}

TEST(RandomState, NormalAndExponential) {
  constexpr std::size_t n = 20003;
  RandomState r(20240229u);
  expect_samples("legacy.standard_normal",
                 filled<double>(n, [&](std::size_t c, double* o) { r.standard_normal(c, o); }));
  r.seed(20240229u);
  expect_samples("legacy.normal", filled<double>(n, [&](std::size_t c, double* o) { r.normal(3, 2.5, c, o); }));
  r.seed(20240229u);
  expect_samples("legacy.exponential", filled<double>(n, [&](std::size_t c, double* o) { r.exponential(0.3, c, o); }));
}

TEST(RandomState, SecondDeviateIsKept) {
  RandomState whole(3u), parts(3u);
  const auto all = filled<double>(501, [&](std::size_t c, double* o) { whole.standard_normal(c, o); });
  std::vector<double> pieces;
  for (std::size_t n = 1; pieces.size() < all.size(); n = n % 5 + 1) {
    const std::size_t count = std::min(n, all.size() - pieces.size());
    const auto piece = filled<double>(count, [&](std::size_t c, double* o) { parts.standard_normal(c, o); });
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(pieces, all);
  EXPECT_TRUE(whole.gauss().has_gauss);
  EXPECT_EQ(parts.gauss(), whole.gauss());
  EXPECT_EQ(hash_of(parts.bits()), hash_of(whole.bits()));

  // Set back with both parts of the state, the same deviates come again; a seed forgets the kept one.
  RandomState again(AnyBitStream(Mt19937(std::get<Mt19937>(whole.bits()).state())));
  again.set_gauss(whole.gauss());
  double a = 0, b = 0;
  whole.normal(1, 2, 1, &a);
  again.normal(1, 2, 1, &b);
  EXPECT_EQ(a, b);
  whole.standard_normal(1, &a);
  whole.seed(3u);
  EXPECT_EQ(whole.gauss(), RandomState::Gauss{});
}

TEST(RandomState, SeedsOfArrays) {
  RandomState r(0u);
  const std::uint32_t few[] = {1, 0xffffffffu, 3};
  r.seed(few);
  EXPECT_EQ(hash_of(filled<double>(700, [&](std::size_t c, double* o) { r.random_sample(c, o); })),
            expected_hash("legacy.seed_array"));
  std::vector<std::uint32_t> many(1000);
  std::iota(many.begin(), many.end(), 0u);
  r.seed(many);
  EXPECT_EQ(hash_of(filled<double>(700, [&](std::size_t c, double* o) { r.random_sample(c, o); })),
            expected_hash("legacy.seed_long_array"));
}

TEST(RandomState, FirstNumbersOfSeedZero) {
  // np.random.seed(0); np.random.rand(3): known to many by sight.
  RandomState r(0u);
  const auto values = filled<double>(3, [&](std::size_t c, double* o) { r.random_sample(c, o); });
  EXPECT_EQ(values, (std::vector<double>{0.5488135039273248, 0.7151893663724195, 0.6027633760716439}));
}

TEST(RandomState, Errors) {
  RandomState r(5u);
  double d = 0;
  std::int64_t i = 0;
  EXPECT_THROW(r.uniform(-1e308, 1e308, 1, &d), OverflowError);
  EXPECT_THROW(r.normal(0, -1, 1, &d), ValueError);
  EXPECT_THROW(r.exponential(-1, 1, &d), ValueError);
  EXPECT_THROW(r.randint(IntType::kInt8, 0, 129, 1, &i), ValueError);
  EXPECT_THROW(r.choice({.population = 2, .replace = false, .p = {}}, 3, &i), ValueError);
  EXPECT_THROW(r.seed(std::span<const std::uint32_t>{}), ValueError);
  EXPECT_EQ(hash_of(r.bits()), hash_of(RandomState(5u).bits()));
  RandomState pcg{AnyBitStream(Pcg64(SeedSequence(1)))};
  EXPECT_THROW(pcg.seed(1u), TypeError);
}

}  // namespace
}  // namespace galop::random
