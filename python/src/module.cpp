// The module _galop: errors, references given up by the engine, and the engine's switches.
#define GALOP_IMPORTS_NUMPY
#include "binding.hpp"
#include "galop/engine.hpp"
#include "numpy_api.hpp"

#include <atomic>
#include <mutex>

namespace galop::python {

// References given up -------------------------------------------------------------------------------------------------

namespace {

std::mutex buried_lock;
std::vector<PyObject*>* buried = new std::vector<PyObject*>;  // never destroyed: threads may outlive main
std::atomic<bool> any_buried{false};

int bury_when_called(void*) {
  bury();
  return 0;
}

}  // namespace

void release_later(PyObject* o) noexcept {
  bool first;
  {
    std::lock_guard lock(buried_lock);
    buried->push_back(o);
    first = !any_buried.exchange(true);
  }
  // The interpreter comes by soon, even when no array operation does.
  if (first && Py_IsInitialized()) Py_AddPendingCall(&bury_when_called, nullptr);
}

void bury() noexcept {
  if (!any_buried.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> mine;
  {
    std::lock_guard lock(buried_lock);
    mine.swap(*buried);
    any_buried.store(false);
  }
  if (mine.empty()) return;
  nb::error_scope keep_pending_error;
  for (PyObject* o : mine) Py_DECREF(o);
}

// Errors --------------------------------------------------------------------------------------------------------------

namespace {

PyObject* axis_error() {
  static PyObject* type = nullptr;
  if (!type) {
    nb::error_scope keep;
    nb::object module = nb::steal(PyImport_ImportModule("numpy.exceptions"));
    if (module.is_valid()) type = PyObject_GetAttrString(module.ptr(), "AxisError");
    PyErr_Clear();
  }
  return type ? type : PyExc_ValueError;
}

}  // namespace

PyObject* device_error = nullptr;

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const AxisError& e) {
    PyErr_SetString(axis_error(), e.what());
  } catch (const ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const ZeroDivisionError& e) {
    PyErr_SetString(PyExc_ZeroDivisionError, e.what());
  } catch (const OverflowError& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const MemoryError& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const BufferError& e) {
    PyErr_SetString(PyExc_BufferError, e.what());
  } catch (const DeviceError& e) {
    PyErr_SetString(device_error, e.what());
  } catch (const FileError& e) {
    // Python chooses the class by the number: FileNotFoundError, PermissionError and so on.
    nb::object file = nb::steal(PyUnicode_DecodeFSDefault(e.file().c_str()));
    nb::object error = file.is_valid()
                           ? nb::steal(PyObject_CallFunction(PyExc_OSError, "isO", e.code(), e.what(), file.ptr()))
                           : nb::object();
    if (error.is_valid()) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (const Interrupted&) {
    // Python has heard of the signal, too, and raises what its handler does.
    if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const nb::cast_error& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "[galop] unknown error");
  }
}

// The engine's switches -----------------------------------------------------------------------------------------------

namespace {

nb::dict settings_dict() {
  Settings s = settings();
  nb::dict d;
  d["eager"] = s.eager;
  d["donation"] = s.donation;
  d["eager_below"] = s.eager_below;
  d["fusion_limit"] = s.fusion_limit;
  d["overlap_maybe"] = s.overlap_maybe;
  d["threads"] = s.threads;
  d["block"] = s.block;
  return d;
}

void set_settings_from(nb::dict d) {
  Settings s = settings();
  for (auto [key, value] : d) {
    std::string_view k = nb::cast<nb::str>(key).c_str();
    if (k == "eager")
      s.eager = nb::cast<bool>(value);
    else if (k == "donation")
      s.donation = nb::cast<bool>(value);
    else if (k == "eager_below")
      s.eager_below = nb::cast<std::int64_t>(value);
    else if (k == "fusion_limit")
      s.fusion_limit = value.is_none() ? Settings{}.fusion_limit : nb::cast<int>(value);
    else if (k == "overlap_maybe")
      s.overlap_maybe = nb::cast<bool>(value);
    else if (k == "threads")
      s.threads = nb::cast<int>(value);
    else if (k == "block")
      s.block = nb::cast<std::int64_t>(value);
    else
      throw TypeError("[settings] no such switch; got " + std::string(k));
  }
  set_settings(s);
}

int import_numpy() {
  import_array1(-1);
  return 0;
}

}  // namespace

NB_MODULE(_galop, m) {
  if (import_numpy() < 0) throw nb::python_error();
#ifdef NDEBUG
  // Another library may keep an array beyond the interpreter's end (NumPy does with DLPack capsules): nothing to tell
  // users about.
  nb::set_leak_warnings(false);
#endif
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error&) {
      set_error();
    } catch (const Interrupted&) {
      set_error();
    }
  });
  device_error = PyErr_NewExceptionWithDoc(
      "galop.DeviceError", "A device that is missing, cannot be used or has failed.", PyExc_RuntimeError, nullptr);
  if (!device_error) throw nb::python_error();
  m.attr("DeviceError") = nb::borrow(device_error);
  m.attr("__version__") = GALOP_VERSION;
  m.def("settings", &settings_dict);
  m.def("set_settings", &set_settings_from);
  bind_array(m);
  bind_ufunc(m);
  bind_creation(m);
  bind_functions(m);
  bind_manipulation(m);
  bind_math(m);
  bind_interop(m);
  bind_device(m);
  bind_dlpack(m);
  bind_faults(m);
  bind_gil();
  bind_io(m);
  bind_random(m);
}

}  // namespace galop::python
