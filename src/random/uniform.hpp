// Uniform doubles and floats in bulk, from the stream's current place or, for threads, from any element on.

#pragma once

#include <cstddef>
#include <cstdint>

#include "random/bit_stream.hpp"

namespace galop::random {

// u in [0, 1) with 53 or 24 bits: Generator.random, RandomState.random_sample.
template <class G>
void fill_random(G& g, std::size_t n, double* out);
template <class G>
void fill_random(G& g, std::size_t n, float* out);

// low + range * u with range = high - low; finite range (see checked_range).
template <class G>
void fill_uniform(G& g, double low, double range, std::size_t n, double* out);

// Elements begin .. begin + n of what the same call on `start` would give, so that threads can share a fill. `start`
// stays; afterwards skip_random moves the caller's generator past all. MT19937 leaps in a few ms: parts of some 10^6
// elements at least are worth a thread.
template <class G>
void fill_random_at(const G& start, std::uint64_t begin, std::size_t n, double* out);
template <class G>
void fill_random_at(const G& start, std::uint64_t begin, std::size_t n, float* out);
template <class G>
void fill_uniform_at(const G& start, std::uint64_t begin, double low, double range, std::size_t n, double* out);

// g as after fill_random or fill_uniform of n elements of T.
template <class T, class G>
void skip_random(G& g, std::uint64_t n) {
  if constexpr (sizeof(T) == sizeof(double)) {
    g.skip_double(n);
  } else {
    g.skip_uint32(n);
  }
}

// Random bytes as Generator.bytes and RandomState.bytes give them; whole 32-bit words are drawn.
template <class G>
void fill_bytes(G& g, std::size_t n, std::uint8_t* out);

}  // namespace galop::random
