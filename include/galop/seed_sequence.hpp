// NumPy's SeedSequence: turns any number of entropy words into well mixed seeds, and spawns independent children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace galop::random {

/// Mixes entropy into the seeds of bit generators, with NumPy's words. A copy counts its own children.
class SeedSequence {
 public:
  static constexpr std::size_t kPoolSize = 4;

  /// Entropy from the operating system: pool_size words, kept in entropy().
  static SeedSequence from_os(std::size_t pool_size = kPoolSize);

  /// Entropy as 32-bit words, the low word of each integer first; one integer 0 is one word 0. The spawn key likewise.
  /// Throws ValueError for a pool of fewer than four words.
  explicit SeedSequence(std::vector<std::uint32_t> entropy, std::vector<std::uint32_t> spawn_key = {},
                        std::size_t pool_size = kPoolSize, std::uint32_t children_spawned = 0);
  explicit SeedSequence(std::uint64_t entropy);

  /// The words of an integer as NumPy takes them: at least one, no leading zero words.
  static std::vector<std::uint32_t> words_of(std::uint64_t value);

  /// n words that depend on entropy and spawn key alone: generate_state(n, np.uint32), and of np.uint64.
  std::vector<std::uint32_t> generate_state32(std::size_t n) const;
  std::vector<std::uint64_t> generate_state64(std::size_t n) const;

  /// n children that no other call of this sequence gives again.
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

}  // namespace galop::random
