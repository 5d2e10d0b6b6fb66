// Normal deviates: NumPy's ziggurat for Generator. (RandomState's polar method is in legacy.hpp.)

#pragma once

#include <cstddef>

#include "random/bit_stream.hpp"

namespace galop::random {

template <class G>
void fill_standard_normal(G& g, std::size_t n, double* out);
template <class G>
void fill_standard_normal(G& g, std::size_t n, float* out);

// loc + scale * z. Arrays of parameters: fill_standard_normal, then the same two operations, give NumPy's bits too.
template <class G>
void fill_normal(G& g, double loc, double scale, std::size_t n, double* out);

}  // namespace galop::random
