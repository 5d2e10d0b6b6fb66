// The places, and dlopen.
#include "backend/cuda/library_path.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace galop::cuda {
namespace {

namespace fs = std::filesystem;

// The variable's value, or empty.
std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

// The site-packages folders that may hold wheels.
std::vector<fs::path> packages() {
  std::vector<fs::path> folders;
  // The wheel that holds this plug-in stands beside nvidia's.
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&open_library), &self) != 0 && self.dli_fname)
    folders.push_back(fs::path(self.dli_fname).parent_path().parent_path());
  const std::string named = environment("GALOP_NVIDIA_WHEELS");
  for (std::string_view rest = named; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    rest.remove_prefix(one.size() + (one.size() < rest.size()));
    if (!one.empty()) folders.emplace_back(one);
  }
  std::error_code error;  // absent folders are no error here
  if (const std::string root = environment("VIRTUAL_ENV"); !root.empty())
    for (const auto& entry : fs::directory_iterator(fs::path(root) / "lib", error))
      folders.push_back(entry.path() / "site-packages");
  return folders;
}

std::vector<fs::path> candidates(const NvidiaLibrary& library) {
  std::vector<fs::path> paths;
  if (const std::string path = environment(library.variable); !path.empty()) paths.emplace_back(path);
  paths.emplace_back(library.file);
  const auto toolkit = [&](const fs::path& root) {
    for (const char* folder : {"lib64", "targets/x86_64-linux/lib", "lib"})
      paths.push_back(root / folder / library.file);
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string root = environment(variable); !root.empty()) toolkit(root);
  for (const fs::path& folder : packages())
    for (const char* wheel : {"cu13", library.folder})
      paths.push_back(folder / "nvidia" / wheel / "lib" / library.file);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().starts_with("cuda")) toolkit(entry.path());
  return paths;
}

}  // namespace

void* open_library(const NvidiaLibrary& library, std::string& reason) {
  std::string broken;  // one that is there and does not open: why
  for (const fs::path& path : candidates(library)) {
    if (void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      reason.clear();
      return opened;
    }
    const char* why = dlerror();
    std::error_code error;
    if (broken.empty() && path.has_parent_path() && fs::exists(path, error) && why) broken = why;
  }
  reason = std::string(library.file) + (broken.empty() ? " is not found" : " cannot be opened (" + broken + ")") +
           ": install it with `pip install galop[cuda13]` (or pip install " + library.package +
           ", or the CUDA 13 toolkit), or name its path in " + library.variable;
  return nullptr;
}

}  // namespace galop::cuda
