// Selection by a mask: counts of tiles, their running sum, and a pass that packs.
#include <algorithm>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kMaskTile = 8192;  // kTile of select.cuh

std::string head(const void* mask) { return define("MASK_WORDS", reinterpret_cast<std::uintptr_t>(mask) % 16 == 0); }

// How many are true up to the end of each tile.
void count_up(CudaExecutor& gpu, const void* mask, std::int64_t n, char* ends, const std::string& what) {
  const std::int64_t tiles = blocks_for(n, kMaskTile);
  LibraryKernel k{"select.cuh", kSelectText, "count_tiles", head(mask) + define("COUNT", 1)};
  launch(gpu, k, tiles, {&mask, &n, &ends}, what);
  k.entry = "sum_tiles";
  launch(gpu, k, 1, {&ends, &tiles}, what);
}

void pack(CudaExecutor& gpu, const void* mask, std::int64_t n, const LibraryKernel& packing, const void* in, void* out,
          const std::string& what) {
  if (n == 0) return;
  const std::int64_t tiles = blocks_for(n, kMaskTile);
  Scratch ends = [&] {
    if (void* kept = gpu.take_counts(mask, n)) return Scratch(gpu, kept);
    Scratch fresh(gpu, tiles * 8);
    count_up(gpu, mask, n, fresh.data(), what);
    return fresh;
  }();
  char* const from = ends.data();
  launch(gpu, packing, tiles, {&mask, &n, &from, &in, &out}, what);
}

}  // namespace

std::int64_t count_true(CudaExecutor& gpu, const void* mask, std::int64_t n) {
  if (n == 0) return 0;
  const std::int64_t tiles = blocks_for(n, kMaskTile);
  Scratch ends(gpu, tiles * 8);
  count_up(gpu, mask, n, ends.data(), "count_true of " + std::to_string(n) + " bools");
  std::int64_t count = 0;
  gpu.download(&count, ends.data() + (tiles - 1) * 8, 8);
  // Whoever asks mostly packs next.
  if (count > 0) gpu.keep_counts(mask, n, ends.give());
  return count;
}

void positions(CudaExecutor& gpu, const void* mask, std::int64_t n, std::int64_t* out) {
  const LibraryKernel k{"select.cuh", kSelectText, "pack_tiles",
                        head(mask) + "using UNIT = i64;\n" + define("UNITS", 1) + define("POSITIONS", 1)};
  pack(gpu, mask, n, k, nullptr, out, "positions of " + std::to_string(n) + " bools");
}

void compress(CudaExecutor& gpu, const void* mask, std::int64_t n, int itemsize, const void* in, void* out) {
  // The largest unit that divides the element and both addresses.
  const auto bits = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) |
                    static_cast<std::uintptr_t>(itemsize);
  const int unit = static_cast<int>(std::min<std::uintptr_t>(bits & (~bits + 1), 16));
  const char* const type = unit == 16 ? "uint4" : unit == 8 ? "u64" : unit == 4 ? "u32" : unit == 2 ? "u16" : "u8";
  const LibraryKernel k{"select.cuh", kSelectText, "pack_tiles",
                        head(mask) + "using UNIT = " + std::string(type) + ";\n" + define("UNITS", itemsize / unit) +
                            define("POSITIONS", 0)};
  pack(gpu, mask, n, k, in, out,
       "compress of " + std::to_string(n) + " elements of " + std::to_string(itemsize) + " bytes");
}

}  // namespace galop::cuda
