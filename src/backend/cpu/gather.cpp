// Gathering and scattering blocks of elements, and packing the elements that a mask selects.
#include "backend/cpu/gather.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"
#include "core/visit.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kPollBytes = 1 << 20;    // moved between two looks for an interrupt
constexpr std::int64_t kGrainBytes = 64 << 10;  // least work of a thread
constexpr std::int64_t kTile = 64;         // positions along a block's outer axis that one pass over all blocks takes
constexpr std::int64_t kChunk = 64 << 10;  // elements of a mask that are counted together

/// A block with extents of 1 dropped and neighbouring axes merged where both strides allow it; axis 0 is the outermost.
struct Shape {
  Dims extent, place, packed;
  std::int64_t run;  // bytes that lie side by side in both

  explicit Shape(const Blocks& b) : run(b.itemsize) {
    for (int i = 0; i < b.shape.size(); ++i) {
      if (b.shape[i] == 1) continue;
      int k = extent.size() - 1;
      if (k >= 0 && place[k] == b.shape[i] * b.place_strides[i] && packed[k] == b.shape[i] * b.packed_strides[i]) {
        extent[k] *= b.shape[i];
        place[k] = b.place_strides[i];
        packed[k] = b.packed_strides[i];
      } else {
        extent.push_back(b.shape[i]);
        place.push_back(b.place_strides[i]);
        packed.push_back(b.packed_strides[i]);
      }
    }
    if (!extent.empty() && place.back() == run && packed.back() == run) {
      run *= extent.back();
      for (Dims* d : {&extent, &place, &packed}) d->pop_back();
    }
  }
  std::int64_t outer() const { return extent.empty() ? 1 : extent[0]; }
};

template <bool to_packed, std::int64_t kRun>
struct Mover {
  const Shape& shape;

  void move(char* place, char* packed) const {
    const auto n = static_cast<std::size_t>(kRun > 0 ? kRun : shape.run);
    if constexpr (to_packed)
      std::memcpy(packed, place, n);
    else
      std::memcpy(place, packed, n);
  }
  /// Positions [begin, end) of an axis and all of the axes inside it.
  void axis(int k, std::int64_t begin, std::int64_t end, char* place, char* packed) const {
    if (k == shape.extent.size()) return move(place, packed);
    std::int64_t a = shape.place[k], b = shape.packed[k];
    if (k + 1 == shape.extent.size() && kRun > 0 && b == kRun && a == 2 * kRun) {  // vectors: all steps are known
      for (std::int64_t i = begin; i < end; ++i) move(place + 2 * i * kRun, packed + i * kRun);
    } else if (k + 1 == shape.extent.size() && kRun > 0 && b == kRun) {
      for (std::int64_t i = begin; i < end; ++i) move(place + i * a, packed + i * kRun);
    } else if (k + 1 == shape.extent.size()) {
      for (std::int64_t i = begin; i < end; ++i) move(place + i * a, packed + i * b);
    } else {
      for (std::int64_t i = begin; i < end; ++i) axis(k + 1, 0, shape.extent[k + 1], place + i * a, packed + i * b);
    }
  }
  /// Blocks [begin, end) in order, of each the positions [first, last) of the outer axis.
  void blocks(const Blocks& b, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last) const {
    auto* places = static_cast<char*>(b.places);
    auto* packed = static_cast<char*>(b.packed);
    for (std::int64_t i = begin; i < end; ++i) axis(0, first, last, places + b.offsets[i], packed + i * b.packed_step);
  }
};

template <bool to_packed, std::int64_t kRun>
void move_all(const Blocks& b, const Shape& shape) {
  Mover<to_packed, kRun> mover{shape};
  std::int64_t block_bytes = b.itemsize;
  for (std::int64_t d : b.shape) block_bytes *= d;
  const std::int64_t outer = shape.outer();
  if (to_packed && (shape.extent.empty() || outer < kTile)) {
    parallel_for(b.count, std::max<std::int64_t>(1, kGrainBytes / block_bytes),
                 [&](std::int64_t begin, std::int64_t end, int) {
                   const std::int64_t step = std::max<std::int64_t>(1, kPollBytes / block_bytes);
                   for (std::int64_t i = begin; i < end; i += step) {
                     interrupt::poll();
                     mover.blocks(b, i, std::min(end, i + step), 0, outer);
                   }
                 });
    return;
  }
  // Tiles of the outer axis are independent whatever the offsets are; inside one, the blocks come in order, so that the
  // last of several writes to one place wins, and neighbouring rows are still in the cache when the next block asks for
  // them.
  const std::int64_t tiles = (outer + kTile - 1) / kTile;
  const std::int64_t tile_bytes = std::max<std::int64_t>(1, b.count * block_bytes / tiles);
  const std::int64_t step = std::max<std::int64_t>(1, kPollBytes / std::max<std::int64_t>(1, block_bytes / tiles));
  parallel_for(tiles, std::max<std::int64_t>(1, kGrainBytes / tile_bytes),
               [&](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t t = begin; t < end; ++t)
                   for (std::int64_t i = 0; i < b.count; i += step) {
                     interrupt::poll();
                     mover.blocks(b, i, std::min(b.count, i + step), t * kTile, std::min(outer, (t + 1) * kTile));
                   }
               });
}

template <bool to_packed>
void dispatch(const Blocks& b) {
  if (b.count == 0) return;
  for (std::int64_t d : b.shape)
    if (d == 0) return;
  Shape shape(b);
  visit_size(shape.run, [&](auto run) { move_all<to_packed, run>(b, shape); });
}

/// Eight bytes of a mask, each 0 or 1: memory from outside may hold other bytes for true.
std::uint64_t load_mask(const std::uint8_t* mask) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  std::uint64_t word;
  std::memcpy(&word, mask, 8);
  return (((word & kLow) + kLow) | word) >> 7 & ~kLow >> 7;
}

/// Calls f(first, count) for every run of at most 8 mask bytes that are neither all false nor longer than the rest; a
/// run of 8 true ones is one call.
template <class F>
void for_each_run(const std::uint8_t* mask, std::int64_t begin, std::int64_t end, F f) {
  constexpr std::uint64_t kAll = 0x0101010101010101;
  std::int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    std::uint64_t word = load_mask(mask + i);
    if (word == kAll) {
      f(i, 8);
      continue;
    }
    for (; word != 0; word &= word - 1) f(i + std::countr_zero(word) / 8, 1);
  }
  for (; i < end; ++i)
    if (mask[i]) f(i, 1);
}

std::int64_t count_range(const std::uint8_t* mask, std::int64_t begin, std::int64_t end) {
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ff;
  std::int64_t n = 0;
  std::int64_t i = begin;
  while (i + 8 <= end) {
    // Eight counters of a byte each, folded before one can overflow.
    std::uint64_t counters = 0;
    for (int k = 0; k < 255 && i + 8 <= end; ++k, i += 8) counters += load_mask(mask + i);
    counters = (counters & kEven) + (counters >> 8 & kEven);
    n += static_cast<std::int64_t>(counters * 0x0001000100010001 >> 48);
  }
  for (; i < end; ++i) n += mask[i] != 0;
  return n;
}

/// Calls f(begin, end, k) in parallel for chunks of the mask; k counts the true elements before the chunk.
template <class F>
void for_each_chunk(const std::uint8_t* mask, std::int64_t n, F f) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  std::vector<std::int64_t> before(static_cast<std::size_t>(chunks) + 1, 0);
  auto count = [&](std::int64_t c) { return count_range(mask, c * kChunk, std::min(n, (c + 1) * kChunk)); };
  parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t c = begin; c < end; ++c) {
      interrupt::poll();
      before[static_cast<std::size_t>(c) + 1] = count(c);
    }
  });
  for (std::size_t c = 1; c < before.size(); ++c) before[c] += before[c - 1];
  parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t c = begin; c < end; ++c) {
      interrupt::poll();
      f(c * kChunk, std::min(n, (c + 1) * kChunk), before[static_cast<std::size_t>(c)]);
    }
  });
}

template <int kItem>
void compress_items(const std::uint8_t* mask, std::int64_t n, const char* in, char* out) {
  for_each_chunk(mask, n, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
    char* to = out + k * kItem;
    for_each_run(mask, begin, end, [&](std::int64_t first, std::int64_t count) {
      std::memcpy(to, in + first * kItem, static_cast<std::size_t>(count) * kItem);
      to += count * kItem;
    });
  });
}

}  // namespace

bool locate(std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets) {
  std::atomic<bool> inside = true;
  parallel_for(count, 16 << 10, [&](std::int64_t first, std::int64_t last, int) {
    interrupt::polled(static_cast<std::size_t>(last - first), [&](std::size_t from, std::size_t to) {
      const std::int64_t begin = first + static_cast<std::int64_t>(from), end = first + static_cast<std::int64_t>(to);
      bool good = true;
      std::fill(offsets + begin, offsets + end, 0);
      for (const IndexedAxis& a : axes) {
        for (std::int64_t i = begin; i < end; ++i) {
          std::int64_t k = a.index[i];
          k += k < 0 ? a.extent : 0;
          good &= k >= 0 && k < a.extent;
          offsets[i] += k * a.stride;
        }
        if (!good) break;
      }
      if (!good) inside.store(false, std::memory_order_relaxed);
    });
  });
  return inside;
}

void gather(const Blocks& b) { dispatch<true>(b); }
void scatter(const Blocks& b) { dispatch<false>(b); }

std::int64_t count_true(const void* mask, std::int64_t n) {
  std::atomic<std::int64_t> total = 0;
  parallel_for(n, kChunk, [&](std::int64_t begin, std::int64_t end, int) {
    total.fetch_add(count_range(static_cast<const std::uint8_t*>(mask), begin, end), std::memory_order_relaxed);
  });
  return total;
}

void positions(const void* mask, std::int64_t n, std::int64_t* out) {
  auto* m = static_cast<const std::uint8_t*>(mask);
  for_each_chunk(m, n, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
    std::int64_t* to = out + k;
    for_each_run(m, begin, end, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) *to++ = first + i;
    });
  });
}

void compress(const void* mask, std::int64_t n, int itemsize, const void* in, void* out) {
  auto* m = static_cast<const std::uint8_t*>(mask);
  auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  visit_itemsize(itemsize, [&](auto item) { compress_items<item>(m, n, from, to); });
}

}  // namespace galop::cpu
