// Arrays from nothing: NumPy's creation functions of the same name.
#pragma once

#include <array>
#include <concepts>
#include <ranges>
#include <vector>

#include "galop/array.hpp"

namespace galop {

/// Dtypes by NumPy's names: `zeros({3}, float32)`.
using enum DType;

/// Throw ValueError for negative extents, a size beyond 2^63 bytes or an order other than C and F, MemoryError beyond
/// the machine's memory.
array empty(const Dims& shape, DType t = DType::float64, Order order = Order::C);
array zeros(const Dims& shape, DType t = DType::float64, Order order = Order::C);
array ones(const Dims& shape, DType t = DType::float64, Order order = Order::C);
/// `t` unset: the dtype of the value.
array full(const Dims& shape, const arg& value, std::optional<DType> t = {}, Order order = Order::C);
/// Of the shape, dtype and order of `a`, where nothing else is given.
array empty_like(const array& a, std::optional<DType> t = {}, Order order = Order::K, std::optional<Dims> shape = {});
array zeros_like(const array& a, std::optional<DType> t = {}, Order order = Order::K, std::optional<Dims> shape = {});
array ones_like(const array& a, std::optional<DType> t = {}, Order order = Order::K, std::optional<Dims> shape = {});
array full_like(const array& a, const arg& value, std::optional<DType> t = {}, Order order = Order::K,
                std::optional<Dims> shape = {});
/// start, start + step, … before stop; NumPy's length and values. `t` unset: int64 or float64 by the arguments.
array arange(scalar start, scalar stop, scalar step = 1, std::optional<DType> t = {});
inline array arange(scalar stop) { return arange(0, stop); }
/// `num` evenly spaced numbers from start to stop, which is met exactly with `endpoint`. Operands may be arrays, which
/// broadcast: the numbers lie along a new axis of the result.
array linspace(const arg& start, const arg& stop, std::int64_t num = 50, bool endpoint = true,
               std::optional<DType> t = {}, int axis = 0);
/// base ** linspace(start, stop, num); the base broadcasts with the ends.
array logspace(const arg& start, const arg& stop, std::int64_t num = 50, bool endpoint = true, const arg& base = 10.0,
               std::optional<DType> t = {}, int axis = 0);
/// `num` numbers from start to stop whose quotients are equal. Throws ValueError when either is zero.
array geomspace(const array& start, const array& stop, std::int64_t num = 50, bool endpoint = true,
                std::optional<DType> t = {}, int axis = 0);
/// Ones on diagonal k of an n × m matrix (m = -1: n).
array eye(std::int64_t n, std::int64_t m = -1, std::int64_t k = 0, DType t = DType::float64, Order order = Order::C);
inline array identity(std::int64_t n, DType t = DType::float64) { return eye(n, -1, 0, t); }
/// Ones at and below diagonal k of an n × m matrix (m = -1: n).
array tri(std::int64_t n, std::int64_t m = -1, std::int64_t k = 0, DType t = DType::float64);
/// The array with zeros above, or below, diagonal k of its last two axes; a vector counts as each row of a square.
/// Throw TypeError for a 0-d array.
array tril(const array& a, std::int64_t k = 0);
array triu(const array& a, std::int64_t k = 0);
/// The diagonal k of a matrix, a read-only view; or the matrix that has the vector on it. Throws ValueError otherwise.
array diag(const array& v, std::int64_t k = 0);
array diagflat(const array& v, std::int64_t k = 0);
/// Coordinate matrices of 1-d axes; `matrix_indexing` is NumPy's indexing="ij", else "xy". Sparse ones only broadcast
/// to the others' shape. Without `copy` they are views, read-only where they repeat elements.
std::vector<array> meshgrid(array_list axes, bool matrix_indexing = false, bool sparse = false, bool copy = true);
/// `auto [X, Y] = meshgrid(x, y)`
inline std::array<array, 2> meshgrid(const array& x, const array& y) {
  auto g = meshgrid({x, y});
  return {std::move(g[0]), std::move(g[1])};
}
/// The index of each element along each axis: shape (ndim, …shape); sparse ones are an array an axis, which broadcast.
array indices(const Dims& shape, DType t = DType::int64);
std::vector<array> sparse_indices(const Dims& shape, DType t = DType::int64);
/// Index arrays that together pick the cross product of the given ones. Throws ValueError unless they are 1-d.
std::vector<array> ix_(array_list parts);
/// f(i, j, …) of the index arrays of a shape with up to three axes: one call over whole arrays. Throws ValueError when
/// f does not take as many.
template <class F>
array fromfunction(F&& f, const Dims& shape, DType t = DType::float64) {
  const array at = indices(shape).astype(t);
  if constexpr (std::invocable<F&, array>)
    if (shape.size() == 1) return f(at(0));
  if constexpr (std::invocable<F&, array, array>)
    if (shape.size() == 2) return f(at(0), at(1));
  if constexpr (std::invocable<F&, array, array, array>)
    if (shape.size() == 3) return f(at(0), at(1), at(2));
  throw ValueError("[fromfunction] the function must take as many arguments as there are axes; got shape " +
                   to_string(shape));
}
/// A 1-d copy of a range's elements: NumPy's fromiter.
template <std::ranges::input_range R>
requires element<std::ranges::range_value_t<R>> array from_range(R&& range) {
  std::vector<std::ranges::range_value_t<R>> all;
  for (auto&& v : range) all.push_back(v);
  return array(all);
}

}  // namespace galop
