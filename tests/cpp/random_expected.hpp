// Looks up what NumPy gave for a name in random_vectors.hpp, and hashes results as that file's generator does.

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "random/bit_stream.hpp"
#include "random/integers.hpp"
#include "random_vectors.hpp"

namespace galop::random::vectors {

inline constexpr std::uint64_t kFirstHash = 0xcbf29ce484222325u;

inline std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t hash = kFirstHash) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

template <class T>
std::uint64_t hash_of(const std::vector<T>& values, std::uint64_t hash = kFirstHash) {
  return hash_bytes(values.data(), values.size() * sizeof(T), hash);
}

inline std::uint64_t hash_of(const Pcg64::State& state) {
  std::array<std::uint64_t, 4> words = {low_half(state.state), high_half(state.state), low_half(state.increment),
                                        high_half(state.increment)};
  const std::array<std::uint32_t, 2> kept = {state.has_uint32 ? 1u : 0u, state.uinteger};
  return hash_bytes(kept.data(), sizeof(kept), hash_bytes(words.data(), sizeof(words)));
}

inline std::uint64_t hash_of(const Mt19937::State& state) {
  return hash_bytes(&state.pos, sizeof(state.pos), hash_bytes(state.key.data(), sizeof(state.key)));
}

inline std::uint64_t hash_of(const AnyBitStream& bits) {
  return std::visit([](const auto& g) { return hash_of(g.state()); }, bits);
}

inline std::uint64_t expected_hash(const std::string& name) {
  for (const Hash& hash : kHashes) {
    if (name == hash.name) return hash.value;
  }
  ADD_FAILURE() << "no vector of the name " << name;
  return 0;
}

// Eight elements, the last one and each 1/8 of the length before it, within 4 ULP of T: libm's log, log1p and exp may
// round in another way than where the vectors were made.
template <class T>
void expect_samples(const std::string& name, const std::vector<T>& values) {
  for (const Samples& samples : kSamples) {
    if (name != samples.name) continue;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto got = values[values.size() - 1 - i * (values.size() / 8)];
      const auto wanted = static_cast<T>(samples.value[i]);
      if constexpr (sizeof(T) == 8) {
        EXPECT_DOUBLE_EQ(got, wanted) << name << " sample " << i;
      } else {
        EXPECT_FLOAT_EQ(got, wanted) << name << " sample " << i;
      }
    }
    return;
  }
  ADD_FAILURE() << "no samples of the name " << name;
}

// n results of fill(n, out).
template <class T, class Fill>
std::vector<T> filled(std::size_t n, Fill&& fill) {
  std::vector<T> values(n);
  fill(n, values.data());
  return values;
}

// random_vectors.py's weights, items and integer cases.
inline std::vector<double> weights(std::size_t n) {
  std::vector<double> p(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += p[i] = static_cast<double>((i % 5) * (i % 7 + 1));
  for (double& value : p) value /= sum;
  return p;
}

inline std::vector<std::uint8_t> items(std::size_t n, std::size_t size) {
  std::vector<std::uint8_t> bytes(n * size);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  return bytes;
}

struct IntegerCase {
  IntType type;
  i128 low;
  i128 high;  // inclusive
};

inline std::vector<IntegerCase> integer_cases() {
  std::vector<IntegerCase> cases = {{IntType::kBool, 0, 1}};
  const std::pair<IntType, int> types[] = {{IntType::kInt8, -8},   {IntType::kInt16, -16}, {IntType::kInt32, -32},
                                           {IntType::kInt64, -64}, {IntType::kUint8, 8},   {IntType::kUint16, 16},
                                           {IntType::kUint32, 32}, {IntType::kUint64, 64}};
  for (const auto& [type, bits] : types) {
    const i128 least = bits < 0 ? -(i128{1} << (-bits - 1)) : i128{0};
    const i128 greatest = bits < 0 ? -least - 1 : (i128{1} << bits) - 1;
    cases.push_back({type, least, greatest});
    cases.push_back({type, 0, 99});
    cases.push_back({type, greatest - 63, greatest});
    if (bits == 64 || bits == -64) {
      cases.push_back({type, 5, 5 + (i128{1} << 32) - 1});
      cases.push_back({type, 5, 5 + (i128{1} << 40)});
      cases.push_back({type, least + 1, greatest - 1});
    }
  }
  return cases;
}

}  // namespace galop::random::vectors
