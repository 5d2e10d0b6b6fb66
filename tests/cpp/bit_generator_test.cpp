// The public bit generators, seed sequences and states beside NumPy's.
#include "galop/bit_generator.hpp"

#include <gtest/gtest.h>

#include "galop/create.hpp"
#include "galop/random.hpp"
#include "galop/reduce.hpp"
#include "random_expected.hpp"

namespace galop::random {
namespace {

using vectors::expected_hash;
using vectors::hash_bytes;
using vectors::hash_of;

template <class T>
std::uint64_t hash_of_elements(const array& a) {
  return hash_of(a.to_vector<T>());
}

class BitGeneratorTest : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string named(const std::string& what) { return std::string(GetParam()) + "." + what; }
  static BitGenerator fresh() {
    if (std::string(GetParam()) == "pcg64") return PCG64(7);
    return MT19937(7);
  }
};

INSTANTIATE_TEST_SUITE_P(BitGenerators, BitGeneratorTest, ::testing::Values("pcg64", "mt19937"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(BitGeneratorTest, StreamsAreNumPys) {
  EXPECT_EQ(hash_of_elements<std::uint64_t>(fresh().random_raw({1000})), expected_hash(named("raw")));
  const std::vector<Generator> children = Generator(fresh()).spawn(3);
  EXPECT_EQ(hash_of_elements<double>(Generator(children[2].bit_generator()).random({50})),
            expected_hash(named("spawned")));
  EXPECT_EQ(hash_of_elements<double>(Generator(fresh().jumped(2)).random({50})), expected_hash(named("jumped_draws")));
}

TEST_P(BitGeneratorTest, ChoicesFromArrays) {
  Generator g(fresh());
  const array rows = arange(60.0).reshape({12, 5}), p = array(vectors::weights(12));
  const array chosen = g.choice(rows, {7, 2}, {.p = &p});
  EXPECT_EQ(chosen.shape(), (Dims{7, 2, 5}));
  EXPECT_EQ(hash_of_elements<double>(chosen), expected_hash(named("choice_rows")));
  EXPECT_EQ(hash_of_elements<double>(g.choice(rows, {3}, {.replace = false, .axis = 1})),
            expected_hash(named("choice_columns")));
  EXPECT_EQ(hash_of_elements<double>(g.permutation(rows, 1)), expected_hash(named("permuted_columns")));
  EXPECT_THROW(g.choice(rows, {1}, {.axis = 2}), AxisError);
  EXPECT_THROW(g.choice(array(2.0), {1}), ValueError);
}

TEST_P(BitGeneratorTest, StatesComeBack) {
  const BitGenerator bits = fresh();
  Generator g(bits);
  g.integers(0, 100, {3}, DType::uint8);  // leaves half a word in PCG64
  const BitState here = bits.state();
  const auto first = g.random({100}, DType::float32).to_vector<float>();
  EXPECT_NE(bits.state(), here);
  bits.set_state(here);
  EXPECT_EQ(bits.state(), here);
  EXPECT_EQ(g.random({100}, DType::float32).to_vector<float>(), first);

  // In a generator of its own, too; a copy of a handle is the same stream.
  BitGenerator other = std::string(GetParam()) == "pcg64" ? BitGenerator(PCG64()) : BitGenerator(MT19937());
  const BitGenerator handle = other;
  other.set_state(here);
  EXPECT_EQ(Generator(handle).random({100}, DType::float32).to_vector<float>(), first);
  EXPECT_NE(fresh().seed_seq(), std::nullopt);
  EXPECT_EQ(fresh().seed_seq()->entropy(), std::vector<std::uint32_t>{7});
}

TEST_P(BitGeneratorTest, ErrorsLeaveTheStreamAlone) {
  const BitGenerator bits = fresh();
  const BitState before = bits.state();
  const BitState others = bits.name() == "PCG64" ? MT19937(1).state() : PCG64(1).state();
  EXPECT_THROW(bits.set_state(others), ValueError);
  EXPECT_THROW(bits.set_state(Mt19937State{{}, 625}), ValueError);
  EXPECT_THROW(bits.spawn(-1), ValueError);
  EXPECT_THROW(bits.random_raw({-1}), ValueError);
  if (bits.name() == "MT19937") {
    EXPECT_THROW(bits.advance(1), TypeError);
  }
  EXPECT_EQ(bits.state(), before);
}

TEST(BitGenerator, Pcg64GoesBothWays) {
  const PCG64 bits(7);
  bits.advance(uint128(~0ull - 2, ~0ull - 2));  // -(2^65) - 3
  EXPECT_EQ(hash_of_elements<std::uint64_t>(bits.random_raw({10})), expected_hash("pcg64.back"));
  bits.advance(-10);
  EXPECT_EQ(hash_of_elements<std::uint64_t>(bits.random_raw({10})), expected_hash("pcg64.back"));
  // np.random.PCG64(42).state
  const auto state = std::get<Pcg64State>(PCG64(42).state());
  EXPECT_EQ(to_string(state.state), "274674114334540486603088602300644985544");
  EXPECT_EQ(to_string(state.inc), "332724090758049132448979897138935081983");
  EXPECT_EQ(to_string(uint128(0)), "0");
}

TEST(BitGenerator, LegacyStates) {
  RandomState r(5u);
  r.standard_normal({3});
  const RandomState::State state = r.get_state();
  const auto& twister = std::get<Mt19937State>(state.bits);
  const std::uint8_t rest[] = {static_cast<std::uint8_t>(twister.pos % 256),
                               static_cast<std::uint8_t>(twister.pos / 256), state.has_gauss};
  EXPECT_EQ(hash_bytes(rest, sizeof rest, hash_bytes(twister.key.data(), sizeof twister.key)),
            expected_hash("legacy.get_state"));
  const auto next = r.standard_normal({2}).to_vector<double>();
  RandomState other(1u);
  other.set_state(state);
  EXPECT_EQ(other.standard_normal({2}).to_vector<double>(), next);

  EXPECT_EQ(hash_of_elements<double>(RandomState(5u).choice(arange(0.0, 60.0, 5.0), {9})),
            expected_hash("legacy.choice_array"));
  RandomState over{PCG64(5)};
  EXPECT_EQ(hash_of_elements<std::int64_t>(over.randint(0, 1000, {50})), expected_hash("legacy.over_pcg64"));
  EXPECT_THROW(over.seed(1u), TypeError);
  EXPECT_THROW(over.set_state(state), ValueError);
  EXPECT_THROW(r.choice(ones({2, 2}), {1}), ValueError);
  // As NumPy, RandomState's seeding has no seed sequence, and so no children.
  EXPECT_EQ(RandomState(5u).bit_generator().seed_seq(), std::nullopt);
  EXPECT_THROW(RandomState(5u).bit_generator().spawn(1), TypeError);
}

TEST(BitGenerator, TheFunctionsShareOneState) {
  seed(3);
  const RandomState::State start = get_state();
  const auto all = [] {
    std::vector<double> v = exponential(2.0, {2}).to_vector<double>();
    const array x = arange(5.0);
    shuffle(x);
    for (const array& a : {x, permutation(5), permutation(arange(3)), choice(10, {4}), choice(arange(7.0), {2}),
                           standard_exponential({2})})
      for (const double d : a.to_vector<double>()) v.push_back(d);
    for (const std::uint8_t b : bytes(3)) v.push_back(b);
    return v;
  };
  const auto first = all();
  EXPECT_NE(all(), first);
  set_state(start);
  EXPECT_EQ(all(), first);
}

}  // namespace
}  // namespace galop::random
