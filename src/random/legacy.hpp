// RandomState on raw memory: the frozen algorithms of NumPy's np.random functions over MT19937 or any bit stream.
// Arrays: galop/random.hpp.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "random/bit_stream.hpp"
#include "random/choice.hpp"
#include "random/integers.hpp"

namespace galop::random::raw {

// A copy shares the bit stream, but has a second deviate of its own.
class RandomState {
 public:
  // What get_state and set_state carry beside the bit stream's own state: the second deviate of a pair.
  struct Gauss {
    bool has_gauss = false;
    double gauss = 0.0;
    bool operator==(const Gauss&) const = default;
  };

  explicit RandomState(const AnyBitStream& bits) : RandomState(std::make_shared<AnyBitStream>(bits)) {}
  explicit RandomState(std::shared_ptr<AnyBitStream> bits) : bits_(std::move(bits)) {}
  explicit RandomState(std::uint32_t seed) : RandomState(AnyBitStream(Mt19937(seed))) {}

  AnyBitStream& bits() { return *bits_; }
  const AnyBitStream& bits() const { return *bits_; }
  const Gauss& gauss() const { return gauss_; }
  void set_gauss(const Gauss& gauss) { gauss_ = gauss; }

  // Back to a fresh MT19937. TypeError where the bit stream is another, ValueError where the array is empty.
  void seed(std::uint32_t seed);
  void seed(std::span<const std::uint32_t> key);
  void seed_from_os();

  // Each fills n elements at out. Exceptions leave the state as it was.
  void random_sample(std::size_t n, double* out);
  // low + (high - low) * u. OverflowError for a range that is not finite; high may be less than low.
  void uniform(double low, double high, std::size_t n, double* out);
  // [low, high); ValueError as in integer_bounds.
  void randint(IntType type, i128 low, i128 high, std::size_t n, void* out);
  void standard_normal(std::size_t n, double* out);
  // ValueError for a negative scale, here and below.
  void normal(double loc, double scale, std::size_t n, double* out);
  void standard_exponential(std::size_t n, double* out);
  void exponential(double scale, std::size_t n, double* out);
  void bytes(std::size_t n, std::uint8_t* out);
  void shuffle(std::size_t n, std::size_t item_size, std::ptrdiff_t stride, void* data);
  void permutation(std::size_t n, std::int64_t* out);
  void choice(const Choice& choice, std::size_t n, std::int64_t* out);

 private:
  Mt19937& twister();

  std::shared_ptr<AnyBitStream> bits_;
  Gauss gauss_;
};

}  // namespace galop::random::raw
