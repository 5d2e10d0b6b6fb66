// Normal deviates by the ziggurat: one draw picks a layer, a sign and a place within the layer.

#include "random/normal.hpp"

#include <cmath>

#include "random/ziggurat_tables.hpp"

namespace galop::random {
namespace {

// Where the fast path refuses: the tail (layer 0) or the wedge of a layer. True with the deviate in `x`, or false for a
// fresh start. libm's log1p and exp, as in NumPy: the bits are those of the libm that both run on.
template <BitStream S>
[[gnu::noinline]] bool refused(S& stream, unsigned layer, std::uint64_t place, double& x) {
  namespace z = ziggurat;
  if (layer == 0) {
    for (;;) {
      const double xx = -z::kNormalInverseR * std::log1p(-stream.next_double());
      const double yy = -std::log1p(-stream.next_double());
      if (yy + yy > xx * xx) {
        x = ((place >> 8) & 1u) != 0 ? -(z::kNormalR + xx) : z::kNormalR + xx;
        return true;
      }
    }
  }
  return (z::kNormalF[layer - 1] - z::kNormalF[layer]) * stream.next_double() + z::kNormalF[layer] <
         std::exp(-0.5 * x * x);
}

template <BitStream S>
[[gnu::noinline]] bool refused(S& stream, unsigned layer, std::uint32_t place, float& x) {
  namespace z = ziggurat;
  const auto next_float = [&stream] { return static_cast<float>(stream.next_uint32() >> 8) * 0x1p-24f; };
  if (layer == 0) {
    for (;;) {
      const float xx = -z::kNormalInverseRFloat * std::log1p(-next_float());
      const float yy = -std::log1p(-next_float());
      if (yy + yy > xx * xx) {
        x = ((place >> 8) & 1u) != 0 ? -(z::kNormalRFloat + xx) : z::kNormalRFloat + xx;
        return true;
      }
    }
  }
  const float height = (z::kNormalFFloat[layer - 1] - z::kNormalFFloat[layer]) * next_float() + z::kNormalFFloat[layer];
  return static_cast<double>(height) < std::exp(-0.5 * static_cast<double>(x) * static_cast<double>(x));
}

template <BitStream S>
double standard_normal(S& stream) {
  for (;;) {
    const std::uint64_t bits = stream.next_uint64();
    const auto layer = static_cast<unsigned>(bits & 0xffu);
    const std::uint64_t place = (bits >> 9) & 0xfffffffffffffu;
    double x = static_cast<double>(static_cast<std::int64_t>(place)) * ziggurat::kNormalW[layer];
    // The sign without a branch, which would be mispredicted every other time.
    x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ ((bits & 0x100u) << 55));
    if (place < ziggurat::kNormalK[layer]) [[likely]]
      return x;
    if (refused(stream, layer, place, x)) return x;
  }
}

template <BitStream S>
float standard_normal_float(S& stream) {
  for (;;) {
    const std::uint32_t bits = stream.next_uint32();
    const unsigned layer = bits & 0xffu;
    const std::uint32_t place = bits >> 9;
    float x = static_cast<float>(place) * ziggurat::kNormalWFloat[layer];
    x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ ((bits & 0x100u) << 23));
    if (place < ziggurat::kNormalKFloat[layer]) [[likely]]
      return x;
    if (refused(stream, layer, place, x)) return x;
  }
}

}  // namespace

template <class G>
void fill_standard_normal(G& g, std::size_t n, double* out) {
  draw(g, n, [=](auto& stream) {
    for (std::size_t i = 0; i < n; ++i) out[i] = standard_normal(stream);
  });
}

template <class G>
void fill_standard_normal(G& g, std::size_t n, float* out) {
  draw(g, n / 2, [=](auto& stream) {
    for (std::size_t i = 0; i < n; ++i) out[i] = standard_normal_float(stream);
  });
}

template <class G>
void fill_normal(G& g, double loc, double scale, std::size_t n, double* out) {
  draw(g, n, [=](auto& stream) {
    for (std::size_t i = 0; i < n; ++i) out[i] = loc + scale * standard_normal(stream);
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define GALOP_INSTANTIATE(G)                                    \
  template void fill_standard_normal(G&, std::size_t, double*); \
  template void fill_standard_normal(G&, std::size_t, float*);  \
  template void fill_normal(G&, double, double, std::size_t, double*);
GALOP_FOR_EACH_BIT_STREAM(GALOP_INSTANTIATE)
#undef GALOP_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace galop::random
