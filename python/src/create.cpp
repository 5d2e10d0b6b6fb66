// The functions behind galop.zeros and its like, and the way past Python's layer for their ordinary calls.
#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <string_view>

#include "binding.hpp"
#include "galop/create.hpp"
#include "numpy_api.hpp"

namespace galop::python {

namespace {

DType dtype_or_float(nb::handle o) { return to_optional_dtype(o).value_or(DType::float64); }

nb::object asarray(nb::handle o, nb::handle dtype) {
  std::optional<DType> t = to_optional_dtype(dtype);
  if (is_array(o.ptr()) && (!t || *t == get(o.ptr()).dtype())) return nb::borrow(o);
  bury();
  return wrap_object(as_array(o.ptr(), t));
}

/// A new array of the values, laid out in `order`: always a copy, and only one.
nb::object new_array(nb::handle object, nb::handle dtype, nb::handle order_) {
  PyObject* o = object.ptr();
  std::optional<DType> wanted = to_optional_dtype(dtype);
  const Order order = to_order(order_, Order::K);
  bool shared = is_array(o) || PyArray_Check(o) || PyObject_CheckBuffer(o);
  bool fresh = !shared && (PyList_Check(o) || PyTuple_Check(o) || to_weak(o) || PyLong_Check(o));
  array a = as_array(o, fresh ? wanted : std::nullopt);
  DType t = wanted.value_or(a.dtype());
  bool in_order = order == Order::F ? a.is_f_contiguous() : a.is_c_contiguous();
  if (fresh && t == a.dtype() && in_order) return wrap_object(std::move(a));
  look_at_cast(a.dtype(), t);
  array out = empty_like(a, t, order);
  out.assign(a);
  return wrap_object(std::move(out));
}

nb::object full_of(nb::handle shape, nb::handle value, nb::handle dtype, nb::handle order) {
  Dims d = to_dims(shape.ptr(), "shape");
  Operand v;
  std::optional<DType> t = to_optional_dtype(dtype);
  v.take(value.ptr(), t);
  if (t && v.is_complex()) look_at_cast(DType::complex128, *t);
  return wrap_object(full(d, v.arg(), t, to_order(order, Order::C)));
}

/// Complex ends and real numbers between them.
void look_at_ends(const Pair& p, nb::handle dtype) {
  if (dtype.is_none() || !(p.x.is_complex() || p.y.is_complex())) return;
  look_at_cast(DType::complex128, to_dtype(dtype.ptr()));
}

nb::object full_like_of(nb::handle like, nb::handle value, nb::handle dtype, nb::handle order, nb::handle shape) {
  const array a = as_array(like.ptr());
  const std::optional<DType> t = to_optional_dtype(dtype);
  Operand v;
  v.take(value.ptr(), t.value_or(a.dtype()));
  if (v.is_complex()) look_at_cast(DType::complex128, t.value_or(a.dtype()));
  return wrap_object(full_like(a, v.arg(), t, to_order(order, Order::K), to_optional_dims(shape, "shape")));
}

// Ordinary calls ------------------------------------------------------------------------------------------------------

enum class Make { array, asarray, empty, zeros, ones, full, arange, empty_like, zeros_like, ones_like, full_like };
constexpr const char* kMakeNames[] = {"array",  "asarray",    "empty",      "zeros",     "ones",     "full",
                                      "arange", "empty_like", "zeros_like", "ones_like", "full_like"};

/// A function that creates arrays. Calls with nothing but operands and a dtype are served here; all others, and those
/// that are wrong, go to the Python function behind it, whose name, signature and documentation it bears.
struct Maker {
  PyObject_HEAD PyObject* function;
  vectorcallfunc vectorcall;
  PyObject* weak_references;
  Make make;
};

Maker* maker(PyObject* o) { return reinterpret_cast<Maker*>(o); }

/// The number as arange takes it without another word: not None, and no step of 0.
bool counts(PyObject* o, bool step) {
  if (PyLong_CheckExact(o) || PyFloat_CheckExact(o)) return !step || PyObject_IsTrue(o) > 0;
  return false;
}

/// The array, or nothing where the call is not an ordinary one. `operands` come before the dtype, null where none is
/// given.
PyObject* make_plainly(Make make, PyObject* const* operands, Py_ssize_t count, PyObject* dtype_) {
  const nb::handle first(operands[0]), dtype(dtype_ ? dtype_ : Py_None);
  const auto dims = [&] { return to_dims(first.ptr(), "shape"); };
  if (make >= Make::empty_like && !(is_array(first.ptr()) && wish_of(get(first.ptr())).automatic())) return nullptr;
  switch (make) {
    case Make::array:
      return new_array(first, dtype, nb::none()).release().ptr();
    case Make::asarray:
      return asarray(first, dtype).release().ptr();
    case Make::empty:
      return wrap_made([&] { return empty(dims(), dtype_or_float(dtype)); });
    case Make::zeros:
      return wrap_made([&] { return zeros(dims(), dtype_or_float(dtype)); });
    case Make::ones:
      return wrap_made([&] { return ones(dims(), dtype_or_float(dtype)); });
    case Make::full:
      return full_of(first, operands[1], dtype, nb::none()).release().ptr();
    case Make::arange: {
      for (Py_ssize_t i = 0; i < count; ++i)
        if (!counts(operands[i], i == 2)) return nullptr;
      const scalar start = count > 1 ? to_number(operands[0]) : scalar(0), stop = to_number(operands[count > 1]);
      const scalar step = count > 2 ? to_number(operands[2]) : scalar(1);
      return wrap_made([&] { return arange(start, stop, step, to_optional_dtype(dtype)); });
    }
    case Make::empty_like:
      return wrap_made([&] { return empty_like(get(first.ptr()), to_optional_dtype(dtype)); });
    case Make::zeros_like:
      return wrap_made([&] { return zeros_like(get(first.ptr()), to_optional_dtype(dtype)); });
    case Make::ones_like:
      return wrap_made([&] { return ones_like(get(first.ptr()), to_optional_dtype(dtype)); });
    case Make::full_like:
      return full_like_of(first, operands[1], dtype, nb::none(), nb::none()).release().ptr();
  }
  return nullptr;
}

PyObject* call_maker(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    static PyObject* const kDType = checked(PyUnicode_InternFromString("dtype"));
    const Maker& m = *maker(self);
    const Py_ssize_t given = PyVectorcall_NARGS(flags), named = names ? PyTuple_GET_SIZE(names) : 0;
    const bool range = m.make == Make::arange;
    const Py_ssize_t operands = range ? given : m.make == Make::full || m.make == Make::full_like ? 2 : 1;
    const bool fits = range ? given >= 1 && given <= 3 : given == operands || (given == operands + 1 && named == 0);
    if (fits && (named == 0 || (named == 1 && PyTuple_GET_ITEM(names, 0) == kDType))) {
      PyObject* dtype = given + named > operands ? args[operands] : nullptr;
      if (PyObject* made = make_plainly(m.make, args, operands, dtype)) return made;
    }
    return checked(PyObject_Vectorcall(m.function, args, flags, names));
  });
}

PyObject* maker_attribute(PyObject* self, PyObject* name) {
  // All is the function's, its class as well, so that tools take it for one; but pickle finds it by its name.
  const bool own = PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0;
  return own ? PyObject_GenericGetAttr(self, name) : PyObject_GetAttr(maker(self)->function, name);
}

PyObject* maker_repr(PyObject* self) { return PyObject_Repr(maker(self)->function); }
PyObject* maker_name(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(maker(self)->function, "__qualname__");
}

int traverse_maker(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(maker(self)->function);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int clear_maker(PyObject* self) {
  Py_CLEAR(maker(self)->function);
  return 0;
}

void end_maker(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (maker(self)->weak_references) PyObject_ClearWeakRefs(self);
  clear_maker(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyTypeObject* maker_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Maker, vectorcall), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(Maker, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {{"__reduce_ex__", &maker_name, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                {Py_tp_getattro, reinterpret_cast<void*>(&maker_attribute)},
                                {Py_tp_repr, reinterpret_cast<void*>(&maker_repr)},
                                {Py_tp_traverse, reinterpret_cast<void*>(&traverse_maker)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear_maker)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(&end_maker)},
                                {Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"galop.function", sizeof(Maker), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  static PyObject* const type = checked(PyType_FromSpec(&spec));
  return reinterpret_cast<PyTypeObject*>(type);
}

/// The function, with its ordinary calls served here.
nb::object quick(nb::handle function) {
  const nb::object name = function.attr("__name__");
  const std::string_view text = nb::borrow<nb::str>(name).c_str();
  for (std::size_t i = 0; i < std::size(kMakeNames); ++i) {
    if (text != kMakeNames[i]) continue;
    Maker* m = PyObject_GC_New(Maker, maker_type());
    if (!m) rethrow();
    m->function = nb::borrow(function).release().ptr();
    m->vectorcall = &call_maker;
    m->weak_references = nullptr;
    m->make = static_cast<Make>(i);
    PyObject_GC_Track(reinterpret_cast<PyObject*>(m));
    return nb::steal(reinterpret_cast<PyObject*>(m));
  }
  throw TypeError("[quick] expected a function that creates arrays; got " + std::string(text));
}

nb::object coordinates(nb::handle arrays, bool copy, bool sparse, nb::handle indexing) {
  const std::string_view text = PyUnicode_Check(indexing.ptr()) ? nb::cast<nb::str>(indexing).c_str() : "";
  if (text != "xy" && text != "ij")
    throw ValueError(std::string("[meshgrid] indexing must be 'xy' or 'ij'; got ") + nb::repr(indexing).c_str());
  return wrap_all(meshgrid(to_arrays(arrays), text == "ij", sparse, copy));
}

void bind_grids(nb::module_& m) {
  const auto any = nb::arg().none();
  m.def("meshgrid", &coordinates);
  m.def(
      "indices",
      [](nb::handle shape_, nb::handle dtype, bool sparse) -> nb::object {
        const Dims shape = to_dims(shape_.ptr(), "dimensions");
        const DType t = to_optional_dtype(dtype).value_or(DType::float64);
        if (sparse) return wrap_all(sparse_indices(shape, t));
        return wrap_object(indices(shape, t));
      },
      nb::arg(), any, nb::arg());
  m.def("ix_", [](nb::handle parts) { return wrap_all(ix_(to_arrays(parts))); });
  m.def(
      "tri",
      [](std::int64_t n, nb::handle columns, std::int64_t k, nb::handle dtype) {
        // NumPy takes negative extents for none.
        const std::int64_t rows = std::max<std::int64_t>(n, 0);
        const std::int64_t m = columns.is_none() ? rows : std::max<std::int64_t>(nb::cast<std::int64_t>(columns), 0);
        return wrap_object(tri(rows, m, k, dtype_or_float(dtype)));
      },
      nb::arg(), any, nb::arg(), any);
  using Diagonal = array (*)(const array&, std::int64_t);
  for (auto [name, f] :
       {std::pair<const char*, Diagonal>{"tril", &tril}, {"triu", &triu}, {"diag", &diag}, {"diagflat", &diagflat}})
    m.def(name, [f = f](nb::handle v, std::int64_t k) { return wrap_object(f(as_array(v.ptr()), k)); });
}

}  // namespace

void bind_creation(nb::module_& m) {
  const auto none = nb::none();
  for (const auto& [name, make] : {std::pair{"empty", &empty}, std::pair{"zeros", &zeros}, std::pair{"ones", &ones}})
    m.def(
        name,
        [make = make](nb::handle shape, nb::handle dtype, nb::handle order) {
          return wrap_object(make(to_dims(shape.ptr(), "shape"), dtype_or_float(dtype), to_order(order, Order::C)));
        },
        nb::arg("shape"), nb::arg("dtype") = none, nb::arg("order") = none);
  m.def("full", &full_of, nb::arg("shape"), nb::arg("value"), nb::arg("dtype") = none, nb::arg("order") = none);
  for (const auto& [name, make] :
       {std::pair{"empty_like", &empty_like}, std::pair{"zeros_like", &zeros_like}, std::pair{"ones_like", &ones_like}})
    m.def(
        name,
        [make = make](nb::handle like, nb::handle dtype, nb::handle order, nb::handle shape) {
          return wrap_object(make(as_array(like.ptr()), to_optional_dtype(dtype), to_order(order, Order::K),
                                  to_optional_dims(shape, "shape")));
        },
        nb::arg("a"), nb::arg("dtype") = none, nb::arg("order") = none, nb::arg("shape") = none);
  m.def("full_like", &full_like_of, nb::arg("a"), nb::arg("value"), nb::arg("dtype") = none, nb::arg("order") = none,
        nb::arg("shape") = none);
  m.def(
      "arange",
      [](nb::handle start, nb::handle stop, nb::handle step, nb::handle dtype) {
        return wrap_object(
            arange(to_number(start.ptr()), to_number(stop.ptr()), to_number(step.ptr()), to_optional_dtype(dtype)));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("step"), nb::arg("dtype") = none);
  m.def(
      "linspace",
      [](nb::handle start, nb::handle stop, std::int64_t num, bool endpoint, nb::handle dtype, nb::handle axis) {
        Pair p(start, stop);
        look_at_ends(p, dtype);
        return wrap_object(
            linspace(p.x.arg(), p.y.arg(), num, endpoint, to_optional_dtype(dtype), to_int(axis.ptr(), "axis")));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("num"), nb::arg("endpoint"), nb::arg("dtype").none(), nb::arg("axis"));
  m.def(
      "logspace",
      [](nb::handle start, nb::handle stop, std::int64_t num, bool endpoint, nb::handle base, nb::handle dtype,
         nb::handle axis) {
        Pair p(start, stop);
        Operand b;
        b.take(base.ptr());
        look_at_ends(p, dtype);
        return wrap_object(logspace(p.x.arg(), p.y.arg(), num, endpoint, b.arg(), to_optional_dtype(dtype),
                                    to_int(axis.ptr(), "axis")));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("num"), nb::arg("endpoint"), nb::arg("base"), nb::arg("dtype").none(),
      nb::arg("axis"));
  m.def(
      "geomspace",
      [](nb::handle start, nb::handle stop, std::int64_t num, bool endpoint, nb::handle dtype, nb::handle axis) {
        look_at_ends(Pair(start, stop), dtype);
        return wrap_object(geomspace(as_array(start.ptr()), as_array(stop.ptr()), num, endpoint,
                                     to_optional_dtype(dtype), to_int(axis.ptr(), "axis")));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("num"), nb::arg("endpoint"), nb::arg("dtype").none(), nb::arg("axis"));
  m.def(
      "eye",
      [](std::int64_t n, nb::handle columns, std::int64_t k, nb::handle dtype, nb::handle order) {
        return wrap_object(eye(n, columns.is_none() ? n : nb::cast<std::int64_t>(columns), k, dtype_or_float(dtype),
                               to_order(order, Order::C)));
      },
      nb::arg("n"), nb::arg("m") = none, nb::arg("k") = 0, nb::arg("dtype") = none, nb::arg("order") = none);
  m.def("asarray", &asarray, nb::arg("object").none(), nb::arg("dtype") = nb::none());
  m.def("array", &new_array, nb::arg("object").none(), nb::arg("dtype") = nb::none(), nb::arg("order") = nb::none());
  m.def("quick", &quick);
  bind_grids(m);
}

}  // namespace galop::python
