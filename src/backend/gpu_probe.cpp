// Asks the driver's library where it is, and the file system where it isn't.
#include "backend/gpu_probe.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace galop {
namespace {

namespace fs = std::filesystem;

// What the operating system shows without the driver's help.
struct Signs {
  bool on_bus = false;       // an NVIDIA display or compute device on PCI
  bool device_file = false;  // /dev/nvidia0 … or, in WSL, /dev/dxg
  bool may_open = true;      // /dev/nvidiactl can be opened
  std::string driver;        // the loaded kernel driver's version
};

std::string first_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build": the first word made of numbers
// and dots.
std::string driver_version(const fs::path& path) {
  std::ifstream file(path);
  for (std::string word; file >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return "";
}

Signs look(const std::string& root) {
  Signs signs;
  std::error_code error;  // absent folders are no error here
  for (const auto& device : fs::directory_iterator(root + "/sys/bus/pci/devices", error))
    signs.on_bus = signs.on_bus || (first_word(device.path() / "vendor") == "0x10de" &&
                                    first_word(device.path() / "class").starts_with("0x03"));
  for (int i = 0; i < 64; ++i)
    signs.device_file = signs.device_file || fs::exists(root + "/dev/nvidia" + std::to_string(i), error);
  signs.device_file = signs.device_file || fs::exists(root + "/dev/dxg", error);
  const std::string control = root + "/dev/nvidiactl";
  signs.may_open = !fs::exists(control, error) || access(control.c_str(), R_OK | W_OK) == 0;
  signs.driver = driver_version(root + "/proc/driver/nvidia/version");
  return signs;
}

const char* const kInstallDriver =
    "install driver 580 or newer (Debian: apt-get install nvidia-driver, from NVIDIA's repository where Debian's is "
    "older; "
    "Ubuntu: ubuntu-drivers install) and restart the machine";
const char* const kPassToContainer =
    "in a container, start it with --gpus all (docker, podman) and have the NVIDIA Container Toolkit on the host";

// The few functions of libcuda.so.1 that are asked, by the names that its header gives them.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(std::size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
};

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Driver& d) {
  return find(library, "cuInit", d.init) && find(library, "cuDriverGetVersion", d.version) &&
         find(library, "cuDeviceGetCount", d.count) && find(library, "cuDeviceGet", d.get) &&
         find(library, "cuDeviceGetName", d.name) && find(library, "cuDeviceTotalMem_v2", d.memory) &&
         find(library, "cuDeviceGetAttribute", d.attribute);
}

std::string advice_without_library(const Signs& signs) {
  if (!signs.driver.empty() || signs.device_file)
    return "An NVIDIA driver " + (signs.driver.empty() ? std::string("is loaded") : signs.driver + " is loaded") +
           ", but its library libcuda.so.1 is not found: install the library of the same version (Debian: libcuda1; "
           "Ubuntu: "
           "libnvidia-compute-580 for driver 580); " +
           kPassToContainer + ".";
  if (signs.on_bus)
    return std::string("An NVIDIA GPU is in this machine, but no driver for it: ") + kInstallDriver + ".";
  return std::string("No NVIDIA GPU is visible, so everything runs on the CPU. If there is one: ") + kPassToContainer +
         "; for a virtual machine, pass the device through.";
}

// What cuInit's error says; the numbers are CUDA's.
std::string advice_for(int error, const Signs& signs) {
  const char* hidden = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!signs.may_open)
    return std::string("/dev/nvidiactl cannot be opened: add this user to the group that owns it (often `video`); ") +
           kPassToContainer + ".";
  switch (error) {
    case 100:
      if (hidden != nullptr)
        return "The driver shows no GPU, since CUDA_VISIBLE_DEVICES is '" + std::string(hidden) +
               "': unset it to use all.";
      if (signs.on_bus || !signs.driver.empty())
        return std::string("The driver's library is there, but it sees no GPU: look for errors of NVRM in dmesg; ") +
               kPassToContainer + ".";
      return "The driver's library is there, but no NVIDIA GPU, so everything runs on the CPU.";
    case 34:
      return "libcuda.so.1 is a stub for building programs, not the driver's library: take its folder out of "
             "LD_LIBRARY_PATH.";
    case 802:
      return "The GPU is not ready yet: on machines with NVSwitch, start nvidia-fabricmanager of the driver's version.";
    case 803:
      return "The driver's library and the loaded kernel driver " + signs.driver +
             " have different versions, as after an update: restart the machine.";
    default:
      if (signs.driver.empty() && !signs.device_file)
        return std::string(
                   "The driver's library is there, but the kernel driver is not loaded: modprobe nvidia as root, or ") +
               kInstallDriver + ".";
      return "The driver does not start (error " + std::to_string(error) +
             " of cuInit): look for errors of NVRM in dmesg; " + kPassToContainer + ".";
  }
}

std::string cuda_name(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

GpuReport probe_gpus(const std::string& root, const std::string& library_name) {
  const Signs signs = look(root);
  GpuReport report;
  report.driver = signs.driver;
  // Never closed: the driver does not like to be unloaded.
  void* library = dlopen(library_name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  Driver driver;
  if (library == nullptr || !find_all(library, driver)) {
    report.advice.push_back(advice_without_library(signs));
    return report;
  }
  if (const int error = driver.init(0); error != 0) {
    report.advice.push_back(advice_for(error, signs));
    return report;
  }
  driver.version(&report.cuda);
  if (report.cuda < kOldestCuda)
    report.advice.push_back("The driver " + report.driver + " supports CUDA " + cuda_name(report.cuda) +
                            " at most; galop needs CUDA " + cuda_name(kOldestCuda) + ": " + kInstallDriver + ".");
  int count = 0;
  driver.count(&count);
  bool any_fit = false;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    char name[256] = "";
    std::size_t memory = 0;
    Gpu gpu;
    if (driver.get(&device, i) != 0) continue;
    driver.name(name, sizeof name, device);
    driver.memory(&memory, device);
    driver.attribute(&gpu.major, 75, device);  // the compute capability's two numbers
    driver.attribute(&gpu.minor, 76, device);
    gpu.name = name;
    gpu.memory = static_cast<std::int64_t>(memory);
    gpu.fit = gpu.major * 10 + gpu.minor >= kOldestCapability;
    any_fit = any_fit || gpu.fit;
    if (!gpu.fit)
      report.advice.push_back(gpu.name + " (compute capability " + std::to_string(gpu.major) + "." +
                              std::to_string(gpu.minor) +
                              ") is older than CUDA 13 supports (7.5, Turing): its work runs on the CPU.");
    report.gpus.push_back(std::move(gpu));
  }
  if (count == 0) report.advice.push_back(advice_for(100, signs));
  report.usable = any_fit && report.cuda >= kOldestCuda;
  return report;
}

}  // namespace galop
