// NumPy's SeedSequence: the mixing of entropy into a pool and the drawing of seeds from it.

#include "galop/seed_sequence.hpp"

#include <random>
#include <utility>

#include "random/errors.hpp"

namespace galop::random {
namespace {

// A word is hashed with a key that changes with each use; pairs of words are mixed. (O'Neill's seed_seq_fe.)
class Hash {
 public:
  constexpr Hash(std::uint32_t first_key, std::uint32_t factor) : key_(first_key), factor_(factor) {}

  std::uint32_t operator()(std::uint32_t word) {
    word ^= key_;
    key_ *= factor_;
    word *= key_;
    return word ^ (word >> 16);
  }

 private:
  std::uint32_t key_;
  std::uint32_t factor_;
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mixed = 0xca01f9ddu * x - 0x4973f715u * y;
  return mixed ^ (mixed >> 16);
}

std::vector<std::uint32_t> mixed_pool(std::vector<std::uint32_t> words, const std::vector<std::uint32_t>& spawn_key,
                                      std::size_t pool_size) {
  // Zeros part a short entropy from the spawn key, so that no entropy can imitate a child.
  if (!spawn_key.empty() && words.size() < pool_size) words.resize(pool_size, 0);
  words.insert(words.end(), spawn_key.begin(), spawn_key.end());

  Hash hash(0x43b0d7e5u, 0x931e8875u);
  std::vector<std::uint32_t> pool(pool_size);
  for (std::size_t i = 0; i < pool_size; ++i) pool[i] = hash(i < words.size() ? words[i] : 0);
  for (std::size_t from = 0; from < pool_size; ++from) {
    for (std::size_t to = 0; to < pool_size; ++to) {
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));
    }
  }
  for (std::size_t from = pool_size; from < words.size(); ++from) {
    for (std::size_t to = 0; to < pool_size; ++to) pool[to] = mix(pool[to], hash(words[from]));
  }
  return pool;
}

}  // namespace

SeedSequence SeedSequence::from_os(std::size_t pool_size) {
  std::random_device device;
  std::vector<std::uint32_t> words(pool_size);
  for (std::uint32_t& word : words) word = device();
  while (words.size() > 1 && words.back() == 0) words.pop_back();  // as one integer would be cut
  return SeedSequence(std::move(words), {}, pool_size);
}

SeedSequence::SeedSequence(std::vector<std::uint32_t> entropy, std::vector<std::uint32_t> spawn_key,
                           std::size_t pool_size, std::uint32_t children_spawned)
    : entropy_(std::move(entropy)), spawn_key_(std::move(spawn_key)), children_spawned_(children_spawned) {
  if (pool_size < kPoolSize) {
    value_error("SeedSequence", "pool_size must be at least 4; got " + std::to_string(pool_size));
  }
  pool_ = mixed_pool(entropy_, spawn_key_, pool_size);
}

SeedSequence::SeedSequence(std::uint64_t entropy) : SeedSequence(words_of(entropy)) {}

std::vector<std::uint32_t> SeedSequence::words_of(std::uint64_t value) {
  std::vector<std::uint32_t> words;
  do {
    words.push_back(static_cast<std::uint32_t>(value));
    value >>= 32;
  } while (value != 0);
  return words;
}

std::vector<std::uint32_t> SeedSequence::generate_state32(std::size_t n_words) const {
  Hash hash(0x8b51f9ddu, 0x58f38dedu);
  std::vector<std::uint32_t> state(n_words);
  for (std::size_t i = 0; i < n_words; ++i) state[i] = hash(pool_[i % pool_.size()]);
  return state;
}

std::vector<std::uint64_t> SeedSequence::generate_state64(std::size_t n_words) const {
  const std::vector<std::uint32_t> halves = generate_state32(2 * n_words);
  std::vector<std::uint64_t> state(n_words);
  for (std::size_t i = 0; i < n_words; ++i) {
    state[i] = halves[2 * i] | (static_cast<std::uint64_t>(halves[2 * i + 1]) << 32);
  }
  return state;
}

std::vector<SeedSequence> SeedSequence::spawn(std::size_t n) {
  std::vector<SeedSequence> children;
  children.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::uint32_t> key = spawn_key_;
    key.push_back(children_spawned_++);
    children.emplace_back(entropy_, std::move(key), pool_.size());
  }
  return children;
}

}  // namespace galop::random
