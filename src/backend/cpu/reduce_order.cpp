// The order in which NumPy adds, as a function of shape and strides.
#include "backend/cpu/reduce_order.hpp"

#include <algorithm>
#include <vector>

namespace galop::cpu {
namespace {

constexpr std::int64_t kBuffer = 8192;  // elements of the iterator's buffer: NumPy's default

struct Axis {
  std::int64_t extent;
  std::int64_t stride;
  bool folded;
};

// Innermost first; neighbours that are stepped through as one are one.
std::vector<Axis> merged_axes(const Dims& shape, const Dims& strides, std::uint64_t folded) {
  std::vector<Axis> axes;
  for (int k = shape.size() - 1; k >= 0; --k) {
    if (shape[k] == 1) continue;
    const Axis a{shape[k], strides[k], (folded >> k & 1) != 0};
    if (!axes.empty() && axes.back().folded == a.folded && axes.back().extent * axes.back().stride == a.stride) {
      axes.back().extent *= a.extent;
    } else {
      axes.push_back(a);
    }
  }
  return axes;
}

}  // namespace

RunOrder run_order(const Dims& shape, const Dims& strides, std::uint64_t folded, bool buffered) {
  const std::vector<Axis> axes = merged_axes(shape, strides, folded);
  if (axes.empty()) return {1, 1};
  // The iterator weighs how many axes to hand over at once: each operand that it must copy makes an element dearer,
  // longer runs make all cheaper. Axes join from the inside until one is kept.
  double cost = buffered ? 2 : 1;
  bool one_stride = true;  // the axes so far are one walk through the array
  std::int64_t size = axes[0].extent;
  struct {
    std::size_t axis;
    double cost;
    std::int64_t size, core;
  } best{0, cost, size, 1};
  for (std::size_t d = 1; d < axes.size(); ++d) {
    if (size >= kBuffer && cost > 1) break;
    if (one_stride && axes[d - 1].extent * axes[d - 1].stride != axes[d].stride) {
      one_stride = false;
      if (!buffered) cost += 1;
    }
    if (!axes[d].folded) cost += 1;  // the result steps here for the first time
    const std::int64_t core = size;
    size *= axes[d].extent;
    const double at_once = static_cast<double>(cost > 1 ? std::min(size, kBuffer) : size);
    if (cost * static_cast<double>(best.size) <= best.cost * at_once) best = {d, cost, size, core};
    if (!axes[d].folded) break;
  }
  if (!axes[best.axis].folded) return {best.core, best.core};
  const bool copies = buffered || best.axis > 0;
  return {best.size, copies && best.size > kBuffer ? kBuffer / best.core * best.core : best.size};
}

}  // namespace galop::cpu
