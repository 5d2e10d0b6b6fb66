// Shuffles: one loop for each common item size, and one for any size.

#include "random/permute.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/visit.hpp"

namespace galop::random {
namespace {

template <std::size_t kSize, BitStream S>
void shuffle_sized(S& stream, std::size_t n, std::ptrdiff_t stride, std::byte* data) {
  shuffle_swaps(stream, n, [=](std::size_t i, std::size_t j) {
    std::byte* a = data + static_cast<std::ptrdiff_t>(i) * stride;
    std::byte* b = data + static_cast<std::ptrdiff_t>(j) * stride;
    std::byte kept_a[kSize];
    std::byte kept_b[kSize];
    std::memcpy(kept_a, a, kSize);
    std::memcpy(kept_b, b, kSize);
    std::memcpy(a, kept_b, kSize);
    std::memcpy(b, kept_a, kSize);
  });
}

template <BitStream S>
void shuffle_any(S& stream, std::size_t n, std::size_t item_size, std::ptrdiff_t stride, std::byte* data) {
  shuffle_swaps(stream, n, [=](std::size_t i, std::size_t j) {
    if (i == j) return;
    std::byte* a = data + static_cast<std::ptrdiff_t>(i) * stride;
    std::swap_ranges(a, a + item_size, data + static_cast<std::ptrdiff_t>(j) * stride);
  });
}

}  // namespace

template <class G>
void shuffle(G& g, std::size_t n, std::size_t item_size, std::ptrdiff_t stride, void* data) {
  auto* bytes = static_cast<std::byte*>(data);
  draw(g, n / 2, [=](auto& stream) {
    visit_size(static_cast<std::int64_t>(item_size), [&](auto size) {
      if constexpr (size > 0)
        shuffle_sized<size>(stream, n, stride, bytes);
      else
        shuffle_any(stream, n, item_size, stride, bytes);
    });
  });
}

template <class G>
void permutation(G& g, std::size_t n, std::int64_t* out) {
  std::iota(out, out + n, std::int64_t{0});
  shuffle(g, n, sizeof(*out), sizeof(*out), out);
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define GALOP_INSTANTIATE(G)                                                  \
  template void shuffle(G&, std::size_t, std::size_t, std::ptrdiff_t, void*); \
  template void permutation(G&, std::size_t, std::int64_t*);
GALOP_FOR_EACH_BIT_STREAM(GALOP_INSTANTIATE)
#undef GALOP_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace galop::random
