// What is made of views, joins and gathers: turning, splitting, repeating, picking.
#include <algorithm>

#include "api/checks.hpp"
#include "api/places.hpp"
#include "core/view.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "galop/ufunc.hpp"

namespace galop {
namespace {

using api::at_axis;

// The array and axis that a function works on when no axis means the flat array.
std::pair<array, int> along(std::string_view op, const array& a, std::optional<int> axis) {
  if (!axis) return {a.ravel(), 0};
  return {a, api::normalize_axis(op, *axis, a.ndim())};
}

std::vector<array> cut(const array& a, const Dims& cuts, int axis) {
  std::vector<array> parts;
  std::int64_t from = 0;
  for (const std::int64_t to : cuts) {
    parts.push_back(at_axis(a, axis, slice(from, to)));
    from = to;
  }
  parts.push_back(at_axis(a, axis, slice(from, none)));
  return parts;
}

array grown(const array& a, int ndim) {
  if (a.ndim() >= ndim) return a;
  if (ndim == 3 && a.ndim() == 2) return expand_dims(a, {2});
  Dims shape(ndim, 1);
  if (a.ndim() == 1) shape[ndim == 1 ? 0 : 1] = -1;
  return a.reshape(shape);
}

array joined(array_list arrays, int ndim, int axis, const join_options& o = {}) {
  std::vector<array> list;
  for (const array& a : arrays) list.push_back(grown(a, ndim));
  return concatenate(list, axis, o);
}

// The axis that hsplit, vsplit and dsplit cut, where the array has it.
int cut_axis(std::string_view op, const array& a, int ndim, int axis) {
  if (a.ndim() < ndim)
    throw ValueError("[" + std::string(op) + "] needs an array of " + std::to_string(ndim) +
                     " or more dimensions; got " + std::to_string(a.ndim()));
  return axis;
}
int second_axis(const array& a) { return cut_axis("hsplit", a, 1, a.ndim() > 1 ? 1 : 0); }

// What stays of an axis, true for each place.
std::vector<bool> all_kept(std::int64_t n) { return std::vector<bool>(static_cast<std::size_t>(n), true); }

}  // namespace

array rollaxis(const array& a, int axis, int start) {
  axis = api::normalize_axis("rollaxis", axis, a.ndim());
  start = api::normalize_axis("rollaxis", start, a.ndim() + 1);
  return moveaxis(a, {axis}, {axis < start ? start - 1 : start});
}

array rot90(const array& a, int k, int axis1, int axis2) {
  const Dims axes = api::normalize_axes("rot90", {axis1, axis2}, a.ndim());
  const int i = static_cast<int>(axes[0]), j = static_cast<int>(axes[1]);
  switch (((k % 4) + 4) % 4) {
    case 1:
      return swapaxes(flip(a, Dims{j}), i, j);
    case 2:
      return flip(a, axes);
    case 3:
      return flip(swapaxes(a, i, j), Dims{j});
    default:
      return a;
  }
}

array matrix_transpose(const array& a) {
  if (a.ndim() < 2)
    throw ValueError("[matrix_transpose] needs an array of at least two axes; got shape " + to_string(a.shape()));
  return swapaxes(a, -1, -2);
}

array as_strided(const array& a, const Dims& shape, const Dims& strides, bool writeable) {
  if (shape.size() != strides.size())
    throw ValueError("[as_strided] shape and strides must have the same length; got " + to_string(shape) + " and " +
                     to_string(strides));
  checked_size("as_strided", shape, 1);
  array r = a.with_view({shape, strides, a.view().offset});
  if (!writeable) r.set_writeable(false);
  return r;
}

array sliding_window_view(const array& a, const Dims& window, const std::optional<Dims>& axes_, bool writeable) {
  Dims axes, shape = a.shape(), strides = a.strides();
  if (axes_)
    axes = api::normalize_axes("sliding_window_view", *axes_, a.ndim());
  else
    for (int i = 0; i < a.ndim(); ++i) axes.push_back(i);
  if (window.size() != axes.size())
    throw ValueError("[sliding_window_view] needs an extent for each of the axes " + to_string(axes) + "; got " +
                     to_string(window));
  for (int k = 0; k < window.size(); ++k) {
    const int i = static_cast<int>(axes[k]);
    if (window[k] < 0 || window[k] > a.shape()[i])
      throw ValueError("[sliding_window_view] the window must fit into shape " + to_string(a.shape()) + "; got " +
                       to_string(window));
    shape[i] -= window[k] - 1;
    shape.push_back(window[k]);
    strides.push_back(a.strides()[i]);
  }
  return as_strided(a, shape, strides, writeable);
}

array diagonal(const array& a, std::int64_t offset, int axis1, int axis2) {
  if (a.ndim() < 2)
    throw ValueError("[diagonal] needs an array of at least two axes; got shape " + to_string(a.shape()));
  const int i = api::normalize_axis("diagonal", axis1, a.ndim()), j = api::normalize_axis("diagonal", axis2, a.ndim());
  if (i == j)
    throw ValueError("[diagonal] axis1 and axis2 must differ; got " + std::to_string(axis1) + " and " +
                     std::to_string(axis2));
  const array b = offset >= 0 ? at_axis(a, j, slice(offset, none)) : at_axis(a, i, slice(-offset, none));
  Dims shape, strides;
  for (int k = 0; k < b.ndim(); ++k) {
    if (k == i || k == j) continue;
    shape.push_back(b.shape()[k]);
    strides.push_back(b.strides()[k]);
  }
  shape.push_back(std::min(b.shape()[i], b.shape()[j]));
  strides.push_back(b.strides()[i] + b.strides()[j]);
  return as_strided(b, shape, strides, false);
}

array atleast_1d(const array& a) { return grown(a, 1); }
array atleast_2d(const array& a) { return grown(a, 2); }
array atleast_3d(const array& a) { return grown(a, 3); }

array hstack(array_list arrays, const join_options& o) {
  return joined(arrays, 1, arrays.empty() || arrays[0].ndim() <= 1 ? 0 : 1, o);
}
array vstack(array_list arrays, const join_options& o) { return joined(arrays, 2, 0, o); }
array dstack(array_list arrays) { return joined(arrays, 3, 2); }
array column_stack(array_list arrays) {
  std::vector<array> list;
  for (const array& a : arrays) list.push_back(a.ndim() < 2 ? a.reshape({-1, 1}) : a);
  return concatenate(list, 1);
}

array append(const array& a, const array& values, std::optional<int> axis) { return concatenate({a, values}, axis); }

std::vector<array> array_split(const array& a, const Dims& cuts, int axis) {
  return cut(a, cuts, api::normalize_axis("array_split", axis, a.ndim()));
}

std::vector<array> array_split(const array& a, std::int64_t parts, int axis) {
  axis = api::normalize_axis("array_split", axis, a.ndim());
  if (parts <= 0)
    throw ValueError("[array_split] number of sections must be larger than 0; got " + std::to_string(parts));
  const std::int64_t each = a.shape()[axis] / parts, more = a.shape()[axis] % parts;
  Dims cuts;
  for (std::int64_t i = 1; i < parts; ++i) cuts.push_back(each * i + std::min(i, more));
  return cut(a, cuts, axis);
}

std::vector<array> split(const array& a, const Dims& cuts, int axis) { return array_split(a, cuts, axis); }

std::vector<array> split(const array& a, std::int64_t parts, int axis) {
  const std::int64_t n = a.shape()[api::normalize_axis("split", axis, a.ndim())];
  if (parts == 0) throw ZeroDivisionError("[split] number of sections must not be zero; got 0");
  if (n % parts != 0)
    throw ValueError("[split] sections must divide an axis of " + std::to_string(n) + " equally; got " +
                     std::to_string(parts));
  return array_split(a, parts, axis);
}

std::vector<array> hsplit(const array& a, std::int64_t parts) { return split(a, parts, second_axis(a)); }
std::vector<array> hsplit(const array& a, const Dims& cuts) { return split(a, cuts, second_axis(a)); }
std::vector<array> vsplit(const array& a, std::int64_t parts) { return split(a, parts, cut_axis("vsplit", a, 2, 0)); }
std::vector<array> vsplit(const array& a, const Dims& cuts) { return split(a, cuts, cut_axis("vsplit", a, 2, 0)); }
std::vector<array> dsplit(const array& a, std::int64_t parts) { return split(a, parts, cut_axis("dsplit", a, 3, 2)); }
std::vector<array> dsplit(const array& a, const Dims& cuts) { return split(a, cuts, cut_axis("dsplit", a, 3, 2)); }

std::vector<array> unstack(const array& a, int axis) {
  axis = api::normalize_axis("unstack", axis, a.ndim());
  std::vector<array> parts;
  for (std::int64_t i = 0; i < a.shape()[axis]; ++i) parts.push_back(at_axis(a, axis, i));
  return parts;
}

array roll(const array& a, std::int64_t shift, std::optional<int> axis) {
  if (axis) return roll(a, Dims{shift}, Dims{*axis});
  return roll(a.ravel(), Dims{shift}, Dims{0}).reshape(a.shape());
}

array roll(const array& a, const Dims& shifts, const Dims& axes) {
  const int pairs = shifts.size() == 1 ? axes.size() : shifts.size();
  if (axes.size() != pairs && axes.size() != 1)
    throw ValueError("[roll] needs a shift for each axis; got shifts " + to_string(shifts) + ", axes " +
                     to_string(axes));
  Dims moved(a.ndim(), 0);
  for (int i = 0; i < pairs; ++i) {
    const int k = api::normalize_axis("roll", axes[axes.size() == 1 ? 0 : i], a.ndim());
    const std::int64_t n = a.shape()[k], shift = shifts[shifts.size() == 1 ? 0 : i];
    if (n > 0) moved[k] = ((moved[k] + shift % n) % n + n) % n;
  }
  std::optional<array> r;
  for (int k = 0; k < a.ndim(); ++k) {
    if (moved[k] == 0) continue;
    const array& from = r ? *r : a;
    const std::int64_t cut = a.shape()[k] - moved[k];
    r = concatenate({at_axis(from, k, slice(cut, none)), at_axis(from, k, slice(cut))}, k);
  }
  return r ? *r : a.copy(Order::K);
}

array tile(const array& a, const Dims& times) {
  const int ndim = std::max(a.ndim(), times.size());
  Dims apart, wide, shape;
  for (int i = 0; i < ndim; ++i) {
    const int j = i - (ndim - a.ndim()), k = i - (ndim - times.size());
    const std::int64_t n = j < 0 ? 1 : a.shape()[j], r = k < 0 ? 1 : times[k];
    apart.push_back(1);
    apart.push_back(n);
    wide.push_back(r);
    wide.push_back(n);
    shape.push_back(n * r);
  }
  return broadcast_to(a.reshape(apart), wide).copy().reshape(shape);
}

array repeat(const array& a, const array& times, std::optional<int> axis) {
  const auto [b, k] = along("repeat", a, axis);
  const std::int64_t n = b.shape()[k];
  if (!can_cast(times.dtype(), DType::int64) && times.size() > 0)
    throw TypeError("[repeat] repeats must be integers; got " + std::string(name(times.dtype())));
  const std::vector<std::int64_t> counts = times.to_vector<std::int64_t>();
  const bool one = counts.size() == 1;
  if (times.ndim() > 1 || (!one && static_cast<std::int64_t>(counts.size()) != n))
    throw ValueError("[repeat] one number of repeats for each of " + std::to_string(n) + " places; got shape " +
                     to_string(times.shape()));
  for (const std::int64_t c : counts)
    if (c < 0) throw ValueError("[repeat] repeats may not be negative; got " + std::to_string(c));
  if (one) {  // no gather: one pass, which can wait
    Dims wide = b.shape(), whole = b.shape();
    wide.insert(k + 1, counts[0]);
    if (__builtin_mul_overflow(n, counts[0], &whole[k]))
      throw ValueError("[repeat] array is too big; got " + std::to_string(counts[0]) + " repeats of " +
                       std::to_string(n) + " places");
    return broadcast_to(expand_dims(b, {k + 1}), wide).copy(Order::C).reshape(whole);
  }
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < n; ++i)
    places.insert(places.end(), static_cast<std::size_t>(counts[static_cast<std::size_t>(i)]), i);
  return at_axis(b, k, array(places));
}

array delete_(const array& a, const array& places, std::optional<int> axis) {
  const auto [b, k] = along("delete", a, axis);
  const std::int64_t n = b.shape()[k];
  std::vector<bool> kept = all_kept(n);
  if (!is_integer(places.dtype()) && places.dtype() != DType::bool_)
    throw IndexError("[delete] places must be integers or a mask; got " + std::string(name(places.dtype())));
  if (places.dtype() == DType::bool_) {
    if (!(places.shape() == Dims{n}))
      throw ValueError("[delete] a mask must have shape " + to_string(Dims{n}) + "; got " + to_string(places.shape()));
    kept = (~places).to_vector<bool>();
  } else {
    for (const std::int64_t i : places.to_vector<std::int64_t>()) {
      if (i < -n || i >= n)
        throw IndexError("[delete] index out of bounds for axis with size " + std::to_string(n) + "; got " +
                         std::to_string(i));
      kept[static_cast<std::size_t>(i < 0 ? i + n : i)] = false;
    }
  }
  return at_axis(b, k, array(kept));
}

array delete_(const array& a, const slice& places, std::optional<int> axis) {
  const auto [b, k] = along("delete", a, axis);
  const std::int64_t n = b.shape()[k];
  const std::vector<std::int64_t> gone = arange(n)(places).to_vector<std::int64_t>();
  std::vector<bool> kept = all_kept(n);
  for (const std::int64_t i : gone) kept[static_cast<std::size_t>(i)] = false;
  return at_axis(b, k, array(kept));
}

array take(const array& a, const array& indices, std::optional<int> axis, TakeMode mode, const array* out) {
  const auto [b, k] = along("take", a, axis);
  const std::int64_t n = b.shape()[k];
  array at = indices;
  if (!is_integer(at.dtype())) {
    if (at.size() > 0 && !can_cast(at.dtype(), DType::int64))
      throw TypeError("[take] indices must be integers; got " + std::string(name(at.dtype())));
    at = at.astype(DType::int64);
  }
  if (n == 0 && at.size() > 0)
    throw IndexError("[take] an empty axis has nothing to take; got " + std::to_string(at.size()) + " indices");
  if (mode == TakeMode::wrap && n > 0) at = at % n;
  if (mode == TakeMode::clip && n > 0) at = clip(at, 0, n - 1);
  const array flat = at_axis(b, k, at.ravel());
  Dims shape(b.shape().begin(), b.shape().begin() + k);
  for (const std::int64_t m : at.shape()) shape.push_back(m);
  for (int i = k + 1; i < b.ndim(); ++i) shape.push_back(b.shape()[i]);
  return api::given("take", out, flat.reshape(shape));
}

array take_along_axis(const array& a_, const array& indices, std::optional<int> axis_) {
  const array a = axis_ ? a_ : a_.ravel();
  int axis = axis_.value_or(0);
  if (a.ndim() != indices.ndim())
    throw ValueError("[take_along_axis] shapes must have as many axes; got " + to_string(indices.shape()) + " and " +
                     to_string(a.shape()));
  axis = api::normalize_axis("take_along_axis", axis, a.ndim());
  std::vector<index> parts;
  for (int i = 0; i < a.ndim(); ++i)
    parts.emplace_back(i == axis ? indices : arange(a.shape()[i]).reshape(api::only_axis(i, a.ndim())));
  return a.at(parts);
}

array compress(const array& condition, const array& a, std::optional<int> axis, const array* out) {
  if (condition.ndim() != 1)
    throw ValueError("[compress] condition must be 1-dimensional; got shape " + to_string(condition.shape()));
  return take(a, flatnonzero(condition), axis, TakeMode::raise, out);
}

array extract(const array& condition, const array& a) { return take(a, flatnonzero(condition)); }
array flatnonzero(const array& a) { return nonzero(a.ravel())[0]; }

array argwhere(const array& a) {
  if (a.ndim() == 0) return empty({a.item<bool>() ? 1 : 0, 0}, DType::int64);
  return stack(nonzero(a), 1);
}

}  // namespace galop
