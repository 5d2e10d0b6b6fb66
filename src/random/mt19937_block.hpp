// The Mersenne Twister's 624 words at a time, with the processor's widest vectors.

#pragma once

#include <cstddef>
#include <cstdint>

namespace galop::random::block {

inline constexpr std::size_t kWords = 624;
inline constexpr std::size_t kMiddle = 397;

// One step of the recurrence, scalar: the word 624 after `word`.
constexpr std::uint32_t recur(std::uint32_t word, std::uint32_t next, std::uint32_t middle) {
  const std::uint32_t joined = (word & 0x80000000u) | (next & 0x7fffffffu);
  return middle ^ (joined >> 1) ^ ((next & 1u) != 0 ? 0x9908b0dfu : 0u);
}

// key: 624 words, replaced by the next 624.
void regenerate(std::uint32_t* key);

// words: what the generator gives out for the 624 words of key.
void temper(const std::uint32_t* key, std::uint32_t* words);

// out[i] = low + range * u, u of 53 bits from the words 2i and 2i + 1.
void to_doubles(const std::uint32_t* words, std::size_t n, double low, double range, double* out);

// out[i] = u, the upper 24 bits of a word; u in [0, 1).
void to_floats(const std::uint32_t* words, std::size_t n, float* out);

// out[i] = u * range + low, rounded once, u the lower 24 bits of a word; u in [0, 1).
void low_bits_to_floats(const std::uint32_t* words, std::size_t n, float low, float range, float* out);

// sum ^= words, 624 of them.
void add_window(const std::uint32_t* words, std::uint32_t* sum);

}  // namespace galop::random::block
