// Generator on raw memory: the algorithms of NumPy's default_rng over PCG64 or MT19937. Arrays: galop/random.hpp.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "random/bit_stream.hpp"
#include "random/choice.hpp"
#include "random/exponential.hpp"
#include "random/integers.hpp"

namespace galop::random::raw {

// A copy is a handle on the same bit stream.
class Generator {
 public:
  // default_rng(seed): PCG64.
  explicit Generator(const SeedSequence& seed) : Generator(AnyBitStream(Pcg64(seed))) {}
  // Over a bit stream, its own or one that it shares.
  explicit Generator(const AnyBitStream& bits) : Generator(std::make_shared<AnyBitStream>(bits)) {}
  explicit Generator(std::shared_ptr<AnyBitStream> bits) : bits_(std::move(bits)) {}

  AnyBitStream& bits() { return *bits_; }
  const AnyBitStream& bits() const { return *bits_; }

  // Each fills n elements at out. Exceptions leave the state as it was.
  void random(std::size_t n, double* out);
  void random(std::size_t n, float* out);
  // low + (high - low) * u. OverflowError for a range that is not finite, ValueError for a negative one.
  void uniform(double low, double high, std::size_t n, double* out);
  // [low, high), or [low, high] with endpoint; ValueError as in integer_bounds.
  void integers(IntType type, i128 low, i128 high, bool endpoint, std::size_t n, void* out);
  void standard_normal(std::size_t n, double* out);
  void standard_normal(std::size_t n, float* out);
  // ValueError for a negative scale, here and below.
  void normal(double loc, double scale, std::size_t n, double* out);
  void standard_exponential(ExponentialMethod method, std::size_t n, double* out);
  void standard_exponential(ExponentialMethod method, std::size_t n, float* out);
  void exponential(double scale, std::size_t n, double* out);
  void bytes(std::size_t n, std::uint8_t* out);
  void shuffle(std::size_t n, std::size_t item_size, std::ptrdiff_t stride, void* data);
  void permutation(std::size_t n, std::int64_t* out);
  void choice(const Choice& choice, std::size_t n, std::int64_t* out);

 private:
  std::shared_ptr<AnyBitStream> bits_;
};

}  // namespace galop::random::raw
