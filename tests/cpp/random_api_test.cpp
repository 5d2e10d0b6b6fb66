// Arrays of random numbers from C++: shapes, dtypes, parameters that broadcast, errors, shared streams, fills by parts.

#include "galop/random.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "galop/create.hpp"
#include "galop/engine.hpp"
#include "galop/manipulate.hpp"
#include "galop/reduce.hpp"
#include "random/generator.hpp"
#include "random/legacy.hpp"

namespace galop::random {
namespace {

using Doubles = std::vector<double>;

TEST(RandomApi, TheFunctionsAreNumPys) {
  // np.random.seed(0); np.random.uniform(1, 100, (2, 2)), known from np.random.rand(4).
  seed(0);
  const array a = uniform(1, 100, {2, 2});
  EXPECT_EQ(a.shape(), (Dims{2, 2}));
  EXPECT_EQ(a.to_vector<double>(), (Doubles{1 + 99 * 0.5488135039273248, 1 + 99 * 0.7151893663724195,
                                            1 + 99 * 0.6027633760716439, 1 + 99 * 0.5448831829968969}));
  seed(0);
  EXPECT_EQ(rand({2}).to_vector<double>(), (Doubles{0.5488135039273248, 0.7151893663724195}));
  EXPECT_EQ(uniform().shape(), Dims{});
  EXPECT_EQ(randint(0, 10, {3, 1}, DType::int8).dtype(), DType::int8);
}

TEST(RandomApi, HandlesShareTheStream) {
  Generator g = default_rng(7), same = g;
  raw::Generator plain{SeedSequence(7)};
  Doubles want(5);
  plain.random(5, want.data());
  Doubles got = g.random({2}).to_vector<double>();
  for (const double v : same.random({3}).to_vector<double>()) got.push_back(v);
  EXPECT_EQ(got, want);
  EXPECT_NE(default_rng().random({4}).to_vector<double>(), default_rng().random({4}).to_vector<double>());
}

TEST(RandomApi, DrawsIntoAnArray) {
  Generator g = default_rng(5), h = default_rng(5);
  array a = zeros({2, 3}), b = zeros({4}, DType::float32), whole = zeros({3, 4});
  g.random_into(a);
  EXPECT_EQ(a.to_vector<double>(), h.random({2, 3}).to_vector<double>());
  g.standard_normal_into(b);
  EXPECT_EQ(b.to_vector<double>(), h.standard_normal({4}, DType::float32).to_vector<double>());
  g.standard_exponential_into(whole(1), true);
  EXPECT_EQ(whole(1).to_vector<double>(), h.standard_exponential({4}, DType::float64, true).to_vector<double>());
  EXPECT_EQ(double(whole(0).sum()), 0);
  EXPECT_THROW(g.random_into(zeros({2}, DType::int64)), TypeError);
  EXPECT_THROW(g.random_into(zeros({8})(slice(none, none, 2))), ValueError);
  EXPECT_THROW(g.standard_normal_into(broadcast_to(zeros({1}), {1})), ValueError);
  EXPECT_EQ(g.random({2}).to_vector<double>(), h.random({2}).to_vector<double>());  // errors draw nothing
}

TEST(RandomApi, ParametersBroadcast) {
  const array low = array(Doubles{0, 10, 20}), scale = array(Doubles{1, 2}).reshape({2, 1});
  Generator g = default_rng(1), h = default_rng(1);
  const Doubles u = h.random({2, 3}).to_vector<double>();
  const array got = g.uniform(low, low + scale);
  EXPECT_EQ(got.shape(), (Dims{2, 3}));
  for (std::size_t i = 0; i < 6; ++i) {
    const double from = 10.0 * static_cast<double>(i % 3), to = from + (i < 3 ? 1 : 2);
    EXPECT_EQ(got.to_vector<double>()[i], from + (to - from) * u[i]);
  }
  EXPECT_EQ(g.normal(low, 2.0, {4, 3}).shape(), (Dims{4, 3}));
  EXPECT_THROW(g.normal(low, 2.0, {4}), ValueError);
  EXPECT_THROW(g.normal(low, 2.0, Dims{}), ValueError);
  EXPECT_EQ(g.integers(0, low + 1).shape(), (Dims{3}));
}

TEST(RandomApi, ErrorsLeaveTheStreamAlone) {
  RandomState r(3u);
  Generator g = default_rng(3);
  const double infinity = std::numeric_limits<double>::infinity();
  const array negative = array(Doubles{1, -1}), complex = array(std::complex<double>(1, 1));
  EXPECT_THROW(r.uniform(0, infinity, {2}), OverflowError);
  EXPECT_THROW(g.uniform(1, 0, {2}), ValueError);
  EXPECT_THROW(g.uniform(negative, 0.0), ValueError);
  EXPECT_THROW(r.uniform(0, negative * infinity), OverflowError);
  EXPECT_THROW(r.normal(0, negative), ValueError);
  EXPECT_THROW(r.normal(complex, 1), TypeError);
  EXPECT_THROW(r.random({-1}), ValueError);
  EXPECT_THROW(g.random({2}, DType::float16), TypeError);
  EXPECT_THROW(r.randint(0, 300, {1}, DType::uint8), ValueError);
  EXPECT_THROW(r.randint(0, 3, {1}, DType::float32), TypeError);
  EXPECT_THROW(g.integers(0, negative), ValueError);
  EXPECT_THROW(g.integers(0, infinity), OverflowError);
  EXPECT_THROW(g.choice(2, {3}, {.replace = false}), ValueError);
  EXPECT_THROW(g.bytes(-1), ValueError);
  EXPECT_THROW(g.shuffle(broadcast_to(negative, {3, 2})), ValueError);
  EXPECT_THROW(torch_uniform({1}, 1, 0, 0), ValueError);
  EXPECT_EQ(r.random({3}).to_vector<double>(), RandomState(3u).random({3}).to_vector<double>());
  EXPECT_EQ(g.random({3}).to_vector<double>(), default_rng(3).random({3}).to_vector<double>());
}

TEST(RandomApi, PartsGiveTheSameNumbers) {
  const Settings before = settings();
  Settings many = before;
  many.threads = 3;
  set_settings(many);
  constexpr std::int64_t n = 3'000'007;
  RandomState r(5u);
  Generator g = default_rng(5);
  const Doubles mt = r.uniform(-1, 1, {n}).to_vector<double>(), pcg = g.random({n}).to_vector<double>();
  const std::vector<float> floats = g.random({n}, DType::float32).to_vector<float>();
  set_settings(before);

  raw::RandomState plain(5u);
  raw::Generator other{SeedSequence(5)};
  Doubles want(n);
  std::vector<float> want_floats(n);
  plain.uniform(-1, 1, n, want.data());
  EXPECT_TRUE(mt == want);
  other.random(n, want.data());
  EXPECT_TRUE(pcg == want);
  other.random(n, want_floats.data());
  EXPECT_TRUE(floats == want_floats);
  EXPECT_EQ(g.integers(0, 1000).item<std::int64_t>(), [&] {
    std::int64_t v;
    other.integers(IntType::kInt64, 0, 1000, false, 1, &v);
    return v;
  }());
}

TEST(RandomApi, OrderAndChoice) {
  Generator g = default_rng(2), h = default_rng(2);
  const array rows = array(Doubles{0, 1, 2, 3, 4, 5}).reshape({3, 2});
  const array shuffled = rows.copy();
  g.shuffle(shuffled);
  const array permuted = h.permutation(rows);
  EXPECT_EQ(shuffled.to_vector<double>(), permuted.to_vector<double>());
  EXPECT_EQ(sum(permuted).item<double>(), 15.0);
  EXPECT_EQ(g.permutation(rows, 1).shape(), (Dims{3, 2}));
  EXPECT_THROW(g.permutation(rows, 2), AxisError);
  const array p = array(Doubles{0, 1, 0});
  EXPECT_EQ(g.choice(3, {2}, {.p = &p}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(g.spawn(2).size(), 2u);
}

}  // namespace
}  // namespace galop::random
