// Opens libcuda.so.1 and reads its functions into the table.
#include "backend/cuda/driver.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

#include "galop/error.hpp"

#define GALOP_TEXT_OF(name) #name
#define GALOP_TEXT(name) GALOP_TEXT_OF(name)

namespace galop::cuda {
namespace {

constexpr const char* kForked =
    "CUDA does not survive fork(), and this process was forked from one that used it; start worker processes anew, in "
    "Python with multiprocessing.set_start_method(\"spawn\"), or let only the workers use CUDA";
std::atomic<bool> is_child = false;

const Driver* replacement = nullptr;

struct Opened {
  Driver driver;
  std::string reason;  // empty: it works
};

Opened open() {
  Opened o;
  if (replacement != nullptr) {
    o.driver = *replacement;
    return o;
  }
  // Never closed: the driver does not like to be unloaded.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    o.reason = "no CUDA driver: libcuda.so.1 is not found";
    return o;
  }
#define GALOP_FIND(name)                                                                       \
  o.driver.name = reinterpret_cast<decltype(o.driver.name)>(dlsym(library, GALOP_TEXT(name))); \
  if (o.driver.name == nullptr && o.reason.empty())                                            \
    o.reason = "the CUDA driver is too old: it lacks " GALOP_TEXT(name) "; install driver 580 or newer";
  GALOP_CUDA_DRIVER(GALOP_FIND)
#undef GALOP_FIND
  if (!o.reason.empty()) return o;
  pthread_atfork(nullptr, nullptr, [] { is_child.store(true, std::memory_order_relaxed); });
  if (const CUresult r = o.driver.cuInit(0); r == CUDA_ERROR_NOT_INITIALIZED) {
    o.reason = kForked;  // somebody else had opened the driver before the fork
    return o;
  } else if (r != CUDA_SUCCESS) {
    const char* text = nullptr;
    o.driver.cuGetErrorString(r, &text);
    o.reason = "the CUDA driver does not start: " + std::string(text ? text : "unknown error");
    return o;
  }
  int count = 0;
  if (o.driver.cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) o.reason = "the CUDA driver shows no GPU";
  return o;
}

const Opened& opened() {
  static const Opened o = open();
  return o;
}

}  // namespace

void replace_driver(const Driver* driver) { replacement = driver; }

bool is_forked() noexcept { return is_child.load(std::memory_order_relaxed); }

void require_not_forked() {
  if (is_forked()) throw DeviceError("[cuda] " + std::string(kForked));
}

std::string Driver::explain(CUresult result, const char* call) const {
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return std::string(call) + " failed with " + (name ? name : "error " + std::to_string(static_cast<int>(result))) +
         (text ? " (" + std::string(text) + ")" : "");
}

void Driver::check(CUresult result, const char* call, const std::string& what) const {
  if (result == CUDA_SUCCESS) return;
  const std::string message = "[cuda] " + explain(result, call) + (what.empty() ? "" : "; got " + what);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw MemoryError(message);
  throw DeviceError(message);
}

const Driver* find_driver(std::string* reason) {
  if (is_forked()) {
    if (reason) *reason = kForked;
    return nullptr;
  }
  const Opened& o = opened();
  if (reason) *reason = o.reason;
  return o.reason.empty() ? &o.driver : nullptr;
}

const Driver& driver() {
  require_not_forked();
  const Opened& o = opened();
  if (!o.reason.empty()) throw DeviceError("[cuda] " + o.reason);
  return o.driver;
}

}  // namespace galop::cuda
