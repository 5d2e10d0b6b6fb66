// On a GPU: random numbers with the bits of the host's streams, the generator's state afterwards, and how fast.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "backend/cuda/draw.hpp"
#include "backend/cuda/executor.hpp"
#include "draws.hpp"

namespace galop::cuda::test {
namespace {

using random::AnyBitStream;
using random::Mt19937;
using random::Pcg64;

class DrawOnGpu : public testing::Test {
 protected:
  static constexpr std::int64_t kBytes = std::int64_t{900} << 20;

  void SetUp() override {
    std::string reason;
    if (find_driver(&reason) == nullptr) GTEST_SKIP() << reason;
    if (!gpu_) gpu_ = std::make_unique<CudaExecutor>(0, std::filesystem::path());
    if (!memory_) memory_ = static_cast<char*>(gpu_->allocate(kBytes));
  }

  void expect_equal(const DrawCase& c, const AnyBitStream& start, std::int64_t n) {
    if (c.kind == Draw::Kind::polar) n -= n % 2;
    const std::string what = c.name + ", n = " + std::to_string(n) + ", from " + state_text(start);
    AnyBitStream host = start, device = start;
    const std::int64_t bytes = n * itemsize(c.dtype);
    std::vector<char> expected(static_cast<std::size_t>(bytes) + 16), got(static_cast<std::size_t>(bytes) + 16);
    make_on_host(c, host, static_cast<std::size_t>(n), expected.data());
    std::memset(got.data(), 0xA5, got.size());
    gpu_->upload(memory_, got.data(), static_cast<std::int64_t>(got.size()));
    Request r;
    ask(c, start, n, memory_, r);
    ASSERT_TRUE(draw_numbers(*gpu_, r.draw)) << what;
    gpu_->download(got.data(), memory_, static_cast<std::int64_t>(got.size()));
    EXPECT_EQ(difference(expected.data(), got.data(), n, c.dtype), "") << what;
    for (std::size_t i = 0; i < 16; ++i)
      ASSERT_EQ(static_cast<unsigned char>(got[static_cast<std::size_t>(bytes) + i]), 0xA5)
          << what << ": written behind the end";
    skip(device, r.draw);
    EXPECT_EQ(state_text(device), state_text(host)) << what;
  }

  static std::unique_ptr<CudaExecutor> gpu_;
  static char* memory_;
};
std::unique_ptr<CudaExecutor> DrawOnGpu::gpu_;
char* DrawOnGpu::memory_ = nullptr;

AnyBitStream pcg64(std::uint64_t seed, bool kept) {
  Pcg64 g{random::SeedSequence(seed)};
  if (kept) {
    g.next_uint32();
    g.next_uint64();
  }
  return g;
}
AnyBitStream mt19937(std::uint32_t seed, std::uint64_t used) {
  Mt19937 g(seed);
  g.skip_uint32(used);
  return g;
}

TEST_F(DrawOnGpu, Pcg64GivesTheHostsBits) {
  for (const DrawCase& c : draw_cases()) {
    if (c.only_twister) continue;
    for (const std::int64_t n : {0, 1, 2, 3, 255, 2047, 2049, 65'537})
      for (const bool kept : {false, true}) expect_equal(c, pcg64(static_cast<std::uint64_t>(n) + 3, kept), n);
  }
}

class TwisterOnGpu : public DrawOnGpu, public testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Draws, TwisterOnGpu, testing::Range<std::size_t>(0, draw_cases().size()));

TEST_P(TwisterOnGpu, GivesTheHostsBits) {
  const DrawCase c = draw_cases()[GetParam()];
  for (const std::int64_t n : {0, 1, 2, 311, 2049, 65'537})
    for (const std::uint64_t used : {0u, 1u, 623u})
      expect_equal(c, mt19937(static_cast<std::uint32_t>(n) + 5, used), n);
}

TEST_F(DrawOnGpu, ManyNumbers) {
  for (const DrawCase& c : draw_cases()) {
    if (!c.only_twister) expect_equal(c, pcg64(4, true), 1'500'001);
    for (const std::uint64_t used : {0u, 623u}) expect_equal(c, mt19937(9, used), 1'500'001);
  }
  // Several tiles a block, hundreds of lanes.
  for (const char* wanted : {"random f64", "random f32", "normal f64", "normal f32", "polar", "uniform(-3, 7)"})
    for (const DrawCase& c : draw_cases()) {
      if (c.name != wanted) continue;
      expect_equal(c, pcg64(7, true), 30'000'001);
      expect_equal(c, mt19937(7, 5), 30'000'001);
    }
}

TEST_F(DrawOnGpu, Speed) {
  constexpr std::int64_t kCount = 100'000'000;
  std::printf("%-12s %-28s %10s %10s\n", "stream", "10^8 numbers", "ms", "GB/s");
  for (const DrawCase& c : draw_cases()) {
    if (c.kind == Draw::Kind::integers && c.last != 99) continue;
    for (const bool twister : {false, true}) {
      if (c.only_twister && !twister) continue;
      const AnyBitStream start = twister ? mt19937(1, 0) : pcg64(1, false);
      std::vector<double> ms;
      for (int k = 0; k < 6; ++k) {
        Request r;
        ask(c, start, kCount, memory_, r);
        gpu_->synchronize();
        const auto from = std::chrono::steady_clock::now();
        ASSERT_TRUE(draw_numbers(*gpu_, r.draw)) << c.name;
        gpu_->synchronize();
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - from;
        if (k > 0) ms.push_back(took.count());  // the first compiles
        EXPECT_GT(r.draw.taken, 0u);
      }
      std::sort(ms.begin(), ms.end());
      std::printf("%-12s %-28s %10.3f %10.1f\n", twister ? "MT19937" : "PCG64", c.name.c_str(), ms[2],
                  static_cast<double>(kCount * itemsize(c.dtype)) / ms[2] * 1e-6);
    }
  }
}

}  // namespace
}  // namespace galop::cuda::test
