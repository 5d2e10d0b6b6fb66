// Opens libcuda.so.1 and reads its functions into the table.
#include "backend/cuda/driver.hpp"

#include <dlfcn.h>

#include "galop/error.hpp"

#define GALOP_TEXT_OF(name) #name
#define GALOP_TEXT(name) GALOP_TEXT_OF(name)

namespace galop::cuda {
namespace {

struct Opened {
  Driver driver;
  std::string reason;  // empty: it works
};

Opened open() {
  Opened o;
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
  if (const CUresult r = o.driver.cuInit(0); r != CUDA_SUCCESS) {
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

void Driver::check(CUresult result, const char* call, const std::string& what) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  const std::string message = "[cuda] " + std::string(call) + " failed with " + (name ? name : "an unknown error") +
                              ", " + (text ? text : "no text") + (what.empty() ? "" : "; got " + what);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw MemoryError(message);
  throw Error(message);
}

const Driver* find_driver(std::string* reason) {
  const Opened& o = opened();
  if (reason) *reason = o.reason;
  return o.reason.empty() ? &o.driver : nullptr;
}

const Driver& driver() {
  const Opened& o = opened();
  if (!o.reason.empty()) throw Error("[cuda] " + o.reason);
  return o.driver;
}

}  // namespace galop::cuda
