// NumPy's SeedSequence: turns any number of entropy words into well mixed seeds, and spawns independent children.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "random/int128.hpp"

namespace galop::random {

class SeedSequence {
 public:
  static constexpr std::size_t kPoolSize = 4;

  // Entropy from the operating system: pool_size words, kept in entropy().
  static SeedSequence from_os(std::size_t pool_size = kPoolSize);

  // entropy: 32-bit words, the low word of each integer first; one integer 0 is one word 0. spawn_key likewise.
  // ValueError for a pool of fewer than four words.
  explicit SeedSequence(std::vector<std::uint32_t> entropy, std::vector<std::uint32_t> spawn_key = {},
                        std::size_t pool_size = kPoolSize, std::uint32_t children_spawned = 0);
  explicit SeedSequence(std::uint64_t entropy);

  // The words of a non-negative integer as NumPy takes them: at least one, no leading zero words.
  static std::vector<std::uint32_t> words_of(u128 value);

  std::vector<std::uint32_t> generate_state32(std::size_t n_words) const;
  std::vector<std::uint64_t> generate_state64(std::size_t n_words) const;

  // n children that no other call of this sequence gives again.
  std::vector<SeedSequence> spawn(std::size_t n);

  const std::vector<std::uint32_t>& entropy() const { return entropy_; }
  const std::vector<std::uint32_t>& spawn_key() const { return spawn_key_; }
  const std::vector<std::uint32_t>& pool() const { return pool_; }
  std::uint32_t children_spawned() const { return children_spawned_; }

 private:
  std::vector<std::uint32_t> entropy_;
  std::vector<std::uint32_t> spawn_key_;
  std::uint32_t children_spawned_;
  std::vector<std::uint32_t> pool_;
};

// n words from the operating system's random device.
std::vector<std::uint32_t> os_entropy(std::size_t n);

}  // namespace galop::random
