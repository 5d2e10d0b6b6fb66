// Views and rearrangements: NumPy's functions of the same name.
#pragma once

#include <vector>

#include "galop/array.hpp"

namespace galop {

/// A read-only view with stride 0 along broadcast axes. Throws ValueError.
array broadcast_to(const array& a, const Dims& shape);
std::vector<array> broadcast_arrays(std::span<const array> arrays);
/// The shape all broadcast to. Throws ValueError.
Dims broadcast_shapes(std::span<const Dims> shapes);
array expand_dims(const array& a, const Dims& axes);
/// Axes unset: every axis of extent 1.
array squeeze(const array& a, std::optional<Dims> axes = {});
array swapaxes(const array& a, int axis1, int axis2);
array moveaxis(const array& a, const Dims& source, const Dims& destination);
/// Reversed order along the axes; unset: all.
array flip(const array& a, std::optional<Dims> axes = {});
array concatenate(std::span<const array> arrays, std::optional<int> axis = 0);
array stack(std::span<const array> arrays, int axis = 0);
/// Whether two arrays can have an element in common: exactly, and by memory bounds alone.
bool shares_memory(const array& a, const array& b);
bool may_share_memory(const array& a, const array& b);
/// Elements where the mask is true, 1-d, or the positions of true elements along each axis.
array compress_mask(const array& a, const array& mask);
std::vector<array> nonzero(const array& a);
/// dst[...] = src where the mask is true.
void copyto(const array& dst, const arg& src, const array* where = nullptr);

}  // namespace galop
