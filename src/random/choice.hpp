// NumPy's choice, as indices into the population: with and without replacement, with and without probabilities.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "random/bit_stream.hpp"

namespace galop::random {

// What choice is asked for. Every function gives n indices in [0, population).
struct Choice {
  std::int64_t population = 0;
  bool replace = true;
  bool shuffle = true;         // Generator without replacement: a random order too
  std::span<const double> p;   // the probability of each index; none where they are all the same
  double tolerance = 0x1p-26;  // of the sum of p: sqrt of the epsilon of p's dtype, float64's at least
};

// Generator.choice. ValueError for an empty population, a p that is no distribution over it, a sample larger than the
// population (or than its part with p > 0) without replacement; unless n is 0, where the population may be empty.
template <class G>
void fill_choice(G& g, const Choice& choice, std::size_t n, std::int64_t* out);

// RandomState.choice: masks in place of Lemire's method, and a whole permutation for a sample without replacement.
template <class G>
void fill_legacy_choice(G& g, const Choice& choice, std::size_t n, std::int64_t* out);

}  // namespace galop::random
