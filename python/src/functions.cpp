// The functions behind the Python package: reductions, rearrangement, products, evaluation.
#include "binding.hpp"
#include "galop/create.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"

namespace galop::python {

namespace {

std::vector<array> to_arrays(nb::handle sequence) {
  PyObject* fast = PySequence_Fast(sequence.ptr(), "[arrays] expected a sequence of arrays");
  nb::object keep = nb::steal(checked(fast));
  std::vector<array> r;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
    r.push_back(as_array(PySequence_Fast_GET_ITEM(fast, i)));
  return r;
}

std::optional<int> to_optional_int(nb::handle o, const char* what) {
  if (o.is_none()) return {};
  return to_int(o.ptr(), what);
}

// Reductions ----------------------------------------------------------------------------------------------------------

using Fold = array (*)(const array&, const reduce_options&);

void bind_fold(nb::module_& m, nb::handle type, const char* name, Fold fold) {
  const auto none = nb::none();
  auto f = [fold](nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, nb::handle keepdims,
                  nb::handle initial, nb::handle where) {
    Reduction r(axis, dtype, out, keepdims, initial, where);
    return nb::steal(r.out.give(fold(as_array(a.ptr()), r.options)));
  };
  m.def(name, f, nb::arg("a"), nb::arg("axis") = none, nb::arg("dtype") = none, nb::arg("out") = none,
        nb::arg("keepdims") = false, nb::arg("initial") = none, nb::arg("where") = true);
  std::string_view n = name;
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
  auto f = [spread](nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, double ddof, nb::handle keepdims,
                    nb::handle where, nb::handle correction) {
    Reduction r(axis, dtype, out, keepdims, nb::none(), where);
    double n = correction.is_none() ? ddof : nb::cast<double>(correction);
    return nb::steal(r.out.give(spread(as_array(a.ptr()), r.options, n)));
  };
  m.def(name, f, nb::arg("a"), nb::arg("axis") = none, nb::arg("dtype") = none, nb::arg("out") = none,
        nb::arg("ddof") = 0.0, nb::arg("keepdims") = false, nb::arg("where") = true, nb::arg("correction") = none);
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
}

// Rearrangement -------------------------------------------------------------------------------------------------------

void copy_to(nb::handle dst_, nb::handle src_, nb::handle casting_, nb::handle where) {
  Output dst;
  dst.take(dst_.ptr());
  if (!dst.get())
    throw TypeError("[copyto] destination must be an array; got " + std::string(Py_TYPE(dst_.ptr())->tp_name));
  DType to = dst.get()->dtype();
  Operand src;
  src.take(src_.ptr(), to);
  Casting casting = to_casting(casting_);
  DType from = src.is_array() ? src.as_array().dtype() : src.arg().as_scalar().dtype();
  // A Python integer goes into any numeric dtype that holds it.
  bool weak_fits = !src.is_array() && (kind(to) == 'f' || kind(to) == 'c' || is_integer(to)) && kind(from) == 'i';
  if (!weak_fits && !can_cast(from, to, casting))
    throw TypeError(std::string("[copyto] not allowed by casting=") + nb::repr(casting_).c_str() + "; got " +
                    std::string(name(from)) + " to " + std::string(name(to)));
  std::optional<array> mask, cast;
  const array* m = to_mask(where, mask);
  if (src.is_array() && casting == Casting::unsafe && from != to) cast.emplace(src.as_array().astype(to));
  copyto(*dst.get(), cast ? arg(*cast) : src.arg(), m);
}

void bind_manipulation(nb::module_& m) {
  m.def("broadcast_to", [](nb::handle a, nb::handle shape) {
    return wrap_object(broadcast_to(as_array(a.ptr()), to_dims(shape.ptr(), "shape")));
  });
  m.def("broadcast_arrays", [](nb::handle arrays) { return wrap_all(broadcast_arrays(to_arrays(arrays))); });
  m.def("expand_dims", [](nb::handle a, nb::handle axes) {
    return wrap_object(expand_dims(as_array(a.ptr()), to_dims(axes.ptr(), "axis")));
  });
  m.def(
      "squeeze",
      [](nb::handle a, nb::handle axes) {
        return wrap_object(squeeze(as_array(a.ptr()), to_optional_dims(axes, "axis")));
      },
      nb::arg(), nb::arg().none());
  m.def("swapaxes", [](nb::handle a, nb::handle i, nb::handle j) {
    return wrap_object(swapaxes(as_array(a.ptr()), to_int(i.ptr(), "axis"), to_int(j.ptr(), "axis")));
  });
  m.def("moveaxis", [](nb::handle a, nb::handle from, nb::handle to) {
    return wrap_object(moveaxis(as_array(a.ptr()), to_dims(from.ptr(), "source"), to_dims(to.ptr(), "destination")));
  });
  m.def(
      "flip",
      [](nb::handle a, nb::handle axes) {
        return wrap_object(flip(as_array(a.ptr()), to_optional_dims(axes, "axis")));
      },
      nb::arg(), nb::arg().none());
  m.def(
      "concatenate",
      [](nb::handle arrays, nb::handle axis) {
        std::vector<array> all = to_arrays(arrays);
        return wrap_object(concatenate(all, to_optional_int(axis, "axis")));
      },
      nb::arg(), nb::arg().none());
  m.def("stack", [](nb::handle arrays, nb::handle axis) {
    std::vector<array> all = to_arrays(arrays);
    return wrap_object(stack(all, to_int(axis.ptr(), "axis")));
  });
  m.def("tile", [](nb::handle a, nb::handle times) {
    return wrap_object(tile(as_array(a.ptr()), to_dims(times.ptr(), "reps")));
  });
  m.def(
      "repeat",
      [](nb::handle a_, nb::handle times_, nb::handle axis) {
        const array a = as_array(a_.ptr()), times = as_array(times_.ptr());
        const std::optional<int> k = to_optional_int(axis, "axis");
        return wrap_object(without_gil(a.size(), [&] { return repeat(a, times, k); }));
      },
      nb::arg(), nb::arg(), nb::arg().none());
  m.def("rot90", [](nb::handle a, int k, int i, int j) { return wrap_object(rot90(as_array(a.ptr()), k, i, j)); });
  m.def("rollaxis", [](nb::handle a, nb::handle axis, nb::handle start) {
    return wrap_object(rollaxis(as_array(a.ptr()), to_int(axis.ptr(), "axis"), to_int(start.ptr(), "start")));
  });
  m.def("diagonal", [](nb::handle a, std::int64_t offset, nb::handle i, nb::handle j) {
    return wrap_object(diagonal(as_array(a.ptr()), offset, to_int(i.ptr(), "axis1"), to_int(j.ptr(), "axis2")));
  });
  m.def("take_along_axis", [](nb::handle a_, nb::handle indices_, nb::handle axis) {
    const array a = as_array(a_.ptr()), indices = as_array(indices_.ptr());
    const int k = to_int(axis.ptr(), "axis");
    return wrap_object(without_gil(indices.size(), [&] { return take_along_axis(a, indices, k); }));
  });
  m.def("argwhere", [](nb::handle a_) {
    const array a = as_array(a_.ptr());
    return wrap_object(without_gil(a.size(), [&] { return argwhere(a); }));
  });
  m.def("shares_memory",
        [](nb::handle a, nb::handle b) { return shares_memory(as_array(a.ptr()), as_array(b.ptr())); });
  m.def("may_share_memory",
        [](nb::handle a, nb::handle b) { return may_share_memory(as_array(a.ptr()), as_array(b.ptr())); });
  m.def("nonzero", [](nb::handle a_) {
    array a = as_array(a_.ptr());
    return wrap_all(without_gil(a.size(), [&] { return nonzero(a); }));
  });
  m.def("copyto", &copy_to, nb::arg("dst"), nb::arg("src"), nb::arg("casting"), nb::arg("where"));
  m.def("where", [](nb::handle condition, nb::handle x, nb::handle y) {
    Operand c;
    c.take(condition.ptr());
    Pair p(x, y);
    return wrap_object(where(c.arg(), p.x.arg(), p.y.arg()));
  });
}

// Products ------------------------------------------------------------------------------------------------------------

template <class F>
nb::object product(nb::handle a, nb::handle b, F&& f) {
  array x = as_array(a.ptr()), y = as_array(b.ptr());
  return wrap_object(without_gil(x.size() + y.size(), [&] { return f(x, y); }));
}

void bind_products(nb::module_& m) {
  const auto none = nb::none();
  using WithOut = array (*)(const array&, const array&, const array*);
  m.def("swap_precision", [](const char* name) {
    const Precision before = precision();
    set_precision(parse_precision(name));
    return before == Precision::full ? "full" : "tf32";
  });
  for (auto [name, f] : {std::pair<const char*, WithOut>{"matmul", &matmul}, {"dot", &dot}}) {
    m.def(
        name,
        [f = f](nb::handle a, nb::handle b, nb::handle out) {
          Output o;
          o.take(out.ptr());
          array x = as_array(a.ptr()), y = as_array(b.ptr());
          std::optional<array> target;
          if (o.get()) target.emplace(*o.get());
          array r = without_gil(x.size() + y.size(), [&] { return f(x, y, target ? &*target : nullptr); });
          return nb::steal(o.give(std::move(r)));
        },
        nb::arg("a"), nb::arg("b"), nb::arg("out") = none);
  }
  m.def("vecdot", [](nb::handle a, nb::handle b, nb::handle axis) {
    return product(a, b, [k = to_int(axis.ptr(), "axis")](const array& x, const array& y) { return vecdot(x, y, k); });
  });
  m.def("matvec", [](nb::handle a, nb::handle b) { return product(a, b, &matvec); });
  m.def("vecmat", [](nb::handle a, nb::handle b) { return product(a, b, &vecmat); });
  m.def("inner", [](nb::handle a, nb::handle b) { return product(a, b, &inner); });
  m.def("outer", [](nb::handle a, nb::handle b) {
    return product(a, b, [](const array& x, const array& y) { return outer(x, y); });
  });
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
  bind_manipulation(m);
  bind_products(m);
  m.def("eval", &eval_all);
  m.def("explain", [](nb::handle a) { return nb::str(explain(as_array(a.ptr())).c_str()); });
}

}  // namespace galop::python
