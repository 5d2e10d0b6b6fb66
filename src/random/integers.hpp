// Bounded integers of every integer dtype, by Lemire's method (Generator) or by masks (RandomState), with NumPy's bits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "random/bit_stream.hpp"
#include "random/int128.hpp"

namespace galop::random {

enum class IntType : std::uint8_t { kBool, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64 };

enum class Method : std::uint8_t { kLemire, kMasked };

std::string_view name(IntType type);
std::size_t item_size(IntType type);

// The closed interval [offset, offset + range], modulo 2^64: a negative offset is kept as its two's complement.
struct Bounds {
  std::uint64_t offset = 0;
  std::uint64_t range = 0;
};

// Of [low, high), or [low, high] with endpoint. ValueError where they do not fit the type or hold no number.
Bounds integer_bounds(std::string_view op, IntType type, i128 low, i128 high, bool endpoint);

// n integers of `type` at out. 8- and 16-bit numbers and bools share 32-bit draws within the call.
template <class G>
void fill_integers(G& g, IntType type, Bounds bounds, Method method, std::size_t n, void* out);

// The same with bounds of its own for each element, as NumPy broadcasts arrays of bounds.
template <class G>
void fill_integers_each(G& g, IntType type, const Bounds* bounds, Method method, std::size_t n, void* out);

}  // namespace galop::random
