// What the parts of the Python module share: the array object, conversions between Python and C++, errors, the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "galop/array.hpp"
#include "galop/reduce.hpp"
#include "galop/ufunc.hpp"

namespace nb = nanobind;

namespace galop::python {

// Memory that Python owns ---------------------------------------------------------------------------------------------

/// Gives up a reference from any thread, with or without the GIL: the object dies in `bury`, never inside the engine.
void release_later(PyObject* o) noexcept;
/// Drops the references given up so far. Needs the GIL.
void bury() noexcept;

// The array object ----------------------------------------------------------------------------------------------------

/// A galop.ndarray. The collector of cycles does not follow it, as it does not follow NumPy's: all that it refers to is
/// the owner of foreign memory.
struct ArrayObject {
  PyObject_HEAD PyObject* weak_references;
  union {
    array value;
  };

  ArrayObject() = delete;
  ~ArrayObject() = delete;
};

extern PyTypeObject* ndarray_type;

inline bool is_array(PyObject* o) { return Py_TYPE(o) == ndarray_type || PyType_IsSubtype(Py_TYPE(o), ndarray_type); }
inline array& get(PyObject* o) { return reinterpret_cast<ArrayObject*>(o)->value; }

/// An object whose array is not made yet, given back at the end of the scope unless it is released.
class RawObject {
 public:
  /// Throws when there is no memory.
  explicit RawObject(PyTypeObject* type);
  ~RawObject() {
    if (object_) give_back(object_);
  }
  RawObject(const RawObject&) = delete;
  RawObject& operator=(const RawObject&) = delete;
  array* place() const { return &object_->value; }
  PyObject* release() { return reinterpret_cast<PyObject*>(std::exchange(object_, nullptr)); }
  /// An object whose array has gone, or never was.
  static void give_back(ArrayObject* o) noexcept;

 private:
  ArrayObject* object_;
};

/// A new galop.ndarray of the type, of what `make` returns, which is made in its place: an array just written is slow
/// to move.
template <class F>
PyObject* wrap_made(F&& make, PyTypeObject* type = ndarray_type) {
  RawObject o(type);
  new (o.place()) array(make());
  return o.release();
}
/// A new galop.ndarray.
inline PyObject* wrap(array a) {
  return wrap_made([&] { return std::move(a); });
}
inline nb::object wrap_object(array a) { return nb::steal(wrap(std::move(a))); }
nb::tuple wrap_all(std::vector<array> arrays);

// Errors --------------------------------------------------------------------------------------------------------------

/// galop.DeviceError.
extern PyObject* device_error;

/// Turns the C++ exception being handled into a Python error.
void set_error() noexcept;

/// Runs a type slot's body; a C++ exception becomes a Python error and the slot's failure value.
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
template <class F>
int guarded_int(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return -1;
  }
}
/// Throws the Python error that a C function has just set.
[[noreturn]] inline void rethrow() { throw nb::python_error(); }
inline PyObject* checked(PyObject* o) {
  if (!o) rethrow();
  return o;
}

// The GIL -------------------------------------------------------------------------------------------------------------

/// Has this thread know what floating-point exceptions are wanted, before it gives up the GIL.
void remember_policy();

/// Work on fewer elements keeps the GIL: giving it up and taking it back would take longer.
inline constexpr std::int64_t kLongWork = 1 << 15;

/// Gives the GIL up and takes it back; meanwhile Ctrl-C ends long work of the main thread with Interrupted. The engine
/// does the same by itself when a kernel is long or when it must wait for another thread.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  void* state_;
};

/// Runs f without the GIL when it may take long. The engine never asks for the GIL while it holds its lock (owners of
/// foreign memory go through release_later), so waiting here cannot deadlock. f must work on copies of handles: other
/// threads may rebind the objects.
template <class F>
decltype(auto) without_gil(std::int64_t elements, F&& f) {
  if (elements < kLongWork) return f();
  const WithoutGil away;
  return f();
}

// Conversions ---------------------------------------------------------------------------------------------------------

/// NumPy's dtype object, a borrowed reference.
PyObject* dtype_object(DType t);
/// Anything that numpy.dtype takes. Throws TypeError for dtypes that Galop does not have.
DType to_dtype(PyObject* o);
/// As to_dtype; None is unset.
std::optional<DType> to_optional_dtype(nb::handle o);
/// The DType of a type number of NumPy, or unset.
std::optional<DType> dtype_of_number(int type_number);

/// A shape from an integer or a sequence of integers; `what` names it in errors.
Dims to_dims(PyObject* o, const char* what);
/// None is unset.
std::optional<Dims> to_optional_dims(nb::handle o, const char* what);
int to_int(PyObject* o, const char* what);
/// None is unset.
std::optional<int> to_optional_int(nb::handle o, const char* what);
nb::tuple to_tuple(const Dims& d);
Casting to_casting(nb::handle o);
Order to_order(nb::handle o, Order when_none);

/// A weak number from a Python bool, int, float or complex, or nothing. An integer beyond 64 bits gives nothing, too.
std::optional<scalar> to_weak(PyObject* o);
/// Throws what Python does when a number is converted to a kind that cannot hold it: complex to real, NaN to an
/// integer.
void check_number(const char* op, PyObject* o, DType t);
/// Any single number: Python's, NumPy's scalars, arrays of one element. Throws TypeError.
scalar to_number(PyObject* o);

/// An array over a NumPy array's memory, or a copy in native byte order. Throws TypeError naming a dtype that Galop
/// does not have.
array from_numpy(PyObject* numpy_array);
/// An array of whatever NumPy makes an array of; without a copy where the object owns memory.
array as_array(PyObject* o, std::optional<DType> dtype = {});
/// The arrays of a sequence. Throws TypeError.
std::vector<array> to_arrays(nb::handle sequence);
/// The parts of an index expression, one object or a tuple. Throws IndexError.
std::vector<index> to_parts(PyObject* key);
/// A bool array of `o`, or nothing for True; `store` keeps it alive.
const array* to_mask(nb::handle o, std::optional<array>& store);

/// The element so many bytes from element 0 as NumPy's scalar.
PyObject* numpy_scalar_at(const array& a, std::int64_t at);
/// The element at flat C-order position i as Python's bool, int, float or complex.
PyObject* python_scalar(const array& a, std::int64_t i = 0);

// Devices -------------------------------------------------------------------------------------------------------------

/// None is automatic; a text, a Device, or another library's device object that prints as one. Throws ValueError.
Device to_device(nb::handle o);
/// Where the array is; evaluates when only the cost decides and there is a GPU.
Device residence(const array& a);
/// The device that the array was asked onto, or where the outside sees it; else automatic. Evaluates nothing.
Device wish_of(const array& a);
/// Whether the array was put on a GPU by name, or belongs to a library there: then its memory is not shown to the host
/// as if it lay there. One that is there by cost, or by the default device, moves to the host when its memory is asked
/// for, so that programs that know of no device see NumPy's rules.
bool lives_on_gpu(const array& a);
/// An array over the memory of an object with __cuda_array_interface__, or nothing when it has none.
std::optional<array> from_cuda_interface(nb::handle o);

/// One operand of an operation: an array, borrowed or converted, or a weak number.
class Operand {
 public:
  Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  /// False when `o` is for somebody else to deal with: no number, array or sequence, or a type with a protocol of its
  /// own. `partner`, the dtype it will meet, allows integers beyond 64 bits and NumPy's scalars as plain numbers.
  bool accept(PyObject* o, std::optional<DType> partner = {});
  /// As accept, but throws TypeError.
  void take(PyObject* o, std::optional<DType> partner = {});

  /// As take, of what will be written to elements of dtype `to`: warns where imaginary parts are lost.
  void take_to_write(PyObject* o, DType to);

  bool is_array() const { return array_ != nullptr; }
  const array& as_array() const { return *array_; }
  bool is_complex() const { return array_ ? galop::is_complex(array_->dtype()) : number_.kind() == 'c'; }
  galop::arg arg() const { return array_ ? galop::arg(*array_) : galop::arg(number_); }

 private:
  void own(array a) {
    store_.emplace(std::move(a));
    array_ = &*store_;
  }

  const array* array_ = nullptr;
  scalar number_{false};
  std::optional<array> store_;
};

/// Two operands; a number takes the dtype of the array that it meets.
struct Pair {
  Operand x, y;
  Pair(nb::handle a, nb::handle b);
};

/// Whether objects of the type deal with arrays themselves: __array_ufunc__ of their own, or a higher
/// __array_priority__.
bool defers_to(PyTypeObject* t);

/// An argument `out`: a Galop array, or a NumPy array that is written through.
class Output {
 public:
  /// None leaves it empty. Throws TypeError for anything but an array.
  void take(PyObject* o);
  const array* get() const { return array_; }
  /// After the operation: the object that was passed, or a new object for `result`.
  PyObject* give(array result);

 private:
  PyObject* object_ = nullptr;
  const array* array_ = nullptr;
  std::optional<array> store_;
};

/// The arguments of a reduction, kept alive for the call.
struct Reduction {
  reduce_options options;
  Output out;
  std::optional<array> mask;

  Reduction(nb::handle axis, nb::handle dtype, nb::handle out_, nb::handle keepdims, nb::handle initial,
            nb::handle where);
  Reduction(const Reduction&) = delete;
};

// Warnings ------------------------------------------------------------------------------------------------------------

/// How many frames up the first one outside the package is: the user's line.
Py_ssize_t level_of_user();

/// Gives NumPy's ComplexWarning; throws where that is an error. Called before anything is changed.
void warn_of_dropped_parts();
inline bool drops_parts(DType from, DType to) { return is_complex(from) && !is_complex(to) && to != DType::bool_; }
inline void look_at_cast(DType from, DType to) {
  if (drops_parts(from, to)) warn_of_dropped_parts();
}
/// The same of a call of `op`, whether an operand is complex, that may cast as it likes.
void look_at_call(Op op, bool complex, const ufunc_options& o);

/// The same of a reduction of `a`, which casts as it likes.
inline void look_at_fold(const array& a, const std::optional<DType>& dtype, const array* out) {
  if (dtype || out) look_at_cast(a.dtype(), dtype ? *dtype : out->dtype());
}

/// What a reduction needs of its slices, else NumPy warns: an element, more than ddof, one that is no NaN.
struct Slices {
  enum Fold { other, mean, spread, extreme } fold = other;
  bool skips_nan = false;
};
/// Warns by the shape alone, before the reduction.
void look_before(Slices s, const array& a, const reduce_options& o, double ddof = 0);
/// Warns by the result where only elements can tell, under a mask and beside NaN: evaluates it then.
void look_after(Slices s, const array& a, const array& r, const reduce_options& o, double ddof = 0);

// The operations of the table on Python objects -----------------------------------------------------------------------

/// numpy.<name>, for what Galop leaves to NumPy.
nb::object numpy(const char* name);

// Parts of the module -------------------------------------------------------------------------------------------------

void bind_array(nb::module_& m);
void bind_ufunc(nb::module_& m);
void bind_creation(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_manipulation(nb::module_& m);
void bind_math(nb::module_& m);
void bind_interop(nb::module_& m);
void bind_device(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_faults(nb::module_& m);
void bind_gil();
void bind_io(nb::module_& m);
void bind_random(nb::module_& m);

extern PyType_Slot operator_slots[];
extern PyType_Slot index_slots[];
extern PyType_Slot buffer_slots[];

}  // namespace galop::python
