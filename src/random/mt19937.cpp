// MT19937: seeding, state and leaps.

#include "random/mt19937.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "random/errors.hpp"
#include "random/mt19937_jump.hpp"

namespace galop::random {
namespace {

// Below this many words it is cheaper to run through the blocks than to leap over them.
constexpr std::uint64_t kLeapFrom = Mt19937::kWords * std::uint64_t{40000};

}  // namespace

Mt19937::Mt19937(const SeedSequence& seed) {
  const std::vector<std::uint32_t> words = seed.generate_state32(kWords);
  State state;
  std::copy(words.begin(), words.end(), state.key.begin());
  state.key[0] = 0x80000000u;  // never all zero
  state.pos = kWords - 1;      // where NumPy starts
  set_state(state);
}

void Mt19937::seed(std::uint32_t seed) {
  key_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) key_[i] = 1812433253u * (key_[i - 1] ^ (key_[i - 1] >> 30)) + i;
  pos_ = kWords;
}

void Mt19937::seed(std::span<const std::uint32_t> key) {
  if (key.empty()) value_error("seed", "a seed array must not be empty");
  seed(19650218u);
  const auto previous = [this](std::size_t i) { return key_[i - 1] ^ (key_[i - 1] >> 30); };
  std::size_t i = 1;
  const auto next_i = [this, &i] {
    if (++i == kWords) {
      key_[0] = key_[kWords - 1];
      i = 1;
    }
  };
  std::size_t j = 0;
  for (std::size_t left = std::max(kWords, key.size()); left > 0; --left) {
    key_[i] = (key_[i] ^ (previous(i) * 1664525u)) + key[j] + static_cast<std::uint32_t>(j);
    next_i();
    if (++j == key.size()) j = 0;
  }
  for (std::size_t left = kWords - 1; left > 0; --left) {
    key_[i] = (key_[i] ^ (previous(i) * 1566083941u)) - static_cast<std::uint32_t>(i);
    next_i();
  }
  key_[0] = 0x80000000u;
  pos_ = kWords;
}

void Mt19937::seed_from_os() { *this = Mt19937(SeedSequence::from_os()); }

Mt19937::State Mt19937::state() const {
  State state;
  std::copy(key_, key_ + kWords, state.key.begin());
  state.pos = pos_;
  return state;
}

void Mt19937::set_state(const State& state) {
  if (state.pos > kWords) {
    value_error("MT19937.state", "pos must lie in 0..624; got " + std::to_string(state.pos));
  }
  std::copy(state.key.begin(), state.key.end(), key_);
  pos_ = state.pos;
  block::temper(key_, words_);
}

void Mt19937::regenerate() {
  block::regenerate(key_);
  block::temper(key_, words_);
  pos_ = 0;
}

Mt19937 Mt19937::jumped(std::size_t jumps) const {
  State now = state();
  for (; jumps > 0; --jumps) {
    const std::size_t from = now.pos % kWords;
    jump::Polynomial leap = jump::power_of_two_step(128);
    std::array<std::uint32_t, kWords> window;
    for (std::size_t i = 0; i < kWords; ++i) window[i] = now.key[(from + i) % kWords];
    jump::leap_window(leap, window.data());
    // NumPy's cursor has moved once for each degree of the polynomial.
    const std::size_t to = (from + jump::degree(leap)) % kWords;
    for (std::size_t i = 0; i < kWords; ++i) now.key[(to + i) % kWords] = window[i];
    now.pos = static_cast<std::uint32_t>(to);
  }
  return Mt19937(now);
}

void Mt19937::skip_uint32(std::uint64_t n) {
  if (n <= kWords - pos_) {
    pos_ += static_cast<std::uint32_t>(n);
    return;
  }
  // Counted from the start of the current block; the end of a block is written as 624, not as the next one's 0.
  const std::uint64_t target = n + pos_;
  std::uint64_t blocks = (target - 1) / kWords;
  pos_ = static_cast<std::uint32_t>(target - blocks * kWords);
  if (n >= kLeapFrom) {
    jump::leap_blocks(blocks, key_);
  } else {
    for (; blocks > 0; --blocks) block::regenerate(key_);
  }
  block::temper(key_, words_);
}

void Mt19937::skip_uint64(std::uint64_t n) {
  // 2n words may exceed 64 bits.
  skip_uint32(n);
  skip_uint32(n);
}

}  // namespace galop::random
