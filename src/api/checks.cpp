// Small steps that many functions of the API begin with.
#include "api/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/view.hpp"
#include "graph/build.hpp"

namespace galop::api {

int normalize_axis(std::string_view op, std::int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    throw AxisError("[" + std::string(op) + "] axis out of bounds for " + std::to_string(ndim) +
                    " dimensions; got axis " + std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

Dims normalize_axes(std::string_view op, const Dims& axes, int ndim) {
  Dims r;
  for (std::int64_t axis : axes) {
    int a = normalize_axis(op, axis, ndim);
    if (std::find(r.begin(), r.end(), a) != r.end())
      throw ValueError("[" + std::string(op) + "] repeated axis; got axes " + to_string(axes));
    r.push_back(a);
  }
  return r;
}

array given(std::string_view op, const array* out, const array& result, Casting casting) {
  if (!out) return result;
  if (!(out->shape() == result.shape()))
    throw ValueError("[" + std::string(op) + "] out must have shape " + to_string(result.shape()) + "; got " +
                     to_string(out->shape()));
  if (!can_cast(result.dtype(), out->dtype(), casting))
    throw TypeError("[" + std::string(op) + "] out is not allowed by casting='" + std::string(name(casting)) +
                    "'; got " + std::string(name(result.dtype())) + " to " + std::string(name(out->dtype())));
  require_writeable(op, *out);
  out->assign(result);
  return *out;
}

void require_writeable(std::string_view op, const array& a) {
  if (!a.writeable())
    throw ValueError("[" + std::string(op) + "] assignment destination is read-only; got shape " +
                     to_string(a.shape()) + ", dtype " + std::string(name(a.dtype())));
}

array as_array(const arg& v) { return v.is_array() ? v.as_array() : array(v.as_scalar()); }

array fill_with(const Dims& shape, const scalar& v, DType t) {
  alignas(16) std::byte bits[16] = {};
  v.store(t, bits);
  return graph::fill(shape, t, bits);
}

void note_number(const scalar& v, DType t) {
  if (t != DType::float16 && t != DType::float32) return;
  const double x = std::abs(v.number().real()), largest = t == DType::float16 ? 65519.0 : 0x1.fffffefffffffp127;
  if (x > largest && x <= std::numeric_limits<double>::max()) graph::note_faults("cast", faults::kOverflow);
}

array c_order_copy(const array& a) {
  // Writing all of a fill replaces it: the fill itself is never computed, and the copy waits.
  array r = fill_with(a.shape(), false, a.dtype());
  graph::assign(r, a);
  return r;
}

array stretched(std::string_view op, const array& a, const Dims& shape) {
  if (a.shape() == shape) return a;
  array r = a.with_view(broadcast_view(op, a.view(), shape));
  r.set_writeable(false);
  return r;
}

}  // namespace galop::api
