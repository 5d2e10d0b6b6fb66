// The streams of random bits below the distributions: NumPy's PCG64 and MT19937, their states, and streams apart.
//
//   galop::random::PCG64 bits(42);
//   galop::random::Generator g(bits);
//   const auto here = bits.state();   // …draw with g…; then back to where it was:
//   bits.set_state(here);
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "galop/array.hpp"
#include "galop/seed_sequence.hpp"

namespace galop::random {

class Pcg64;
class Mt19937;
using AnyBitStream = std::variant<Pcg64, Mt19937>;

/// An integer modulo 2^128 in two halves; a negative number counts down from 2^128.
struct uint128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  constexpr uint128() = default;
  template <std::integral T>
  constexpr uint128(T v) : high(std::is_signed_v<T> && v < T(0) ? ~0ull : 0), low(static_cast<std::uint64_t>(v)) {}
  constexpr uint128(std::uint64_t high_half, std::uint64_t low_half) : high(high_half), low(low_half) {}
  auto operator<=>(const uint128&) const = default;
};
/// Its decimal digits, as Python prints the numbers of a PCG64's state.
std::string to_string(const uint128& v);

/// What NumPy's PCG64().state holds. Draws of 32 bits take halves of 64; `uinteger` is the half that is left over.
struct Pcg64State {
  uint128 state, inc;
  bool has_uint32 = false;
  std::uint32_t uinteger = 0;
  bool operator==(const Pcg64State&) const = default;
};

/// What NumPy's MT19937().state holds: a block of 624 words, of which the first `pos` are used up.
struct Mt19937State {
  std::array<std::uint32_t, 624> key{};
  std::uint32_t pos = 624;
  bool operator==(const Mt19937State&) const = default;
};

using BitState = std::variant<Pcg64State, Mt19937State>;

/// A stream of random bits. A copy is a handle on the same stream, and so is every generator that was made over it.
class BitGenerator {
 public:
  /// "PCG64" or "MT19937".
  std::string_view name() const;

  /// Where the stream stands, and back to such a place. Throws ValueError for the state of another kind of stream, or
  /// for a position beyond the block.
  BitState state() const;
  void set_state(const BitState& s) const;

  /// A stream so far on that the two do not meet: 2^127 draws or so of PCG64, 2^128 words of MT19937, so many times.
  BitGenerator jumped(const uint128& jumps = 1) const;
  /// As after so many draws of 64 bits; a negative number goes back. Throws TypeError for MT19937.
  void advance(const uint128& draws) const;
  /// n streams of the same kind from children of the seed sequence. Throws TypeError where there is no seed sequence.
  std::vector<BitGenerator> spawn(std::int64_t n) const;
  /// What the stream was seeded with; nothing after RandomState's seeding.
  std::optional<SeedSequence> seed_seq() const;
  /// The stream's own words, uint64: of 64 bits from PCG64, of 32 from MT19937.
  array random_raw(const Dims& size = {}) const;

  // For Galop's own layers.
  BitGenerator(std::shared_ptr<AnyBitStream> stream, std::optional<SeedSequence> seed);
  const std::shared_ptr<AnyBitStream>& stream() const { return stream_; }
  void forget_seed() const { seed_->reset(); }

 private:
  std::shared_ptr<AnyBitStream> stream_;
  std::shared_ptr<std::optional<SeedSequence>> seed_;
};

/// PCG XSL-RR 128/64, the bit generator of default_rng; seeded by the operating system, an integer, or a sequence.
class PCG64 : public BitGenerator {
 public:
  PCG64();
  explicit PCG64(std::uint64_t seed);
  explicit PCG64(const SeedSequence& seed);
};

/// The Mersenne Twister, the bit generator of RandomState; seeded as NumPy's MT19937, which is not as
/// RandomState(seed).
class MT19937 : public BitGenerator {
 public:
  MT19937();
  explicit MT19937(std::uint64_t seed);
  explicit MT19937(const SeedSequence& seed);
};

}  // namespace galop::random
