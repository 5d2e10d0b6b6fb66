// PyTorch's uniform float32 stream on the CPU.

#include "random/torch_stream.hpp"

#include <algorithm>

#include "random/errors.hpp"
#include "random/mt19937_block.hpp"

namespace galop::random {

Mt19937 torch_manual_seed(std::uint64_t seed) { return Mt19937(static_cast<std::uint32_t>(seed)); }

void torch_uniform_f32(Mt19937& g, float low, float high, std::size_t n, float* out) {
  const float range = static_cast<float>(checked_range("torch_uniform_f32", low, high, false));
  while (n > 0) {
    const auto words = g.block();
    const std::size_t some = std::min(n, words.size());
    block::low_bits_to_floats(words.data(), some, low, range, out);
    g.take(some);
    out += some, n -= some;
  }
}

void torch_uniform_f32_at(const Mt19937& start, std::uint64_t begin, float low, float high, std::size_t n, float* out) {
  Mt19937 g = start;
  g.skip_uint32(begin);
  torch_uniform_f32(g, low, high, n, out);
}

}  // namespace galop::random
