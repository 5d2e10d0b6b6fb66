// The GIL given up for long work, and Ctrl-C watched meanwhile, since Python hears of it only when it has the GIL
// again.
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "binding.hpp"
#include "galop/engine.hpp"
#include "graph/value.hpp"

namespace galop::python {
namespace {

PyObject* getsignal = nullptr;         // signal.getsignal
PyObject* raises_interrupt = nullptr;  // signal.default_int_handler
PyObject* number_of_sigint = nullptr;

std::atomic<bool> interrupted{false};
// Of the main thread alone.
struct sigaction pythons {};
bool watching = false;

void on_sigint(int number) {
  interrupted.store(true, std::memory_order_relaxed);
  pythons.sa_handler(number);
}

// Whether Ctrl-C raises KeyboardInterrupt in this thread: in the main one, while no handler of the user's is there,
// which may want the work to go on.
bool raises_here() {
  if (!getsignal || gettid() != getpid()) return false;
  nb::error_scope keep;
  const nb::object handler = nb::steal(PyObject_CallOneArg(getsignal, number_of_sigint));
  if (!handler.is_valid()) PyErr_Clear();
  return handler.ptr() == raises_interrupt;
}

void watch() {
  if (watching || !raises_here()) return;
  if (sigaction(SIGINT, nullptr, &pythons) != 0 || (pythons.sa_flags & SA_SIGINFO) != 0 ||
      pythons.sa_handler == SIG_DFL || pythons.sa_handler == SIG_IGN)
    return;
  interrupted.store(false, std::memory_order_relaxed);
  struct sigaction ours = pythons;
  ours.sa_handler = &on_sigint;
  if (sigaction(SIGINT, &ours, nullptr) != 0) return;
  watching = true;
  set_interrupt_check([] { return interrupted.load(std::memory_order_relaxed); });
}

void unwatch() {
  if (!watching || gettid() != getpid()) return;
  watching = false;
  set_interrupt_check({});
  sigaction(SIGINT, &pythons, nullptr);
}

void* give_up() noexcept {
  if (!Py_IsInitialized() || !PyGILState_Check()) return nullptr;
  try {
    remember_policy();
    watch();
  } catch (nb::python_error&) {
    // Nobody is asked then.
  }
  return PyEval_SaveThread();
}

void take_back(void* state) noexcept {
  unwatch();
  PyEval_RestoreThread(static_cast<PyThreadState*>(state));
}

}  // namespace

WithoutGil::WithoutGil() : state_(give_up()) {}
WithoutGil::~WithoutGil() {
  if (state_) take_back(state_);
}

void bind_gil() {
  nb::module_ signals = nb::module_::import_("_signal");
  getsignal = nb::getattr(signals, "getsignal").release().ptr();  // kept until the process ends, as the others
  raises_interrupt = nb::getattr(signals, "default_int_handler").release().ptr();
  number_of_sigint = PyLong_FromLong(SIGINT);
  graph::set_guest_lock({&give_up, &take_back});
}

}  // namespace galop::python
