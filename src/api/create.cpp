// Creation functions: fills and counters with arithmetic on top, computed when needed and fused into what uses them.
#include "galop/create.hpp"

#include <unistd.h>

#include <cmath>
#include <cstring>

#include "api/checks.hpp"
#include "api/layout.hpp"
#include "core/view.hpp"
#include "core/visit.hpp"
#include "galop/manipulate.hpp"
#include "galop/reduce.hpp"
#include "galop/ufunc.hpp"
#include "graph/build.hpp"

namespace galop {
namespace {

/// Throws for a shape that is none or whose bytes pass the machine's memory.
void check_size(std::string_view op, const Dims& shape, DType t) {
  std::int64_t bytes = checked_size(op, shape, itemsize(t)) * itemsize(t);
  static const std::int64_t memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (bytes > memory)
    throw MemoryError("[" + std::string(op) + "] no memory for " + std::to_string(bytes) + " bytes; got shape " +
                      to_string(shape) + ", dtype " + std::string(name(t)));
}

/// The number as an element of dtype t by the rules of a cast, which loses what does not fit; integers are still
/// checked.
scalar cast_number(const scalar& v, DType t) {
  if (v.kind() == 'c' && !is_complex(t) && t != DType::bool_) return cast_number(v.number().real(), t);
  if (v.kind() != 'f' || !is_integer(t)) return v;
  array x = graph::cast(array(v), t);
  return t == DType::uint64 ? scalar(x.item<std::uint64_t>()) : scalar(x.item<std::int64_t>());
}

array filled(std::string_view op, const Dims& shape, const scalar& v, DType t, Order order,
             const array* like = nullptr) {
  graph::Lock lock;
  check_size(op, shape, t);
  if (order == Order::C || (like && shape.size() < 2)) return api::fill_with(shape, v, t);
  const api::Layout layout(shape, order, like);
  return layout.view(api::fill_with(layout.allocated(), v, t));
}

/// Every element of `shape` equal to `value`, converted by the rules of a cast.
array filled_with(std::string_view op, const Dims& shape, const arg& value, std::optional<DType> t, Order order,
                  const array* like = nullptr) {
  if (!value.is_array()) {
    const scalar& v = value.as_scalar();
    const DType to = t.value_or(v.dtype());
    api::note_number(v, to);
    return filled(op, shape, cast_number(v, to), to, order, like);
  }
  const array source = api::stretched(op, value.as_array(), shape);
  array r = filled(op, shape, 0, t.value_or(source.dtype()), order, like);
  graph::assign(r, source);
  return r;
}

__extension__ using Int = __int128;

bool is_whole(const scalar& v) { return v.kind() == 'b' || v.kind() == 'i'; }
Int whole(const scalar& v) { return v.is_huge() ? Int{static_cast<std::uint64_t>(v.integer())} : Int{v.integer()}; }

/// (stop - start) / step rounded up, in Python's arithmetic.
std::int64_t arange_length(const scalar& start, const scalar& stop, const scalar& step) {
  auto got = [&] {
    auto text = [](const scalar& v) {
      return is_whole(v) ? std::to_string(v.integer()) : std::to_string(v.number().real());
    };
    return "; got start " + text(start) + ", stop " + text(stop) + ", step " + text(step);
  };
  if (step.number() == 0.0) throw ValueError("[arange] the step must not be zero" + got());
  std::complex<double> ratio;
  bool apart;
  if (is_whole(start) && is_whole(stop) && is_whole(step)) {
    Int distance = whole(stop) - whole(start);
    apart = distance != 0;
    ratio = static_cast<double>(static_cast<long double>(distance) / static_cast<long double>(whole(step)));
  } else {
    std::complex<double> distance = stop.number() - start.number();
    apart = distance != 0.0;
    bool is_real = start.kind() != 'c' && stop.kind() != 'c' && step.kind() != 'c';
    ratio = is_real ? distance.real() / step.number().real() : distance / step.number();
    if (!is_real) ratio = std::min(std::ceil(ratio.real()), std::ceil(ratio.imag()));
  }
  double n = ratio.real();
  if (std::isnan(n)) throw ValueError("[arange] the length cannot be computed" + got());
  if (n == 0 && apart) n = std::signbit(n) ? 0 : 1;  // the quotient underflowed
  n = std::ceil(n);
  if (n >= 0x1p63) throw ValueError("[arange] more elements than an array may have" + got());
  return n <= 0 ? 0 : static_cast<std::int64_t>(n);
}

/// x, y, x + 2 (y - x), … in the arithmetic of T.
template <class T>
array ramp_in(std::int64_t n, T x, T y) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
  auto number = [](T v) { return scalar(Wide(v)); };
  const T delta = y - x;
  array i = graph::iota({n}, {1}, 0);
  array r = add(multiply(graph::cast(i, dtype_of<T>), number(delta)), number(x));
  // The first two elements are stored, not computed: they differ where a sum rounds or nothing is finite.
  if (x + delta != y && y == y) r = where(equal(i, 1), number(y), r);
  if (!std::isfinite(std::abs(delta))) r = where(equal(i, 0), number(x), r);
  return r;
}

/// An element of dtype t as a T.
template <class T>
T read(DType t, const void* bits) {
  T v;
  if (dtype_of<T> == t)
    std::memcpy(&v, bits, sizeof v);
  else
    v = graph::fill({}, t, bits).item<T>();
  return v;
}

/// The ramp in dtype t whose first two elements are the numbers: as NumPy, the difference is taken of what the dtype
/// holds.
array ramp(std::int64_t n, const scalar& start, const scalar& next, DType t) {
  alignas(16) std::byte first[16], second[16];
  start.store(t, first);
  if (n <= 1) return graph::fill({n}, t, first);
  next.store(t, second);
  const auto in = [&]<class T>(std::type_identity<T>) { return ramp_in(n, read<T>(t, first), read<T>(t, second)); };
  if (t == DType::float16) return graph::cast(in(std::type_identity<float>()), t);
  if (is_inexact(t)) return visit_floating(t, in, [] { return array(); });
  const auto x = static_cast<std::uint64_t>(read<std::int64_t>(t, first));
  const auto y = static_cast<std::uint64_t>(read<std::int64_t>(t, second));
  array r = graph::iota({n}, {static_cast<std::int64_t>(y - x)}, static_cast<std::int64_t>(x));
  return t == DType::int64 ? r : graph::cast(r, t);
}

}  // namespace

array empty(const Dims& shape, DType t, Order order) {
  graph::Lock lock;
  check_size("empty", shape, t);
  if (order == Order::C) return graph::make_empty(shape, t);
  const api::Layout layout(shape, order);
  return layout.view(graph::make_empty(layout.allocated(), t));
}

array zeros(const Dims& shape, DType t, Order order) { return filled("zeros", shape, 0, t, order); }
array ones(const Dims& shape, DType t, Order order) { return filled("ones", shape, 1, t, order); }
array full(const Dims& shape, const arg& value, std::optional<DType> t, Order order) {
  graph::Lock lock;
  return filled_with("full", shape, value, t, order);
}

array empty_like(const array& a, std::optional<DType> t, Order order, std::optional<Dims> shape) {
  graph::Lock lock;
  const Dims& d = shape ? *shape : a.shape();
  const DType to = t.value_or(a.dtype());
  check_size("empty_like", d, to);
  const api::Layout layout(d, order, &a);
  return layout.view(graph::make_empty(layout.allocated(), to));
}

array zeros_like(const array& a, std::optional<DType> t, Order order, std::optional<Dims> shape) {
  const Dims& d = shape ? *shape : a.shape();
  return filled("zeros_like", d, 0, t.value_or(a.dtype()), order, &a);
}
array ones_like(const array& a, std::optional<DType> t, Order order, std::optional<Dims> shape) {
  const Dims& d = shape ? *shape : a.shape();
  return filled("ones_like", d, 1, t.value_or(a.dtype()), order, &a);
}
array full_like(const array& a, const arg& value, std::optional<DType> t, Order order, std::optional<Dims> shape) {
  graph::Lock lock;
  const Dims& d = shape ? *shape : a.shape();
  return filled_with("full_like", d, value, t.value_or(a.dtype()), order, &a);
}

array arange(scalar start, scalar stop, scalar step, std::optional<DType> t) {
  graph::Lock lock;
  DType own = DType::int64;
  for (const scalar& v : {start, stop, step}) own = promote_types(own, v.dtype());
  DType to = t.value_or(own);
  std::int64_t n = arange_length(start, stop, step);
  if (to == DType::bool_ && n > 2)
    throw TypeError("[arange] at most two elements of dtype bool; got " + std::to_string(n));
  check_size("arange", {n}, to);
  scalar next = start.number() + step.number();
  if (is_whole(start) && is_whole(step)) {
    Int sum = whole(start) + whole(step);
    if (sum == static_cast<std::int64_t>(sum))
      next = static_cast<std::int64_t>(sum);
    else if (sum == static_cast<std::uint64_t>(sum))
      next = static_cast<std::uint64_t>(sum);
    else
      next = static_cast<double>(sum);
  } else if (next.number().imag() == 0 && start.kind() != 'c' && step.kind() != 'c') {
    next = next.number().real();
  }
  if (n == 0) return graph::make_empty({0}, to);
  return ramp(n, start, next, to);
}

array linspace(const arg& start, const arg& stop, std::int64_t num, bool endpoint, std::optional<DType> t, int axis) {
  graph::Lock lock;
  if (axis != 0) return moveaxis(linspace(start, stop, num, endpoint, t), {0}, {axis});
  if (num < 0) throw ValueError("[linspace] the number of samples must not be negative; got " + std::to_string(num));
  const std::int64_t parts = endpoint ? num - 1 : num;
  const bool numbers = !start.is_array() && !stop.is_array();

  // The dtype of the computation: of the operands, inexact.
  DType own = DType::bool_;
  for (const arg* v : {&start, &stop})
    if (v->is_array()) own = promote_types(own, v->as_array().dtype());
  for (const arg* v : {&start, &stop}) {
    if (v->is_array()) continue;
    DType weak = v->as_scalar().dtype();
    if (is_complex(weak) && !is_complex(own)) own = is_inexact(own) ? promote_types(own, DType::complex64) : weak;
    if (!is_inexact(own)) own = promote_types(own, weak);
  }
  if (!is_inexact(own)) own = DType::float64;

  auto in_dtype = [&](const arg& v) {
    array a = v.is_array() ? v.as_array() : api::fill_with({}, v.as_scalar(), own);
    return a.dtype() == own ? a : graph::cast(a, own);
  };
  array first = in_dtype(start), last = in_dtype(stop);
  const Dims* shapes[] = {&first.shape(), &last.shape()};
  Dims shape = broadcast("linspace", shapes);
  Dims column(shape.size() + 1, 1), weights(shape.size() + 1, 0);
  column[0] = num;
  weights[0] = 1;
  shape.insert(0, num);
  check_size("linspace", shape, own);
  array i = graph::iota(column, weights, 0);
  array y = graph::cast(i, own);

  if (numbers) {
    // Numbers stay numbers, so that one pass of the kernel needs no other array.
    scalar from = start.as_scalar(), to = stop.as_scalar();
    std::complex<double> distance = to.number() - from.number();
    auto exact = [&](std::complex<double> v) { return is_complex(own) ? scalar(v) : scalar(v.real()); };
    // NumPy divides a complex number by multiplying with the reciprocal.
    auto divisor = static_cast<double>(parts);
    std::complex<double> step = is_complex(own) ? distance * (1.0 / divisor) : distance.real() / divisor;
    if (parts <= 0)
      y = multiply(y, exact(distance));
    else if (step == 0.0)
      y = multiply(divide(y, divisor), exact(distance));
    else
      y = multiply(y, exact(step));
    y = add(y, exact(from.number()));
    if (endpoint && num > 1) y = where(equal(i, num - 1), exact(to.number()), y);
  } else {
    array distance = subtract(last, first);
    if (parts > 0) {
      array step = divide(distance, parts);
      if (any(equal(step, 0)).item<bool>())
        y = multiply(divide(y, parts), distance);
      else
        y = multiply(y, step);
    } else {
      y = multiply(y, distance);
    }
    y = add(y, first);
    if (endpoint && num > 1) y = where(equal(i, num - 1), last, y);
  }
  DType to = t.value_or(own);
  if (is_integer(to) && !is_complex(own)) y = floor(y);
  return to == y.dtype() ? y : graph::cast(y, to);
}

array logspace(const arg& start, const arg& stop, std::int64_t num, bool endpoint, const arg& base,
               std::optional<DType> t, int axis) {
  graph::Lock lock;
  array y = linspace(start, stop, num, endpoint);
  if (base.is_array()) {  // the base's axes stand beside those of the ends, behind the numbers'
    Dims shape = y.shape();
    while (shape.size() <= base.as_array().ndim()) shape.insert(1, 1);
    y = y.reshape(shape);
  }
  y = power(base, y);
  if (t && *t != y.dtype()) y = graph::cast(y, *t);
  return axis == 0 ? y : moveaxis(y, {0}, {axis});
}

array eye(std::int64_t n, std::int64_t m, std::int64_t k, DType t, Order order) {
  graph::Lock lock;
  Dims shape{n, m == -1 ? n : m};
  check_size("eye", shape, t);
  array diagonal = equal(graph::iota(shape, {-1, 1}, 0), k);
  const array r = t == DType::bool_ ? diagonal : graph::cast(diagonal, t);
  return order == Order::F ? r.copy(order) : r;
}

std::vector<array> meshgrid(array_list axes, bool matrix_indexing, bool sparse, bool copy) {
  graph::Lock lock;
  const int n = static_cast<int>(axes.size());
  auto place = [&](int i) { return !matrix_indexing && n > 1 && i < 2 ? 1 - i : i; };
  std::vector<array> columns;
  Dims shape(n, 1);
  for (int i = 0; i < n; ++i) {
    Dims column(n, 1);
    column[place(i)] = shape[place(i)] = axes[static_cast<std::size_t>(i)].size();
    columns.push_back(axes[static_cast<std::size_t>(i)].reshape(column));
  }
  for (array& c : columns) {
    if (!sparse && copy) check_size("meshgrid", shape, c.dtype());
    if (!sparse) c = api::stretched("meshgrid", c, shape);
    if (copy) c = api::c_order_copy(c);
  }
  return columns;
}

}  // namespace galop
