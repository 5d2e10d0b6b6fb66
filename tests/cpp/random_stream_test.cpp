// Seeds, states, leaps and raw draws of the bit generators, beside NumPy's; every instruction set gives the same bits.

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>

#include "galop/error.hpp"
#include "random/torch_stream.hpp"
#include "random/uniform.hpp"
#include "random_expected.hpp"

namespace galop::random {
namespace {

using namespace vectors;

std::vector<std::uint32_t> power_plus(std::size_t exponent, std::uint32_t plus) {
  std::vector<std::uint32_t> words(exponent / 32 + 1, 0);
  words.back() = 1u << (exponent % 32);
  words[0] += plus;
  return words;
}

TEST(SeedSequence, MixesEntropyAndSpawnKeysLikeNumPy) {
  std::vector<std::uint32_t> entropy = {7};
  for (const std::uint32_t word : power_plus(70, 5)) entropy.push_back(word);
  const SeedSequence sequence(entropy, {3, 0, 2});  // 2^33 in words, low word first
  EXPECT_EQ(hash_of(sequence.generate_state32(50)), expected_hash("seed_sequence"));
  const SeedSequence wide(power_plus(300, 1), {}, 6);
  EXPECT_EQ(hash_of(wide.generate_state64(20)), expected_hash("seed_sequence_pool"));
}

TEST(SeedSequence, ChildrenAreNumbered) {
  SeedSequence parent(5);
  std::vector<SeedSequence> children = parent.spawn(3);
  EXPECT_EQ(parent.children_spawned(), 3u);
  EXPECT_EQ(hash_of(children[2].spawn(1)[0].generate_state32(8)), expected_hash("seed_sequence_child"));
  EXPECT_EQ(parent.spawn(1)[0].spawn_key(), std::vector<std::uint32_t>{3});
}

TEST(SeedSequence, RefusesSmallPools) {
  EXPECT_THROW(SeedSequence({1}, {}, 3), ValueError);
  EXPECT_EQ(SeedSequence::words_of(0), std::vector<std::uint32_t>{0});
  EXPECT_NE(SeedSequence::from_os().pool(), SeedSequence::from_os().pool());
}

TEST(Pcg64, SeedsAndLeapsLikeNumPy) {
  Pcg64 g{SeedSequence(42)};
  EXPECT_EQ(hash_of(g.state()), expected_hash("pcg64.state"));
  g.next_uint32();  // a kept half, which leaps drop
  Pcg64 fresh{SeedSequence(42)};
  EXPECT_EQ(hash_of(fresh.jumped(3).state()), expected_hash("pcg64.jumped"));
  fresh.advance((u128{1} << 100) + 12345);
  EXPECT_EQ(hash_of(fresh.state()), expected_hash("pcg64.advanced"));
  g.advance((u128{1} << 100) + 12344);
  EXPECT_EQ(g.state(), fresh.state());
  g.advance(-(u128{1} << 100) - 12345);
  EXPECT_EQ(hash_of(g.state()), expected_hash("pcg64.state"));
}

TEST(Mt19937, SeedsAndJumpsLikeNumPy) {
  Mt19937 g{SeedSequence(42)};
  EXPECT_EQ(hash_of(g.state()), expected_hash("mt19937.state"));
  EXPECT_EQ(hash_of(g.jumped().state()), expected_hash("mt19937.jumped"));
  for (int i = 0; i < 1000; ++i) g.next_uint32();
  EXPECT_EQ(hash_of(g.jumped(2).state()), expected_hash("mt19937.jumped_within"));
}

TEST(Mt19937, ReferenceOutput) {
  // The 10,000th word of the default seed 5489, as the C++ standard gives it for std::mt19937.
  Mt19937 g(5489u);
  g.skip_uint32(9999);
  EXPECT_EQ(g.next_uint32(), 4123659995u);
}

TEST(Mt19937, SkipsLikeDrawing) {
  Mt19937 leaping(9u);
  leaping.skip_uint32(30 * 1000001ull);  // above the threshold of polynomial leaps
  EXPECT_EQ(hash_of(leaping.state()), expected_hash("mt19937.skipped"));

  // Leaps beyond what can be drawn add up, from wherever in a block they start.
  for (const std::uint64_t n : {std::uint64_t{1} << 40, (std::uint64_t{1} << 62) + 12345}) {
    Mt19937 once(4u), twice(4u);
    once.skip_uint32(n);
    twice.skip_uint32(n / 3);
    twice.skip_uint32(n - n / 3);
    EXPECT_EQ(once.state(), twice.state());
  }
}

TEST(Mt19937, RefusesBadStates) {
  Mt19937 g(1u);
  const Mt19937::State before = g.state();
  Mt19937::State bad = before;
  bad.pos = 625;
  EXPECT_THROW(g.set_state(bad), ValueError);
  EXPECT_THROW(g.seed(std::span<const std::uint32_t>{}), ValueError);
  EXPECT_EQ(g.state(), before);
}

// Every draw and skip moves the state as one draw after the other does, whatever was drawn before.
template <class G>
void expect_skips_like_draws(const G& seeded) {
  for (const int odd : {0, 1, 2}) {
    G start = seeded;
    for (int i = 0; i < odd; ++i) start.next_uint32();
    for (const std::size_t n : {0u, 1u, 2u, 3u, 64u, 65u, 311u, 623u, 624u, 625u, 1300u}) {
      G drawn = start, skipped = start, bulk = start;
      const auto one = filled<double>(n, [&](std::size_t count, double* out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = drawn.next_double();
      });
      skip_random<double>(skipped, n);
      EXPECT_EQ(drawn.state(), skipped.state());
      EXPECT_EQ(one, filled<double>(n, [&](std::size_t count, double* out) { fill_random(bulk, count, out); }));
      EXPECT_EQ(drawn.state(), bulk.state());

      G floats = start, skipped_floats = start;
      filled<float>(n, [&](std::size_t count, float* out) { fill_random(floats, count, out); });
      skip_random<float>(skipped_floats, n);
      EXPECT_EQ(floats.state(), skipped_floats.state());
    }
  }
}

TEST(Streams, SkipLikeDraws) {
  expect_skips_like_draws(Pcg64{SeedSequence(3)});
  expect_skips_like_draws(Mt19937{SeedSequence(3)});
}

// Parts that start anywhere make up the whole, so that threads can share a fill.
template <class G>
void expect_parts_make_whole(const G& seeded) {
  constexpr std::size_t n = 5000;
  for (const int odd : {0, 1}) {
    G start = seeded;
    for (int i = 0; i < odd; ++i) start.next_uint32();
    G g = start;
    const auto doubles = filled<double>(n, [&](std::size_t count, double* out) { fill_random(g, count, out); });
    g = start;
    const auto floats = filled<float>(n, [&](std::size_t count, float* out) { fill_random(g, count, out); });
    for (const std::size_t part : {1u, 7u, 623u, 1777u}) {
      std::vector<double> d(n);
      std::vector<float> f(n);
      for (std::size_t begin = 0; begin < n; begin += part) {
        const std::size_t count = std::min(part, n - begin);
        fill_random_at(start, begin, count, d.data() + begin);
        fill_random_at(start, begin, count, f.data() + begin);
      }
      EXPECT_EQ(d, doubles) << "parts of " << part;
      EXPECT_EQ(f, floats) << "parts of " << part;
    }
  }
}

TEST(Streams, PartsMakeTheWhole) {
  expect_parts_make_whole(Pcg64{SeedSequence(8)});
  expect_parts_make_whole(Mt19937(8u));
}

TEST(Streams, PartsBeyondFourBillion) {
  const std::uint64_t far = (std::uint64_t{1} << 33) + 7;
  const Pcg64 pcg{SeedSequence(1)};
  Pcg64 there = pcg;
  there.advance(far);
  double value = 0;
  fill_random_at(pcg, far, 1, &value);
  EXPECT_EQ(value, there.next_double());

  Mt19937 a(1u);
  fill_random_at(a, far, 1, &value);
  a.skip_uint32(far);
  a.skip_uint32(far);
  EXPECT_EQ(value, a.next_double());
}

TEST(Mt19937, SameBitsOnEveryInstructionSet) {
  const auto all = [] {
    Mt19937 g(77u);
    std::vector<double> d(2001);
    std::vector<float> f(2001), t(2001);
    fill_uniform(g, -2.0, 7.0, d.size(), d.data());
    fill_random(g, f.size(), f.data());
    torch_uniform_f32(g, 1.0f, 100.0f, t.size(), t.data());
    g.skip_uint32(std::uint64_t{1} << 30);
    return hash_of(g.state()) ^ hash_of(d) ^ hash_of(f, 1) ^ hash_of(t, 2);
  };
  const std::uint64_t best = all();
  const auto targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (const auto target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_EQ(all(), best) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(TorchStream, MatchesPyTorch) {
  // Recorded from PyTorch 1.13.1 on a processor with FMA: torch.manual_seed(0), then rand(100003) or uniform_(1, 100).
  Mt19937 g = torch_manual_seed(0);
  std::vector<float> u(100003);
  torch_uniform_f32(g, 0.0f, 1.0f, u.size(), u.data());
  EXPECT_FLOAT_EQ(u[0], 0.4962566f);
  EXPECT_FLOAT_EQ(u[3], 0.1320305f);
  EXPECT_EQ(hash_of(u), 0xc84cde7ea484c74cu);
  g = torch_manual_seed(std::uint64_t{1} << 32);  // the low 32 bits are the seed
  torch_uniform_f32(g, 1.0f, 100.0f, u.size(), u.data());
  EXPECT_EQ(hash_of(u), 0x24e7b0075cda2233u);

  std::vector<float> part(1000);
  torch_uniform_f32_at(torch_manual_seed(0), 99003, 1.0f, 100.0f, part.size(), part.data());
  EXPECT_EQ(part, std::vector<float>(u.end() - 1000, u.end()));
  EXPECT_THROW(torch_uniform_f32(g, 2.0f, 1.0f, 1, part.data()), ValueError);
}

}  // namespace
}  // namespace galop::random
