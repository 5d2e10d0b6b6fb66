// Selection by a mask: counts of tiles, their running sum, and a pass that packs.
#include <algorithm>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kMaskTile = 8192;  // kTile of select.cuh

LibraryKernel counting(const void* mask) {
  const bool words = reinterpret_cast<std::uintptr_t>(mask) % 4 == 0;
  return {"select.cuh", kSelectText, "count_tiles", define("MASK_WORDS", words)};
}

void pack(CudaExecutor& gpu, const void* mask, std::int64_t n, const LibraryKernel& packing, const void* in, void* out,
          const std::string& what) {
  if (n == 0) return;
  const std::int64_t tiles = blocks_for(n, kMaskTile);
  const Scratch scratch(gpu, tiles * 8);
  char* const counts = scratch.data();
  const void* const nowhere = nullptr;
  launch(gpu, counting(mask), tiles, {&mask, &n, &counts, &nowhere}, what);
  scan(gpu, Op::add, DType::int64, {tiles}, counts, {8}, counts, {8});
  launch(gpu, packing, tiles, {&mask, &n, &counts, &in, &out}, what);
}

}  // namespace

std::int64_t count_true(CudaExecutor& gpu, const void* mask, std::int64_t n) {
  if (n == 0) return 0;
  const Scratch scratch(gpu, 8);
  char* const total = scratch.data();
  gpu.fill_bytes(total, 0, 8);
  const void* const nowhere = nullptr;
  launch(gpu, counting(mask), blocks_for(n, kMaskTile), {&mask, &n, &nowhere, &total},
         "count_true of " + std::to_string(n) + " bools");
  std::int64_t count = 0;
  gpu.download(&count, total, 8);
  return count;
}

void positions(CudaExecutor& gpu, const void* mask, std::int64_t n, std::int64_t* out) {
  LibraryKernel k = counting(mask);
  k.entry = "pack_tiles";
  k.head += "using UNIT = i64;\n" + define("UNITS", 1) + define("POSITIONS", 1);
  pack(gpu, mask, n, k, nullptr, out, "positions of " + std::to_string(n) + " bools");
}

void compress(CudaExecutor& gpu, const void* mask, std::int64_t n, int itemsize, const void* in, void* out) {
  // The largest unit that divides the element and both addresses.
  const auto bits = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) |
                    static_cast<std::uintptr_t>(itemsize);
  const int unit = static_cast<int>(std::min<std::uintptr_t>(bits & (~bits + 1), 16));
  const char* const type = unit == 16 ? "uint4" : unit == 8 ? "u64" : unit == 4 ? "u32" : unit == 2 ? "u16" : "u8";
  LibraryKernel k = counting(mask);
  k.entry = "pack_tiles";
  k.head += "using UNIT = " + std::string(type) + ";\n" + define("UNITS", itemsize / unit) + define("POSITIONS", 0);
  pack(gpu, mask, n, k, in, out,
       "compress of " + std::to_string(n) + " elements of " + std::to_string(itemsize) + " bytes");
}

}  // namespace galop::cuda
