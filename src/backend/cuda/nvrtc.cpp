// Finds libnvrtc.so.13 on the system, in a toolkit or in the nvidia-* wheels, and compiles with it.
#include "backend/cuda/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "galop/error.hpp"

namespace galop::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libnvrtc.so.13";
constexpr const char* kOptions[] = {"--std=c++17",        "--device-as-default-execution-space",
                                    "--fmad=false",       "--ftz=false",
                                    "--prec-div=true",    "--prec-sqrt=true",
                                    "--no-source-include"};

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

// The folders of wheels below one site-packages folder.
void add_wheels(std::vector<std::string>& paths, const fs::path& packages) {
  for (const char* folder : {"cu13", "cuda_nvrtc"})
    paths.push_back((packages / "nvidia" / folder / "lib" / kLibrary).string());
}

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  if (const char* named = std::getenv("GALOP_NVRTC"); named && *named) paths.emplace_back(named);
  paths.emplace_back(kLibrary);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root)
      paths.push_back(std::string(root) + "/lib64/" + kLibrary);
  // The wheel that holds this library stands beside nvidia's.
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&nvrtc_version), &self) != 0 && self.dli_fname)
    add_wheels(paths, fs::path(self.dli_fname).parent_path().parent_path());
  std::error_code error;  // absent folders are no error here
  if (const char* environment = std::getenv("VIRTUAL_ENV"))
    for (const auto& entry : fs::directory_iterator(fs::path(environment) / "lib", error))
      add_wheels(paths, entry.path() / "site-packages");
  std::vector<std::string> toolkits;
  for (const auto& entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().starts_with("cuda"))
      toolkits.push_back((entry.path() / "lib64" / kLibrary).string());
  paths.insert(paths.end(), toolkits.begin(), toolkits.end());
  return paths;
}

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

Opened open() {
  Opened o;
  for (const std::string& path : candidates()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    Functions& f = o.f;
    if (find(library, "nvrtcVersion", f.version) && find(library, "nvrtcCreateProgram", f.create) &&
        find(library, "nvrtcDestroyProgram", f.destroy) && find(library, "nvrtcCompileProgram", f.compile) &&
        find(library, "nvrtcGetProgramLogSize", f.log_size) && find(library, "nvrtcGetProgramLog", f.log) &&
        find(library, "nvrtcGetCUBINSize", f.cubin_size) && find(library, "nvrtcGetCUBIN", f.cubin) &&
        find(library, "nvrtcGetErrorString", f.error) && f.version(&o.major, &o.minor) == NVRTC_SUCCESS)
      return o;
    dlclose(library);
  }
  o.major = o.minor = 0;
  o.reason = std::string(kLibrary) +
             " is not found: install it with `pip install galop[cuda13]` "
             "(or pip install nvidia-cuda-nvrtc, or the CUDA 13 toolkit), or name its path in GALOP_NVRTC";
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
  if (!o.reason.empty()) throw Error("[cuda] " + o.reason);
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

}  // namespace galop::cuda
