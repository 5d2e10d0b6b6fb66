// Opens OpenBLAS with the kernels that this processor deserves, at one thread: galop splits the work itself.
#include "backend/cpu/openblas.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "backend/cpu/kernels.hpp"
#include "galop/error.hpp"

namespace galop::cpu {
namespace {

constexpr const char* kNames[] = {"libopenblas.so.0", "libopenblas.so"};

// Sets a variable for as long as it lives, unless the user has set it or the value is empty.
class Environment {
 public:
  Environment(const char* name, const char* value, bool even_if_set) : name_(name) {
    const char* old = std::getenv(name);
    if (old != nullptr) old_ = old;
    changed_ = *value != '\0' && (old == nullptr || even_if_set);
    if (changed_) setenv(name, value, 1);
  }
  ~Environment() {
    if (!changed_) return;
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
  bool changed_ = false;
};

// OpenBLAS knows processors by model number and takes ones newer than itself for a Pentium 4, at a sixth of the speed.
// These are its names for the instruction sets that our own kernels run on.
const char* core_type() {
#if defined(__x86_64__)
  const std::string_view isa = kernels().isa;
  if (isa.starts_with("avx3")) return "SkylakeX";
  if (isa.starts_with("avx2")) return "Haswell";
#endif
  return "";
}

// Beside this library where a wheel brings OpenBLAS with it: the system's may be absent, and none else loads this name.
std::string bundled() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&bundled), &here) || !here.dli_fname) return {};
  const auto path = std::filesystem::path(here.dli_fname).parent_path() / "libgalop_openblas.so.0";
  std::error_code error;  // an unreadable folder holds none
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

void* open_library(int flags) {
  // Bound to its own symbols first, since a process may have another BLAS of the same names in its global scope.
  if (const std::string path = bundled(); !path.empty()) return dlopen(path.c_str(), flags | RTLD_DEEPBIND);
  for (const char* name : kNames)
    if (void* handle = dlopen(name, flags)) return handle;
  return nullptr;
}

template <class T>
bool fill(void* handle, char letter, BlasFunctions<T>& f) {
  const auto find = [&](const std::string& name) { return dlsym(handle, ("cblas_" + (letter + name)).c_str()); };
  f.gemm_ = reinterpret_cast<decltype(f.gemm_)>(find("gemm"));
  f.gemv_ = reinterpret_cast<decltype(f.gemv_)>(find("gemv"));
  f.syrk_ = reinterpret_cast<decltype(f.syrk_)>(find("syrk"));
  f.dot_ = find(BlasFunctions<T>::is_complex ? "dotu_sub" : "dot");
  return f.gemm_ != nullptr && f.gemv_ != nullptr && f.syrk_ != nullptr && f.dot_ != nullptr;
}

OpenBlas load() {
  OpenBlas blas;
  if (void* there = open_library(RTLD_LAZY | RTLD_NOLOAD)) {
    blas.loaded_before = true;
    dlclose(there);
  }
  {
    // The library reads both when it is loaded, and never again. One thread also keeps it from starting a pool of its
    // own.
    const Environment core("OPENBLAS_CORETYPE", core_type(), false);
    const Environment threads("OPENBLAS_NUM_THREADS", "1", true);
    blas.handle = open_library(RTLD_LAZY | RTLD_LOCAL);
  }
  if (blas.handle == nullptr) return blas;
  const bool complete = fill(blas.handle, 's', blas.s) && fill(blas.handle, 'd', blas.d) &&
                        fill(blas.handle, 'c', blas.c) && fill(blas.handle, 'z', blas.z);
  if (!complete) return OpenBlas{};
  const auto text = [&](const char* name) {
    const auto function = reinterpret_cast<const char* (*)()>(dlsym(blas.handle, name));
    return function == nullptr ? "unknown" : function();
  };
  blas.config = text("openblas_get_config");
  blas.core = text("openblas_get_corename");
  if (const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(blas.handle, "openblas_set_num_threads")))
    set_threads(1);
  return blas;
}

}  // namespace

const OpenBlas& find_openblas() {
  static const OpenBlas* const blas = new OpenBlas(load());
  return *blas;
}

const OpenBlas& openblas() {
  const OpenBlas& blas = find_openblas();
  if (blas.handle == nullptr)
    throw Error("[matmul] products of floating-point matrices need OpenBLAS (libopenblas.so.0); install libopenblas0");
  return blas;
}

}  // namespace galop::cpu
