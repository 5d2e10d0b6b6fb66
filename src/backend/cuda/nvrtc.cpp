// Opens libnvrtc.so.13, ahead of its first use where asked to, and compiles with it.
#include "backend/cuda/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "backend/cuda/library_path.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

constexpr NvidiaLibrary kLibrary{"libnvrtc.so.13", "GALOP_NVRTC", "cuda_nvrtc", "nvidia-cuda-nvrtc"};
constexpr const char* kOptions[] = {"--std=c++17",         "--device-as-default-execution-space",
                                    "--fmad=false",        "--ftz=false",
                                    "--prec-div=true",     "--prec-sqrt=true",
                                    "--no-source-include", "--minimal"};

struct Functions {
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetErrorString) error = nullptr;
};

struct Opened {
  Functions f;
  int major = 0, minor = 0;
  std::string reason;
};

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

Opened open() {
  Opened o;
  void* library = open_library(kLibrary, o.reason);
  if (library == nullptr) return o;
  Functions& f = o.f;
  if (find(library, "nvrtcVersion", f.version) && find(library, "nvrtcCreateProgram", f.create) &&
      find(library, "nvrtcDestroyProgram", f.destroy) && find(library, "nvrtcCompileProgram", f.compile) &&
      find(library, "nvrtcGetProgramLogSize", f.log_size) && find(library, "nvrtcGetProgramLog", f.log) &&
      find(library, "nvrtcGetCUBINSize", f.cubin_size) && find(library, "nvrtcGetCUBIN", f.cubin) &&
      find(library, "nvrtcGetErrorString", f.error) && f.version(&o.major, &o.minor) == NVRTC_SUCCESS)
    return o;
  o.major = o.minor = 0;
  o.reason = std::string(kLibrary.file) + " lacks functions of CUDA 13's NVRTC";
  return o;
}

const Opened& opened() {
  static const Opened o = open();
  return o;
}

struct Program {
  const Functions& f;
  nvrtcProgram handle = nullptr;
  ~Program() {
    if (handle) f.destroy(&handle);
  }
};

}  // namespace

std::pair<int, int> nvrtc_version(std::string* reason) {
  const Opened& o = opened();
  if (reason) *reason = o.reason;
  return {o.major, o.minor};
}

std::string nvrtc_options() {
  std::string text;
  for (const char* option : kOptions) text += std::string(option) + "\n";
  return text;
}

std::string compile(const std::string& source, const std::string& kernel, int capability) {
  const Opened& o = opened();
  if (!o.reason.empty()) throw DeviceError("[cuda] " + o.reason + "; got kernel " + kernel);
  const auto check = [&](nvrtcResult r, const char* call) {
    if (r != NVRTC_SUCCESS)
      throw Error("[cuda] " + std::string(call) + " failed with " + o.f.error(r) + "; got kernel " + kernel);
  };
  Program program{o.f};
  check(o.f.create(&program.handle, source.c_str(), (kernel + ".cu").c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(architecture.c_str());
  const nvrtcResult compiled = o.f.compile(program.handle, static_cast<int>(options.size()), options.data());
  if (compiled != NVRTC_SUCCESS) {
    std::size_t size = 0;
    o.f.log_size(program.handle, &size);
    std::string log(size, '\0');
    if (size > 0) o.f.log(program.handle, log.data());
    throw Error("[cuda] nvrtcCompileProgram failed with " + std::string(o.f.error(compiled)) + " for " + architecture +
                "; got kernel " + kernel + ":\n" + log.c_str());
  }
  std::size_t size = 0;
  check(o.f.cubin_size(program.handle, &size), "nvrtcGetCUBINSize");
  std::string cubin(size, '\0');
  check(o.f.cubin(program.handle, cubin.data()), "nvrtcGetCUBIN");
  return cubin;
}

namespace {

// The thread that makes the compiler ready. It takes no lock of this struct.
struct Warming {
  std::mutex mutex;
  bool started = false;
  std::thread thread;

  void finish() {
    if (thread.joinable()) thread.join();
  }
};

Warming& warming() {
  static auto* w = new Warming;  // never destroyed: handlers use it while the process ends
  return *w;
}

void finish_warming() {
  const std::lock_guard lock(warming().mutex);
  warming().finish();
}

}  // namespace

void warm_nvrtc(int capability) {
  Warming& w = warming();
  const std::lock_guard lock(w.mutex);
  if (w.started) return;
  w.started = true;
  // A fork in the middle would leave the child a compiler whose locks nobody opens.
  pthread_atfork(
      [] {
        warming().mutex.lock();
        warming().finish();
      },
      [] { warming().mutex.unlock(); }, [] { warming().mutex.unlock(); });
  // Opened here, not in the thread: the library's own handlers must be registered before ours, which then runs first,
  // also when the process ends at once.
  if (!opened().reason.empty()) return;
  std::atexit(&finish_warming);
  try {
    w.thread = std::thread([capability] {
      try {
        compile("extern \"C\" __global__ void warm() {}", "warm", capability);
      } catch (const Error&) {
        // Whoever compiles next hears of it.
      }
    });
  } catch (const std::system_error&) {
    // No thread to be had: the first kernel waits for the compiler.
  }
}

}  // namespace galop::cuda
