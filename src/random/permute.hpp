// Shuffles of raw memory and of indices, with the swaps that NumPy's shuffle and permutation make.

#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interrupt.hpp"
#include "random/bit_stream.hpp"
#include "random/bounded.hpp"

namespace galop::random {

// swap(i, j) with j in [0, i] for i from n - 1 down to 1: Generator's and RandomState's shuffle of anything. j == i
// too.
template <BitStream S, class Swap>
void shuffle_swaps(S& stream, std::size_t n, Swap&& swap) {
  if (n < 2) return;
  interrupt::polled(n - 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = n - from; i-- > n - to;) swap(i, static_cast<std::size_t>(bounded::masked_index(stream, i)));
  });
}

// n items of item_size bytes, `stride` bytes apart (negative too), first at data. Items do not overlap.
template <class G>
void shuffle(G& g, std::size_t n, std::size_t item_size, std::ptrdiff_t stride, void* data);

// 0 .. n - 1 shuffled: permutation(n), and the order in which permutation(x) or shuffle(x) leave any axis of length n.
template <class G>
void permutation(G& g, std::size_t n, std::int64_t* out);

// The last places of an index array as choice shuffles it: i from n - 1 down to `first`, with indices by Lemire's
// method.
template <BitStream S>
void shuffle_tail(S& stream, std::size_t n, std::size_t first, std::int64_t* data) {
  if (n <= first) return;
  interrupt::polled(n - first, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = n - from; i-- > n - to;) {
      const auto j = static_cast<std::size_t>(bounded::lemire_index(stream, i));
      const std::int64_t kept = data[j];
      data[j] = data[i];
      data[i] = kept;
    }
  });
}

}  // namespace galop::random
