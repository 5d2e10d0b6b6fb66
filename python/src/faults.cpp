// Floating-point warnings: which policy is in force in this Python context, and what is done about a flag.
#include "core/faults.hpp"
#include "binding.hpp"

#include <string>

namespace galop::python {

namespace {

// A context variable of galop._errstate whose value is the pair (policy, function for `call` or file for `log`); the
// pair that holds where nobody has set it.
PyObject* state = nullptr;
PyObject* first_pair = nullptr;

// The policy that this thread last saw with the GIL: what holds while it computes without.
thread_local faults::Policy last_seen = 0;

nb::object current_pair() {
  PyObject* pair = nullptr;
  if (PyContextVar_Get(state, first_pair, &pair) < 0) throw nb::python_error();
  return nb::steal(pair);
}

faults::Policy policy() {
  if (!Py_IsInitialized() || !PyGILState_Check()) return last_seen;
  const nb::object pair = current_pair();
  last_seen = static_cast<faults::Policy>(PyLong_AsLong(PyTuple_GET_ITEM(pair.ptr(), 0)));
  return last_seen;
}

void tell(const std::string& what, int action, std::uint8_t flags, int flag_number) {
  switch (action) {
    case 1:
      if (PyErr_WarnEx(PyExc_RuntimeWarning, what.c_str(), level_of_user()) < 0) rethrow();
      return;
    case 2:
      PyErr_SetString(PyExc_FloatingPointError, what.c_str());
      rethrow();
    case 4:
      nb::print(nb::str(("Warning: " + what).c_str()));
      return;
    default:
      break;
  }
  nb::object pair = current_pair();
  nb::object hook = nb::borrow(PyTuple_GET_ITEM(pair.ptr(), 1));
  if (hook.is_none()) {
    PyErr_SetString(PyExc_NameError, (std::string("[errstate] no ") + (action == 3 ? "function" : "log") +
                                      " was set with seterrcall; got " + what)
                                         .c_str());
    rethrow();
  }
  if (action == 3)
    hook(nb::str(std::string(faults::describe(flag_number)).c_str()), nb::int_(static_cast<int>(flags)));
  else
    hook.attr("write")(nb::str(("Warning: " + what + "\n").c_str()));
}

void report(const faults::Fault& f) {
  if (!Py_IsInitialized()) return;
  nb::gil_scoped_acquire gil;
  for (int k = 0; k < 4; ++k) {
    const int action = faults::action(f.policy, k);
    if (!(f.flags >> k & 1) || action == 0) continue;
    tell(std::string(faults::describe(k)) + " encountered in " + std::string(f.where), action, f.flags, k);
  }
}

}  // namespace

Py_ssize_t level_of_user() {
  Py_ssize_t level = 1;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    nb::object name = nb::getattr(frame, "f_globals").attr("get")("__name__", nb::str(""));
    const char* text = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
    if (!text) {
      PyErr_Clear();
      break;
    }
    const std::string_view module = text;
    if (module != "galop" && module.substr(0, 6) != "galop.") break;
    frame = nb::getattr(frame, "f_back");
    ++level;
  }
  return level;
}

void remember_policy() { policy(); }

void bind_faults(nb::module_& m) {
  m.def("warn_of_dropped_parts", &warn_of_dropped_parts);
  m.def("watch_errstate", [](nb::object variable, nb::tuple first) {
    state = variable.release().ptr();  // kept until the process ends
    first_pair = first.release().ptr();
    faults::set_host({&policy, &report});
  });
}

}  // namespace galop::python
