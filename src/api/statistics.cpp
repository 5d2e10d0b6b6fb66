// Statistics, running and piecewise folds made of reductions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "api/checks.hpp"
#include "api/places.hpp"
#include "core/interrupt.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "galop/reduce.hpp"
#include "graph/lock.hpp"

namespace galop {
namespace {

// Sums and products of small integers run in 64 bits.
std::optional<DType> wide(DType t, std::optional<DType> asked) {
  if (asked || is_inexact(t)) return asked;
  return kind(t) == 'u' ? DType::uint64 : DType::int64;
}

array scan(const binary_ufunc& op, const array& a, std::optional<int> axis, std::optional<DType> dtype,
           const array* out = nullptr) {
  return op.accumulate(axis ? a : a.ravel(), axis.value_or(0), wide(a.dtype(), dtype), out);
}

array cumulative(const binary_ufunc& op, int start, const array& x, std::optional<int> axis, std::optional<DType> dtype,
                 bool include_initial, const array* out) {
  if (!axis && x.ndim() != 1)
    throw ValueError("[cumulative] axis must be given unless the array has 1 axis; got shape " + to_string(x.shape()));
  const int k = api::normalize_axis("cumulative", axis.value_or(0), x.ndim());
  if (!include_initial) return scan(op, x, k, dtype, out);
  const array folds = scan(op, x, k, dtype);
  Dims first = x.shape();
  first[k] = 1;
  return concatenate({full(first, start, folds.dtype()), folds}, k, {.out = out});
}

array without_nan(const array& a, const scalar& instead) {
  return is_inexact(a.dtype()) ? where(isnan(a), instead, a) : a;
}

array valid(const array& a, const reduce_options& o) { return o.where ? ~isnan(a) & *o.where : ~isnan(a); }

// Options of a helping reduction: the same axes, nothing that belongs to the result.
reduce_options same_axes(const reduce_options& o, bool keepdims) { return {.axis = o.axis, .keepdims = keepdims}; }

}  // namespace

array ufunc::reduceat(const array& a, const array& indices, int axis, std::optional<DType> dtype,
                      const array* out) const {
  graph::Lock lock;
  axis = api::normalize_axis("reduceat", axis, a.ndim());
  const std::vector<std::int64_t> starts = indices.to_vector<std::int64_t>();
  const std::int64_t extent = a.shape()[axis];
  for (const std::int64_t i : starts)
    if (i < 0 || i >= extent)
      throw IndexError("[reduceat] index out of bounds for axis with size " + std::to_string(extent) + "; got " +
                       std::to_string(i));
  const auto fold = [&](std::size_t k) {
    const std::int64_t from = starts[k], to = k + 1 < starts.size() ? starts[k + 1] : extent;
    return reduce(api::at_axis(a, axis, slice(from, std::max(to, from + 1))), {.axis = axis, .dtype = dtype});
  };
  Dims shape = a.shape();
  shape[axis] = static_cast<std::int64_t>(starts.size());
  array r = out ? *out : empty(shape, starts.empty() ? a.dtype() : fold(0).dtype());
  if (!(r.shape() == shape))
    throw ValueError("[reduceat] out must have shape " + to_string(shape) + "; got " + to_string(r.shape()));
  if (a.size() >= 1 << 15 || starts.size() >= 1 << 12) graph::begin_long_work();
  for (std::size_t k = 0; k < starts.size(); ++k) {
    interrupt::look();
    api::at_axis(r, axis, static_cast<std::int64_t>(k)).assign(fold(k));
  }
  return r;
}

array ptp(const array& a, const axes& axis, bool keepdims, const array* out) {
  const reduce_options o{.axis = axis, .keepdims = keepdims};
  const array high = max(a, o);
  return subtract(high, min(a, o), {.out = {out}});
}

array average(const array& a, const array& weights, const axes& axis, bool keepdims) {
  return average_and_sum(a, &weights, axis, keepdims).first;
}

std::pair<array, array> average_and_sum(const array& a, const array* weights, const axes& axis, bool keepdims) {
  if (!weights) {
    const array r = mean(a, {.axis = axis, .keepdims = keepdims});
    const double each = r.size() == 0 ? 0.0 : static_cast<double>(a.size()) / static_cast<double>(r.size());
    return {r, full(r.shape(), each, r.dtype())};
  }
  array w = *weights;
  DType t = promote_types(a.dtype(), w.dtype());
  if (!is_inexact(a.dtype())) t = promote_types(t, DType::float64);
  if (!(w.shape() == a.shape())) {
    if (!axis)
      throw TypeError("[average] axis must be given when shapes differ; got " + to_string(a.shape()) + " and " +
                      to_string(w.shape()));
    const Dims over = api::normalize_axes("average", *axis, a.ndim());
    Dims needed, spread(a.ndim(), 1), order;
    for (const std::int64_t k : over) needed.push_back(a.shape()[static_cast<int>(k)]);
    if (!(w.shape() == needed))
      throw ValueError("[average] weights must have the shape of the axes averaged over; got " + to_string(w.shape()) +
                       " for " + to_string(needed));
    for (int i = 0; i < over.size(); ++i) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::int64_t i, std::int64_t j) { return over[static_cast<int>(i)] < over[static_cast<int>(j)]; });
    for (const std::int64_t k : over) spread[static_cast<int>(k)] = a.shape()[static_cast<int>(k)];
    w = w.transpose(order).reshape(spread);
  }
  w = broadcast_to(w, a.shape());
  const reduce_options o{.axis = axis, .dtype = t, .keepdims = keepdims};
  const array total = sum(w, o);
  if (any(total == 0).item<bool>())
    throw ZeroDivisionError("[average] weights must not sum to zero; got weights of shape " +
                            to_string(weights->shape()));
  return {sum(multiply(a, w, {.dtype = t}), o) / total, total};
}

array cumsum(const array& a, std::optional<int> axis, std::optional<DType> dtype, const array* out) {
  return scan(add, a, axis, dtype, out);
}
array cumprod(const array& a, std::optional<int> axis, std::optional<DType> dtype, const array* out) {
  return scan(multiply, a, axis, dtype, out);
}
array cumulative_sum(const array& x, std::optional<int> axis, std::optional<DType> dtype, bool include_initial,
                     const array* out) {
  return cumulative(add, 0, x, axis, dtype, include_initial, out);
}
array cumulative_prod(const array& x, std::optional<int> axis, std::optional<DType> dtype, bool include_initial,
                      const array* out) {
  return cumulative(multiply, 1, x, axis, dtype, include_initial, out);
}

array trace(const array& a, std::int64_t offset, int axis1, int axis2, std::optional<DType> dtype, const array* out) {
  return sum(diagonal(a, offset, axis1, axis2), {.axis = -1, .dtype = dtype, .out = out});
}

array nansum(const array& a, const reduce_options& o) { return sum(without_nan(a, 0), o); }
array nanprod(const array& a, const reduce_options& o) { return prod(without_nan(a, 1), o); }
array nanmin(const array& a, const reduce_options& o) { return fmin.reduce(a, o); }
array nanmax(const array& a, const reduce_options& o) { return fmax.reduce(a, o); }

array nanmean(const array& a, const reduce_options& o) {
  if (!is_inexact(a.dtype())) return mean(a, o);
  reduce_options parts = o;
  parts.out = nullptr;
  const array total = sum(without_nan(a, 0), parts);
  const array count = sum(valid(a, o), same_axes(o, o.keepdims));
  // By NaN instead of 0, which would raise a flag that NumPy does not.
  const array by = where(count > 0, count.astype(real_dtype(total.dtype())), std::numeric_limits<double>::quiet_NaN());
  return divide(total, by, {.out = {o.out}});
}

array nanvar(const array& a, const reduce_options& o, double ddof) {
  if (!is_inexact(a.dtype())) return var(a, o, ddof);
  reduce_options middle = o;
  middle.out = nullptr;
  middle.keepdims = true;
  const array counts = valid(a, o);
  const array distance = where(counts, absolute(a - nanmean(a, middle)), 0);
  const array total = sum(distance * distance, same_axes(o, o.keepdims));
  array count = sum(counts, same_axes(o, o.keepdims)) - ddof;
  count = where(count > 0, count.astype(total.dtype()), std::numeric_limits<double>::quiet_NaN());
  return divide(total, count, {.out = {o.out}});
}

array nanstd(const array& a, const reduce_options& o, double ddof) {
  reduce_options inner = o;
  inner.out = nullptr;
  return sqrt(nanvar(a, inner, ddof), {.out = {o.out}});
}

}  // namespace galop
