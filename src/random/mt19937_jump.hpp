// Leaps of the Mersenne Twister over any distance, by polynomials over GF(2).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace galop::random::jump {

inline constexpr std::size_t kDegree = 19937;

// Coefficient i in bit i % 64 of word i / 64; below degree 19937.
using Polynomial = std::array<std::uint64_t, kDegree / 64 + 1>;

std::size_t degree(const Polynomial& p);

// t^n modulo the characteristic polynomial of the recurrence: the leap by n words.
Polynomial step(std::uint64_t n);
// The leap made twice.
Polynomial squared(const Polynomial& p);
// t^(2^exponent), likewise; the last one asked for is kept.
Polynomial power_of_two_step(std::size_t exponent);

// window: 624 consecutive words of the sequence, replaced by those that the leap leads to.
void leap_window(const Polynomial& leap, std::uint32_t* window);

// key: a block of 624 words, replaced by the block `blocks` >= 1 further on.
void leap_blocks(std::uint64_t blocks, std::uint32_t* key);

}  // namespace galop::random::jump
