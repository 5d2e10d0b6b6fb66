// Python objects to dtypes, shapes, numbers and arrays, and back, by NumPy's rules.
#include "binding.hpp"
#include "core/visit.hpp"
#include "galop/create.hpp"
#include "graph/build.hpp"
#include "graph/small.hpp"
#include "numpy_api.hpp"

namespace galop::python {

// Dtypes --------------------------------------------------------------------------------------------------------------

namespace {

constexpr int kNumbers[kDTypes] = {NPY_BOOL,    NPY_INT8,    NPY_INT16,     NPY_INT32,     NPY_INT64,
                                   NPY_UINT8,   NPY_UINT16,  NPY_UINT32,    NPY_UINT64,    NPY_FLOAT16,
                                   NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128};

[[noreturn]] void no_such_dtype(PyObject* descr) {
  throw TypeError("[dtype] not an element type of Galop; got " + std::string(nb::str(nb::handle(descr)).c_str()));
}

DType checked_dtype(PyArray_Descr* d) {
  auto t = dtype_of_number(d->type_num);
  if (!t || PyArray_ISNBO(d->byteorder) == 0) no_such_dtype(reinterpret_cast<PyObject*>(d));
  return *t;
}

}  // namespace

std::optional<DType> dtype_of_number(int type_number) {
  for (int i = 0; i < kDTypes; ++i)
    if (kNumbers[i] == type_number) return static_cast<DType>(i);
  // The second of two C types of equal size.
  if (type_number == NPY_LONGLONG) return DType::int64;
  if (type_number == NPY_ULONGLONG) return DType::uint64;
  return {};
}

PyObject* dtype_object(DType t) {
  static PyObject* objects[kDTypes];
  PyObject*& o = objects[static_cast<int>(t)];
  if (!o) o = reinterpret_cast<PyObject*>(PyArray_DescrFromType(kNumbers[static_cast<int>(t)]));
  return o;
}

DType to_dtype(PyObject* o) {
  PyArray_Descr* d = nullptr;
  if (PyArray_DescrCheck(o)) return checked_dtype(reinterpret_cast<PyArray_Descr*>(o));
  if (!PyArray_DescrConverter(o, &d)) rethrow();
  nb::object keep = nb::steal(reinterpret_cast<PyObject*>(d));
  return checked_dtype(d);
}

std::optional<DType> to_optional_dtype(nb::handle o) {
  if (!o.is_valid() || o.is_none()) return {};
  return to_dtype(o.ptr());
}

// Shapes, axes, options -----------------------------------------------------------------------------------------------

namespace {

std::int64_t to_extent(PyObject* o) {
  Py_ssize_t v = PyNumber_AsSsize_t(o, PyExc_ValueError);
  if (v == -1 && PyErr_Occurred()) rethrow();
  return v;
}

}  // namespace

Dims to_dims(PyObject* o, const char* what) {
  Dims d;
  if (PyTuple_CheckExact(o)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) d.push_back(to_extent(PyTuple_GET_ITEM(o, i)));
    return d;
  }
  if (PyIndex_Check(o) && !(is_array(o) && get(o).ndim() > 0) && !(PyArray_Check(o) && !PyArray_IsZeroDim(o))) {
    d.push_back(to_extent(o));
    return d;
  }
  PyObject* fast = PySequence_Fast(o, "");
  if (!fast) {
    PyErr_Clear();
    throw TypeError(std::string("[") + what + "] expected a sequence of integers or a single integer; got " +
                    nb::repr(nb::handle(o)).c_str());
  }
  nb::object keep = nb::steal(fast);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
    d.push_back(to_extent(PySequence_Fast_GET_ITEM(fast, i)));
  return d;
}

std::optional<Dims> to_optional_dims(nb::handle o, const char* what) {
  if (!o.is_valid() || o.is_none()) return {};
  return to_dims(o.ptr(), what);
}

int to_int(PyObject* o, const char* what) {
  std::int64_t v = to_extent(o);
  if (v != static_cast<int>(v)) throw ValueError(std::string("[") + what + "] out of range; got " + std::to_string(v));
  return static_cast<int>(v);
}

std::optional<int> to_optional_int(nb::handle o, const char* what) {
  if (o.is_none()) return {};
  return to_int(o.ptr(), what);
}

nb::tuple to_tuple(const Dims& d) {
  PyObject* t = checked(PyTuple_New(d.size()));
  for (int i = 0; i < d.size(); ++i) PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(d[i]));
  return nb::steal<nb::tuple>(t);
}

Casting to_casting(nb::handle o) {
  const char* s = PyUnicode_Check(o.ptr()) ? PyUnicode_AsUTF8(o.ptr()) : nullptr;
  for (int i = 0; s && i < 5; ++i)
    if (name(static_cast<Casting>(i)) == s) return static_cast<Casting>(i);
  throw ValueError(std::string("[casting] must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe'; got ") +
                   nb::repr(o).c_str());
}

Order to_order(nb::handle o, Order when_none) {
  if (!o.is_valid() || o.is_none()) return when_none;
  const char* s = PyUnicode_Check(o.ptr()) ? PyUnicode_AsUTF8(o.ptr()) : nullptr;
  if (s && s[0] && !s[1]) {
    char c = static_cast<char>(s[0] & ~0x20);
    if (c == 'C' || c == 'F' || c == 'A' || c == 'K') return static_cast<Order>(c);
  }
  throw ValueError(std::string("[order] must be one of 'C', 'F', 'A' or 'K'; got ") + nb::repr(o).c_str());
}

// Numbers -------------------------------------------------------------------------------------------------------------

std::optional<scalar> to_weak(PyObject* o) {
  if (PyFloat_CheckExact(o)) return scalar(PyFloat_AS_DOUBLE(o));
  if (PyBool_Check(o)) return scalar(o == Py_True);
  if (PyLong_Check(o)) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow == 0) {
      if (v == -1 && PyErr_Occurred()) rethrow();
      return scalar(v);
    }
    if (overflow < 0) return {};
    unsigned long long u = PyLong_AsUnsignedLongLong(o);
    if (u == ~0ULL && PyErr_Occurred()) {
      PyErr_Clear();
      return {};
    }
    return scalar(u);
  }
  bool real = PyFloat_Check(o), complex = PyComplex_Check(o);
  if ((!real && !complex) || PyArray_IsScalar(o, Generic)) return {};
  if (real) return scalar(PyFloat_AS_DOUBLE(o));
  Py_complex c = PyComplex_AsCComplex(o);
  return scalar(std::complex<double>(c.real, c.imag));
}

namespace {

/// The value that `p` points at, of dtype t.
scalar load(DType t, const void* p) {
  return visit_dtype(t, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, bool>) {
      return scalar(*static_cast<const std::uint8_t*>(p) != 0);
    } else if constexpr (std::is_same_v<T, half>) {
      auto* const type = reinterpret_cast<PyArray_Descr*>(dtype_object(DType::float16));
      const nb::object o = nb::steal(checked(PyArray_Scalar(const_cast<void*>(p), type, nullptr)));
      return scalar(PyFloat_AsDouble(o.ptr()));
    } else if constexpr (is_complex(dtype_of<T>)) {
      return scalar(std::complex<double>(*static_cast<const T*>(p)));
    } else {
      return scalar(*static_cast<const T*>(p));
    }
  });
}

/// NumPy's scalar as its value and dtype.
std::pair<scalar, DType> take_scalar(PyObject* o) {
  PyArray_Descr* d = PyArray_DescrFromScalar(o);
  nb::object keep = nb::steal(checked(reinterpret_cast<PyObject*>(d)));
  DType t = checked_dtype(d);
  alignas(16) char value[16];
  PyArray_ScalarAsCtype(o, value);
  return {load(t, value), t};
}

}  // namespace

void check_number(const char* op, PyObject* o, DType t) {
  auto message = [&](const char* what) {
    return "[" + std::string(op) + "] " + what + "; got " + nb::repr(nb::handle(o)).c_str() + " for " +
           std::string(name(t));
  };
  if (PyComplex_CheckExact(o) && !is_complex(t)) throw TypeError(message("a complex number does not fit a real dtype"));
  if (!PyFloat_CheckExact(o) || !is_integer(t)) return;
  double v = PyFloat_AS_DOUBLE(o);
  if (v != v) throw ValueError(message("NaN does not become an integer"));
  if (v - v != 0) throw OverflowError(message("an infinity does not become an integer"));
}

scalar to_number(PyObject* o) {
  if (auto w = to_weak(o)) return *w;
  if (PyArray_IsScalar(o, Generic)) return take_scalar(o).first;
  if (PyLong_Check(o)) throw OverflowError("[number] integer beyond 64 bits; got " + std::string(nb::str(o).c_str()));
  array a = as_array(o);
  if (a.size() != 1) throw TypeError("[number] expected a single number; got shape " + to_string(a.shape()));
  alignas(16) char value[16];
  a.item_into(a.dtype(), value);
  return load(a.dtype(), value);
}

namespace {

// NumPy's scalar of the value at `p`: the common dtypes without NumPy's search for the type, and by Python's own
// allocation, since such an object is its head and its value.
PyObject* to_numpy_scalar(DType t, void* p) {
#define GALOP_SCALAR(dtype, Class)                                             \
  case DType::dtype: {                                                         \
    auto* o = PyObject_New(Py##Class##ScalarObject, &Py##Class##ArrType_Type); \
    if (!o) rethrow();                                                         \
    std::memcpy(&o->obval, p, sizeof o->obval);                                \
    return reinterpret_cast<PyObject*>(o);                                     \
  }
  switch (t) {
    GALOP_SCALAR(float64, Double)
    GALOP_SCALAR(float32, Float)
    GALOP_SCALAR(int64, Int64)
    GALOP_SCALAR(int32, Int32)
    GALOP_SCALAR(uint8, UInt8)
    GALOP_SCALAR(complex128, CDouble)
    case DType::bool_:
      PyArrayScalar_RETURN_BOOL_FROM_LONG(*static_cast<const std::uint8_t*>(p) != 0);
    default:
      return checked(PyArray_Scalar(p, reinterpret_cast<PyArray_Descr*>(dtype_object(t)), nullptr));
  }
#undef GALOP_SCALAR
}

}  // namespace

PyObject* numpy_scalar_at(const array& a, std::int64_t at) {
  alignas(16) char value[16];
  if (!graph::read_element(a, at, value)) {
    const array held = a.with_view({{}, {}, a.view().offset + at});
    without_gil(a.size(), [&] { held.item_into(held.dtype(), value); });
  }
  return to_numpy_scalar(a.dtype(), value);
}

PyObject* python_scalar(const array& a, std::int64_t i) {
  if (a.dtype() == DType::float64) {  // the common case, without a handle of its own
    std::int64_t at = 0, rest = i;
    for (int k = a.ndim() - 1; k >= 0; --k) {
      at += rest % a.shape()[k] * a.strides()[k];
      rest /= a.shape()[k];
    }
    double v;
    if (graph::read_element(a, at, &v)) return checked(PyFloat_FromDouble(v));
  }
  array held = a;
  auto read = [&]<class T>(T v) {
    without_gil(held.size(), [&] { held.item_into(dtype_of<T>, &v, i); });
    return v;
  };
  switch (kind(a.dtype())) {
    case 'b':
      return PyBool_FromLong(read(false));
    case 'i':
      return checked(PyLong_FromLongLong(read(std::int64_t{})));
    case 'u':
      return checked(PyLong_FromUnsignedLongLong(read(std::uint64_t{})));
    case 'f':
      return checked(PyFloat_FromDouble(read(0.0)));
    default: {
      auto c = read(std::complex<double>{});
      return checked(PyComplex_FromDoubles(c.real(), c.imag()));
    }
  }
}

// Arrays --------------------------------------------------------------------------------------------------------------

array from_numpy(PyObject* numpy_array) {
  auto* a = reinterpret_cast<PyArrayObject*>(numpy_array);
  if (!PyArray_ISNBO(PyArray_DESCR(a)->byteorder) && dtype_of_number(PyArray_TYPE(a))) {
    // Galop computes in native byte order only, so the values are copied.
    PyArray_Descr* d = PyArray_DescrFromType(PyArray_TYPE(a));
    nb::object native = nb::steal(checked(PyArray_CastToType(a, d, 0)));
    return from_numpy(native.ptr()).copy();
  }
  DType t = checked_dtype(PyArray_DESCR(a));
  int n = PyArray_NDIM(a);
  Dims shape(PyArray_DIMS(a), PyArray_DIMS(a) + n), strides(PyArray_STRIDES(a), PyArray_STRIDES(a) + n);
  Py_INCREF(numpy_array);
  try {
    return from_memory(PyArray_DATA(a), t, shape, strides, PyArray_ISWRITEABLE(a) != 0,
                       [numpy_array] { release_later(numpy_array); });
  } catch (...) {
    Py_DECREF(numpy_array);
    throw;
  }
}

array as_array(PyObject* o, std::optional<DType> dtype) {
  auto cast = [&](array a) {
    if (!dtype || *dtype == a.dtype()) return a;
    look_at_cast(a.dtype(), *dtype);
    return a.astype(*dtype);
  };
  if (is_array(o)) return cast(get(o));
  if (auto w = to_weak(o)) {
    if (!dtype) return array(*w);
    check_number("array", o, *dtype);
    return full({}, *w, *dtype);
  }
  if (PyArray_Check(o)) return cast(from_numpy(o));
  if (PyArray_IsScalar(o, Number) || PyArray_IsScalar(o, Bool)) {
    auto [v, t] = take_scalar(o);
    return cast(full({}, v, t));
  }
  // Before the buffer protocol, which a GPU's array may offer only to refuse.
  if (!PyList_Check(o) && !PyTuple_Check(o))
    if (auto a = from_cuda_interface(o)) return cast(*std::move(a));
  PyArray_Descr* d = nullptr;
  if (dtype) {
    d = reinterpret_cast<PyArray_Descr*>(dtype_object(*dtype));
    Py_INCREF(d);
  }
  nb::object made =
      nb::steal(checked(PyArray_FromAny(o, d, 0, 0, NPY_ARRAY_ENSUREARRAY | NPY_ARRAY_FORCECAST, nullptr)));
  array a = from_numpy(made.ptr());
  // What NumPy has made of a sequence moves into Galop's own memory, where work on it can wait.
  return PyList_Check(o) || PyTuple_Check(o) ? a.copy() : a;
}

std::vector<array> to_arrays(nb::handle sequence) {
  PyObject* fast = PySequence_Fast(sequence.ptr(), "[arrays] expected a sequence of arrays");
  nb::object keep = nb::steal(checked(fast));
  std::vector<array> r;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
    r.push_back(as_array(PySequence_Fast_GET_ITEM(fast, i)));
  return r;
}

const array* to_mask(nb::handle o, std::optional<array>& store) {
  if (!o.is_valid() || o.ptr() == Py_True || o.is_none()) return nullptr;
  store.emplace(as_array(o.ptr()));
  if (store->dtype() != DType::bool_)
    throw TypeError("[where] a mask must be bool; got " + std::string(name(store->dtype())));
  return &*store;
}

// Operands and results ------------------------------------------------------------------------------------------------

bool defers_to(PyTypeObject* t) {
  nb::handle type(reinterpret_cast<PyObject*>(t));
  static PyObject* numpys = nullptr;
  if (!numpys) numpys = checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyArray_Type), "__array_ufunc__"));
  nb::object own = nb::getattr(type, "__array_ufunc__", nb::handle());
  if (own.is_valid()) return own.is_none() || own.ptr() != numpys;
  nb::object priority = nb::getattr(type, "__array_priority__", nb::handle());
  if (!priority.is_valid()) return false;
  double theirs = PyFloat_AsDouble(priority.ptr());
  if (theirs == -1.0 && PyErr_Occurred()) PyErr_Clear();
  return theirs > 20.0;
}

bool Operand::accept(PyObject* o, std::optional<DType> partner) {
  if (python::is_array(o)) {
    array_ = &python::get(o);
    return true;
  }
  if (auto w = to_weak(o)) {
    number_ = *w;
    return true;
  }
  if (PyLong_Check(o)) {
    if (!partner || !is_inexact(*partner))
      throw OverflowError("[scalar] Python integer out of bounds for " +
                          std::string(name(partner.value_or(DType::int64))) + "; got " +
                          nb::str(nb::handle(o)).c_str());
    double v = PyLong_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) rethrow();
    number_ = scalar(v);
    return true;
  }
  if (PyArray_CheckExact(o)) {
    own(from_numpy(o));
    return true;
  }
  if (PyArray_IsScalar(o, Number) || PyArray_IsScalar(o, Bool)) {
    auto [v, t] = take_scalar(o);
    if (partner && promote_types(t, *partner) == *partner)
      number_ = v;  // the same dtype and value as the strong scalar would give, without an array
    else
      own(full({}, v, t));
    return true;
  }
  if (PyList_Check(o) || PyTuple_Check(o)) {
    own(python::as_array(o));
    return true;
  }
  if (o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || PyAnySet_Check(o) ||
      PyArray_IsScalar(o, Generic) || defers_to(Py_TYPE(o)))
    return false;
  if (PyArray_Check(o)) {
    own(from_numpy(o));
    return true;
  }
  if (!PyObject_CheckBuffer(o) && !PyObject_HasAttrString(o, "__array_interface__") &&
      !PyObject_HasAttrString(o, "__array__") && !PyObject_HasAttrString(o, "__array_struct__") &&
      !PyObject_HasAttrString(o, "__cuda_array_interface__"))
    return false;
  own(python::as_array(o));
  return true;
}

void Operand::take(PyObject* o, std::optional<DType> partner) {
  if (!accept(o, partner))
    throw TypeError("[operand] expected an array or a number; got " + std::string(Py_TYPE(o)->tp_name));
}

void Operand::take_to_write(PyObject* o, DType to) {
  take(o, to);
  if (!array_ || !drops_parts(array_->dtype(), to)) return;
  if (PyList_Check(o) || PyTuple_Check(o))
    own(python::as_array(o, to));  // NumPy warns, or refuses Python's complex numbers
  else
    warn_of_dropped_parts();
}

Pair::Pair(nb::handle a, nb::handle b) {
  std::optional<DType> partner;
  if (python::is_array(a.ptr())) partner = get(a.ptr()).dtype();
  y.take(b.ptr(), partner);
  if (y.is_array()) partner = y.as_array().dtype();
  x.take(a.ptr(), partner);
}

void Output::take(PyObject* o) {
  if (o && PyTuple_Check(o) && PyTuple_GET_SIZE(o) == 1) o = PyTuple_GET_ITEM(o, 0);
  if (!o || o == Py_None) return;
  if (is_array(o)) {
    array_ = &python::get(o);
  } else if (PyArray_Check(o)) {
    if (!PyArray_ISNBO(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(o))->byteorder))
      no_such_dtype(reinterpret_cast<PyObject*>(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(o))));
    store_.emplace(from_numpy(o));
    array_ = &*store_;
  } else {
    throw TypeError("[out] return arrays must be arrays; got " + std::string(Py_TYPE(o)->tp_name));
  }
  object_ = o;
}

PyObject* Output::give(array result) {
  if (!object_) return wrap(std::move(result));
  if (store_) eval(*store_);
  Py_INCREF(object_);
  return object_;
}

Reduction::Reduction(nb::handle axis, nb::handle dtype, nb::handle out_, nb::handle keepdims, nb::handle initial,
                     nb::handle where) {
  options.axis = to_optional_dims(axis, "axis");
  options.dtype = to_optional_dtype(dtype);
  out.take(out_.ptr());
  options.out = out.get();
  options.keepdims = keepdims.is_valid() && PyObject_IsTrue(keepdims.ptr()) > 0;
  if (initial.is_valid() && !initial.is_none() && initial.ptr() != numpy("_NoValue").ptr())
    options.initial = to_number(initial.ptr());
  options.where = to_mask(where, mask);
}

nb::object numpy(const char* name) {
  static PyObject* module = nullptr;
  if (!module) module = checked(PyImport_ImportModule("numpy"));
  return nb::steal(checked(PyObject_GetAttrString(module, name)));
}

}  // namespace galop::python
