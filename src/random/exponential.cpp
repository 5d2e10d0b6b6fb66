// Exponential deviates by the ziggurat and by inversion.

#include "random/exponential.hpp"

#include <cmath>

#include "random/ziggurat_tables.hpp"

namespace galop::random {
namespace {

// The constants and draws of each precision: T(bits), where a draw's upper bits are the place and its next 8 the layer.
struct Double {
  using T = double;
  using Bits = std::uint64_t;
  static constexpr int kDropped = 3;
  static constexpr const Bits* kK = ziggurat::kExponentialK;
  static constexpr const T* kW = ziggurat::kExponentialW;
  static constexpr const T* kF = ziggurat::kExponentialF;
  static constexpr T kR = ziggurat::kExponentialR;
  template <BitStream S>
  static Bits bits(S& stream) {
    return stream.next_uint64();
  }
  template <BitStream S>
  static T unit(S& stream) {
    return stream.next_double();
  }
};

struct Float {
  using T = float;
  using Bits = std::uint32_t;
  static constexpr int kDropped = 1;
  static constexpr const Bits* kK = ziggurat::kExponentialKFloat;
  static constexpr const T* kW = ziggurat::kExponentialWFloat;
  static constexpr const T* kF = ziggurat::kExponentialFFloat;
  static constexpr T kR = ziggurat::kExponentialRFloat;
  template <BitStream S>
  static Bits bits(S& stream) {
    return stream.next_uint32();
  }
  template <BitStream S>
  static T unit(S& stream) {
    return static_cast<T>(stream.next_uint32() >> 8) * 0x1p-24f;
  }
};

template <class P, BitStream S>
typename P::T standard_exponential(S& stream) {
  using T = typename P::T;
  for (;;) {
    const auto bits = P::bits(stream) >> P::kDropped;
    const auto layer = static_cast<unsigned>(bits & 0xffu);
    const auto place = bits >> 8;
    const T x = static_cast<T>(static_cast<std::make_signed_t<typename P::Bits>>(place)) * P::kW[layer];
    if (place < P::kK[layer]) [[likely]]
      return x;
    if (layer == 0) return P::kR - std::log1p(-P::unit(stream));
    if ((P::kF[layer - 1] - P::kF[layer]) * P::unit(stream) + P::kF[layer] < std::exp(-x)) return x;
  }
}

template <class P, class G>
void fill_standard(G& g, ExponentialMethod method, std::size_t n, typename P::T* out) {
  draw(g, n * sizeof(*out) / 8, [=](auto& stream) {
    if (method == ExponentialMethod::kZiggurat) {
      for (std::size_t i = 0; i < n; ++i) out[i] = standard_exponential<P>(stream);
    } else {
      // In double precision for floats too, as NumPy does here and not in the ziggurat's tail.
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<typename P::T>(-std::log1p(-static_cast<double>(P::unit(stream))));
    }
  });
}

}  // namespace

template <class G>
void fill_standard_exponential(G& g, ExponentialMethod method, std::size_t n, double* out) {
  fill_standard<Double>(g, method, n, out);
}

template <class G>
void fill_standard_exponential(G& g, ExponentialMethod method, std::size_t n, float* out) {
  fill_standard<Float>(g, method, n, out);
}

template <class G>
void fill_exponential(G& g, double scale, std::size_t n, double* out) {
  draw(g, n, [=](auto& stream) {
    for (std::size_t i = 0; i < n; ++i) out[i] = scale * standard_exponential<Double>(stream);
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define GALOP_INSTANTIATE(G)                                                            \
  template void fill_standard_exponential(G&, ExponentialMethod, std::size_t, double*); \
  template void fill_standard_exponential(G&, ExponentialMethod, std::size_t, float*);  \
  template void fill_exponential(G&, double, std::size_t, double*);
GALOP_FOR_EACH_BIT_STREAM(GALOP_INSTANTIATE)
#undef GALOP_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace galop::random
