// Views and rearrangements: NumPy's functions of the same name.
#pragma once

#include <vector>

#include "galop/array.hpp"

namespace galop {

/// A read-only view with stride 0 along broadcast axes. Throws ValueError.
array broadcast_to(const array& a, const Dims& shape);
std::vector<array> broadcast_arrays(array_list arrays);
/// The shape all broadcast to. Throws ValueError.
Dims broadcast_shapes(std::span<const Dims> shapes);
array expand_dims(const array& a, const Dims& axes);
/// Axes unset: every axis of extent 1.
array squeeze(const array& a, std::optional<Dims> axes = {});
array swapaxes(const array& a, int axis1, int axis2);
array moveaxis(const array& a, const Dims& source, const Dims& destination);
/// Reversed order along the axes; unset: all.
array flip(const array& a, std::optional<Dims> axes = {});
/// The axis moved to stand before axis `start`.
array rollaxis(const array& a, int axis, int start = 0);
inline array fliplr(const array& a) { return flip(a, Dims{1}); }
inline array flipud(const array& a) { return flip(a, Dims{0}); }
/// A quarter turn, k times, from the first of two axes towards the second; a view.
array rot90(const array& a, int k = 1, int axis1 = 0, int axis2 = 1);
array matrix_transpose(const array& a);
/// A diagonal as the last axis of a read-only view. Throws ValueError for fewer than two axes.
array diagonal(const array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);
/// A view of any shape and strides in bytes; nothing checks that it stays inside.
array as_strided(const array& a, const Dims& shape, const Dims& strides, bool writeable = true);
/// All windows of the extents along the axes (unset: all), a view: where a window begins comes first, then the elements
/// of the window. Throws ValueError for a window that does not fit, or another number of extents than axes.
array sliding_window_view(const array& a, const Dims& window, const std::optional<Dims>& axes = {},
                          bool writeable = false);
/// At least one, two or three axes, as NumPy places them; views.
array atleast_1d(const array& a);
array atleast_2d(const array& a);
array atleast_3d(const array& a);

/// Optional arguments of a join: the dtype to which all are cast first, or where the result is written, not both.
struct join_options {
  std::optional<DType> dtype = {};  ///< unset: the dtype that all promote to
  Casting casting = Casting::same_kind;
  const array* out = nullptr;
};
/// The arrays joined along an axis, `none`: flat; along a new axis; along the second, first, third axis; as columns.
/// Throw ValueError when shapes do not fit, TypeError for a cast that `casting` does not allow, or `dtype` with `out`.
array concatenate(array_list arrays, std::optional<int> axis = 0, const join_options& o = {});
array stack(array_list arrays, int axis = 0, const join_options& o = {});
array hstack(array_list arrays, const join_options& o = {});
array vstack(array_list arrays, const join_options& o = {});
array dstack(array_list arrays);
array column_stack(array_list arrays);
/// Flat when `axis` is unset.
array append(const array& a, const array& values, std::optional<int> axis = {});

/// Parts along an axis, views: so many, equal ones in split (else ValueError), nearly equal ones in array_split; or
/// before, between and after the places in `cuts`. Throw ValueError for a number of parts below 1, ZeroDivisionError in
/// split for none.
std::vector<array> split(const array& a, std::int64_t parts, int axis = 0);
std::vector<array> split(const array& a, const Dims& cuts, int axis = 0);
std::vector<array> array_split(const array& a, std::int64_t parts, int axis = 0);
std::vector<array> array_split(const array& a, const Dims& cuts, int axis = 0);
/// split along the second axis (the first of a vector), the first, the third. Throw ValueError for fewer than one, two,
/// three axes.
std::vector<array> hsplit(const array& a, std::int64_t parts);
std::vector<array> hsplit(const array& a, const Dims& cuts);
std::vector<array> vsplit(const array& a, std::int64_t parts);
std::vector<array> vsplit(const array& a, const Dims& cuts);
std::vector<array> dsplit(const array& a, std::int64_t parts);
std::vector<array> dsplit(const array& a, const Dims& cuts);
/// All parts along an axis, without it; views.
std::vector<array> unstack(const array& a, int axis = 0);

/// Elements moved along an axis, those pushed out coming in at the other end; flat when `axis` is unset.
array roll(const array& a, std::int64_t shift, std::optional<int> axis = {});
/// The same along several axes, or one axis several times: lists of one length, or one of them of length 1. Throws
/// ValueError.
array roll(const array& a, const Dims& shifts, const Dims& axes);
/// The array side by side, so many times along each axis.
array tile(const array& a, const Dims& times);
/// Each element so many times next to one another; `times` is one number or one for each place of the axis.
array repeat(const array& a, const array& times, std::optional<int> axis = {});
/// The array without the places of an axis that integers, a mask or a slice name; flat when the axis is unset. Throws
/// IndexError for places outside or of another dtype, ValueError for a mask of another shape.
array delete_(const array& a, const array& places, std::optional<int> axis = {});
array delete_(const array& a, const slice& places, std::optional<int> axis = {});
/// What take does with indices outside the axis: IndexError, as if the axis were repeated, or the nearest inside.
enum class TakeMode : std::uint8_t { raise, wrap, clip };
/// The elements at the indices along an axis, or of the flat array: the shape of `a` with that of `indices` in place of
/// the axis. Throws IndexError, TypeError for indices that are no integers or bools (0 and 1).
array take(const array& a, const array& indices, std::optional<int> axis = {}, TakeMode mode = TakeMode::raise,
           const array* out = nullptr);
/// For each place, the element that `indices` names along the axis; of the flat array when it is unset.
array take_along_axis(const array& a, const array& indices, std::optional<int> axis = -1);
/// The parts along an axis where the 1-d condition is true.
array compress(const array& condition, const array& a, std::optional<int> axis = {}, const array* out = nullptr);
/// The elements of the flat array where the condition is true.
array extract(const array& condition, const array& a);
/// Positions of elements that are not zero: of the flat array; as rows of a matrix.
array flatnonzero(const array& a);
array argwhere(const array& a);

/// Whether two arrays can have an element in common: exactly, and by memory bounds alone.
bool shares_memory(const array& a, const array& b);
bool may_share_memory(const array& a, const array& b);
/// Elements where the mask is true, 1-d, or the positions of true elements along each axis.
array compress_mask(const array& a, const array& mask);
std::vector<array> nonzero(const array& a);
inline std::vector<array> where(const array& condition) { return nonzero(condition); }
/// dst[...] = src where the mask is true.
void copyto(const array& dst, const arg& src, const array* where = nullptr);

}  // namespace galop
