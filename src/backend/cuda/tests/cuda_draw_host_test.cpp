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

// How many draws each of the next numbers takes.
std::vector<std::int64_t> draws_of_normals(Pcg64 g, std::size_t count) {
  std::vector<std::int64_t> draws(count);
  Pcg64 counted = g;
  for (std::int64_t& n : draws) {
    double x;
    random::fill_standard_normal(g, 1, &x);
    for (n = 0; counted.state() != g.state(); ++n) counted.next_uint64();
  }
  return draws;
}

TEST_F(DrawOnHost, NormalsOverTheBordersOfTiles) {
  const DrawCase c{"normal f64", Draw::Kind::normal, DType::float64};
  const Pcg64 start{random::SeedSequence(5)};
  const auto draws = draws_of_normals(start, 40'000);
  int wedges = 0, tails = 0, long_tails = 0;
  std::int64_t at = 0;
  for (const std::int64_t takes : draws) {
    // A few of each that takes more than one draw: all borders within its steps, and the last number there too.
    int& seen = takes == 2 ? wedges : takes == 3 ? tails : long_tails;
    if (at > 2100 && takes > 1 && seen++ < 4) {
      for (std::int64_t border = 0; border <= takes; ++border) {
        Pcg64 g = start;
        for (std::int64_t k = at - draw::kNormalItems + border; k > 0; --k) g.next_uint64();
        expect_equal(c, g, 2100);
        for (std::int64_t n = 1995; n < 2010; n += border == 1 ? 1 : 5) expect_equal(c, g, n);
      }
    }
    at += takes;
  }
  EXPECT_GE(wedges, 4);
  EXPECT_GE(tails, 4);
  EXPECT_GE(long_tails, 2);
}

TEST_F(DrawOnHost, NormalsThatEndWithAnyStep) {
  const Pcg64 start{random::SeedSequence(6)};
  const auto draws = draws_of_normals(start, 20'000);
  int ends = 0;
  for (std::size_t i = 0; i < draws.size() && ends < 40; ++i) {
    if (draws[i] < 2 || (draws[i] == 2 && i > 1000)) continue;
    ++ends;
    for (const std::size_t n : {i, i + 1, i + 2})
      expect_equal({"normal f64", Draw::Kind::normal, DType::float64}, start, static_cast<std::int64_t>(n));
  }
  EXPECT_EQ(ends, 40);
  for (std::int64_t n = 1; n < 130; ++n)
    expect_equal({"normal f32", Draw::Kind::normal, DType::float32}, pcg64(7, n % 2 == 0), n);
}

// A machine whose first attempt looks at `tiles` tiles.
class Short : public draw::Emulated {
 public:
  void launch(draw::Kernel k, unsigned blocks, const draw::Args& a, const std::string& what) override {
    draw::Args some = a;
    if (launches[draw::Kernel::pcg64_normal64_write] == 0) some.tiles = std::min<std::int64_t>(tiles, a.tiles);
    Emulated::launch(k, blocks, some, what);
  }
  std::int64_t tiles = 3;
};

TEST_F(DrawOnHost, WordsThatJustSuffice) {
  const DrawCase c{"normal f64", Draw::Kind::normal, DType::float64};
  const Pcg64 start{random::SeedSequence(8)};
  const auto draws = draws_of_normals(start, 7000);
  std::int64_t numbers = 0;  // that begin in three tiles
  for (std::int64_t at = 0; at < 3 * draw::kNormalItems; ++numbers) at += draws[static_cast<std::size_t>(numbers)];
  for (const std::int64_t more : {-1, 0, 1}) {
    Short machine;
    std::vector<double> expected(static_cast<std::size_t>(numbers + more)), got(expected.size());
    AnyBitStream host = start, device = start;
    make_on_host(c, host, expected.size(), expected.data());
    Request r;
    ask(c, start, numbers + more, got.data(), r);
    ASSERT_TRUE(draw::run(machine, r.draw));
    EXPECT_EQ(machine.launches[draw::Kernel::pcg64_normal64_find], more > 0 ? 2 : 1);
    EXPECT_EQ(got, expected);
    skip(device, r.draw);
    EXPECT_EQ(state_text(device), state_text(host));
  }
}

// A machine that only notes how many words the first attempt looks at.
class Planner : public draw::Machine {
 public:
  void* allocate(std::int64_t bytes) override { return ::operator new(static_cast<std::size_t>(bytes)); }
  void release(void* p) noexcept override { ::operator delete(p); }
  void upload(void*, const void*, std::int64_t) override {}
  void download(void* to, const void*, std::int64_t bytes) override {
    std::memset(to, 0, static_cast<std::size_t>(bytes));  // no numbers were found
  }
  void zero(void*, std::int64_t) override {}
  void launch(draw::Kernel, unsigned blocks, const draw::Args& a, const std::string&) override {
    if (draws == 0) draws = a.tiles > 0 ? a.tiles * draw::kNormalItems : blocks * draw::kWarps * a.chunk;
  }
  std::int64_t draws = 0;  // of the normals' width; else words
};

TEST_F(DrawOnHost, OneAttemptSuffices) {
  // The share of draws that give a number is assumed; the words must be enough for as many numbers as make chance
  // small, and not many more.
  constexpr std::int64_t kCount = 10'000'000;
  const auto share = [](std::uint64_t last, int bits, bool masked) {
    DrawCase c{"integers", Draw::Kind::integers,
               bits == 64   ? DType::uint64
               : bits == 32 ? DType::uint32
                            : DType::uint8};
    c.last = last, c.masked = masked;
    return c;
  };
  const std::pair<DrawCase, int> cases[] = {{{"normal f64", Draw::Kind::normal, DType::float64}, 64},
                                            {{"normal f32", Draw::Kind::normal, DType::float32}, 32},
                                            {{"polar", Draw::Kind::polar, DType::float64}, 64},
                                            {share(4, 8, true), 8},
                                            {share(0x90, 8, false), 8},
                                            {share(0x9000'0000u, 32, true), 32},
                                            {share(0x9000'0000u, 32, false), 32},
                                            {share(std::uint64_t{9} << 60, 64, false), 64}};
  std::vector<char> memory(kCount * 8);
  for (const auto& [c, bits] : cases) {
    const AnyBitStream start = pcg64(3, false);
    AnyBitStream host = start;
    make_on_host(c, host, kCount, memory.data());
    Request r;
    ask(c, start, kCount, memory.data(), r);
    Planner planner;
    EXPECT_FALSE(draw::run(planner, r.draw));  // it finds nothing
    const std::int64_t words = c.kind == Draw::Kind::normal ? planner.draws * bits / 64 : planner.draws;
    // Where the host is, in words: the state is found among those that the stream runs through.
    Pcg64 g = std::get<Pcg64>(start);
    const Pcg64& end = std::get<Pcg64>(host);
    std::int64_t used = 0;
    for (; g.state().state != end.state().state && used <= words; ++used) g.next_uint64();
    EXPECT_LE(used, words) << c.name << " " << bits << " bits, up to " << c.last;
    EXPECT_LE(words, used + used / 200) << c.name << " " << bits << " bits, up to " << c.last;
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

TEST_F(DrawOnHost, TilesThatAreAllSpecialAreTheHosts) {
  const draw::NormalTables tables{};  // whose bounds no draw is below
  const std::vector<draw::u32> words(2 * (draw::kNormalItems + draw::kStepUnits), 1);
  std::vector<draw::u64> makes(draw::kNormalRows / 2), warps(draw::kWarps), blocks(1);
  draw::Outcome outcome{};
  draw::Args a{};
  a.stream.words = words.data();
  a.stream.word_count = static_cast<std::int64_t>(words.size());
  a.tables = &tables, a.outcome = &outcome;
  a.tiles = 1, a.makes = makes.data(), a.warp_counts = warps.data(), a.block_counts = blocks.data();
  machine_.launch(draw::Kernel::mt19937_normal64_find, 1, a, "");
  EXPECT_EQ(outcome.trouble, 2u);
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
