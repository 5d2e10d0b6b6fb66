// Memory shared with the outside: the buffer protocol, NumPy arrays, __array_interface__, and NumPy's ufunc protocol.
#include "binding.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "numpy_api.hpp"

namespace galop::python {

namespace {

/// What a consumer of the buffer protocol holds: the storage stays where it is, and counts as shared, until it lets go.
struct Export {
  array value;
  std::vector<Py_ssize_t> shape, strides;

  explicit Export(const array& a)
      : value(a), shape(a.shape().begin(), a.shape().end()), strides(a.strides().begin(), a.strides().end()) {}
};

/// Format of the struct module; PEP 3118 for complex numbers.
const char* format_of(DType t) {
  static constexpr const char* kFormats[] = {"?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "Zf", "Zd"};
  return kFormats[static_cast<int>(t)];
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_int([&] {
    if (lives_on_gpu(get(self)))
      throw BufferError("[buffer] the array is on " + to_string(wish_of(get(self))) +
                        "; x.cpu() or numpy.asarray(x) copies it to the host");
    auto e = std::make_unique<Export>(get(self));
    const array& a = e->value;
    auto wants = [flags](int what) { return (flags & what) == what; };
    bool c = a.is_c_contiguous(), f = a.is_f_contiguous();
    if (wants(PyBUF_WRITABLE) && !a.writeable())
      throw BufferError("[buffer] a writeable buffer needs a writeable array; got a read-only one");
    if ((wants(PyBUF_C_CONTIGUOUS) && !c) || (wants(PyBUF_F_CONTIGUOUS) && !f) ||
        (wants(PyBUF_ANY_CONTIGUOUS) && !c && !f) || (!wants(PyBUF_STRIDES) && !c))
      throw BufferError("[buffer] the array is not contiguous in the order asked for; got strides " +
                        to_string(a.strides()));
    view->buf = without_gil(a.size(), [&] { return a.export_data(); });
    view->len = static_cast<Py_ssize_t>(a.nbytes());
    view->itemsize = a.itemsize();
    view->readonly = !a.writeable();
    view->ndim = a.ndim();
    view->format = wants(PyBUF_FORMAT) ? const_cast<char*>(format_of(a.dtype())) : nullptr;
    view->shape = wants(PyBUF_ND) ? e->shape.data() : nullptr;
    view->strides = wants(PyBUF_STRIDES) ? e->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = e.release();
    Py_INCREF(self);
    view->obj = self;
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) {
  std::unique_ptr<Export> e(static_cast<Export*>(view->internal));
  e->value.release_export();
}

/// The array's memory by address. Nobody says when it is no longer used, so the storage counts as shared from here on.
nb::dict array_interface(nb::handle self) {
  array a = get(self.ptr());
  if (lives_on_gpu(a))
    throw nb::attribute_error("[__array_interface__] the array is on a GPU; x.cpu() copies it to the host");
  void* data = without_gil(a.size(), [&] { return a.export_data(); });
  nb::dict d;
  d["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data), !a.writeable());
  d["shape"] = to_tuple(a.shape());
  d["strides"] = to_tuple(a.strides());
  d["typestr"] = nb::handle(dtype_object(a.dtype())).attr("str");
  d["version"] = 3;
  return d;
}

/// A view of the same storage by shape and strides in bytes, the array's own where they are not given.
nb::object strided_view(nb::handle o, nb::handle shape, nb::handle strides, bool writeable) {
  const array a = as_array(o.ptr());
  return wrap_object(as_strided(a, to_optional_dims(shape, "shape").value_or(a.shape()),
                                to_optional_dims(strides, "strides").value_or(a.strides()), writeable));
}

// NumPy's ufuncs on Galop arrays --------------------------------------------------------------------------------------

/// Whether Galop deals with an operand of this type in a call that NumPy hands over.
bool is_ours(PyObject* o) { return is_array(o) || PyArray_CheckExact(o) || !defers_to(Py_TYPE(o)); }

/// __array_ufunc__: `map` gives Galop's function for NumPy's ufunc; what it has for None deals with all others.
nb::object array_ufunc(PyObject* map, nb::handle ufunc, nb::str method, nb::args inputs, nb::kwargs kwargs) {
  for (nb::handle x : inputs)
    if (!is_ours(x.ptr())) return nb::borrow(Py_NotImplemented);
  if (PyObject* out = PyDict_GetItemString(kwargs.ptr(), "out"); out && PyTuple_Check(out)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(out); ++i)
      if (!is_ours(PyTuple_GET_ITEM(out, i))) return nb::borrow(Py_NotImplemented);
  }
  nb::handle ours = PyDict_GetItemWithError(map, ufunc.ptr());
  if (!ours.is_valid()) {
    nb::handle other = PyDict_GetItemWithError(map, Py_None);
    if (!other.is_valid()) return nb::borrow(Py_NotImplemented);
    return other(ufunc, method, *inputs, **kwargs);
  }
  nb::object f = std::string_view(method.c_str()) == "__call__" ? nb::borrow(ours) : nb::object(ours.attr(method));
  return nb::steal(checked(PyObject_Call(f.ptr(), inputs.ptr(), kwargs.ptr())));
}

}  // namespace

PyType_Slot buffer_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

void bind_interop(nb::module_& m) {
  nb::object type = m.attr("ndarray");
  nb::dict map;
  m.attr("ufunc_map") = map;
  nb::cpp_function_def([map = map.ptr()](nb::handle, nb::handle ufunc, nb::str method, nb::args inputs,
                                         nb::kwargs kwargs) { return array_ufunc(map, ufunc, method, inputs, kwargs); },
                       nb::scope(type), nb::name("__array_ufunc__"), nb::is_method(), nb::arg("ufunc"),
                       nb::arg("method"), nb::arg("inputs"), nb::arg("kwargs"));
  m.def("array_interface", &array_interface);
  m.def("as_strided", &strided_view, nb::arg("x"), nb::arg("shape") = nb::none(), nb::arg("strides") = nb::none(),
        nb::arg("writeable") = true);
  m.def("bury", &bury);
}

}  // namespace galop::python
