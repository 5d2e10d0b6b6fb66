// MT19937, the Mersenne Twister: the bit generator of NumPy's RandomState and of PyTorch on the CPU.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "galop/seed_sequence.hpp"
#include "random/mt19937_block.hpp"

namespace galop::random {

class Mt19937 {
 public:
  static constexpr const char* kName = "MT19937";
  static constexpr std::size_t kWords = block::kWords;

  // What NumPy's state holds: the current block of 624 words, of which the first `pos` are used up.
  struct State {
    std::array<std::uint32_t, kWords> key{};
    std::uint32_t pos = kWords;
    bool operator==(const State&) const = default;
  };

  // As NumPy's MT19937(seed).
  explicit Mt19937(const SeedSequence& seed);
  // ValueError unless pos <= 624.
  explicit Mt19937(const State& state) { set_state(state); }
  // As RandomState(seed) and torch.manual_seed(seed).
  explicit Mt19937(std::uint32_t seed) { this->seed(seed); }

  // The seedings of RandomState.seed: an integer, an array (ValueError if empty), the operating system's entropy.
  void seed(std::uint32_t seed);
  void seed(std::span<const std::uint32_t> key);
  void seed_from_os();

  State state() const;
  void set_state(const State& state);

  std::uint32_t next_uint32() {
    if (pos_ == kWords) regenerate();
    return words_[pos_++];
  }
  std::uint64_t next_uint64() {
    const std::uint64_t high = next_uint32();
    return (high << 32) | next_uint32();
  }
  double next_double() { return to_double(next_uint64()); }

  // NumPy's jumped: 2^128 words further on, `jumps` times. (From within a block NumPy takes the block's used words for
  // those of the next one; the bits are NumPy's there too.)
  Mt19937 jumped(std::size_t jumps = 1) const;

  // As after n calls of next_uint32, next_uint64 or next_double. Costs a few ms at most, however large n is.
  void skip_uint32(std::uint64_t n);
  void skip_uint64(std::uint64_t n);
  void skip_double(std::uint64_t n) { skip_uint64(n); }

  static double to_double(std::uint64_t bits) {
    // The upper 27 bits of the first word, then the upper 26 of the second.
    const std::uint64_t mantissa = ((bits >> 37) << 26) | ((bits & 0xffffffffu) >> 6);
    return static_cast<double>(static_cast<std::int64_t>(mantissa)) * 0x1p-53;
  }

  // The unused output words of the current block, made anew when there are none; take() marks the first n as used.
  std::span<const std::uint32_t> block() {
    if (pos_ == kWords) regenerate();
    return {words_ + pos_, kWords - pos_};
  }
  void take(std::size_t n) { pos_ += static_cast<std::uint32_t>(n); }

 private:
  void regenerate();

  std::uint32_t key_[kWords];
  std::uint32_t words_[kWords];  // key_, tempered: what the generator gives out
  std::uint32_t pos_ = kWords;
};

}  // namespace galop::random
