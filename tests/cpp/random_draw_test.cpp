// Random numbers on a device: what the array code asks of it, and the generator afterwards. The device here is the
// host.
#include "api/random_draw.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "random/normal.hpp"
#include "random/uniform.hpp"

namespace galop::random {
namespace {

// Makes uniform and polar numbers as asked; nothing else.
class HostAsDevice final : public DeviceBackend {
 public:
  bool able = true;

  bool draw(Draw& d) override {
    if (!able || d.dtype != DType::float64) return false;
    AnyBitStream bits = stream_of(d);
    const AnyBitStream start = bits;
    auto* out = static_cast<double*>(d.out);
    const auto n = static_cast<std::size_t>(d.n);
    d.wide = true;
    if (d.kind == Draw::Kind::uniform) {
      std::visit([&](auto& g) { fill_uniform(g, d.low, d.range, n, out); }, bits);
      d.taken = n;
      return true;
    }
    if (d.kind != Draw::Kind::polar) return false;
    raw::RandomState state(bits);
    state.normal(d.low, d.range, n, out);
    // However many points it took.
    for (d.taken = n;; ++d.taken) {
      AnyBitStream there = start;
      std::visit([&](auto& g) { g.skip_uint64(d.taken); }, there);
      if (next(there) == next(state.bits())) return true;
    }
  }
  void upload(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  static std::uint64_t next(AnyBitStream bits) {
    return std::visit([](auto& g) { return g.next_uint64() ^ (g.next_uint64() << 1) ^ (g.next_uint64() << 2); }, bits);
  }

  Device device() const override { return {DeviceKind::cuda, 0}; }
  DeviceSpeed speed() const override { return {}; }
  std::string name() const override { return "the host"; }
  int capability() const override { return 0; }
  bool alive() const override { return true; }
  void synchronize() override {}
  Storage allocate(std::int64_t) override { throw std::logic_error("not asked for"); }
  void release(const Storage&) noexcept override {}
  std::int64_t capacity() const override { return 0; }
  void run(const Plan&) override {}
  void scan(Op, DType, const Dims&, const void*, const Dims&, void*, const Dims&) override {}
  void at(Op, DType, void*, const std::int64_t*, std::int64_t, const void*) override {}
  bool locate(std::span<const IndexedAxis>, std::int64_t, std::int64_t*) override { return false; }
  void gather(const Blocks&) override {}
  void scatter(const Blocks&) override {}
  std::int64_t count_true(const void*, std::int64_t) override { return 0; }
  void positions(const void*, std::int64_t, std::int64_t*) override {}
  void compress(const void*, std::int64_t, int, const void*, void*) override {}
  void matmul(const Product&) override {}
  void download(void*, const void*, std::int64_t) override {}
  void copy(void*, const void*, std::int64_t) override {}
  bool copy_peer(void*, int, const void*, std::int64_t) override { return false; }
  DeviceMemory memory() const override { return {}; }
  void trim() override {}
  void set_limit(std::int64_t) override {}
  void wait_for(std::uintptr_t) override {}
  void make_wait(std::uintptr_t) override {}

 private:
  static AnyBitStream stream_of(const Draw& d) {
    if (d.stream == Draw::Stream::pcg64)
      return Pcg64(Pcg64::State{make_u128(d.state[0], d.state[1]), make_u128(d.increment[0], d.increment[1]),
                                d.has_uint32, d.uinteger});
    Mt19937::State s;
    std::memcpy(s.key.data(), d.key, sizeof s.key);
    s.pos = d.pos;
    return Mt19937(s);
  }
};

AnyBitStream pcg64() {
  Pcg64 g{SeedSequence(5)};
  g.next_uint32();
  return g;
}

TEST(RandomDraw, MovesTheGeneratorOn) {
  HostAsDevice device;
  for (const AnyBitStream& start : {pcg64(), AnyBitStream(Mt19937(5))}) {
    AnyBitStream host = start, moved = start;
    std::vector<double> expected(1001), got(1001);
    std::visit([&](auto& g) { fill_uniform(g, -2, 5, expected.size(), expected.data()); }, host);
    ASSERT_TRUE(draw_on(device, moved, draw_of(Draw::Kind::uniform, DType::float64, -2, 5), 1001, got.data()));
    EXPECT_EQ(got, expected);
    EXPECT_EQ(HostAsDevice::next(moved), HostAsDevice::next(host));
    if (const auto* g = std::get_if<Pcg64>(&moved)) {
      EXPECT_EQ(g->state(), std::get<Pcg64>(host).state());
    }
  }
}

TEST(RandomDraw, StaysWhereTheDeviceCannot) {
  HostAsDevice device;
  device.able = false;
  AnyBitStream bits = pcg64();
  double out[8] = {};
  EXPECT_FALSE(draw_on(device, bits, draw_of(Draw::Kind::uniform, DType::float64), 8, out));
  EXPECT_EQ(std::get<Pcg64>(bits).state(), std::get<Pcg64>(pcg64()).state());
  raw::RandomState state(3u);
  double one;
  state.standard_normal(1, &one);
  const auto before = state.gauss();
  EXPECT_FALSE(polar_on(device, state, 0, 1, 8, out));
  EXPECT_EQ(state.gauss(), before);
}

TEST(RandomDraw, PolarNumbersWithOneLeftFromBefore) {
  HostAsDevice device;
  for (const std::size_t n : {1u, 2u, 3u, 4u, 501u, 502u}) {
    for (const bool kept : {false, true}) {
      raw::RandomState host(9u), moved(9u);
      double one;
      if (kept) host.standard_normal(1, &one), moved.standard_normal(1, &one);
      std::vector<double> expected(n), got(n);
      host.normal(3, 2, n, expected.data());
      ASSERT_TRUE(polar_on(device, moved, 3, 2, static_cast<std::int64_t>(n), got.data()));
      EXPECT_EQ(got, expected) << "n = " << n << ", kept " << kept;
      EXPECT_EQ(moved.gauss(), host.gauss()) << "n = " << n << ", kept " << kept;
      EXPECT_EQ(HostAsDevice::next(moved.bits()), HostAsDevice::next(host.bits())) << "n = " << n << ", kept " << kept;
    }
  }
}

}  // namespace
}  // namespace galop::random
