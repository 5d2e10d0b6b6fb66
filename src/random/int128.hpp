// 128-bit integers: PCG64's state, and integer bounds that reach past 64 bits.

#pragma once

#include <cstdint>

namespace galop::random {

__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

constexpr u128 make_u128(std::uint64_t high, std::uint64_t low) { return (static_cast<u128>(high) << 64) | low; }
constexpr std::uint64_t high_half(u128 value) { return static_cast<std::uint64_t>(value >> 64); }
constexpr std::uint64_t low_half(u128 value) { return static_cast<std::uint64_t>(value); }

}  // namespace galop::random
