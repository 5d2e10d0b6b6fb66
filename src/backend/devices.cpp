// The devices that are there: opens the plug-in of GPUs when it is first asked for one, and keeps each opened device.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/gpu_probe.hpp"
#include "galop/error.hpp"
#include "galop_interface_version.hpp"

namespace galop {
namespace {

// GALOP_CUDA_PLUGIN, else beside this library.
std::string plugin_path() {
  if (const char* named = std::getenv("GALOP_CUDA_PLUGIN"); named && *named) return named;
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&plugin_path), &here) || !here.dli_fname) return "libgalop_cuda.so";
  return (std::filesystem::path(here.dli_fname).parent_path() / "libgalop_cuda.so").string();
}

struct Devices {
  const DevicePlugin* plugin = nullptr;
  std::string reason;
  std::mutex mutex;
  std::vector<DeviceBackend*> opened;
  std::vector<bool> failed;  // did not start for work that may go anywhere

  Devices() {
    const bool named = std::getenv("GALOP_CUDA_PLUGIN") != nullptr;
    if (!named) {
      // Without a driver nothing is opened, so that a machine without a GPU pays a look at the file system only.
      const GpuReport report = probe_gpus();
      if (!report.usable) {
        for (const std::string& a : report.advice) reason += (reason.empty() ? "" : "; ") + a;
        if (reason.empty()) reason = "no NVIDIA GPU was found";
        return;
      }
    }
    const std::string path = plugin_path();
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* why = dlerror();
      reason = "Galop's CUDA plug-in cannot be opened (" + std::string(why ? why : path) +
               "): build Galop where the headers of CUDA 13 are, or install a wheel that has it";
      return;
    }
    const auto entry = reinterpret_cast<DevicePluginEntry>(dlsym(library, "galop_device_plugin"));
    const DevicePlugin* found = entry ? entry() : nullptr;
    // The version stands first in every version of the structure; nothing behind it is looked at before it agrees.
    const std::string_view version = found ? found->version : "";
    if (version != GALOP_INTERFACE_VERSION) {
      const bool same = version.substr(0, version.find('+')) == GALOP_VERSION;
      reason =
          path + (same ? " was built from other sources of Galop " GALOP_VERSION
                         " than this library; build "
                         "galop_cuda again"
                       : " belongs to another version of Galop" +
                             (found ? " (" + std::string(version) + ")" : std::string()) + "; this is " GALOP_VERSION);
      return;
    }
    try {
      opened.resize(static_cast<std::size_t>(found->count()), nullptr);
      failed.resize(opened.size(), false);
    } catch (const Error& e) {
      reason = e.what();
      return;
    }
    if (opened.empty())
      reason = "the CUDA plug-in sees no GPU that it can use";
    else
      plugin = found;
  }
};

Devices& devices() {
  static auto* d = new Devices;  // never destroyed: arrays may outlive main
  return *d;
}

}  // namespace

int cuda_device_count() { return static_cast<int>(devices().plugin ? devices().opened.size() : 0); }

std::string why_no_cuda() {
  const std::lock_guard lock(devices().mutex);
  return devices().reason;
}

DeviceBackend& cuda_backend(int ordinal) {
  Devices& d = devices();
  if (!d.plugin) throw DeviceError("[device] cuda cannot be used: " + d.reason);
  if (ordinal < 0 || ordinal >= cuda_device_count())
    throw DeviceError("[device] the machine has " + std::to_string(cuda_device_count()) +
                      " usable GPUs; got cuda:" + std::to_string(ordinal));
  const std::lock_guard lock(d.mutex);
  DeviceBackend*& slot = d.opened[static_cast<std::size_t>(ordinal)];
  if (!slot) slot = d.plugin->open(ordinal);
  return *slot;
}

DeviceBackend* cuda_backend_if_it_starts(int ordinal) {
  Devices& d = devices();
  const auto i = static_cast<std::size_t>(ordinal);
  {
    const std::lock_guard lock(d.mutex);
    if (!d.opened[i] && d.failed[i]) return nullptr;
  }
  try {
    return &cuda_backend(ordinal);
  } catch (const Error& e) {
    const std::lock_guard lock(d.mutex);
    if (!d.failed[i]) {
      d.failed[i] = true;
      d.reason += (d.reason.empty() ? "" : "; ") + ("cuda:" + std::to_string(ordinal)) +
                  " did not start, so that the CPU does what may be done anywhere: " + e.what();
    }
    return nullptr;
  }
}

DeviceBackend* cuda_backend_if_started(int ordinal) {
  Devices& d = devices();
  const std::lock_guard lock(d.mutex);
  return d.opened[static_cast<std::size_t>(ordinal)];
}

Backend& backend_of(Device d) {
  if (d.kind == DeviceKind::cuda) return cuda_backend(d.ordinal);
  return cpu_backend();
}

}  // namespace galop
