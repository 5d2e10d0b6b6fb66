// NumPy's warnings about what a call asks for, besides those of floating point: dropped imaginary parts, empty slices.
#include <limits>
#include <string>

#include "binding.hpp"
#include "core/op.hpp"
#include "galop/manipulate.hpp"

namespace galop::python {

namespace {

/// At the line of the user's code.
void warn(PyObject* category, const char* message) {
  if (PyErr_WarnEx(category, message, level_of_user()) < 0) rethrow();
}

constexpr const char* kNoMean = "Mean of empty slice";
constexpr const char* kNoFreedom = "Degrees of freedom <= 0 for slice";

/// How many elements go into one result. An axis that does not exist is left to the operation.
std::int64_t folded(const array& a, const reduce_options& o) {
  if (!o.axis) return a.size();
  std::int64_t n = 1;
  for (const std::int64_t k : *o.axis) {
    const std::int64_t i = k < 0 ? k + a.ndim() : k;
    if (i < 0 || i >= a.ndim()) return std::numeric_limits<std::int64_t>::max();
    n *= a.shape()[static_cast<int>(i)];
  }
  return n;
}

/// Whether so many elements or fewer went into some result.
bool some_have_at_most(double n, const array& a, const reduce_options& o, bool skips_nan) {
  array taken = skips_nan ? ~isnan(a) : broadcast_to(*o.where, a.shape());
  if (skips_nan && o.where) taken = taken & *o.where;
  return any(less_equal(count_nonzero(taken, {.axis = o.axis}), n)).item<bool>();
}

bool has_nan(const array& r) { return is_inexact(r.dtype()) && any(isnan(r)).item<bool>(); }

}  // namespace

void warn_of_dropped_parts() {
  static PyObject* const category = nb::object(numpy("exceptions").attr("ComplexWarning")).release().ptr();
  warn(category, "Casting complex values to real discards the imaginary part");
}

void look_at_call(Op op, bool complex, const ufunc_options& o) {
  if (o.casting != Casting::unsafe) return;
  if (o.dtype && complex && !is_complex(*o.dtype)) return look_at_cast(DType::complex128, *o.dtype);
  if (!(o.dtype ? is_complex(*o.dtype) : complex)) return;
  for (int k = 0; k < 2; ++k)
    if (o.out[k] && drops_parts(result_dtype(op, k, DType::complex128), o.out[k]->dtype()))
      return warn_of_dropped_parts();
}

void look_before(Slices s, const array& a, const reduce_options& o, double ddof) {
  if (o.where || (s.skips_nan && is_inexact(a.dtype()))) return;
  if (s.fold == Slices::mean ? folded(a, o) == 0
                             : s.fold == Slices::spread && static_cast<double>(folded(a, o)) <= ddof)
    warn(PyExc_RuntimeWarning, s.fold == Slices::mean ? kNoMean : kNoFreedom);
}

void look_after(Slices s, const array& a, const array& r, const reduce_options& o, double ddof) {
  const bool skips_nan = s.skips_nan && is_inexact(a.dtype());
  if (!skips_nan && !(o.where && s.fold != Slices::other)) return;
  if (s.fold == Slices::extreme) {
    if (has_nan(r)) warn(PyExc_RuntimeWarning, "All-NaN slice encountered");
  } else if (s.fold == Slices::mean) {
    if (has_nan(r) && some_have_at_most(0, a, o, skips_nan)) warn(PyExc_RuntimeWarning, kNoMean);
  } else if (!all(isfinite(r)).item<bool>() && some_have_at_most(ddof, a, o, skips_nan)) {
    warn(PyExc_RuntimeWarning, skips_nan ? (std::string(kNoFreedom) + ".").c_str() : kNoFreedom);
  }
}

}  // namespace galop::python
