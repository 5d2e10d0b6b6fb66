// Exponential deviates for Generator: NumPy's ziggurat, and the inversion -log1p(-u).

#pragma once

#include <cstddef>
#include <cstdint>

#include "random/bit_stream.hpp"

namespace galop::random {

enum class ExponentialMethod : std::uint8_t { kZiggurat, kInversion };

template <class G>
void fill_standard_exponential(G& g, ExponentialMethod method, std::size_t n, double* out);
template <class G>
void fill_standard_exponential(G& g, ExponentialMethod method, std::size_t n, float* out);

// scale * e, by the ziggurat.
template <class G>
void fill_exponential(G& g, double scale, std::size_t n, double* out);

}  // namespace galop::random
