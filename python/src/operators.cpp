// The operators of galop.ndarray as type slots: arithmetic, in-place, comparison, conversion to Python's numbers.
#include "binding.hpp"
#include "galop/create.hpp"
#include "galop/linalg.hpp"

namespace galop::python {

namespace {

/// f(x, y), as arrays when both are, else as arg, where one of x and y is an array; NotImplemented when the other is
/// for somebody else.
template <class F>
PyObject* on_operands(PyObject* x, PyObject* y, F&& f) noexcept {
  return guarded([&]() -> PyObject* {
    bool first = is_array(x), second = is_array(y);
    if (first && second) return f(get(x), get(y));
    Operand other;
    const array& known = get(first ? x : y);
    if (!other.accept(first ? y : x, known.dtype())) Py_RETURN_NOTIMPLEMENTED;
    return first ? f(arg(known), other.arg()) : f(other.arg(), arg(known));
  });
}

template <Op op>
PyObject* binary(PyObject* x, PyObject* y) {
  return on_operands(x, y,
                     [](const auto& a, const auto& b) { return wrap_made([&] { return binary_ufunc(op)(a, b); }); });
}

template <Op op>
PyObject* inplace(PyObject* self, PyObject* y) {
  return guarded([&]() -> PyObject* {
    const array& target = get(self);
    if (is_array(y)) {
      const arg in[] = {target, get(y)};
      ufunc(op).into(target, in);
    } else {
      Operand other;
      if (!other.accept(y, target.dtype())) Py_RETURN_NOTIMPLEMENTED;
      const arg in[] = {target, other.arg()};
      ufunc(op).into(target, in);
    }
    Py_INCREF(self);
    return self;
  });
}

template <Op op>
PyObject* unary(PyObject* self) {
  return guarded([&] { return wrap_made([&] { return unary_ufunc(op)(get(self)); }); });
}

PyObject* divmod(PyObject* x, PyObject* y) {
  return on_operands(x, y, [](const arg& a, const arg& b) {
    const arg in[] = {a, b};
    return wrap_all(ufunc(Op::divmod).call(in)).release().ptr();
  });
}

/// The operation that NumPy puts in place of a power with an exact Python number for exponent, if there is one.
std::optional<Op> shortcut_of_power(const array& base, PyObject* exponent) {
  if (PyLong_CheckExact(exponent)) {
    int overflow = 0;
    long long n = PyLong_AsLongLongAndOverflow(exponent, &overflow);
    if (overflow == 0 && n == 2) return Op::square;
    if (overflow == 0 && n == -1 && is_inexact(base.dtype())) return Op::reciprocal;
  } else if (PyFloat_CheckExact(exponent) && is_inexact(base.dtype())) {
    if (PyFloat_AS_DOUBLE(exponent) == 2.0) return Op::square;
    if (PyFloat_AS_DOUBLE(exponent) == 0.5) return Op::sqrt;
  }
  return {};
}

PyObject* power(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (is_array(x) && !is_array(y)) {
    if (auto op = shortcut_of_power(get(x), y))
      return guarded([&] { return wrap_made([&] { return unary_ufunc(*op)(get(x)); }); });
  }
  return binary<Op::power>(x, y);
}

PyObject* inplace_power(PyObject* self, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (auto op = is_array(y) ? std::nullopt : shortcut_of_power(get(self), y)) {
    return guarded([&] {
      const arg in[] = {get(self)};
      ufunc(*op).into(get(self), in);
      Py_INCREF(self);
      return self;
    });
  }
  return inplace<Op::power>(self, y);
}

/// x @ y: both operands as arrays, since numbers have no axes.
PyObject* matmul_of(PyObject* x, PyObject* y, PyObject* out) {
  return guarded([&]() -> PyObject* {
    Operand a, b;
    if (!a.accept(x) || !b.accept(y)) Py_RETURN_NOTIMPLEMENTED;
    if (!a.is_array() || !b.is_array()) throw ValueError("[matmul] operands need at least one axis; got a number");
    array p = a.as_array(), q = b.as_array();
    std::optional<array> target;
    if (out) target.emplace(get(out));
    array r = without_gil(p.size() + q.size(), [&] { return galop::matmul(p, q, target ? &*target : nullptr); });
    if (!out) return wrap(std::move(r));
    Py_INCREF(out);
    return out;
  });
}

PyObject* matmul(PyObject* x, PyObject* y) { return matmul_of(x, y, nullptr); }
PyObject* inplace_matmul(PyObject* self, PyObject* y) { return matmul_of(self, y, self); }

// Comparison ----------------------------------------------------------------------------------------------------------

/// Whether y, a Python integer, lies below (-1) or above (1) all values of an integer dtype; 0 if neither.
int beyond(DType t, PyObject* y) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(y, &overflow);
  if (kind(t) == 'u') {
    if (overflow < 0 || (overflow == 0 && v < 0)) return -1;
    if (itemsize(t) < 8) return overflow > 0 || (v >> (8 * itemsize(t))) != 0 ? 1 : 0;
    return overflow > 0 && !to_weak(y) ? 1 : 0;
  }
  if (overflow != 0) return overflow;
  if (itemsize(t) == 8) return 0;
  long long top = 1LL << (8 * itemsize(t) - 1);
  return v >= top ? 1 : v < -top ? -1 : 0;
}

template <class Y>
array compare(int op, const array& x, const Y& y) {
  static constexpr binary_ufunc by[] = {less, less_equal, equal, not_equal, greater, greater_equal};
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  return by[op](x, y);
}

PyObject* richcompare(PyObject* self, PyObject* other, int op) {
  return guarded([&]() -> PyObject* {
    const array& a = get(self);
    if (is_array(other)) return wrap_made([&] { return compare(op, a, get(other)); });
    if (PyLong_CheckExact(other) && is_integer(a.dtype())) {
      if (int side = beyond(a.dtype(), other)) {
        bool truth = op == Py_NE || (side > 0 ? op == Py_LT || op == Py_LE : op == Py_GT || op == Py_GE);
        return wrap(full(a.shape(), truth));
      }
    }
    bool never_equal = other == Py_None || PyUnicode_Check(other) || PyBytes_Check(other);
    if (never_equal && (op == Py_EQ || op == Py_NE)) return wrap(full(a.shape(), op == Py_NE));
    Operand b;
    if (!b.accept(other, a.dtype())) Py_RETURN_NOTIMPLEMENTED;
    return wrap_made([&] { return compare(op, a, b.arg()); });
  });
}

// Python's numbers ----------------------------------------------------------------------------------------------------

int truth(PyObject* self) {
  return guarded_int([&] {
    const array& a = get(self);
    if (a.size() == 0)
      throw ValueError("[bool] the truth value of an empty array is ambiguous, use `array.size > 0`; got shape " +
                       to_string(a.shape()));
    if (a.size() > 1)
      throw ValueError(
          "[bool] the truth value of an array with more than one element is ambiguous, use a.any() or a.all(); "
          "got shape " +
          to_string(a.shape()));
    return a.item<bool>() ? 1 : 0;
  });
}

/// The one element as Python's number, for the conversion `to`.
PyObject* convert(PyObject* self, PyObject* (*to)(PyObject*)) {
  return guarded([&] {
    const array& a = get(self);
    if (a.ndim() > 0)
      throw TypeError("[scalar] only 0-dimensional arrays become Python scalars; got shape " + to_string(a.shape()));
    nb::object value = nb::steal(python_scalar(a));
    return PyFloat_CheckExact(value.ptr()) && to == &PyNumber_Float ? value.release().ptr() : to(value.ptr());
  });
}

PyObject* to_python_int(PyObject* self) { return convert(self, &PyNumber_Long); }
PyObject* to_python_float(PyObject* self) { return convert(self, &PyNumber_Float); }

PyObject* to_python_index(PyObject* self) {
  return guarded([&] {
    const array& a = get(self);
    if (a.ndim() > 0 || !is_integer(a.dtype()))
      throw TypeError("[index] only integer scalar arrays become an index; got shape " + to_string(a.shape()) +
                      ", dtype " + std::string(name(a.dtype())));
    return python_scalar(a);
  });
}

}  // namespace

#define SLOT(id, function) \
  { id, reinterpret_cast<void*>(function) }
PyType_Slot operator_slots[] = {
    SLOT(Py_nb_add, &binary<Op::add>),
    SLOT(Py_nb_subtract, &binary<Op::subtract>),
    SLOT(Py_nb_multiply, &binary<Op::multiply>),
    SLOT(Py_nb_true_divide, &binary<Op::divide>),
    SLOT(Py_nb_floor_divide, &binary<Op::floor_divide>),
    SLOT(Py_nb_remainder, &binary<Op::remainder>),
    SLOT(Py_nb_divmod, &divmod),
    SLOT(Py_nb_power, &power),
    SLOT(Py_nb_matrix_multiply, &matmul),
    SLOT(Py_nb_and, &binary<Op::bitwise_and>),
    SLOT(Py_nb_or, &binary<Op::bitwise_or>),
    SLOT(Py_nb_xor, &binary<Op::bitwise_xor>),
    SLOT(Py_nb_lshift, &binary<Op::left_shift>),
    SLOT(Py_nb_rshift, &binary<Op::right_shift>),
    SLOT(Py_nb_negative, &unary<Op::negative>),
    SLOT(Py_nb_positive, &unary<Op::positive>),
    SLOT(Py_nb_absolute, &unary<Op::absolute>),
    SLOT(Py_nb_invert, &unary<Op::invert>),
    SLOT(Py_nb_inplace_add, &inplace<Op::add>),
    SLOT(Py_nb_inplace_subtract, &inplace<Op::subtract>),
    SLOT(Py_nb_inplace_multiply, &inplace<Op::multiply>),
    SLOT(Py_nb_inplace_true_divide, &inplace<Op::divide>),
    SLOT(Py_nb_inplace_floor_divide, &inplace<Op::floor_divide>),
    SLOT(Py_nb_inplace_remainder, &inplace<Op::remainder>),
    SLOT(Py_nb_inplace_power, &inplace_power),
    SLOT(Py_nb_inplace_matrix_multiply, &inplace_matmul),
    SLOT(Py_nb_inplace_and, &inplace<Op::bitwise_and>),
    SLOT(Py_nb_inplace_or, &inplace<Op::bitwise_or>),
    SLOT(Py_nb_inplace_xor, &inplace<Op::bitwise_xor>),
    SLOT(Py_nb_inplace_lshift, &inplace<Op::left_shift>),
    SLOT(Py_nb_inplace_rshift, &inplace<Op::right_shift>),
    SLOT(Py_nb_bool, &truth),
    SLOT(Py_nb_int, &to_python_int),
    SLOT(Py_nb_float, &to_python_float),
    SLOT(Py_nb_index, &to_python_index),
    SLOT(Py_tp_richcompare, &richcompare),
    SLOT(Py_tp_hash, &PyObject_HashNotImplemented),
    {0, nullptr},
};
#undef SLOT

}  // namespace galop::python
