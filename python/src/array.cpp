// The class galop.ndarray: construction, attributes and the methods that are not thin Python.
#include <Python.h>
#include <structmember.h>

#include <cstddef>

#include "galop/create.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"

#include "binding.hpp"
#include "graph/part.hpp"
#include "graph/value.hpp"

namespace galop::python {

PyTypeObject* ndarray_type = nullptr;

// Objects whose count fell to 0, for the next ones; guarded by the GIL, and unused without one.
namespace {
#ifdef Py_GIL_DISABLED
constexpr int kMostSpare = 0;
#else
constexpr int kMostSpare = 256;
#endif
ArrayObject* spare[kMostSpare + 1];
int spares = 0;
}  // namespace

RawObject::RawObject(PyTypeObject* type) {
  if (type == ndarray_type && spares > 0) {
    object_ = spare[--spares];
    PyObject_Init(reinterpret_cast<PyObject*>(object_), type);
  } else {
    object_ = reinterpret_cast<ArrayObject*>(checked(type->tp_alloc(type, 0)));
  }
}

void RawObject::give_back(ArrayObject* o) noexcept {
  PyTypeObject* const type = Py_TYPE(o);
  if (type == ndarray_type && spares < kMostSpare)
    spare[spares++] = o;
  else
    type->tp_free(o);
  Py_DECREF(type);
}

nb::tuple wrap_all(std::vector<array> arrays) {
  PyObject* t = checked(PyTuple_New(static_cast<Py_ssize_t>(arrays.size())));
  for (std::size_t i = 0; i < arrays.size(); ++i)
    PyTuple_SET_ITEM(t, static_cast<Py_ssize_t>(i), wrap(std::move(arrays[i])));
  return nb::steal<nb::tuple>(t);
}

namespace {

/// ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None), as numpy.ndarray. Objects are complete
/// when __new__ returns, so that no slot ever meets a raw one.
PyObject* construct(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"shape", "dtype", "buffer", "offset", "strides", "order", nullptr};
    PyObject *shape, *dtype = Py_None, *buffer = Py_None, *offset = nullptr, *strides = Py_None, *order = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOO:ndarray", const_cast<char**>(names), &shape, &dtype,
                                     &buffer, &offset, &strides, &order))
      return nullptr;
    array a = [&] {
      if (buffer != Py_None || strides != Py_None) {
        nb::object view = nb::steal(checked(PyObject_Call(numpy("ndarray").ptr(), args, kwargs)));
        return as_array(view.ptr());
      }
      return empty(to_dims(shape, "shape"), to_optional_dtype(dtype).value_or(DType::float64),
                   to_order(order, Order::C));
    }();
    return wrap_made([&] { return std::move(a); }, type);
  });
}

int initialise(PyObject*, PyObject*, PyObject*) { return 0; }

void destroy(PyObject* self) {
  auto* o = reinterpret_cast<ArrayObject*>(self);
  if (o->weak_references) PyObject_ClearWeakRefs(self);
  o->value.~array();
  bury();  // the owner of foreign memory goes right after it
  RawObject::give_back(o);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// Attributes ----------------------------------------------------------------------------------------------------------

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return to_tuple(get(self).shape()).release().ptr(); });
}

int set_shape(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    if (!value) throw TypeError("[shape] the shape of an array cannot be deleted; got del");
    array& a = get(self);
    array r = a.reshape(to_dims(value, "shape"));
    if (r.cell() != a.cell()) {
      PyErr_SetString(PyExc_AttributeError,
                      "[shape] the new shape needs a copy, which only `.reshape()` makes; got strides that do not fit");
      return -1;
    }
    a = std::move(r);
    return 0;
  });
}

template <int (array::*f)() const>
PyObject* get_int(PyObject* self, void*) {
  return PyLong_FromLong((get(self).*f)());
}
template <std::int64_t (array::*f)() const>
PyObject* get_long(PyObject* self, void*) {
  return PyLong_FromLongLong((get(self).*f)());
}
template <array (array::*f)() const>
PyObject* get_view(PyObject* self, void*) {
  return guarded([&] { return wrap((get(self).*f)()); });
}

PyObject* get_strides(PyObject* self, void*) {
  return guarded([&] { return to_tuple(get(self).strides()).release().ptr(); });
}

PyObject* get_dtype(PyObject* self, void*) {
  PyObject* d = dtype_object(get(self).dtype());
  Py_INCREF(d);
  return d;
}

PyObject* get_matrix_transpose(PyObject* self, void*) {
  return guarded([&] {
    const array& a = get(self);
    if (a.ndim() < 2)
      throw ValueError("[mT] matrix transpose needs at least 2 axes; got shape " + to_string(a.shape()));
    return wrap(swapaxes(a, -1, -2));
  });
}

template <array (array::*f)() const>
int set_part(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    if (!value) throw TypeError("[ndarray] a part of an array cannot be deleted; got del");
    const array& a = get(self);
    if (!is_complex(a.dtype()) && f == &array::imag)
      throw TypeError("[imag] only a complex array has an imaginary part to set; got " + std::string(name(a.dtype())));
    Operand v;
    // NumPy makes an array of a Python number first, and so drops what an element's assignment refuses.
    const nb::object number = PyComplex_CheckExact(value) ? wrap_object(as_array(value)) : nb::borrow(value);
    v.take_to_write(number.ptr(), real_dtype(a.dtype()));
    (is_complex(a.dtype()) ? (a.*f)() : a).assign(v.arg());
    return 0;
  });
}

PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return nb::cast(residence(get(self))).release().ptr(); });
}
PyObject* get_none(PyObject*, void*) { Py_RETURN_NONE; }

PyGetSetDef attributes[] = {
    {"shape", &get_shape, &set_shape, "Extents of the axes; assigning reshapes in place where no copy is needed.",
     nullptr},
    {"strides", &get_strides, nullptr, "Bytes from one element to the next along each axis.", nullptr},
    {"ndim", &get_int<&array::ndim>, nullptr, "Number of axes.", nullptr},
    {"size", &get_long<&array::size>, nullptr, "Number of elements.", nullptr},
    {"itemsize", &get_int<&array::itemsize>, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", &get_long<&array::nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"dtype", &get_dtype, nullptr, "NumPy's dtype object.", nullptr},
    {"T", &get_view<&array::T>, nullptr, "The array with its axes reversed, a view.", nullptr},
    {"mT", &get_matrix_transpose, nullptr, "The array with its last two axes exchanged, a view.", nullptr},
    {"real", &get_view<&array::real>, &set_part<&array::real>, "Real part, a view.", nullptr},
    {"imag", &get_view<&array::imag>, &set_part<&array::imag>, "Imaginary part; a view for a complex array.", nullptr},
    {"device", &get_device, nullptr, "Where the array is: a Device, equal to \"cpu\", \"cuda:0\" and so on.", nullptr},
    {"base", &get_none, nullptr, "None: Galop's views share storage, they do not own one another.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// Methods -------------------------------------------------------------------------------------------------------------

const array& self_of(nb::handle o) {
  if (!is_array(o.ptr()))
    throw TypeError("[ndarray] a method of galop.ndarray needs one; got " + std::string(Py_TYPE(o.ptr())->tp_name));
  return get(o.ptr());
}

/// The arguments *axes or *shape: several integers, or one sequence (or None).
PyObject* one_or_all(nb::args args) { return args.size() == 1 ? PyTuple_GET_ITEM(args.ptr(), 0) : args.ptr(); }

/// item(*args), by Python's fast convention: a read of one element has no time for a tuple of arguments.
PyObject* item(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    const array& a = get(self);
    if (count == 0) {
      if (a.size() != 1)
        throw ValueError("[item] only an array of size 1 is one Python scalar; got shape " + to_string(a.shape()));
      return python_scalar(a);
    }
    Dims at;
    if (count == 1)
      at = to_dims(args[0], "item");
    else
      for (Py_ssize_t i = 0; i < count; ++i) at.push_back(to_int(args[i], "item"));
    Dims extents = a.shape();
    if (at.size() == 1 && a.ndim() != 1) extents = Dims{a.size()};
    if (at.size() != extents.size())
      throw ValueError("[item] incorrect number of indices for shape " + to_string(a.shape()) + "; got " +
                       to_string(at));
    std::int64_t flat = 0;
    for (int i = 0; i < at.size(); ++i) {
      std::int64_t k = at[i] < 0 ? at[i] + extents[i] : at[i];
      if (k < 0 || k >= extents[i])
        throw IndexError("[item] out of bounds for axis " + std::to_string(i) + " with size " +
                         std::to_string(extents[i]) + "; got " + std::to_string(at[i]));
      flat = flat * extents[i] + k;
    }
    return python_scalar(a, flat);
  });
}

PyMethodDef item_method = {"item", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&item)), METH_FASTCALL,
                           "item($self, /, *args)\n--\n\nOne element as a Python number."};

nb::object reshape(nb::handle self, nb::args shape, nb::handle order, nb::handle copy) {
  const array& a = self_of(self);
  if (shape.size() == 0) throw TypeError("[reshape] expected a shape; got nothing");
  Dims d = to_dims(one_or_all(shape), "reshape");
  bool must_copy = !copy.is_none() && PyObject_IsTrue(copy.ptr()) > 0;
  array r = (must_copy ? a.copy() : a).reshape(d, to_order(order, Order::C));
  if (!copy.is_none() && !must_copy && r.cell() != a.cell())
    throw ValueError("[reshape] unable to avoid a copy while reshaping; got shape " + to_string(a.shape()) +
                     ", wanted " + to_string(d));
  return wrap_object(std::move(r));
}

nb::object ravel(nb::handle self, nb::handle order) {
  return wrap_object(self_of(self).ravel(to_order(order, Order::C)));
}

nb::object flatten(nb::handle self, nb::handle order) {
  return wrap_object(self_of(self).flatten(to_order(order, Order::C)));
}

nb::object transpose(nb::handle self, nb::args axes) {
  const array& a = self_of(self);
  if (axes.size() == 0 || (axes.size() == 1 && axes[0].is_none())) return wrap_object(a.T());
  return wrap_object(a.transpose(to_dims(one_or_all(axes), "transpose")));
}

nb::object astype(nb::handle self, nb::handle dtype, nb::handle order, nb::handle casting, nb::handle,
                  nb::handle copy) {
  const array& a = self_of(self);
  const DType t = to_dtype(dtype.ptr());
  const Casting rule = to_casting(casting);
  if (rule == Casting::unsafe) look_at_cast(a.dtype(), t);
  array r =
      a.astype(t, {.order = to_order(order, Order::K), .casting = rule, .copy = PyObject_IsTrue(copy.ptr()) != 0});
  return r.cell() == a.cell() ? nb::borrow(self) : wrap_object(std::move(r));
}

nb::object copy(nb::handle self, nb::handle order) {
  return wrap_object(self_of(self).copy(to_order(order, Order::C)));
}

void fill(nb::handle self, nb::handle value) {
  const array& a = self_of(self);
  Operand v;
  v.take_to_write(value.ptr(), a.dtype());
  a.assign(v.arg());
}

nb::object view_as_is(nb::handle self) {
  const array& a = self_of(self);
  return wrap_object(a.with_view(a.view()));
}

bool is_readonly(const array& a) {
  graph::Lock lock;
  const graph::Value& v = *a.cell()->value;
  return v.ready() && v.buffer->readonly();
}

bool set_writeable(nb::handle self, bool w) {
  array& a = get(self.ptr());
  if (!is_array(self.ptr())) return false;
  if (w && is_readonly(a)) throw ValueError("[setflags] read-only memory cannot be made writeable; got write=True");
  a.set_writeable(w);
  return true;
}

}  // namespace

void bind_array(nb::module_& m) {
  static char doc[] =
      "ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None)\n\n"
      "An n-dimensional array with NumPy's semantics; its values are computed when they are needed.";
  std::vector<PyType_Slot> slots{{Py_tp_new, reinterpret_cast<void*>(&construct)},
                                 {Py_tp_init, reinterpret_cast<void*>(&initialise)},
                                 {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
                                 {Py_tp_getset, attributes},
                                 {Py_tp_members, members},
                                 {Py_tp_doc, doc}};
  for (PyType_Slot* part : {operator_slots, index_slots, buffer_slots})
    for (; part->slot; ++part) slots.push_back(*part);
  slots.push_back({0, nullptr});
  PyType_Spec spec{"galop.ndarray", sizeof(ArrayObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  const nb::object c = nb::steal(checked(PyType_FromSpec(&spec)));
  ndarray_type = reinterpret_cast<PyTypeObject*>(nb::object(c).release().ptr());
  m.attr("ndarray") = c;
  c.attr("__array_priority__") = 20.0;
  const auto none = nb::none();
  c.attr("item") = nb::steal(checked(PyDescr_NewMethod(ndarray_type, &item_method)));
  const auto method = [&](const char* name, auto&& f, const auto&... more) {
    nb::cpp_function_def(f, nb::scope(c), nb::name(name), nb::is_method(), more...);
  };
  method("reshape", &reshape, nb::arg("shape"), nb::kw_only(), nb::arg("order") = "C", nb::arg("copy") = none);
  method("ravel", &ravel, nb::arg("order") = "C");
  method("flatten", &flatten, nb::arg("order") = "C");
  method("transpose", &transpose);
  method("astype", &astype, nb::arg("dtype").none(), nb::arg("order") = "K", nb::arg("casting") = "unsafe",
         nb::arg("subok") = true, nb::arg("copy") = true);
  method("copy", &copy, nb::arg("order") = "C");
  method("fill", &fill, nb::arg("value"));
  method("_view", &view_as_is);
  method("_computed", [](nb::handle self) { return wrap_object(graph::computed(self_of(self))); });
  method("_c_contiguous", [](nb::handle self) { return self_of(self).is_c_contiguous(); });
  method("_f_contiguous", [](nb::handle self) { return self_of(self).is_f_contiguous(); });
  method("_writeable", [](nb::handle self) { return self_of(self).writeable(); });
  method("_set_writeable", &set_writeable);
}

}  // namespace galop::python
