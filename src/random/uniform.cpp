// Uniform doubles, floats and bytes in bulk.

#include "random/uniform.hpp"

#include <algorithm>

#include "random/mt19937_block.hpp"

namespace galop::random {
namespace {

// Every place where PCG64 makes doubles: the chains write straight to the result.
void uniform_doubles(Pcg64& g, double low, double range, std::size_t n, double* out) {
  const std::size_t whole = n < 64 ? 0 : n - n % PcgChains::kChains;
  if (whole > 0) {
    PcgChains chains(g.state());
    chains.run(whole, [=](std::size_t i, std::uint64_t bits) { out[i] = low + range * Pcg64::to_double(bits); });
    g.skip_uint64(whole);
  }
  for (std::size_t i = whole; i < n; ++i) out[i] = low + range * g.next_double();
}

void uniform_doubles(Mt19937& g, double low, double range, std::size_t n, double* out) {
  while (n > 0) {
    const auto words = g.block();
    const std::size_t pairs = std::min(n, words.size() / 2);
    if (pairs == 0) {
      *out = low + range * g.next_double();  // across two blocks
      ++out, --n;
      continue;
    }
    block::to_doubles(words.data(), pairs, low, range, out);
    g.take(2 * pairs);
    out += pairs, n -= pairs;
  }
}

float to_float(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

void random_floats(Pcg64& g, std::size_t n, float* out) {
  if (n > 0 && g.state().has_uint32) {
    *out = to_float(g.next_uint32());
    ++out, --n;
  }
  const std::size_t pairs = n / 2;
  const std::size_t whole = n < 64 ? 0 : (pairs - 1) - (pairs - 1) % PcgChains::kChains;
  if (whole > 0) {
    PcgChains chains(g.state());
    chains.run(whole, [=](std::size_t i, std::uint64_t bits) {
      out[2 * i] = to_float(static_cast<std::uint32_t>(bits));
      out[2 * i + 1] = to_float(static_cast<std::uint32_t>(bits >> 32));
    });
    g.skip_uint64(whole);
  }
  // One pair at least is drawn this way, which leaves the kept half as a plain loop would.
  for (std::size_t i = 2 * whole; i < n; ++i) out[i] = to_float(g.next_uint32());
}

void random_floats(Mt19937& g, std::size_t n, float* out) {
  while (n > 0) {
    const auto words = g.block();
    const std::size_t some = std::min(n, words.size());
    block::to_floats(words.data(), some, out);
    g.take(some);
    out += some, n -= some;
  }
}

}  // namespace

template <class G>
void fill_random(G& g, std::size_t n, double* out) {
  uniform_doubles(g, 0.0, 1.0, n, out);
}

template <class G>
void fill_random(G& g, std::size_t n, float* out) {
  random_floats(g, n, out);
}

template <class G>
void fill_uniform(G& g, double low, double range, std::size_t n, double* out) {
  uniform_doubles(g, low, range, n, out);
}

template <class G>
void fill_random_at(const G& start, std::uint64_t begin, std::size_t n, double* out) {
  fill_uniform_at(start, begin, 0.0, 1.0, n, out);
}

template <class G>
void fill_random_at(const G& start, std::uint64_t begin, std::size_t n, float* out) {
  G g = start;
  g.skip_uint32(begin);
  random_floats(g, n, out);
}

template <class G>
void fill_uniform_at(const G& start, std::uint64_t begin, double low, double range, std::size_t n, double* out) {
  G g = start;
  g.skip_double(begin);
  uniform_doubles(g, low, range, n, out);
}

template <class G>
void fill_bytes(G& g, std::size_t n, std::uint8_t* out) {
  if (n == 0) {
    g.next_uint32();  // as NumPy, whose count of words is 1 then
    return;
  }
  draw(g, n / 4, [=](auto& stream) {
    std::size_t i = 0;
    while (i < n) {
      std::uint32_t word = stream.next_uint32();
      for (const std::size_t end = std::min(n, i + 4); i < end; ++i, word >>= 8)
        out[i] = static_cast<std::uint8_t>(word);
    }
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define GALOP_INSTANTIATE(G)                                                                    \
  template void fill_random(G&, std::size_t, double*);                                          \
  template void fill_random(G&, std::size_t, float*);                                           \
  template void fill_uniform(G&, double, double, std::size_t, double*);                         \
  template void fill_random_at(const G&, std::uint64_t, std::size_t, double*);                  \
  template void fill_random_at(const G&, std::uint64_t, std::size_t, float*);                   \
  template void fill_uniform_at(const G&, std::uint64_t, double, double, std::size_t, double*); \
  template void fill_bytes(G&, std::size_t, std::uint8_t*);
GALOP_FOR_EACH_BIT_STREAM(GALOP_INSTANTIATE)
#undef GALOP_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace galop::random
