// Functions made of element-wise operations: lazy, so that each is one pass with what surrounds it.
#include "galop/math.hpp"

#include <cmath>
#include <numbers>

#include "api/checks.hpp"
#include "api/places.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "galop/reduce.hpp"

namespace galop {
namespace {

using api::at_axis;

// The greatest finite number of an inexact dtype's parts.
double greatest(DType t) {
  switch (real_dtype(t)) {
    case DType::float16:
      return 65504.0;
    case DType::float32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

array both_nan(const array& a, const array& b) { return isnan(a) & isnan(b); }

}  // namespace

array round(const array& a, int decimals, const array* out) {
  if (!is_inexact(a.dtype())) {
    if (decimals >= 0) return api::given("round", out, a.dtype() == DType::bool_ ? a.astype(DType::float16) : a.copy());
    const double scale = std::pow(10.0, -decimals);
    return api::given("round", out, (rint(a / scale) * scale).astype(a.dtype()));
  }
  if (decimals == 0) return rint(a, {.out = {out}});
  const double scale = std::pow(10.0, std::abs(decimals));
  return decimals > 0 ? divide(rint(a * scale), scale, {.out = {out}})
                      : multiply(rint(a / scale), scale, {.out = {out}});
}

array fix(const array& a) { return trunc(a); }

array isclose(const array& a, const array& b, const arg& rtol, const arg& atol, bool equal_nan) {
  const array y = is_inexact(b.dtype()) ? b : b.astype(DType::float64);
  const array inside = (absolute(a - y) <= atol + rtol * absolute(y)) & isfinite(y);
  const array near = inside | (a == y);
  return equal_nan ? near | both_nan(a, y) : near;
}

bool allclose(const array& a, const array& b, const arg& rtol, const arg& atol, bool equal_nan) {
  return all(isclose(a, b, rtol, atol, equal_nan)).item<bool>();
}

bool array_equal(const array& a, const array& b, bool equal_nan) {
  if (!(a.shape() == b.shape())) return false;
  array same = a == b;
  if (equal_nan && is_inexact(a.dtype()) && is_inexact(b.dtype())) same = same | both_nan(a, b);
  return all(same).item<bool>();
}

bool array_equiv(const array& a, const array& b) {
  try {
    return all(a == b).item<bool>();
  } catch (const ValueError&) {  // shapes that do not broadcast
    return false;
  }
}

array angle(const array& z, bool deg) {
  const array a = arctan2(z.imag(), z.real());
  return deg ? degrees(a) : a;
}

array iscomplex(const array& a) { return is_complex(a.dtype()) ? a.imag() != 0 : full(a.shape(), false); }
array isreal(const array& a) { return is_complex(a.dtype()) ? a.imag() == 0 : full(a.shape(), true); }
array isposinf(const array& a, const array* out) { return logical_and(isinf(a), a > 0, {.out = {out}}); }
array isneginf(const array& a, const array* out) { return logical_and(isinf(a), a < 0, {.out = {out}}); }

array nan_to_num(const array& a, const arg& nan, const std::optional<arg>& posinf, const std::optional<arg>& neginf,
                 bool copy) {
  array r = copy ? a.copy() : a;
  if (!is_inexact(a.dtype())) return r;
  const arg high = posinf.value_or(greatest(a.dtype())), low = neginf.value_or(-greatest(a.dtype()));
  const auto repair = [&](const array& part) {
    const array invalid = isnan(part), above = isposinf(part), below = isneginf(part);
    copyto(part, nan, &invalid);
    copyto(part, high, &above);
    copyto(part, low, &below);
  };
  repair(r.real());
  if (is_complex(a.dtype())) repair(r.imag());
  return r;
}

array diff(const array& a, int n, int axis, const array* prepend, const array* append) {
  if (n < 0) throw ValueError("[diff] order must be non-negative; got " + std::to_string(n));
  if (a.ndim() == 0) throw ValueError("[diff] input must have at least one axis; got a 0-d array");
  axis = api::normalize_axis("diff", axis, a.ndim());
  if (n == 0) return a;
  array r = a;
  if (prepend || append) {
    Dims edge = a.shape();
    edge[axis] = 1;
    const auto grown = [&](const array& part) { return part.ndim() == 0 ? broadcast_to(part, edge) : part; };
    std::vector<array> parts;
    if (prepend) parts.push_back(grown(*prepend));
    parts.push_back(a);
    if (append) parts.push_back(grown(*append));
    r = concatenate(parts, axis);
  }
  for (int i = 0; i < n; ++i) {
    const array after = at_axis(r, axis, slice(1, none)), before = at_axis(r, axis, slice(none, -1));
    r = r.dtype() == DType::bool_ ? not_equal(after, before) : after - before;
  }
  return r;
}

array trapezoid_over(const array& y, const arg& steps, int axis) {
  axis = api::normalize_axis("trapezoid", axis, y.ndim());
  const array pairs = at_axis(y, axis, slice(1, none)) + at_axis(y, axis, slice(none, -1));
  return sum(steps * pairs / 2.0, {.axis = axis});
}

array trapezoid(const array& y, double dx, int axis) { return trapezoid_over(y, dx, axis); }

array trapezoid(const array& y, const array& x, int axis) {
  axis = api::normalize_axis("trapezoid", axis, y.ndim());
  if (x.ndim() > 1) return trapezoid_over(y, diff(x, 1, axis), axis);
  return trapezoid_over(y, diff(x).reshape(api::only_axis(axis, y.ndim())), axis);
}

array sinc(const array& x) {
  const array y = std::numbers::pi * where(x == 0, 1.0e-20, x);
  return sin(y) / y;
}

array cross(const array& a, const array& b, int axisa, int axisb, int axisc) {
  const array x = moveaxis(a, {axisa}, {-1}), y = moveaxis(b, {axisb}, {-1});
  if (x.shape().back() != 3 || y.shape().back() != 3)
    throw ValueError("[cross] vectors must have 3 elements; got shapes " + to_string(a.shape()) + " and " +
                     to_string(b.shape()));
  const auto p = [&](int i) { return x(ellipsis, i); };
  const auto q = [&](int i) { return y(ellipsis, i); };
  const array r = stack({p(1) * q(2) - p(2) * q(1), p(2) * q(0) - p(0) * q(2), p(0) * q(1) - p(1) * q(0)}, -1);
  return moveaxis(r, {-1}, {axisc});
}

}  // namespace galop
