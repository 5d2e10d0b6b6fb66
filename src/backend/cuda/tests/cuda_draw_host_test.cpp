// Without a GPU: the random streams' kernels, run on the host thread by thread, give the host's own streams bit for bit
// and leave their states; and all of them compile for every architecture.
#include <gtest/gtest.h>

#include "backend/cuda/nvrtc.hpp"
#include "draw_emulated.hpp"
#include "draws.hpp"

namespace galop::cuda::test {
namespace {

using random::AnyBitStream;
using random::Mt19937;
using random::Pcg64;

class DrawOnHost : public testing::Test {
 protected:
  void TearDown() override { draw::error_of_functions = 0, draw::doubt = 1; }

  // The numbers and the state afterwards.
  void expect_equal(const DrawCase& c, const AnyBitStream& start, std::int64_t n) {
    if (c.kind == Draw::Kind::polar) n -= n % 2;
    const std::string what = c.name + ", n = " + std::to_string(n) + ", from " + state_text(start);
    AnyBitStream host = start, device = start;
    const auto bytes = static_cast<std::size_t>(n * itemsize(c.dtype));
    std::vector<char> expected(bytes + 64, 'x'), memory(bytes + 96, 'x');
    char* got = memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) % 16;
    make_on_host(c, host, static_cast<std::size_t>(n), expected.data());
    Request r;
    ask(c, start, n, got, r);
    ASSERT_TRUE(draw::run(machine_, r.draw)) << what;
    EXPECT_EQ(difference(expected.data(), got, n, c.dtype), "") << what;
    for (std::size_t i = 0; i < 16; ++i) ASSERT_EQ(got[bytes + i], 'x') << what << ": written behind the end";
    skip(device, r.draw);
    EXPECT_EQ(state_text(device), state_text(host)) << what;
    EXPECT_EQ(machine_.held, 0) << what;
  }

  draw::Emulated machine_;
  int decided_ = 0;
};

AnyBitStream pcg64(std::uint64_t seed, bool kept) {
  Pcg64 g{random::SeedSequence(seed)};
  if (kept) {
    g.next_uint32();
    g.next_uint64();  // so that the kept half is not the one just before
  }
  return g;
}
AnyBitStream mt19937(std::uint32_t seed, std::uint64_t used) {
  Mt19937 g(seed);
  g.skip_uint32(used);
  return g;
}

TEST_F(DrawOnHost, Pcg64GivesTheHostsBits) {
  for (const DrawCase& c : draw_cases()) {
    if (c.only_twister) continue;
    for (const std::int64_t n : {0, 1, 2, 3, 31, 255, 2047, 2048, 2049, 5001, 20011})
      for (const bool kept : {false, true}) expect_equal(c, pcg64(static_cast<std::uint64_t>(n) + 3, kept), n);
  }
}

TEST_F(DrawOnHost, TwisterGivesTheHostsBits) {
  for (const DrawCase& c : draw_cases())
    for (const std::int64_t n : {0, 1, 2, 311, 623, 2049, 9001})
      for (const std::uint64_t used : {0u, 1u, 300u, 623u})
        expect_equal(c, mt19937(static_cast<std::uint32_t>(n) + 5, used), n);
}

TEST_F(DrawOnHost, NormalsOfManySeeds) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    expect_equal({"normal f64", Draw::Kind::normal, DType::float64}, pcg64(seed, false), 8191);
    expect_equal({"normal f32", Draw::Kind::normal, DType::float32}, pcg64(seed, seed % 2 == 1), 8191);
  }
}

TEST_F(DrawOnHost, MoreThanOneTileABlock) {
  machine_.most_blocks = 3;
  for (const DrawCase& c : draw_cases()) {
    if (!c.only_twister) expect_equal(c, pcg64(1, true), 40'003);
    expect_equal(c, mt19937(1, 3), 20'003);
  }
}

TEST_F(DrawOnHost, NormalsOfManyTiles) {
  for (const std::int64_t multiprocessors : {1, 3}) {
    machine_.multiprocessors = multiprocessors;  // so that each warp takes several
    for (const DType t : {DType::float64, DType::float32}) {
      expect_equal({"normal", Draw::Kind::normal, t}, pcg64(21, true), 300'003);
      expect_equal({"normal", Draw::Kind::normal, t}, mt19937(22, 5), 200'001);
    }
  }
}

TEST_F(DrawOnHost, TwisterOfSeveralLanes) {
  // 2^6 · 624 words a lane.
  expect_equal({"random f64", Draw::Kind::uniform, DType::float64}, mt19937(11, 17), 100'003);
  expect_equal({"polar", Draw::Kind::polar, DType::float64}, mt19937(12, 624), 60'000);
}

TEST_F(DrawOnHost, FunctionsThatDifferFromLibm) {
  // As far off as the margins allow; the host's answers mend it.
  for (const double error : {0x1p-52, 0x1p-51}) {
    draw::error_of_functions = error;
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      expect_equal({"normal f64", Draw::Kind::normal, DType::float64}, pcg64(seed, false), 20'000);
  }
  draw::error_of_functions = 0x1p-23;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    expect_equal({"normal f32", Draw::Kind::normal, DType::float32}, pcg64(seed, false), 20'000);
}

TEST_F(DrawOnHost, TheHostDecidesWhatIsDoubtful) {
  // Functions so wrong that decisions go wrong too, and doubts to match: the second run has the host's decisions.
  draw::error_of_functions = 0x1p-12;
  draw::doubt = 0x1p40;
  const DrawCase f64{"normal f64", Draw::Kind::normal, DType::float64};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    AnyBitStream host = pcg64(seed, false);
    std::vector<double> expected(3000), got(3000);
    make_on_host(f64, host, expected.size(), expected.data());
    Request r;
    ask(f64, pcg64(seed, false), 3000, got.data(), r);
    const int before = machine_.launches[draw::Kernel::pcg64_normal64_find];
    ASSERT_TRUE(draw::run(machine_, r.draw));
    decided_ += machine_.launches[draw::Kernel::pcg64_normal64_find] - before - 1;
    AnyBitStream device = pcg64(seed, false);
    skip(device, r.draw);
    EXPECT_EQ(state_text(device), state_text(host)) << "seed " << seed;
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]) << "seed " << seed << " at " << i;
  }
  EXPECT_GT(decided_, 10);
  // More doubts than there is room for are the host's.
  draw::doubt = 0x1p60;
  Request r;
  std::vector<double> got(20'000);
  ask(f64, pcg64(1, false), 20'000, got.data(), r);
  EXPECT_FALSE(draw::run(machine_, r.draw));
  EXPECT_EQ(machine_.held, 0);
}

TEST_F(DrawOnHost, LogarithmInTwoDoubles) {
  std::uint64_t x = 1;
  for (int i = 0; i < 100'000; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    double s = static_cast<double>(x >> 11) * 0x1p-53;
    if (i % 3 == 0) s = std::ldexp(s + 0.5, -static_cast<int>(x % 100));
    if (i % 5 == 0) s = 1 - s * 0x1p-20;
    if (s == 0 || s == 1) continue;
    const draw::Twice log = draw::log_twice(s);
    const long double exact = std::log(static_cast<long double>(s));
    const long double got = static_cast<long double>(log.high) + static_cast<long double>(log.low);
    ASSERT_LE(std::fabs((got - exact) / exact), 0x1p-62L) << "log of " << s;
    ASSERT_LE(std::fabs(log.low), std::ldexp(std::fabs(log.high), -53)) << "log of " << s;
  }
}

TEST_F(DrawOnHost, RefusesWhatItCannot) {
  Request r;
  double out[4] = {};
  const AnyBitStream start = pcg64(1, false);
  ask({"odd", Draw::Kind::polar, DType::float64}, start, 3, out, r);
  EXPECT_FALSE(draw::run(machine_, r.draw));
  ask({"half", Draw::Kind::uniform, DType::float16}, start, 3, out, r);
  EXPECT_FALSE(draw::run(machine_, r.draw));
}

TEST(DrawCompile, EveryKernelForEveryArchitecture) {
  std::string reason;
  if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
  for (const int capability : {75, 80, 90, 120}) {
    std::string cubin;
    ASSERT_NO_THROW(cubin = compile(draw::source_of_all(), "draw", capability));
    EXPECT_EQ(cubin.substr(1, 3), "ELF");
  }
}

}  // namespace
}  // namespace galop::cuda::test
