// Rounding, comparison of whole arrays, differences, averages and running folds for the Python package.
#include "galop/math.hpp"

#include "binding.hpp"
#include "galop/create.hpp"

namespace galop::python {

namespace {

/// f(array…) of the arguments, or f(array…, out) where there is a place to write to.
template <class F>
nb::object into(nb::handle out, F&& f) {
  Output o;
  o.take(out.ptr());
  return nb::steal(o.give(f(o.get())));
}

nb::object is_close(nb::handle a, nb::handle b, nb::handle rtol, nb::handle atol, bool equal_nan, bool all) {
  Operand relative, absolute;
  relative.take(rtol.ptr());
  absolute.take(atol.ptr());
  const array x = as_array(a.ptr()), y = as_array(b.ptr());
  if (all) return nb::bool_(allclose(x, y, relative.arg(), absolute.arg(), equal_nan));
  return wrap_object(isclose(x, y, relative.arg(), absolute.arg(), equal_nan));
}

/// f() of arguments that NumPy's array_equal and array_equiv convert; false where they are no arrays.
template <class F>
bool equal_or_not(nb::handle a, nb::handle b, F&& f) {
  try {
    return f(as_array(a.ptr()), as_array(b.ptr()));
  } catch (const ValueError&) {
  } catch (const TypeError&) {
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
  }
  return false;
}

nb::object repaired(nb::handle a_, bool copy, nb::handle nan, nb::handle posinf, nb::handle neginf) {
  const array a = as_array(a_.ptr());
  Operand invalid, high, low;
  invalid.take(nan.ptr());
  std::optional<arg> above, below;
  if (!posinf.is_none()) {
    high.take(posinf.ptr());
    above.emplace(high.arg());
  }
  if (!neginf.is_none()) {
    low.take(neginf.ptr());
    below.emplace(low.arg());
  }
  array r = nan_to_num(a, invalid.arg(), above, below, copy);
  return !copy && is_array(a_.ptr()) ? nb::borrow(a_) : wrap_object(std::move(r));
}

nb::object differences(nb::handle a, int n, nb::handle axis, nb::handle prepend, nb::handle append) {
  std::optional<array> before, after;
  if (!prepend.is_none()) before.emplace(as_array(prepend.ptr()));
  if (!append.is_none()) after.emplace(as_array(append.ptr()));
  return wrap_object(
      diff(as_array(a.ptr()), n, to_int(axis.ptr(), "axis"), before ? &*before : nullptr, after ? &*after : nullptr));
}

nb::object integral(nb::handle y_, nb::handle x, nb::handle dx, nb::handle axis) {
  const array y = as_array(y_.ptr());
  const int k = to_int(axis.ptr(), "axis");
  if (!x.is_none()) return wrap_object(trapezoid(y, as_array(x.ptr()), k));
  Operand steps;
  steps.take(dx.ptr(), y.dtype());
  return wrap_object(trapezoid_over(y, steps.arg(), k));
}

void bind_elementwise(nb::module_& m) {
  const auto any = nb::arg().none();
  m.def(
      "round",
      [](nb::handle a, nb::handle decimals, nb::handle out) {
        const int n = to_int(decimals.ptr(), "decimals");
        return into(out, [&](const array* to) { return round(as_array(a.ptr()), n, to); });
      },
      nb::arg(), nb::arg(), any);
  m.def("isclose", [](nb::handle a, nb::handle b, nb::handle rtol, nb::handle atol, bool equal_nan) {
    return is_close(a, b, rtol, atol, equal_nan, false);
  });
  m.def("allclose", [](nb::handle a, nb::handle b, nb::handle rtol, nb::handle atol, bool equal_nan) {
    return is_close(a, b, rtol, atol, equal_nan, true);
  });
  m.def(
      "array_equal",
      [](nb::handle a, nb::handle b, bool equal_nan) {
        return equal_or_not(a, b, [&](const array& x, const array& y) { return array_equal(x, y, equal_nan); });
      },
      any, any, nb::arg());
  m.def(
      "array_equiv", [](nb::handle a, nb::handle b) { return equal_or_not(a, b, &array_equiv); }, any, any);
  m.def("angle", [](nb::handle z, bool deg) { return wrap_object(angle(as_array(z.ptr()), deg)); });
  using One = array (*)(const array&);
  for (auto [name, f] : {std::pair<const char*, One>{"iscomplex", &iscomplex}, {"isreal", &isreal}, {"sinc", &sinc}})
    m.def(name, [f = f](nb::handle x) { return wrap_object(f(as_array(x.ptr()))); });
  using IntoOut = array (*)(const array&, const array*);
  for (auto [name, f] : {std::pair<const char*, IntoOut>{"isposinf", &isposinf}, {"isneginf", &isneginf}})
    m.def(
        name,
        [f = f](nb::handle x, nb::handle out) {
          return into(out, [&](const array* to) { return f(as_array(x.ptr()), to); });
        },
        nb::arg(), any);
  m.def("nan_to_num", &repaired, nb::arg(), nb::arg(), nb::arg(), any, any);
  m.def("diff", &differences, nb::arg(), nb::arg(), nb::arg(), any, any);
  m.def("trapezoid", &integral, nb::arg(), any, nb::arg(), nb::arg());
  m.def("cross", [](nb::handle a, nb::handle b, nb::handle i, nb::handle j, nb::handle k) {
    return wrap_object(cross(as_array(a.ptr()), as_array(b.ptr()), to_int(i.ptr(), "axisa"), to_int(j.ptr(), "axisb"),
                             to_int(k.ptr(), "axisc")));
  });
}

// Statistics ----------------------------------------------------------------------------------------------------------

nb::object weighted(nb::handle a_, nb::handle axis, nb::handle weights, bool returned, bool keepdims) {
  const array a = as_array(a_.ptr());
  const axes along = to_optional_dims(axis, "axis");
  std::optional<array> w;
  if (!weights.is_none())
    w.emplace(as_array(weights.ptr()));
  else
    look_before({Slices::mean}, a, {.axis = along});
  if (!w && !returned) return wrap_object(mean(a, {.axis = along, .keepdims = keepdims}));
  auto [average, total] = average_and_sum(a, w ? &*w : nullptr, along, keepdims);
  if (!returned) return wrap_object(std::move(average));
  return nb::make_tuple(wrap_object(std::move(average)), wrap_object(std::move(total)));
}

void bind_statistics(nb::module_& m) {
  const auto any = nb::arg().none();
  m.def(
      "ptp",
      [](nb::handle a, nb::handle axis, nb::handle out, bool keepdims) {
        const axes along = to_optional_dims(axis, "axis");
        return into(out, [&](const array* to) { return ptp(as_array(a.ptr()), along, keepdims, to); });
      },
      nb::arg(), any, any, nb::arg());
  m.def("average", &weighted, nb::arg(), any, any, nb::arg(), nb::arg());
  using Running = array (*)(const array&, std::optional<int>, std::optional<DType>, const array*);
  for (auto [name, f] : {std::pair<const char*, Running>{"cumsum", &cumsum}, {"cumprod", &cumprod}})
    m.def(
        name,
        [f = f](nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out) {
          const std::optional<int> k = to_optional_int(axis, "axis");
          return into(out, [&](const array* to) {
            const array x = as_array(a.ptr());
            const std::optional<DType> t = to_optional_dtype(dtype);
            look_at_fold(x, t, to);
            return f(x, k, t, to);
          });
        },
        nb::arg(), any, any, any);
  using Cumulative = array (*)(const array&, std::optional<int>, std::optional<DType>, bool, const array*);
  for (auto [name, f] :
       {std::pair<const char*, Cumulative>{"cumulative_sum", &cumulative_sum}, {"cumulative_prod", &cumulative_prod}})
    m.def(
        name,
        [f = f](nb::handle x, nb::handle axis, nb::handle dtype, nb::handle out, bool include_initial) {
          const std::optional<int> k = to_optional_int(axis, "axis");
          return into(out, [&](const array* to) {
            return f(as_array(x.ptr()), k, to_optional_dtype(dtype), include_initial, to);
          });
        },
        nb::arg(), any, any, any, nb::arg());
  m.def(
      "trace",
      [](nb::handle a, std::int64_t offset, nb::handle i, nb::handle j, nb::handle dtype, nb::handle out) {
        return into(out, [&](const array* to) {
          const array x = as_array(a.ptr());
          const std::optional<DType> t = to_optional_dtype(dtype);
          look_at_fold(x, t, to);
          return trace(x, offset, to_int(i.ptr(), "axis1"), to_int(j.ptr(), "axis2"), t, to);
        });
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), any, any);
}

}  // namespace

void bind_math(nb::module_& m) {
  bind_elementwise(m);
  bind_statistics(m);
}

}  // namespace galop::python
