// Creation functions made of others: triangles, diagonals, index arrays, geometric sequences.
#include <cmath>

#include "api/checks.hpp"
#include "api/places.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "galop/print.hpp"
#include "galop/reduce.hpp"

namespace galop {
namespace {

// Where an n × m matrix lies at or below diagonal k.
array below(std::int64_t n, std::int64_t m, std::int64_t k) {
  return arange(n).reshape({n, 1}) >= arange(-k, m - k).reshape({1, m});
}

// The same for the last two axes of an array; a vector counts as each row of a square.
array below(std::string_view op, const array& a, std::int64_t k) {
  if (a.ndim() == 0) throw TypeError("[" + std::string(op) + "] needs an array of at least one axis; got a 0-d array");
  return below(a.ndim() == 1 ? a.size() : a.shape()[a.ndim() - 2], a.shape().back(), k);
}

array zero_of(DType t) { return zeros({}, t); }

}  // namespace

array geomspace(const array& start, const array& stop, std::int64_t num, bool endpoint, std::optional<DType> t,
                int axis) {
  const DType work = promote_types(promote_types(start.dtype(), stop.dtype()), DType::float64);
  const array first = start.astype(work), last = stop.astype(work);
  if (any((first == 0) | (last == 0)).item<bool>())
    throw ValueError("[geomspace] a geometric sequence cannot include zero; got " + to_string(start) + " and " +
                     to_string(stop));
  const array turn = sign(first);
  array r = power(10.0, linspace(log10(first / turn), log10(last / turn), num, endpoint));
  if (num > 0) r(0) = first / turn;
  if (num > 1 && endpoint) r(-1) = last / turn;
  r = r * turn;
  if (t && *t != r.dtype()) r = r.astype(*t);
  return axis == 0 ? r : moveaxis(r, {0}, {axis});
}

array tri(std::int64_t n, std::int64_t m, std::int64_t k, DType t) {
  const array b = below(n, m < 0 ? n : m, k);
  return t == DType::bool_ ? b : b.astype(t);
}

array tril(const array& a, std::int64_t k) { return where(below("tril", a, k), a, zero_of(a.dtype())); }
array triu(const array& a, std::int64_t k) { return where(below("triu", a, k - 1), zero_of(a.dtype()), a); }

array diag(const array& v, std::int64_t k) {
  if (v.ndim() == 2) return diagonal(v, k);
  if (v.ndim() != 1) throw ValueError("[diag] input must be 1- or 2-dimensional; got shape " + to_string(v.shape()));
  const std::int64_t n = v.size() + std::abs(k);
  array r = zeros({n, n}, v.dtype());
  // The diagonal of the square below or right of the first |k| rows or columns.
  const std::int64_t size = itemsize(v.dtype()), start = (k < 0 ? -k * n : k) * size;
  r.with_view({{v.size()}, {(n + 1) * size}, r.view().offset + start}).assign(v);
  return r;
}

array diagflat(const array& v, std::int64_t k) { return diag(v.ravel(), k); }

std::vector<array> sparse_indices(const Dims& shape, DType t) {
  std::vector<array> axes;
  for (int i = 0; i < shape.size(); ++i)
    axes.push_back(arange(0, shape[i], 1, t).reshape(api::only_axis(i, shape.size())));
  return axes;
}

array indices(const Dims& shape, DType t) {
  if (shape.empty()) return empty({0}, t);
  return stack(broadcast_arrays(sparse_indices(shape, t)), 0);
}

std::vector<array> ix_(array_list parts) {
  std::vector<array> r;
  const int ndim = static_cast<int>(parts.size());
  for (int i = 0; i < ndim; ++i) {
    array part = parts[static_cast<std::size_t>(i)];
    if (part.ndim() != 1)
      throw ValueError("[ix_] arguments must be 1-dimensional; got shape " + to_string(part.shape()));
    if (part.dtype() == DType::bool_) part = nonzero(part)[0];
    if (part.size() == 0) part = part.astype(DType::int64);
    r.push_back(part.reshape(api::only_axis(i, ndim)));
  }
  return r;
}

}  // namespace galop
