// The functions behind the Python package: reductions, products, evaluation.
#include "binding.hpp"
#include "galop/create.hpp"
#include "galop/linalg.hpp"

namespace galop::python {

namespace {

// Reductions ----------------------------------------------------------------------------------------------------------

using Fold = array (*)(const array&, const reduce_options&);

/// The function, and the method of `type` if there is one.
void bind_fold(nb::module_& m, nb::handle type, const char* name, Fold fold) {
  const auto none = nb::none();
  const std::string_view n = name;
  const bool truth = n == "any" || n == "all" || n == "count_nonzero";  // what they fold is not complex
  const Slices slices{n.ends_with("mean")              ? Slices::mean
                      : n == "nanmin" || n == "nanmax" ? Slices::extreme
                                                       : Slices::other,
                      n.starts_with("nan")};
  auto f = [fold, truth, slices](nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, nb::handle keepdims,
                                 nb::handle initial, nb::handle where) {
    Reduction r(axis, dtype, out, keepdims, initial, where);
    const array x = as_array(a.ptr());
    if (!truth) look_at_fold(x, r.options.dtype, r.out.get());
    if (slices.fold == Slices::other) return nb::steal(r.out.give(fold(x, r.options)));
    look_before(slices, x, r.options);
    array result = fold(x, r.options);
    look_after(slices, x, result, r.options);
    return nb::steal(r.out.give(std::move(result)));
  };
  m.def(name, f, nb::arg("a"), nb::arg("axis") = none, nb::arg("dtype") = none, nb::arg("out") = none,
        nb::arg("keepdims") = false, nb::arg("initial") = none, nb::arg("where") = true);
  if (!type.is_valid()) return;
  if (n == "sum" || n == "prod" || n == "mean") {
    nb::cpp_function_def(f, nb::scope(type), nb::name(name), nb::is_method(), nb::arg("axis") = none,
                         nb::arg("dtype") = none, nb::arg("out") = none, nb::arg("keepdims") = false,
                         nb::arg("initial") = none, nb::arg("where") = true);
  } else if (n != "count_nonzero") {  // no dtype in NumPy's methods min, max, any and all
    auto g = [f](nb::handle a, nb::handle axis, nb::handle out, nb::handle keepdims, nb::handle initial,
                 nb::handle where) { return f(a, axis, nb::handle(Py_None), out, keepdims, initial, where); };
    nb::cpp_function_def(g, nb::scope(type), nb::name(name), nb::is_method(), nb::arg("axis") = none,
                         nb::arg("out") = none, nb::arg("keepdims") = false, nb::arg("initial") = none,
                         nb::arg("where") = true);
  }
}

using Spread = array (*)(const array&, const reduce_options&, double);

void bind_spread(nb::module_& m, nb::handle type, const char* name, Spread spread) {
  const auto none = nb::none();
  const Slices slices{Slices::spread, std::string_view(name).starts_with("nan")};
  auto f = [spread, slices](nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, double ddof,
                            nb::handle keepdims, nb::handle where, nb::handle correction) {
    Reduction r(axis, dtype, out, keepdims, nb::none(), where);
    double n = correction.is_none() ? ddof : nb::cast<double>(correction);
    const array x = as_array(a.ptr());
    look_at_fold(x, r.options.dtype, nullptr);
    look_before(slices, x, r.options, n);
    array result = spread(x, r.options, n);
    look_after(slices, x, result, r.options, n);
    return nb::steal(r.out.give(std::move(result)));
  };
  m.def(name, f, nb::arg("a"), nb::arg("axis") = none, nb::arg("dtype") = none, nb::arg("out") = none,
        nb::arg("ddof") = 0.0, nb::arg("keepdims") = false, nb::arg("where") = true, nb::arg("correction") = none);
  if (!type.is_valid()) return;
  nb::cpp_function_def(f, nb::scope(type), nb::name(name), nb::is_method(), nb::arg("axis") = none,
                       nb::arg("dtype") = none, nb::arg("out") = none, nb::arg("ddof") = 0.0,
                       nb::arg("keepdims") = false, nb::arg("where") = true, nb::arg("correction") = none);
}

using Search = array (*)(const array&, std::optional<int>, bool);

void bind_search(nb::module_& m, nb::handle type, const char* name, Search search) {
  const auto none = nb::none();
  auto f = [search](nb::handle a_, nb::handle axis, nb::handle out, bool keepdims) {
    array a = as_array(a_.ptr());
    Output o;
    o.take(out.ptr());
    std::optional<int> along = to_optional_int(axis, "axis");
    array r = search(a, along, keepdims);
    if (o.get()) {
      if (o.get()->shape() != r.shape())
        throw ValueError("[argmin] out must have shape " + to_string(r.shape()) + "; got " +
                         to_string(o.get()->shape()));
      o.get()->assign(r);
    }
    return nb::steal(o.give(std::move(r)));
  };
  m.def(name, f, nb::arg("a"), nb::arg("axis") = none, nb::arg("out") = none, nb::arg("keepdims") = false);
  nb::cpp_function_def(f, nb::scope(type), nb::name(name), nb::is_method(), nb::arg("axis") = none,
                       nb::arg("out") = none, nb::arg("keepdims") = false);
}

void bind_reductions(nb::module_& m) {
  nb::object type = m.attr("ndarray");
  bind_fold(m, type, "sum", &sum);
  bind_fold(m, type, "prod", &prod);
  bind_fold(m, type, "min", &min);
  bind_fold(m, type, "max", &max);
  bind_fold(m, type, "any", &any);
  bind_fold(m, type, "all", [](const array& a, const reduce_options& o) { return all(a, o); });
  bind_fold(m, type, "mean", &mean);
  bind_fold(m, type, "count_nonzero", &count_nonzero);
  bind_spread(m, type, "var", &var);
  bind_spread(m, type, "std", &std_);
  bind_search(m, type, "argmin", &argmin);
  bind_search(m, type, "argmax", &argmax);
  const std::pair<const char*, Fold> without_nan[] = {
      {"nansum", &nansum}, {"nanprod", &nanprod}, {"nanmin", &nanmin}, {"nanmax", &nanmax}, {"nanmean", &nanmean}};
  for (const auto& [name, f] : without_nan) bind_fold(m, {}, name, f);
  bind_spread(m, {}, "nanvar", &nanvar);
  bind_spread(m, {}, "nanstd", &nanstd);
}

// Products ------------------------------------------------------------------------------------------------------------

template <class F>
nb::object product(nb::handle a, nb::handle b, F&& f) {
  array x = as_array(a.ptr()), y = as_array(b.ptr());
  return wrap_object(without_gil(x.size() + y.size(), [&] { return f(x, y); }));
}

template <class F>
nb::object product_into(nb::handle a, nb::handle b, nb::handle out, F&& f) {
  Output o;
  o.take(out.ptr());
  array x = as_array(a.ptr()), y = as_array(b.ptr());
  std::optional<array> target;
  if (o.get()) target.emplace(*o.get());
  array r = without_gil(x.size() + y.size(), [&] { return f(x, y, target ? &*target : nullptr); });
  return nb::steal(o.give(std::move(r)));
}

void bind_products(nb::module_& m) {
  const auto none = nb::none();
  using WithOut = array (*)(const array&, const array&, const array*);
  m.def("swap_precision", [](const char* name) {
    const Precision before = precision();
    set_precision(parse_precision(name));
    return before == Precision::full ? "full" : "tf32";
  });
  const std::pair<const char*, WithOut> with_out[] = {
      {"matmul", &matmul}, {"dot", &dot}, {"matvec", &matvec}, {"vecmat", &vecmat}, {"outer", &outer}};
  for (const auto& [name, f] : with_out)
    m.def(
        name, [f = f](nb::handle a, nb::handle b, nb::handle out) { return product_into(a, b, out, f); }, nb::arg("a"),
        nb::arg("b"), nb::arg("out") = none);
  m.def(
      "vecdot",
      [](nb::handle a, nb::handle b, nb::handle axis, nb::handle out) {
        const int k = to_int(axis.ptr(), "axis");
        return product_into(a, b, out,
                            [k](const array& x, const array& y, const array* to) { return vecdot(x, y, k, to); });
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("vdot", [](nb::handle a, nb::handle b) { return product(a, b, &vdot); });
  m.def("inner", [](nb::handle a, nb::handle b) { return product(a, b, &inner); });
  m.def(
      "tensordot",
      [](nb::handle a, nb::handle b, nb::handle of_a, nb::handle of_b) {
        if (of_b.is_none())
          return product(
              a, b, [n = to_int(of_a.ptr(), "axes")](const array& x, const array& y) { return tensordot(x, y, n); });
        Dims i = to_dims(of_a.ptr(), "axes"), j = to_dims(of_b.ptr(), "axes");
        return product(a, b, [&](const array& x, const array& y) { return tensordot(x, y, i, j); });
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

// Evaluation ----------------------------------------------------------------------------------------------------------

void collect(nb::handle o, std::vector<array>& to) {
  if (is_array(o.ptr())) return to.push_back(get(o.ptr()));
  if (!PyList_Check(o.ptr()) && !PyTuple_Check(o.ptr())) return;
  for (nb::handle x : nb::borrow<nb::iterable>(o)) collect(x, to);
}

/// Evaluates all arrays among the arguments, also in lists and tuples. What takes long gives the GIL up by itself.
void eval_all(nb::args args) {
  std::vector<array> arrays;
  collect(args, arrays);
  eval(std::span<const array>(arrays));
}

}  // namespace

void bind_functions(nb::module_& m) {
  bind_reductions(m);
  bind_products(m);
  m.def("eval", &eval_all);
  m.def("explain", [](nb::handle a) { return nb::str(explain(as_array(a.ptr())).c_str()); });
}

}  // namespace galop::python
