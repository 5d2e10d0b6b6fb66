// Gathering and scattering blocks of elements, and the offsets of their places.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"

namespace galop::cuda {
namespace {

struct Axis {
  std::int64_t extent, place, packed;
};

// A block as units of bytes: extents of 1 dropped, neighbouring axes merged, the bytes side by side as the last axis.
struct Shape {
  std::vector<Axis> axes;
  std::int64_t unit = 1, inner = 1;

  explicit Shape(const Blocks& b) {
    std::int64_t run = b.itemsize;
    for (int i = 0; i < b.shape.size(); ++i) {
      if (b.shape[i] == 1) continue;
      const Axis a{b.shape[i], b.place_strides[i], b.packed_strides[i]};
      if (!axes.empty() && axes.back().place == a.extent * a.place && axes.back().packed == a.extent * a.packed)
        axes.back() = {axes.back().extent * a.extent, a.place, a.packed};
      else
        axes.push_back(a);
    }
    if (!axes.empty() && axes.back().place == run && axes.back().packed == run) {
      run *= axes.back().extent;
      axes.pop_back();
    }
    auto bits = static_cast<std::uint64_t>(run) | static_cast<std::uint64_t>(b.packed_step) | 16u |
                reinterpret_cast<std::uintptr_t>(b.places) | reinterpret_cast<std::uintptr_t>(b.packed);
    for (const Axis& a : axes) bits |= static_cast<std::uint64_t>(a.place) | static_cast<std::uint64_t>(a.packed);
    unit = static_cast<std::int64_t>(bits & (~bits + 1));
    if (run > unit || axes.empty()) axes.push_back({run / unit, unit, unit});
    for (const Axis& a : axes) inner *= a.extent;
  }

  // Whether no two elements of a block lie at one place; false also where it would take long to say.
  bool injective() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (const Axis& a : axes) steps.emplace_back(std::abs(a.place), a.extent);
    std::sort(steps.begin(), steps.end());
    std::int64_t covered = unit;
    for (const auto& [step, extent] : steps) {
      if (step < covered) return false;
      covered = step * (extent - 1) + covered;
    }
    return true;
  }
};

bool empty(const Blocks& b) {
  return b.count == 0 || std::any_of(b.shape.begin(), b.shape.end(), [](std::int64_t d) { return d == 0; });
}

std::string what(const char* name, const Blocks& b) {
  return std::string(name) + " of " + std::to_string(b.count) + " blocks " + to_string(b.shape) + " of " +
         std::to_string(b.itemsize) + " bytes";
}

LibraryKernel moving(const Shape& s, const char* entry, bool scatter) {
  return {
      "gather.cuh", kGatherText, entry,
      define("AXES", static_cast<std::int64_t>(s.axes.size())) + define("UNIT", s.unit) + define("SCATTER", scatter)};
}

void move_blocks(CudaExecutor& gpu, const Blocks& b, const Shape& s, bool scatter, const char* slot_of,
                 const char* last) {
  launch(gpu, moving(s, "move_blocks", scatter), blocks_for(b.count * s.inner, kLibraryThreads),
         {s.axes.data(), &b.count, &s.inner, &b.offsets, &b.places, &b.packed, &b.packed_step, &slot_of, &last},
         what(scatter ? "scatter" : "gather", b));
}

}  // namespace

bool locate(CudaExecutor& gpu, std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets) {
  if (count == 0) return true;
  if (axes.empty()) {
    gpu.fill_bytes(offsets, 0, count * 8);
    return true;
  }
  const Scratch scratch(gpu, 4);
  char* const outside = scratch.data();
  gpu.fill_bytes(outside, 0, 4);
  const auto n = static_cast<std::int64_t>(axes.size());
  launch(gpu, {"gather.cuh", kGatherText, "locate", define("LOCATE", 1) + define("AXES", n)},
         blocks_for(count, kLibraryThreads), {axes.data(), &count, &offsets, &outside},
         "locate of " + std::to_string(count) + " places by " + std::to_string(n) + " indices");
  std::uint32_t found = 0;
  gpu.download(&found, outside, 4);
  return found == 0;
}

void gather(CudaExecutor& gpu, const Blocks& b) {
  if (empty(b)) return;
  move_blocks(gpu, b, Shape(b), false, nullptr, nullptr);
}

void scatter(CudaExecutor& gpu, const Blocks& b) {
  if (empty(b)) return;
  const Shape s(b);
  if (!s.injective()) {
    launch(gpu, moving(s, "move_in_order", true), 1,
           {s.axes.data(), &b.count, &s.inner, &b.offsets, &b.places, &b.packed, &b.packed_step}, what("scatter", b));
    return;
  }
  if (b.count == 1) return move_blocks(gpu, b, s, true, nullptr, nullptr);
  const auto slots = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * b.count)));
  const Scratch table(gpu, 16 * slots), places(gpu, 8 * b.count);
  gpu.fill_bytes(table.data(), 0xff, 16 * slots);  // no key, and -1 as the last block
  char* const keys = table.data();
  char* const last = keys + 8 * slots;
  char* const slot_of = places.data();
  launch(gpu, {"gather.cuh", kGatherText, "claim", define("CLAIM", 1)}, blocks_for(b.count, kLibraryThreads),
         {&b.offsets, &b.count, &keys, &last, &slots, &slot_of}, what("scatter", b));
  move_blocks(gpu, b, s, true, slot_of, last);
}

}  // namespace galop::cuda
