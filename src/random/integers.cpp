// Bounded integers in bulk: the loops over one interval, and over an interval for each element.

#include "random/integers.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/interrupt.hpp"
#include "core/visit.hpp"
#include "random/bounded.hpp"
#include "random/errors.hpp"

namespace galop::random {
namespace {

using bounded::Parts;

struct TypeInfo {
  std::string_view name;
  std::size_t size;
  bool is_signed;
};

const TypeInfo& info(IntType type) {
  static constexpr TypeInfo infos[] = {{"bool", 1, false},   {"int8", 1, true},    {"int16", 2, true},
                                       {"int32", 4, true},   {"int64", 8, true},   {"uint8", 1, false},
                                       {"uint16", 2, false}, {"uint32", 4, false}, {"uint64", 8, false}};
  return infos[static_cast<std::size_t>(type)];
}

std::string decimal(i128 value) {
  const bool negative = value < 0;
  u128 rest = negative ? -static_cast<u128>(value) : static_cast<u128>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

template <class U, BitStream S>
void fill(S& stream, Parts<U>& parts, U offset, U range, Method method, std::size_t n, U* out) {
  if (range == std::numeric_limits<U>::max()) {
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<U>(offset + parts(stream));
  } else if (method == Method::kMasked) {
    const U mask = bounded::mask_of(range);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<U>(offset + bounded::masked(stream, parts, range, mask));
  } else {
    const bounded::Lemire<U> lemire(range);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<U>(offset + lemire(stream, parts));
  }
}

// 64-bit numbers take 32-bit draws where those reach.
template <BitStream S>
void fill_wide(S& stream, Bounds bounds, Method method, std::size_t n, std::uint64_t* out) {
  if (bounds.range > 0xffffffffu) {
    Parts<std::uint64_t> whole;
    fill(stream, whole, bounds.offset, bounds.range, method, n, out);
    return;
  }
  const auto range = static_cast<std::uint32_t>(bounds.range);
  Parts<std::uint32_t> parts;
  if (range == 0xffffffffu) {
    for (std::size_t i = 0; i < n; ++i) out[i] = bounds.offset + stream.next_uint32();
  } else if (method == Method::kMasked) {
    const std::uint32_t mask = bounded::mask_of(range);
    for (std::size_t i = 0; i < n; ++i) out[i] = bounds.offset + bounded::masked(stream, parts, range, mask);
  } else {
    const bounded::Lemire<std::uint32_t> lemire(range);
    for (std::size_t i = 0; i < n; ++i) out[i] = bounds.offset + lemire(stream, parts);
  }
}

// A bool draw takes one bit of a 32-bit draw.
class Bits {
 public:
  template <BitStream S>
  bool operator()(S& stream) {
    if (left_ == 0) {
      word_ = stream.next_uint32();
      left_ = 32;
    } else {
      word_ >>= 1;
    }
    --left_;
    return (word_ & 1u) != 0;
  }

 private:
  std::uint32_t word_ = 0;
  int left_ = 0;
};

template <class U, BitStream S>
void fill_each(S& stream, const Bounds* bounds, Method method, std::size_t n, U* out) {
  Parts<U> parts;
  for (std::size_t i = 0; i < n; ++i) {
    const U offset = static_cast<U>(bounds[i].offset);
    const U range = static_cast<U>(bounds[i].range);
    if (range == 0) {
      out[i] = offset;
    } else if (range == std::numeric_limits<U>::max()) {
      out[i] = static_cast<U>(offset + parts(stream));
    } else if (method == Method::kMasked) {
      out[i] = static_cast<U>(offset + bounded::masked(stream, parts, range, bounded::mask_of(range)));
    } else {
      out[i] = static_cast<U>(offset + bounded::lemire(stream, parts, range));
    }
  }
}

// body(pointer to unsigned numbers of the type's width).
template <class Body>
void by_width(std::size_t size, void* out, Body&& body) {
  visit_itemsize(static_cast<std::int64_t>(size), [&](auto bytes) {
    if constexpr (bytes <= 8) body(static_cast<Word<bytes>*>(out));
  });
}

}  // namespace

std::string_view name(IntType type) { return info(type).name; }

std::size_t item_size(IntType type) { return info(type).size; }

Bounds integer_bounds(std::string_view op, IntType type, i128 low, i128 high, bool endpoint) {
  const TypeInfo& t = info(type);
  const std::size_t bits = type == IntType::kBool ? 1 : 8 * t.size;
  const i128 least = t.is_signed ? -(i128{1} << (bits - 1)) : 0;
  const i128 greatest = t.is_signed ? (i128{1} << (bits - 1)) - 1 : (i128{1} << bits) - 1;
  const i128 last = endpoint ? high : high - 1;
  const std::string given = "; got low " + decimal(low) + ", high " + decimal(high) + ", dtype " + std::string(t.name);
  if (low < least) value_error(op, "low is out of bounds for " + std::string(t.name) + given);
  if (last > greatest) value_error(op, "high is out of bounds for " + std::string(t.name) + given);
  if (low > last) {
    const std::string relation =
        low == 0 ? (endpoint ? "high < 0" : "high <= 0") : (endpoint ? "low > high" : "low >= high");
    value_error(op, relation + given);
  }
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(last - low)};
}

template <class G>
void fill_integers(G& g, IntType type, Bounds bounds, Method method, std::size_t n, void* out) {
  if (bounds.range == 0) {
    by_width(item_size(type), out, [=](auto* p) {
      using U = std::remove_pointer_t<decltype(p)>;
      std::fill(p, p + n, static_cast<U>(bounds.offset));
    });
    return;
  }
  draw(g, type == IntType::kBool ? n / 32 : n * item_size(type) / 4, [=](auto& stream) {
    if (type == IntType::kBool) {
      Bits bits;
      auto* p = static_cast<std::uint8_t*>(out);
      interrupt::polled(n, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) p[i] = bits(stream);
      });
      return;
    }
    by_width(item_size(type), out, [&](auto* p) {
      using U = std::remove_pointer_t<decltype(p)>;
      if constexpr (sizeof(U) == 8) {
        interrupt::polled(
            n, [&](std::size_t from, std::size_t to) { fill_wide(stream, bounds, method, to - from, p + from); });
      } else {
        Parts<U> parts;  // several small integers come from one draw, across pieces
        interrupt::polled(n, [&](std::size_t from, std::size_t to) {
          fill(stream, parts, static_cast<U>(bounds.offset), static_cast<U>(bounds.range), method, to - from, p + from);
        });
      }
    });
  });
}

template <class G>
void fill_integers_each(G& g, IntType type, const Bounds* bounds, Method method, std::size_t n, void* out) {
  if (type == IntType::kBool) {
    Bits bits;
    auto* p = static_cast<std::uint8_t*>(out);
    for (std::size_t i = 0; i < n; ++i) p[i] = bounds[i].range == 0 ? bounds[i].offset != 0 : bits(g);
    return;
  }
  by_width(item_size(type), out, [&](auto* p) {
    using U = std::remove_pointer_t<decltype(p)>;
    if constexpr (sizeof(U) == 8) {
      for (std::size_t i = 0; i < n; ++i) {
        if (bounds[i].range == 0) {
          p[i] = bounds[i].offset;
        } else if (method == Method::kLemire) {
          p[i] = bounds[i].offset + bounded::lemire_index(g, bounds[i].range);
        } else {
          fill_wide(g, bounds[i], method, 1, p + i);
        }
      }
    } else {
      fill_each(g, bounds, method, n, p);
    }
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define GALOP_INSTANTIATE(G)                                                    \
  template void fill_integers(G&, IntType, Bounds, Method, std::size_t, void*); \
  template void fill_integers_each(G&, IntType, const Bounds*, Method, std::size_t, void*);
GALOP_FOR_EACH_BIT_STREAM(GALOP_INSTANTIATE)
#undef GALOP_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace galop::random
