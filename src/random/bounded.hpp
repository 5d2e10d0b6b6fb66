// One bounded integer from a stream: Lemire's method, masks, and 8- and 16-bit and boolean parts of a 32-bit draw.

#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "random/bit_stream.hpp"
#include "random/int128.hpp"

namespace galop::random::bounded {

// Draws of the unsigned type U. Parts of 8 and 16 bits come from one 32-bit draw, low part first, for as long as this
// object lives; NumPy begins afresh with each call.
template <class U>
class Parts {
 public:
  template <BitStream S>
  U operator()(S& stream) {
    if constexpr (sizeof(U) == 8) {
      return stream.next_uint64();
    } else if constexpr (sizeof(U) == 4) {
      return stream.next_uint32();
    } else {
      if (left_ == 0) {
        word_ = stream.next_uint32();
        left_ = 4 / sizeof(U);
      } else {
        word_ >>= 8 * sizeof(U);
      }
      --left_;
      return static_cast<U>(word_);
    }
  }

 private:
  std::uint32_t word_ = 0;
  std::size_t left_ = 0;
};

template <class U>
using Wider =
    std::conditional_t<sizeof(U) == 8, u128, std::conditional_t<sizeof(U) == 4, std::uint64_t, std::uint32_t>>;

// All ones up to the highest bit of value.
template <class U>
constexpr U mask_of(U value) {
  return value == 0 ? U{0} : static_cast<U>(std::numeric_limits<U>::max() >> (std::countl_zero(value)));
}

// Integers in [0, range], range below U's greatest value: the high half of draw * (range + 1), a draw being refused
// where its low half falls into the remainder (D. Lemire, arXiv 1805.10941).
template <class U>
class Lemire {
 public:
  explicit Lemire(U range)
      : count_(static_cast<U>(range + 1)),
        threshold_(static_cast<U>(static_cast<U>(std::numeric_limits<U>::max() - range) % count_)) {}

  template <BitStream S>
  U operator()(S& stream, Parts<U>& parts) const {
    Wider<U> product;
    do {
      product = static_cast<Wider<U>>(static_cast<Wider<U>>(parts(stream)) * count_);
    } while (static_cast<U>(product) < threshold_);
    return static_cast<U>(product >> (8 * sizeof(U)));
  }

 private:
  U count_;
  U threshold_;
};

// One such integer, without the division for most draws.
template <class U, BitStream S>
U lemire(S& stream, Parts<U>& parts, U range) {
  const U count = static_cast<U>(range + 1);
  const auto product = static_cast<Wider<U>>(static_cast<Wider<U>>(parts(stream)) * count);
  if (static_cast<U>(product) < count) [[unlikely]] {
    const U threshold = static_cast<U>(static_cast<U>(std::numeric_limits<U>::max() - range) % count);
    if (static_cast<U>(product) < threshold) return Lemire<U>(range)(stream, parts);
  }
  return static_cast<U>(product >> (8 * sizeof(U)));
}

template <class U, BitStream S>
U masked(S& stream, Parts<U>& parts, U range, U mask) {
  U value;
  do {
    value = static_cast<U>(parts(stream) & mask);
  } while (value > range);
  return value;
}

// One index in [0, last] by Lemire's method; a 32-bit draw where that is enough. As NumPy's choice draws it.
template <BitStream S>
std::uint64_t lemire_index(S& stream, std::uint64_t last) {
  if (last == 0) return 0;
  if (last < 0xffffffffu) {
    Parts<std::uint32_t> parts;
    return lemire(stream, parts, static_cast<std::uint32_t>(last));
  }
  if (last == 0xffffffffu) return stream.next_uint32();
  if (last == std::numeric_limits<std::uint64_t>::max()) return stream.next_uint64();
  Parts<std::uint64_t> parts;
  return lemire(stream, parts, last);
}

// One index in [0, last] by masks. As NumPy's shuffles draw it.
template <BitStream S>
std::uint64_t masked_index(S& stream, std::uint64_t last) {
  if (last == 0) return 0;
  const std::uint64_t mask = mask_of(last);
  std::uint64_t value;
  if (last <= 0xffffffffu) {
    do {
      value = stream.next_uint32() & mask;
    } while (value > last);
  } else {
    do {
      value = stream.next_uint64() & mask;
    } while (value > last);
  }
  return value;
}

}  // namespace galop::random::bounded
