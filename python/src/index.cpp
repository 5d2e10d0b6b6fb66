// Indexing of galop.ndarray: a[key], a[key] = value, iteration. A full integer index reads NumPy's scalar, as in NumPy.
#include <array>

#include "binding.hpp"
#include "galop/create.hpp"
#include "numpy_api.hpp"

namespace galop::python {

namespace {

[[noreturn]] void no_index(PyObject* k) {
  throw IndexError(
      std::string(
          "[index] only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or boolean arrays are "
          "valid indices; got ") +
      Py_TYPE(k)->tp_name);
}

std::int64_t to_integer(PyObject* k) {
  Py_ssize_t v = PyNumber_AsSsize_t(k, PyExc_IndexError);
  if (v == -1 && PyErr_Occurred()) rethrow();
  return v;
}

slice to_slice(PyObject* k) {
  auto* s = reinterpret_cast<PySliceObject*>(k);
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(k, &start, &stop, &step) < 0) rethrow();
  slice r;
  if (s->start != Py_None) r.start = start;
  if (s->stop != Py_None) r.stop = stop;
  if (s->step != Py_None) r.step = step;
  return r;
}

/// An array among the parts of an index; integers of 0-d arrays count as plain ones.
index to_array_index(array a, PyObject* k) {
  if (a.dtype() == DType::bool_) return a;
  if (!is_integer(a.dtype()))
    throw IndexError("[index] arrays used as indices must be of integer (or boolean) type; got " +
                     std::string(name(a.dtype())));
  if (a.ndim() > 0) return a;
  if (a.dtype() == DType::uint64) return static_cast<std::int64_t>(to_integer(k));
  return a.item<std::int64_t>();
}

index to_part(PyObject* k) {
  if (PyLong_CheckExact(k)) return to_integer(k);
  if (PySlice_Check(k)) return to_slice(k);
  if (k == Py_None) return newaxis;
  if (k == Py_Ellipsis) return ellipsis;
  if (PyBool_Check(k)) return array(k == Py_True);
  if (is_array(k)) return to_array_index(get(k), k);
  if (PyArray_Check(k)) return to_array_index(from_numpy(k), k);
  if (PyArray_IsScalar(k, Bool)) return as_array(k);
  if (PyIndex_Check(k)) return to_integer(k);
  if (!PySequence_Check(k) || PyUnicode_Check(k) || PyBytes_Check(k)) no_index(k);
  array a = as_array(k);
  // An empty list is float64 to NumPy, too, but an empty index all the same.
  if (a.size() == 0 && !is_integer(a.dtype()) && a.dtype() != DType::bool_) a = a.astype(DType::int64);
  return to_array_index(std::move(a), k);
}

/// The parts of an index expression; up to four need no memory.
class Parts {
 public:
  explicit Parts(PyObject* key) {
    if (!PyTuple_Check(key)) {
      few_[0] = to_part(key);
      span_ = {few_.data(), 1};
      return;
    }
    auto n = static_cast<std::size_t>(PyTuple_GET_SIZE(key));
    index* to = few_.data();
    if (n > few_.size()) {
      many_.resize(n);
      to = many_.data();
    }
    for (std::size_t i = 0; i < n; ++i) to[i] = to_part(PyTuple_GET_ITEM(key, static_cast<Py_ssize_t>(i)));
    span_ = {to, n};
  }
  Parts(const Parts&) = delete;

  std::span<const index> span() const { return span_; }
  /// Whether it names one element of an array of n axes.
  bool is_element(int n) const {
    if (span_.size() != static_cast<std::size_t>(n)) return false;
    return std::all_of(span_.begin(), span_.end(),
                       [](const index& i) { return std::holds_alternative<std::int64_t>(i); });
  }
  bool has_arrays() const {
    return std::any_of(span_.begin(), span_.end(), [](const index& i) { return std::holds_alternative<array>(i); });
  }

 private:
  std::array<index, 4> few_;
  std::vector<index> many_;
  std::span<const index> span_;
};

}  // namespace

std::vector<index> to_parts(PyObject* key) {
  Parts parts(key);
  return {parts.span().begin(), parts.span().end()};
}

namespace {

std::int64_t in_bounds(std::int64_t i, int axis, std::int64_t extent) {
  if (i < -extent || i >= extent)
    throw IndexError("[index] out of bounds for axis " + std::to_string(axis) + " with size " + std::to_string(extent) +
                     "; got " + std::to_string(i));
  return i < 0 ? i + extent : i;
}

/// a[start:stop:step], the common case by a short way.
PyObject* sliced(const array& a, PyObject* key) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) rethrow();
  const Py_ssize_t count = PySlice_AdjustIndices(a.shape()[0], &start, &stop, step);
  View v = a.view();
  if (count > 0) v.offset += start * v.strides[0];
  v.shape[0] = count;
  if (count > 1) v.strides[0] *= step;
  return wrap(a.with_view(std::move(v)));
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    const array& a = get(self);
    if (PySlice_Check(key) && a.ndim() > 0) return sliced(a, key);
    if (a.ndim() == 1 && PyLong_CheckExact(key)) return numpy_scalar(a, in_bounds(to_integer(key), 0, a.shape()[0]));
    Parts parts(key);
    if (parts.is_element(a.ndim())) {
      std::int64_t flat = 0;
      for (int i = 0; i < a.ndim(); ++i)
        flat = flat * a.shape()[i] +
               in_bounds(std::get<std::int64_t>(parts.span()[static_cast<std::size_t>(i)]), i, a.shape()[i]);
      return numpy_scalar(a, flat);
    }
    if (!parts.has_arrays()) return wrap(a.at(parts.span()));
    array held = a;
    return wrap(without_gil(held.size(), [&] { return held.at(parts.span()); }));
  });
}

int set_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded_int([&] {
    if (!value) throw ValueError("[setitem] elements of an array cannot be deleted; got del");
    const array& a = get(self);
    Parts parts(key);
    check_number("setitem", value, a.dtype());
    Operand v;
    v.take(value, a.dtype());
    if (!parts.has_arrays()) {
      a.set(parts.span(), v.arg());
      return 0;
    }
    array held = a;
    without_gil(held.size(), [&] { held.set(parts.span(), v.arg()); });
    return 0;
  });
}

PyObject* item_of_sequence(PyObject* self, Py_ssize_t i) {
  return guarded([&]() -> PyObject* {
    const array& a = get(self);
    if (a.ndim() == 0) throw IndexError("[index] too many indices; got 1 for a 0-d array");
    in_bounds(i, 0, a.shape()[0]);
    if (a.ndim() == 1) return numpy_scalar(a, i);
    const index part[] = {static_cast<std::int64_t>(i)};
    return wrap(a.at(part));
  });
}

Py_ssize_t length(PyObject* self) {
  const array& a = get(self);
  if (a.ndim() > 0) return static_cast<Py_ssize_t>(a.shape()[0]);
  PyErr_SetString(PyExc_TypeError, "[len] an array without axes has no length; got a 0-d array");
  return -1;
}

PyObject* iterate(PyObject* self) {
  if (get(self).ndim() > 0) return PySeqIter_New(self);
  PyErr_SetString(PyExc_TypeError, "[iter] iteration over an array without axes; got a 0-d array");
  return nullptr;
}

int contains(PyObject* self, PyObject* x) {
  return guarded_int([&] {
    nb::object same = nb::steal(checked(PyObject_RichCompare(self, x, Py_EQ)));
    if (!is_array(same.ptr())) return PyObject_IsTrue(same.ptr());
    array all = get(same.ptr());
    return without_gil(all.size(), [&] { return any(all).item<bool>() ? 1 : 0; });
  });
}

}  // namespace

#define SLOT(id, function) \
  { id, reinterpret_cast<void*>(function) }
PyType_Slot index_slots[] = {
    SLOT(Py_mp_length, &length),
    SLOT(Py_mp_subscript, &subscript),
    SLOT(Py_mp_ass_subscript, &set_subscript),
    SLOT(Py_sq_length, &length),
    SLOT(Py_sq_item, &item_of_sequence),
    SLOT(Py_sq_contains, &contains),
    SLOT(Py_tp_iter, &iterate),
    {0, nullptr},
};
#undef SLOT

}  // namespace galop::python
