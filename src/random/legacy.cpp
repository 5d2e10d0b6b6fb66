// RandomState: the polar method for normal deviates, plain logarithms for exponential ones, masks for integers.

#include "random/legacy.hpp"

#include <algorithm>
#include <cmath>

#include "random/errors.hpp"
#include "random/permute.hpp"
#include "random/uniform.hpp"

namespace galop::random::raw {
namespace {

// `pairs` pairs of deviates, each pair's second one first. Points of a batch that fall outside the circle are dropped
// without a branch; a batch holds no more points than pairs are missing, so none is drawn in vain. libm's log, as
// NumPy.
template <BitStream S>
void polar_pairs(S& stream, double loc, double scale, std::size_t pairs, double* out) {
  constexpr std::size_t kBatch = 128;
  double x[kBatch + 1], y[kBatch + 1], square[kBatch + 1];
  while (pairs > 0) {
    const std::size_t points = std::min(pairs, kBatch);
    std::size_t inside = 0;
    for (std::size_t i = 0; i < points; ++i) {
      x[inside] = 2.0 * stream.next_double() - 1.0;
      y[inside] = 2.0 * stream.next_double() - 1.0;
      square[inside] = x[inside] * x[inside] + y[inside] * y[inside];
      inside += static_cast<std::size_t>((square[inside] < 1.0) & (square[inside] != 0.0));
    }
    for (std::size_t i = 0; i < inside; ++i) {
      const double factor = std::sqrt(-2.0 * std::log(square[i]) / square[i]);
      out[2 * i] = loc + scale * (factor * y[i]);
      out[2 * i + 1] = loc + scale * (factor * x[i]);
    }
    out += 2 * inside;
    pairs -= inside;
  }
}

template <class G>
void polar_normals(G& g, RandomState::Gauss& gauss, double loc, double scale, std::size_t n, double* out) {
  if (n == 0) return;
  if (gauss.has_gauss) {
    *out = loc + scale * gauss.gauss;
    gauss = {};
    ++out, --n;
  }
  draw(g, n, [&](auto& stream) {
    polar_pairs(stream, loc, scale, n / 2, out);
    if (n % 2 == 0) return;
    double pair[2];
    polar_pairs(stream, 0.0, 1.0, 1, pair);
    out[n - 1] = loc + scale * pair[0];
    gauss = {true, pair[1]};
  });
}

}  // namespace

Mt19937& RandomState::twister() {
  auto* mt = std::get_if<Mt19937>(bits_.get());
  if (mt == nullptr) throw TypeError("[seed] only MT19937 can be seeded again; got PCG64");
  return *mt;
}

void RandomState::seed(std::uint32_t seed) {
  twister().seed(seed);
  gauss_ = {};
}

void RandomState::seed(std::span<const std::uint32_t> key) {
  twister().seed(key);
  gauss_ = {};
}

void RandomState::seed_from_os() {
  twister().seed_from_os();
  gauss_ = {};
}

void RandomState::random_sample(std::size_t n, double* out) {
  std::visit([=](auto& g) { fill_random(g, n, out); }, *bits_);
}

void RandomState::uniform(double low, double high, std::size_t n, double* out) {
  const double range = checked_range("uniform", low, high, true);
  std::visit([=](auto& g) { fill_uniform(g, low, range, n, out); }, *bits_);
}

void RandomState::randint(IntType type, i128 low, i128 high, std::size_t n, void* out) {
  if (n == 0) return;  // NumPy does not look at the bounds then
  const Bounds bounds = integer_bounds("randint", type, low, high, false);
  std::visit([=](auto& g) { fill_integers(g, type, bounds, Method::kMasked, n, out); }, *bits_);
}

void RandomState::standard_normal(std::size_t n, double* out) {
  std::visit([&](auto& g) { polar_normals(g, gauss_, 0.0, 1.0, n, out); }, *bits_);
}

void RandomState::normal(double loc, double scale, std::size_t n, double* out) {
  check_non_negative("normal", "scale", scale);
  std::visit([&](auto& g) { polar_normals(g, gauss_, loc, scale, n, out); }, *bits_);
}

void RandomState::standard_exponential(std::size_t n, double* out) { exponential(1.0, n, out); }

void RandomState::exponential(double scale, std::size_t n, double* out) {
  check_non_negative("exponential", "scale", scale);
  std::visit(
      [=](auto& g) {
        draw(g, n, [=](auto& stream) {
          for (std::size_t i = 0; i < n; ++i) out[i] = scale * -std::log(1.0 - stream.next_double());
        });
      },
      *bits_);
}

void RandomState::bytes(std::size_t n, std::uint8_t* out) {
  std::visit([=](auto& g) { fill_bytes(g, n, out); }, *bits_);
}

void RandomState::shuffle(std::size_t n, std::size_t item_size, std::ptrdiff_t stride, void* data) {
  std::visit([=](auto& g) { random::shuffle(g, n, item_size, stride, data); }, *bits_);
}

void RandomState::permutation(std::size_t n, std::int64_t* out) {
  std::visit([=](auto& g) { random::permutation(g, n, out); }, *bits_);
}

void RandomState::choice(const Choice& choice, std::size_t n, std::int64_t* out) {
  std::visit([&](auto& g) { fill_legacy_choice(g, choice, n, out); }, *bits_);
}

}  // namespace galop::random::raw
