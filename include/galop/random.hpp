// Random numbers with NumPy's bits: RandomState and the functions of numpy.random over MT19937, Generator over PCG64;
// PyTorch's uniform float32 stream.
//
// Parameters (low, high, loc, scale) are numbers or arrays, which broadcast. Without a `size` the result has the
// parameters' common shape, () for numbers; with one, they must broadcast to it (ValueError). An error is thrown before
// the stream moves. Large fills run over all threads where every element takes the same number of draws; the bits do
// not depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "galop/array.hpp"
#include "galop/bit_generator.hpp"

namespace galop::random {

namespace raw {
class Generator;
class RandomState;
}  // namespace raw

/// How choice draws.
struct choice_options {
  bool replace = true;
  const array* p = nullptr;  ///< a probability for each index, float; null: all the same
  bool shuffle = true;       ///< Generator without replacement: in random order, too
  int axis = 0;              ///< of the array to choose from; RandomState takes arrays of one axis
};

/// numpy.random.RandomState: the frozen algorithms over MT19937. A copy is a handle on the same stream.
class RandomState {
 public:
  /// Seeded by the operating system.
  RandomState();
  explicit RandomState(std::uint32_t seed);
  /// Seeded by an array of words. Throws ValueError when it is empty.
  explicit RandomState(std::span<const std::uint32_t> key);
  /// Over a bit generator, which others may draw from too.
  explicit RandomState(const BitGenerator& bits);

  const BitGenerator& bit_generator() const { return bits_; }
  /// What get_state holds: where the bits stand, and the second of a pair of normal deviates.
  struct State {
    BitState bits;
    bool has_gauss = false;
    double gauss = 0;
    bool operator==(const State&) const = default;
  };
  State get_state() const;
  /// Throws ValueError for the state of another kind of bit generator.
  void set_state(const State& s);

  /// Start over, as RandomState.seed. Throws TypeError when the bits do not come from MT19937.
  void seed();
  void seed(std::uint32_t seed);
  void seed(std::span<const std::uint32_t> key);

  /// float64 in [0, 1).
  array random_sample(const Dims& size = {});
  array random(const Dims& size = {}) { return random_sample(size); }
  array rand(const Dims& size = {}) { return random_sample(size); }
  /// float64 low + (high - low) · u; high may be less than low. Throws OverflowError when the range is not finite.
  array uniform(const arg& low = 0.0, const arg& high = 1.0);
  array uniform(const arg& low, const arg& high, const Dims& size);
  /// float64 normal deviates by the polar method.
  array standard_normal(const Dims& size = {});
  array randn(const Dims& size = {}) { return standard_normal(size); }
  /// loc + scale · z. Throws ValueError for a negative scale.
  array normal(const arg& loc = 0.0, const arg& scale = 1.0);
  array normal(const arg& loc, const arg& scale, const Dims& size);
  /// float64 exponential deviates. Throws ValueError for a negative scale.
  array standard_exponential(const Dims& size = {});
  array exponential(const arg& scale);
  array exponential(const arg& scale, const Dims& size);
  /// Integers in [low, high) of an integer dtype or bool. Throws TypeError for other dtypes, ValueError for bounds that
  /// do not fit it.
  array randint(const arg& low, const arg& high, DType t = DType::int64);
  array randint(const arg& low, const arg& high, const Dims& size, DType t = DType::int64);
  /// 0 … n - 1 in random order, int64; a copy of `a` with its first axis in random order; the same in place.
  array permutation(std::int64_t n);
  array permutation(const array& a);
  void shuffle(const array& a);
  /// Indices in [0, population), int64, or elements of `a`. Throws ValueError when the options do not fit the
  /// population or the size, or when `a` has more than one axis.
  array choice(std::int64_t population, const Dims& size = {}, const choice_options& o = {});
  array choice(const array& a, const Dims& size = {}, const choice_options& o = {});
  std::vector<std::uint8_t> bytes(std::int64_t n);

  // For Galop's own layers.
  raw::RandomState& stream() const { return *stream_; }

 private:
  BitGenerator bits_;
  std::shared_ptr<raw::RandomState> stream_;
};

/// numpy.random.Generator over any bit generator. A copy is a handle on the same stream.
class Generator {
 public:
  explicit Generator(const BitGenerator& bits);
  const BitGenerator& bit_generator() const { return bits_; }

  /// float64 or float32 in [0, 1); TypeError for other dtypes, here and below.
  array random(const Dims& size = {}, DType t = DType::float64);
  /// float64 low + (high - low) · u. Throws OverflowError when the range is not finite, ValueError when it is negative.
  array uniform(const arg& low = 0.0, const arg& high = 1.0);
  array uniform(const arg& low, const arg& high, const Dims& size);
  /// float64 or float32 normal deviates by the ziggurat.
  array standard_normal(const Dims& size = {}, DType t = DType::float64);
  /// loc + scale · z, float64. Throws ValueError for a negative scale.
  array normal(const arg& loc = 0.0, const arg& scale = 1.0);
  array normal(const arg& loc, const arg& scale, const Dims& size);
  /// Exponential deviates by the ziggurat, or by inversion. Throws ValueError for a negative scale.
  array standard_exponential(const Dims& size = {}, DType t = DType::float64, bool inversion = false);
  array exponential(const arg& scale);
  array exponential(const arg& scale, const Dims& size);
  /// Integers in [low, high), or [low, high] with `endpoint`, of an integer dtype or bool. Throws TypeError for other
  /// dtypes, ValueError for bounds that do not fit it.
  array integers(const arg& low, const arg& high, DType t = DType::int64, bool endpoint = false);
  array integers(const arg& low, const arg& high, const Dims& size, DType t = DType::int64, bool endpoint = false);
  /// As many numbers as `out` has elements, written to it: NumPy's argument `out`. Throws TypeError unless its dtype is
  /// float64 or float32, ValueError unless it lies in C order and can be written to.
  void random_into(const array& out);
  void standard_normal_into(const array& out);
  void standard_exponential_into(const array& out, bool inversion = false);
  /// 0 … n - 1 in random order, int64; a copy of `a` with one axis in random order; the same in place.
  array permutation(std::int64_t n);
  array permutation(const array& a, int axis = 0);
  void shuffle(const array& a, int axis = 0);
  /// Indices in [0, population), int64, or parts of `a` along an axis. Throws ValueError when the options do not fit
  /// the population or the size.
  array choice(std::int64_t population, const Dims& size = {}, const choice_options& o = {});
  array choice(const array& a, const Dims& size = {}, const choice_options& o = {});
  std::vector<std::uint8_t> bytes(std::int64_t n);
  /// n generators whose streams are independent of this one's and of one another's.
  std::vector<Generator> spawn(std::int64_t n) const;

  // For Galop's own layers.
  raw::Generator& stream() const { return *stream_; }

 private:
  BitGenerator bits_;
  std::shared_ptr<raw::Generator> stream_;
};

/// numpy.random.default_rng: PCG64 seeded by the operating system, by an integer, or by 32-bit words (low word first).
Generator default_rng();
Generator default_rng(std::uint64_t seed);
Generator default_rng(std::span<const std::uint32_t> entropy);
inline Generator default_rng(const SeedSequence& seed) { return Generator(PCG64(seed)); }
inline Generator default_rng(const BitGenerator& bits) { return Generator(bits); }

/// The functions of numpy.random: one RandomState that the whole program shares, seeded by the operating system until
/// seed() is called.
RandomState& global_state();
inline void seed() { global_state().seed(); }
inline void seed(std::uint32_t s) { global_state().seed(s); }
inline RandomState::State get_state() { return global_state().get_state(); }
inline void set_state(const RandomState::State& s) { global_state().set_state(s); }
inline array random(const Dims& size = {}) { return global_state().random(size); }
inline array random_sample(const Dims& size = {}) { return global_state().random_sample(size); }
inline array rand(const Dims& size = {}) { return global_state().rand(size); }
inline array randn(const Dims& size = {}) { return global_state().randn(size); }
inline array standard_normal(const Dims& size = {}) { return global_state().standard_normal(size); }
inline array uniform(const arg& low = 0.0, const arg& high = 1.0) { return global_state().uniform(low, high); }
inline array uniform(const arg& low, const arg& high, const Dims& size) {
  return global_state().uniform(low, high, size);
}
inline array normal(const arg& loc = 0.0, const arg& scale = 1.0) { return global_state().normal(loc, scale); }
inline array normal(const arg& loc, const arg& scale, const Dims& size) {
  return global_state().normal(loc, scale, size);
}
inline array randint(const arg& low, const arg& high, const Dims& size, DType t = DType::int64) {
  return global_state().randint(low, high, size, t);
}
inline array standard_exponential(const Dims& size = {}) { return global_state().standard_exponential(size); }
inline array exponential(const arg& scale, const Dims& size) { return global_state().exponential(scale, size); }
inline array permutation(std::int64_t n) { return global_state().permutation(n); }
inline array permutation(const array& a) { return global_state().permutation(a); }
inline void shuffle(const array& a) { global_state().shuffle(a); }
inline array choice(std::int64_t population, const Dims& size = {}, const choice_options& o = {}) {
  return global_state().choice(population, size, o);
}
inline array choice(const array& a, const Dims& size = {}, const choice_options& o = {}) {
  return global_state().choice(a, size, o);
}
inline std::vector<std::uint8_t> bytes(std::int64_t n) { return global_state().bytes(n); }

/// float32 u · (high - low) + low with PyTorch's numbers on the CPU: torch.manual_seed(seed), then torch.rand(size) or
/// torch.empty(size).uniform_(low, high). Throws ValueError where low > high, OverflowError where the range is not
/// finite.
array torch_uniform(const Dims& size, float low, float high, std::uint64_t seed);

}  // namespace galop::random
