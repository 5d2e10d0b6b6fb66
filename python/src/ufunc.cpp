// The class galop.ufunc: the rows of ops.def as callable objects with reduce, accumulate, reduceat, outer and at.
#include "binding.hpp"
#include "core/op.hpp"
#include "galop/create.hpp"

namespace galop::python {

namespace {

const OpInfo& row(const ufunc& u) { return info(u.op()); }

/// Keyword arguments of an element-wise call, with everything kept alive.
struct CallOptions {
  ufunc_options options;
  Output out[2];
  std::optional<array> mask;

  CallOptions() = default;
  CallOptions(const CallOptions&) = delete;

  void take_out(int k, PyObject* o) {
    out[k].take(o);
    options.out[k] = out[k].get();
  }

  void take_out_keyword(PyObject* o, int nout) {
    if (o == Py_None) return;
    if (!PyTuple_Check(o)) {
      if (nout > 1) throw TypeError("[out] must be a tuple of arrays; got " + std::string(Py_TYPE(o)->tp_name));
      return take_out(0, o);
    }
    if (PyTuple_GET_SIZE(o) != nout)
      throw ValueError("[out] the tuple must have exactly one entry per output; got " +
                       std::to_string(PyTuple_GET_SIZE(o)) + " entries");
    for (int k = 0; k < nout; ++k) take_out(k, PyTuple_GET_ITEM(o, k));
  }

  void take_keywords(const ufunc& u, PyObject* kwargs) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(kwargs, &at, &key, &value)) {
      std::string_view k = checked_name(key);
      if (k == "out") {
        if (options.out[0] || options.out[1])
          throw TypeError("[ufunc] `out` must come once; got it by position and by keyword");
        take_out_keyword(value, u.nout());
      } else if (k == "where") {
        options.where = to_mask(value, mask);
      } else if (k == "dtype") {
        options.dtype = to_optional_dtype(value);
      } else if (k == "casting") {
        options.casting = to_casting(value);
      } else if (k == "order") {
        to_order(value, Order::K);
      } else if (k != "subok") {
        throw TypeError("[" + std::string(u.name()) + "] unexpected keyword argument; got '" + std::string(k) + "'");
      }
    }
  }

  static std::string_view checked_name(PyObject* key) {
    const char* s = PyUnicode_AsUTF8(key);
    if (!s) rethrow();
    return s;
  }

  /// One object, or a tuple.
  PyObject* give(std::vector<array> results) {
    if (results.size() == 1) return out[0].give(std::move(results[0]));
    PyObject* t = checked(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (std::size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(t, static_cast<Py_ssize_t>(i), out[i].give(std::move(results[i])));
    return t;
  }
};

/// The operands of a call. False when one of them is for its own type to deal with.
class Operands {
 public:
  bool take(PyObject* const* objects, int n) {
    count_ = n;
    std::optional<DType> partner;
    bool pending[kMost] = {};
    for (int i = 0; i < n; ++i) {  // arrays first: what they are decides how numbers are taken
      pending[i] = !python::is_array(objects[i]);
      if (pending[i]) continue;
      ops_[i].accept(objects[i]);
      DType t = ops_[i].as_array().dtype();
      if (!partner || is_inexact(t)) partner = t;
    }
    for (int i = 0; i < n; ++i)
      if (pending[i] && !ops_[i].accept(objects[i], partner)) return false;
    return true;
  }
  bool any_complex() const { return ops_[0].is_complex() || ops_[1].is_complex() || ops_[2].is_complex(); }
  template <class F>
  decltype(auto) use(F&& f) const {
    const arg list[kMost] = {ops_[0].arg(), ops_[1].arg(), ops_[2].arg()};
    return f(std::span<const arg>(list, static_cast<std::size_t>(count_)));
  }

 private:
  static constexpr int kMost = 3;
  Operand ops_[kMost];
  int count_ = 0;
};

/// Whether nothing but operands is given, or besides them an array of Galop's as `out`, by position or by name.
bool only_out(PyObject* args, int nin, PyObject* kwargs, PyObject*& out) {
  const Py_ssize_t more = PyTuple_GET_SIZE(args) - nin, named = kwargs ? PyDict_GET_SIZE(kwargs) : 0;
  if (more + named == 0) return true;
  if (more + named > 1) return false;
  static PyObject* const name = checked(PyUnicode_InternFromString("out"));
  out = more == 1 ? PyTuple_GET_ITEM(args, nin) : PyDict_GetItemWithError(kwargs, name);
  return out && is_array(out);
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    const ufunc& u = *nb::inst_ptr<ufunc>(self);
    int nin = u.nin(), nout = u.nout();
    auto given = static_cast<int>(PyTuple_GET_SIZE(args));
    PyObject* out = nullptr;
    if (nout == 1 && given == nin && nin <= 2 && !kwargs) {
      PyObject *x = PyTuple_GET_ITEM(args, 0), *y = PyTuple_GET_ITEM(args, nin - 1);
      if (is_array(x) && is_array(y))
        return wrap_made([&] { return nin == 1 ? u.one(get(x)) : u.one(get(x), get(y)); });
    }
    if (nout == 1 && given >= nin && only_out(args, nin, kwargs, out)) {
      Operands in;
      if (in.take(&PyTuple_GET_ITEM(args, 0), nin)) {
        if (!out) return wrap_made([&] { return in.use([&](std::span<const arg> list) { return u.one(list); }); });
        in.use([&](std::span<const arg> list) { u.into(get(out), list); });
        Py_INCREF(out);
        return out;
      }
    }
    if (given < nin || given > nin + nout)
      throw TypeError("[" + std::string(u.name()) + "] takes from " + std::to_string(nin) + " to " +
                      std::to_string(nin + nout) + " positional arguments; got " + std::to_string(given));
    CallOptions more;
    for (int k = nin; k < given; ++k) more.take_out(k - nin, PyTuple_GET_ITEM(args, k));
    if (kwargs) more.take_keywords(u, kwargs);
    Operands in;
    if (!in.take(&PyTuple_GET_ITEM(args, 0), nin)) {
      // NumPy's ufunc knows the protocol by which foreign types take over.
      nb::object theirs = numpy(std::string(u.name()).c_str());
      return checked(PyObject_Call(theirs.ptr(), args, kwargs));
    }
    look_at_call(u.op(), in.any_complex(), more.options);
    return more.give(in.use([&](std::span<const arg> list) { return u.call(list, more.options); }));
  });
}

// Methods -------------------------------------------------------------------------------------------------------------

bool gives_complex(const ufunc& u) { return is_complex(result_dtype(u.op(), 0, DType::complex128)); }

nb::object reduce(const ufunc& u, nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, nb::handle keepdims,
                  nb::handle initial, nb::handle where) {
  Reduction r(axis, dtype, out, keepdims, initial, where);
  const array x = as_array(a.ptr());
  if (gives_complex(u)) look_at_fold(x, r.options.dtype, r.out.get());
  return nb::steal(r.out.give(u.reduce(x, r.options)));
}

nb::object accumulate(const ufunc& u, nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out) {
  Output o;
  o.take(out.ptr());
  const array x = as_array(a.ptr());
  const std::optional<DType> t = to_optional_dtype(dtype);
  if (gives_complex(u)) look_at_fold(x, t, o.get());
  return nb::steal(o.give(u.accumulate(x, to_int(axis.ptr(), "axis"), t, o.get())));
}

nb::object reduceat(const ufunc& u, nb::handle a, nb::handle indices, nb::handle axis, nb::handle dtype,
                    nb::handle out) {
  Output o;
  o.take(out.ptr());
  const array x = as_array(a.ptr());
  const std::optional<DType> t = to_optional_dtype(dtype);
  if (gives_complex(u)) look_at_fold(x, t, o.get());
  return nb::steal(o.give(u.reduceat(x, as_array(indices.ptr()), to_int(axis.ptr(), "axis"), t, o.get())));
}

nb::object outer(const ufunc& u, nb::handle x, nb::handle y, nb::kwargs kwargs) {
  if (u.nin() != 2 || !y.is_valid() || y.is_none())
    throw ValueError("[outer] takes a binary operation and two operands; got " + std::string(u.name()));
  CallOptions more;
  more.take_keywords(u, kwargs.ptr());
  PyObject* objects[] = {x.ptr(), y.ptr()};
  Operands in;
  if (!in.take(objects, 2))
    throw TypeError("[outer] expected arrays or numbers; got " + std::string(Py_TYPE(x.ptr())->tp_name) + " and " +
                    Py_TYPE(y.ptr())->tp_name);
  look_at_call(u.op(), in.any_complex(), more.options);
  array r = in.use([&](std::span<const arg> list) { return u.outer(list[0], list[1], more.options); });
  return nb::steal(more.out[0].give(std::move(r)));
}

void at(const ufunc& u, nb::handle a, nb::handle indices, nb::handle values) {
  Output target;
  target.take(a.ptr());
  if (!target.get())
    throw TypeError("[at] first operand must be an array; got " + std::string(Py_TYPE(a.ptr())->tp_name));
  std::vector<index> parts = to_parts(indices.ptr());
  if (u.nin() == 1 && values.is_none()) return u.at(*target.get(), parts);
  if (u.nin() != 2 || values.is_none())
    throw ValueError("[at] " + std::string(u.name()) + " takes " + std::to_string(u.nin()) +
                     " operands; got another number");
  Operand v;
  v.take(values.ptr(), target.get()->dtype());
  arg value = v.arg();
  u.at(*target.get(), parts, &value);
}

// Attributes ----------------------------------------------------------------------------------------------------------

/// NumPy's list of loops: "dd->d", …
nb::list loops(const ufunc& u) {
  nb::list r;
  for (char c : row(u).types) {
    std::string s(static_cast<std::size_t>(u.nin()), c);
    if (row(u).int_second) s[1] = 'l';
    s += "->";
    for (int k = 0; k < u.nout(); ++k)
      for (int t = 0; t < kDTypes; ++t)
        if (typecode(static_cast<DType>(t)) == c) s += typecode(result_dtype(u.op(), k, static_cast<DType>(t)));
    r.append(nb::str(s.c_str(), s.size()));
  }
  return r;
}

nb::object identity(const ufunc& u) {
  if (u.nin() != 2 || u.nout() != 1) return nb::none();
  switch (row(u).identity) {
    case Identity::ZERO:
      return nb::int_(0);
    case Identity::ONE:
      return nb::int_(1);
    case Identity::MINUS_ONE:
      return nb::int_(-1);
    case Identity::MINUS_INF:
      return nb::float_(-std::numeric_limits<double>::infinity());
    case Identity::TRUE_:
      return nb::bool_(true);
    case Identity::FALSE_:
      return nb::bool_(false);
    default:
      return nb::none();
  }
}

std::string operand_names(const ufunc& u) { return u.nin() == 1 ? "x" : u.nin() == 2 ? "x1, x2" : "x1, x2, x3"; }

std::string doc(const ufunc& u) {
  return std::string(u.name()) + "(" + operand_names(u) +
         ", /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True)\n\n" +
         std::string(row(u).summary);
}

/// An inspect.Signature, made when somebody asks.
nb::object signature(const ufunc& u) {
  nb::object inspect = nb::module_::import_("inspect");
  nb::dict scope;
  std::string text = "def f(" + operand_names(u) +
                     ", /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True): pass";
  PyObject* builtins = PyEval_GetBuiltins();
  scope["__builtins__"] = nb::borrow(builtins);
  nb::object done = nb::steal(checked(PyRun_String(text.c_str(), Py_file_input, scope.ptr(), scope.ptr())));
  return inspect.attr("signature")(scope["f"]);
}

nb::list ops() {
  nb::list all;
  for (int i = 0; i < kTableOps; ++i) {
    const OpInfo& o = info(static_cast<Op>(i));
    nb::dict d;
    d["name"] = nb::str(o.name.data(), o.name.size());
    d["nin"] = o.nin;
    d["nout"] = o.nout;
    d["types"] = nb::str(o.types.data(), o.types.size());
    d["ulp"] = o.ulp;
    d["summary"] = nb::str(o.summary.data(), o.summary.size());
    all.append(d);
  }
  return all;
}

PyObject* text_of(std::string_view s) {
  return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}
PyObject* get_name(PyObject* self, void*) { return text_of(nb::inst_ptr<ufunc>(self)->name()); }
PyObject* get_doc(PyObject* self, void*) {
  return guarded([&] { return text_of(doc(*nb::inst_ptr<ufunc>(self))); });
}

}  // namespace

void bind_ufunc(nb::module_& m) {
  // A type's own __name__ and __qualname__ hide behind its metaclass, so the objects' ones come as descriptors.
  static PyGetSetDef names[] = {{"__name__", &get_name, nullptr, nullptr, nullptr},
                                {"__qualname__", &get_name, nullptr, nullptr, nullptr},
                                {"__doc__", &get_doc, nullptr, nullptr, nullptr},
                                {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call)}, {Py_tp_getset, names}, {0, nullptr}};
  auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  auto c = nb::class_<ufunc>(m, "ufunc", nb::type_slots(slots), nb::is_weak_referenceable());
  c.def_prop_ro("__signature__", &signature)
      .def_prop_ro("nin", &ufunc::nin)
      .def_prop_ro("nout", &ufunc::nout)
      .def_prop_ro("nargs", [](const ufunc& u) { return u.nin() + u.nout(); })
      .def_prop_ro("ntypes", [](const ufunc& u) { return row(u).types.size(); })
      .def_prop_ro("types", &loops)
      .def_prop_ro("identity", &identity)
      .def_prop_ro("signature", [](const ufunc&) { return nb::none(); })
      .def("__repr__", [text](const ufunc& u) { return text("<ufunc '" + std::string(u.name()) + "'>"); })
      .def("__reduce__", [text](const ufunc& u) { return text(u.name()); })
      .def("reduce", &reduce, nb::arg("array"), nb::arg("axis").none() = 0, nb::arg("dtype") = nb::none(),
           nb::arg("out") = nb::none(), nb::arg("keepdims") = false, nb::arg("initial") = nb::none(),
           nb::arg("where") = true)
      .def("accumulate", &accumulate, nb::arg("array"), nb::arg("axis") = 0, nb::arg("dtype") = nb::none(),
           nb::arg("out") = nb::none())
      .def("reduceat", &reduceat, nb::arg("array"), nb::arg("indices"), nb::arg("axis") = 0,
           nb::arg("dtype") = nb::none(), nb::arg("out") = nb::none())
      .def("outer", &outer, nb::arg("A"), nb::arg("B") = nb::none(), nb::arg("kwargs"))
      .def("at", &at, nb::arg("a"), nb::arg("indices"), nb::arg("b") = nb::none());
  c.attr("__module__") = "galop";
  nb::dict table;
  for (int i = 0; i < kTableOps; ++i) {
    ufunc u(static_cast<Op>(i));
    table[text(u.name())] = nb::cast(u);
  }
  for (const OpAlias& a : op_aliases()) table[text(a.alias)] = table[text(a.name)];
  m.attr("ufuncs") = table;
  m.def("ops", &ops);
}

}  // namespace galop::python
