// What a source of random bits offers; the choice among ours at run time; and draws in bulk from either.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "random/mt19937.hpp"
#include "random/pcg64.hpp"

namespace galop::random {

// The three draws that every distribution is made of, with NumPy's meaning for each generator.
template <class G>
concept BitStream = requires(G& g) {
  { g.next_uint64() } -> std::same_as<std::uint64_t>;
  { g.next_uint32() } -> std::same_as<std::uint32_t>;
  { g.next_double() } -> std::same_as<double>;
};

using AnyBitStream = std::variant<Pcg64, Mt19937>;

// INSTANTIATE(G) for each generator G: how a .cpp file makes its function templates for all of them.
#define GALOP_FOR_EACH_BIT_STREAM(INSTANTIATE) \
  INSTANTIATE(::galop::random::Pcg64)          \
  INSTANTIATE(::galop::random::Mt19937)

// A generator read through a block of draws made ahead, so that the loop over a distribution runs on registers. The
// generator itself stands where a plain loop would have left it once the burst ends.
template <class G>
class Burst;

// Two interleaved chains of PCG64, each of which leaps over the other's draws: that hides the latency of the 128-bit
// product, and the multiplier is then the limit.
class PcgChains {
 public:
  static constexpr std::size_t kChains = 2;

  explicit PcgChains(const Pcg64::State& from);

  // The next n outputs, n even, each handed to put(i, bits).
  template <class Put>
  void run(std::size_t n, Put&& put) {
    u128 a = at_[0], b = at_[1];
    const u128 factor = leap_.factor, term = leap_.term;
    for (std::size_t i = 0; i < n; i += kChains) {
      put(i, Pcg64::output(a));
      put(i + 1, Pcg64::output(b));
      a = a * factor + term;
      b = b * factor + term;
    }
    at_[0] = a, at_[1] = b;
  }

 private:
  u128 at_[kChains];
  Pcg64::Leap leap_;
};

template <>
class Burst<Pcg64> {
 public:
  struct Block {
    static constexpr std::size_t kSize = 512;
    explicit Block(const Pcg64& g) : chains(g.state()) {}
    void refill() {
      chains.run(kSize, [this](std::size_t i, std::uint64_t bits) { words[i] = bits; });
    }
    PcgChains chains;
    std::uint64_t words[kSize];
  };

  Burst(Pcg64& g, Block& block)
      : g_(g), block_(block), has_uint32_(g.state().has_uint32), uinteger_(g.state().uinteger) {}
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;
  ~Burst() {
    g_.skip_uint64(refilled_ - (Block::kSize - at_));
    Pcg64::State end = g_.state();
    end.has_uint32 = has_uint32_;
    end.uinteger = uinteger_;
    g_.set_state(end);
  }

  std::uint64_t next_uint64() {
    if (at_ == Block::kSize) [[unlikely]] {
      block_.refill();
      refilled_ += Block::kSize;
      at_ = 0;
    }
    return block_.words[at_++];
  }
  std::uint32_t next_uint32() {
    if (has_uint32_) {
      has_uint32_ = false;
      return uinteger_;
    }
    const std::uint64_t both = next_uint64();
    has_uint32_ = true;
    uinteger_ = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }
  double next_double() { return Pcg64::to_double(next_uint64()); }

 private:
  Pcg64& g_;
  Block& block_;
  std::size_t at_ = Block::kSize;
  std::size_t refilled_ = 0;
  bool has_uint32_;
  std::uint32_t uinteger_;
};

template <>
class Burst<Mt19937> {
 public:
  struct Block {
    explicit Block(const Mt19937&) {}
  };

  Burst(Mt19937& g, Block&) : g_(g) {}
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;
  ~Burst() { g_.take(at_); }

  std::uint32_t next_uint32() {
    if (at_ == size_) [[unlikely]] {
      renew();
    }
    return words_[at_++];
  }
  std::uint64_t next_uint64() {
    const std::uint64_t high = next_uint32();
    return (high << 32) | next_uint32();
  }
  double next_double() { return Mt19937::to_double(next_uint64()); }

 private:
  void renew() {
    g_.take(at_);
    const auto words = g_.block();
    words_ = words.data();
    size_ = words.size();
    at_ = 0;
  }

  Mt19937& g_;
  const std::uint32_t* words_ = nullptr;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
};

// body(stream) with a burst of g where n draws or so are to come, with g itself where a burst is not worth its start.
template <class G, class Body>
void draw(G& g, std::size_t n, Body&& body) {
  if (n < 64) {
    body(g);
    return;
  }
  typename Burst<G>::Block block(g);
  Burst<G> burst(g, block);
  body(burst);
}

}  // namespace galop::random
