// Indexing of galop.ndarray: a[key], a[key] = value, iteration. A full integer index reads NumPy's scalar, as in NumPy.
#include <algorithm>
#include <array>
#include <cmath>

#include "binding.hpp"
#include "galop/create.hpp"
#include "graph/build.hpp"
#include "graph/small.hpp"
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

/// Where the element is that so many integers name, in bytes from element 0.
std::int64_t element_at(const array& a, PyObject* const* keys) {
  std::int64_t at = 0;
  for (int k = 0; k < a.ndim(); ++k) at += in_bounds(to_integer(keys[k]), k, a.shape()[k]) * a.strides()[k];
  return at;
}

/// Whether the key names one element of an array of n axes by Python's integers: those, or null.
PyObject* const* element_keys(PyObject* const& key, int n) {
  if (n == 1 && PyLong_CheckExact(key)) return &key;
  if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != n || n == 0) return nullptr;
  PyObject* const* keys = &PyTuple_GET_ITEM(key, 0);
  return std::all_of(keys, keys + n, [](PyObject* k) { return PyLong_CheckExact(k); }) ? keys : nullptr;
}

/// A bound of a slice without a step, when it is none or a plain integer of Python's.
bool plain_bound(PyObject* bound, Py_ssize_t when_none, Py_ssize_t& to) {
  to = when_none;
  if (bound == Py_None) return true;
  int overflow = 1;
  if (PyLong_CheckExact(bound)) to = PyLong_AsLongAndOverflow(bound, &overflow);
  return overflow == 0;
}

/// Makes axis `axis` of the view what a slice takes of it.
void take_slice(View& v, int axis, PyObject* key) {
  Py_ssize_t start, stop, step = 1;
  const auto* s = reinterpret_cast<PySliceObject*>(key);
  if (s->step != Py_None || !plain_bound(s->start, 0, start) || !plain_bound(s->stop, PY_SSIZE_T_MAX, stop))
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) rethrow();
  const Py_ssize_t count = PySlice_AdjustIndices(v.shape[axis], &start, &stop, step);
  if (count > 0) v.offset += start * v.strides[axis];
  v.shape[axis] = count;
  if (count > 1) v.strides[axis] *= step;
}

/// The view that an integer, a slice, or up to ndim of them in a tuple name; nothing else, and false.
bool is_plain_view(PyObject* key, int n) {
  const auto plain = [](PyObject* k) { return PySlice_Check(k) || PyLong_CheckExact(k); };
  if (!PyTuple_CheckExact(key)) return n > 0 && plain(key);
  const Py_ssize_t count = PyTuple_GET_SIZE(key);
  if (count == 0 || count > n) return false;
  PyObject* const* keys = &PyTuple_GET_ITEM(key, 0);
  return std::all_of(keys, keys + count, plain);
}
array plain_view(const array& a, PyObject* key) {
  array r = a;
  View& v = r.own_view();
  const bool many = PyTuple_CheckExact(key);
  PyObject* const* keys = many ? &PyTuple_GET_ITEM(key, 0) : &key;
  const auto count = many ? static_cast<int>(PyTuple_GET_SIZE(key)) : 1;
  for (int k = 0, axis = 0; k < count; ++k) {
    if (PySlice_Check(keys[k])) {
      take_slice(v, axis++, keys[k]);
    } else {
      v.offset += in_bounds(to_integer(keys[k]), k, v.shape[axis]) * v.strides[axis];
      v.shape.erase(axis);
      v.strides.erase(axis);
    }
  }
  return r;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    const array& a = get(self);
    if (PySlice_Check(key) && a.ndim() > 0)
      return wrap_made([&] {
        array r = a;
        take_slice(r.own_view(), 0, key);
        return r;
      });
    if (PyObject* const* keys = element_keys(key, a.ndim())) return numpy_scalar_at(a, element_at(a, keys));
    if (is_plain_view(key, a.ndim())) return wrap_made([&] { return plain_view(a, key); });
    Parts parts(key);
    if (parts.is_element(a.ndim())) {
      std::int64_t at = 0;
      for (int k = 0; k < a.ndim(); ++k)
        at += in_bounds(std::get<std::int64_t>(parts.span()[static_cast<std::size_t>(k)]), k, a.shape()[k]) *
              a.strides()[k];
      return numpy_scalar_at(a, at);
    }
    if (!parts.has_arrays()) return wrap(a.at(parts.span()));
    array held = a;
    return wrap(without_gil(held.size(), [&] { return held.at(parts.span()); }));
  });
}

/// a[i] = number by a short way; false when it needs another.
bool set_element(const array& a, PyObject* key, PyObject* value) {
  if (!a.writeable() || !(PyFloat_CheckExact(value) || PyLong_CheckExact(value))) return false;
  PyObject* const* keys = element_keys(key, a.ndim());
  if (!keys) return false;
  check_number("setitem", value, a.dtype());
  const std::optional<scalar> v = to_weak(value);
  if (!v || (galop::itemsize(a.dtype()) < 8 && std::abs(v->number().real()) > 65504)) return false;  // it may overflow
  alignas(16) std::byte bits[16];
  const std::int64_t at = element_at(a, keys);
  v->store(a.dtype(), bits);
  return graph::write_element(a, at, bits);
}

int set_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded_int([&] {
    if (!value) throw ValueError("[setitem] elements of an array cannot be deleted; got del");
    const array& a = get(self);
    if (set_element(a, key, value)) return 0;
    if (a.writeable() && is_plain_view(key, a.ndim()) && !element_keys(key, a.ndim())) {
      check_number("setitem", value, a.dtype());
      Operand v;
      v.take_to_write(value, a.dtype());
      plain_view(a, key).assign(v.arg());
      return 0;
    }
    Parts parts(key);
    check_number("setitem", value, a.dtype());
    Operand v;
    v.take_to_write(value, a.dtype());
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
    if (i < 0 || i >= a.shape()[0]) {
      // How every iteration ends, so nothing is thrown nor formatted.
      PyErr_SetString(PyExc_IndexError, "[index] out of bounds for axis 0; got a position past the end");
      return nullptr;
    }
    if (a.ndim() == 1) return numpy_scalar_at(a, i * a.strides()[0]);
    return wrap_made([&] {
      array r = a;
      View& v = r.own_view();
      v.offset += i * v.strides[0];
      v.shape.erase(0);
      v.strides.erase(0);
      return r;
    });
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
