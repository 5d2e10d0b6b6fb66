// Generator: checks of arguments, and the choice of the bit stream for each fill.

#include "random/generator.hpp"

#include "random/errors.hpp"
#include "random/normal.hpp"
#include "random/permute.hpp"
#include "random/uniform.hpp"

namespace galop::random::raw {

void Generator::random(std::size_t n, double* out) {
  std::visit([=](auto& g) { fill_random(g, n, out); }, *bits_);
}

void Generator::random(std::size_t n, float* out) {
  std::visit([=](auto& g) { fill_random(g, n, out); }, *bits_);
}

void Generator::uniform(double low, double high, std::size_t n, double* out) {
  const double range = checked_range("uniform", low, high, false);
  std::visit([=](auto& g) { fill_uniform(g, low, range, n, out); }, *bits_);
}

void Generator::integers(IntType type, i128 low, i128 high, bool endpoint, std::size_t n, void* out) {
  if (n == 0) return;  // NumPy does not look at the bounds then
  const Bounds bounds = integer_bounds("integers", type, low, high, endpoint);
  std::visit([=](auto& g) { fill_integers(g, type, bounds, Method::kLemire, n, out); }, *bits_);
}

void Generator::standard_normal(std::size_t n, double* out) {
  std::visit([=](auto& g) { fill_standard_normal(g, n, out); }, *bits_);
}

void Generator::standard_normal(std::size_t n, float* out) {
  std::visit([=](auto& g) { fill_standard_normal(g, n, out); }, *bits_);
}

void Generator::normal(double loc, double scale, std::size_t n, double* out) {
  check_non_negative("normal", "scale", scale);
  std::visit([=](auto& g) { fill_normal(g, loc, scale, n, out); }, *bits_);
}

void Generator::standard_exponential(ExponentialMethod method, std::size_t n, double* out) {
  std::visit([=](auto& g) { fill_standard_exponential(g, method, n, out); }, *bits_);
}

void Generator::standard_exponential(ExponentialMethod method, std::size_t n, float* out) {
  std::visit([=](auto& g) { fill_standard_exponential(g, method, n, out); }, *bits_);
}

void Generator::exponential(double scale, std::size_t n, double* out) {
  check_non_negative("exponential", "scale", scale);
  std::visit([=](auto& g) { fill_exponential(g, scale, n, out); }, *bits_);
}

void Generator::bytes(std::size_t n, std::uint8_t* out) {
  std::visit([=](auto& g) { fill_bytes(g, n, out); }, *bits_);
}

void Generator::shuffle(std::size_t n, std::size_t item_size, std::ptrdiff_t stride, void* data) {
  std::visit([=](auto& g) { random::shuffle(g, n, item_size, stride, data); }, *bits_);
}

void Generator::permutation(std::size_t n, std::int64_t* out) {
  std::visit([=](auto& g) { random::permutation(g, n, out); }, *bits_);
}

void Generator::choice(const Choice& choice, std::size_t n, std::int64_t* out) {
  std::visit([&](auto& g) { fill_choice(g, choice, n, out); }, *bits_);
}

}  // namespace galop::random::raw
