// Index expressions that touch one axis and leave the others as they are.
#pragma once

#include <vector>

#include "galop/array.hpp"

namespace galop::api {

/// a[:, …, part, …]: the part at one axis, counted from the front.
inline array at_axis(const array& a, int axis, const index& part) {
  std::vector<index> parts(static_cast<std::size_t>(axis), slice());
  parts.push_back(part);
  return a.at(parts);
}

/// Extent -1 at one axis and 1 at the others, as reshape takes it.
inline Dims only_axis(int axis, int ndim) {
  Dims shape(ndim, 1);
  shape[axis] = -1;
  return shape;
}

}  // namespace galop::api
