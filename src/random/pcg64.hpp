// PCG64 (XSL-RR 128/64), the bit generator of NumPy's default_rng.

#pragma once

#include <bit>
#include <cstdint>

#include "galop/seed_sequence.hpp"
#include "random/int128.hpp"

namespace galop::random {

class Pcg64 {
 public:
  static constexpr const char* kName = "PCG64";
  static constexpr u128 kMultiplier = make_u128(2549297995355413924u, 4865540595714422341u);

  // What NumPy's bit_generator.state holds. A 32-bit draw takes the low half of a 64-bit one and leaves the high half
  // in `uinteger` for the next 32-bit draw; 64-bit draws pass it by.
  struct State {
    u128 state = 0;
    u128 increment = 0;
    bool has_uint32 = false;
    std::uint32_t uinteger = 0;
    bool operator==(const State&) const = default;
  };

  explicit Pcg64(const SeedSequence& seed);
  explicit Pcg64(const State& state) : s_(state) {}

  const State& state() const { return s_; }
  void set_state(const State& state) { s_ = state; }

  std::uint64_t next_uint64() {
    s_.state = s_.state * kMultiplier + s_.increment;
    return output(s_.state);
  }
  std::uint32_t next_uint32() {
    if (s_.has_uint32) {
      s_.has_uint32 = false;
      return s_.uinteger;
    }
    const std::uint64_t both = next_uint64();
    s_.has_uint32 = true;
    s_.uinteger = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }
  double next_double() { return to_double(next_uint64()); }

  // As after `delta` 64-bit draws; drops a kept half, as NumPy's advance. Wraps, so that -n goes back.
  void advance(u128 delta);
  // A generator (golden ratio) * 2^128 draws further on, `jumps` times.
  Pcg64 jumped(u128 jumps = 1) const;

  // As after n calls of next_uint64, next_uint32 or next_double, in O(log n).
  void skip_uint64(u128 n) { s_.state = stepped(s_.state, n); }
  void skip_uint32(std::uint64_t n);
  void skip_double(std::uint64_t n) { skip_uint64(n); }

  static std::uint64_t output(u128 state) {
    return std::rotr(high_half(state) ^ low_half(state), static_cast<int>(high_half(state) >> 58));
  }
  static double to_double(std::uint64_t bits) {
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53;
  }

  // x -> factor * x + term: `delta` steps of the generator at once.
  struct Leap {
    u128 factor = 1;
    u128 term = 0;
  };
  static Leap leap(u128 delta, u128 increment);

 private:
  u128 stepped(u128 from, u128 delta) const {
    const Leap many = leap(delta, s_.increment);
    return many.factor * from + many.term;
  }

  State s_;
};

}  // namespace galop::random
