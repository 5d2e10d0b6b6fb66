// PyTorch's uniform float32 stream on the CPU: torch.manual_seed, torch.rand and Tensor.uniform_.

#pragma once

#include <cstddef>
#include <cstdint>

#include "random/mt19937.hpp"

namespace galop::random {

// The generator that torch.manual_seed(seed) leaves; of the seed PyTorch takes the low 32 bits.
Mt19937 torch_manual_seed(std::uint64_t seed);

// u * (high - low) + low in float32, u the low 24 bits of one 32-bit draw for each element, in order:
// torch.rand(n) is (0, 1), torch.empty(n).uniform_(low, high) the general form. Product and sum are one fused
// operation, as in PyTorch's own builds for processors that have it; torch.rand(n) * (high - low) + low rounds twice
// and so differs in the last bit of one element in a hundred. ValueError where low > high, OverflowError where the
// range is not finite.
void torch_uniform_f32(Mt19937& g, float low, float high, std::size_t n, float* out);

// Elements begin .. begin + n of what the same call on `start` would give; skip_uint32 moves the caller's generator.
void torch_uniform_f32_at(const Mt19937& start, std::uint64_t begin, float low, float high, std::size_t n, float* out);

}  // namespace galop::random
