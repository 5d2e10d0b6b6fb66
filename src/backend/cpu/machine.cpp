// Reads /proc, /sys and the control group (versions 1 and 2); absent files mean "no limit" or "unknown", never an
// error.
#include "backend/cpu/machine.hpp"

#include <hwy/highway.h>
#include <oneapi/tbb/version.h>
#include <sleef.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "backend/cpu/blas.hpp"
#include "backend/cpu/kernels.hpp"
#include "backend/cpu/threads.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The first line of a small file, or "".
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> number_in(const std::string& path) {
  std::istringstream text(first_line(path));
  std::int64_t value = 0;
  if (text >> value) return value;
  return std::nullopt;
}

// The value of a `key value` or `key: value kB` line, in the file's unit.
std::optional<std::int64_t> field_in(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    std::string name;
    std::int64_t value = 0;
    if (text >> name >> value && (name == key || (name.back() == ':' && name.substr(0, name.size() - 1) == key)))
      return value;
  }
  return std::nullopt;
}

// Folders of this process's control group for a version 1 controller, or for version 2 with "": its own first, then its
// parents'.
std::vector<std::string> cgroup_folders(const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string list = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controller.empty() ? list != ",," : list.find("," + controller + ",") == std::string::npos) continue;
    const std::string root = controller.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    // Inside a container the path may name what the mount does not show; its own root then is the mount's.
    for (std::string path = line.substr(second + 1); !path.empty() && path != "/"; path.resize(path.rfind('/')))
      folders.push_back(root + path);
    folders.push_back(root);
  }
  return folders;
}

// The tightest limit of the groups above this process and what is left below it.
struct MemoryLimit {
  std::int64_t limit = kNoLimit;
  std::int64_t left = kNoLimit;
};

MemoryLimit memory_limit() {
  MemoryLimit result;
  const auto look = [&](const std::string& folder, const char* limit_file, const char* usage_file,
                        const char* cache_key) {
    const auto limit = number_in(folder + limit_file);
    if (!limit || *limit >= kNoLimit / 2) return;
    result.limit = std::min(result.limit, *limit);
    // Cached file pages count as used, but give way.
    const std::int64_t used =
        number_in(folder + usage_file).value_or(0) - field_in(folder + "/memory.stat", cache_key).value_or(0);
    result.left = std::min(result.left, std::max<std::int64_t>(*limit - used, 0));
  };
  for (const auto& folder : cgroup_folders("")) look(folder, "/memory.max", "/memory.current", "inactive_file");
  for (const auto& folder : cgroup_folders("memory"))
    look(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
  return result;
}

// The value of the first line of /proc/cpuinfo that starts with one of these keys.
std::string cpuinfo(std::initializer_list<std::string_view> keys) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    for (const std::string_view key : keys)
      if (line.starts_with(key)) {
        const auto colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
      }
  return "";
}

std::vector<std::string> instruction_sets() {
  static constexpr std::array kOfInterest = {
      "sse2",        "ssse3",    "sse4_1",   "sse4_2",   "avx",      "f16c",     "fma",         "avx2",
      "avx_vnni",    "avx512f",  "avx512dq", "avx512bw", "avx512vl", "avx512cd", "avx512_vnni", "avx512_bf16",
      "avx512_fp16", "amx_bf16", "amx_int8", "asimd",    "asimdhp",  "asimddp",  "sve",         "sve2"};
  std::istringstream words(cpuinfo({"flags", "Features"}));
  std::set<std::string> has;
  for (std::string word; words >> word;) has.insert(word);
  std::vector<std::string> found;
  for (const char* name : kOfInterest)
    if (has.contains(name)) found.emplace_back(name);
  return found;
}

// "48K" or "2048K" or "32M" in bytes.
std::int64_t size_in(const std::string& text) {
  std::istringstream in(text);
  std::int64_t value = 0;
  char unit = 0;
  in >> value >> unit;
  return value * (unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : unit == 'G' ? 1 << 30 : 1);
}

// Processors in a list such as "0-3,8".
int count_in(const std::string& list) {
  std::istringstream in(list);
  int count = 0;
  for (std::string part; std::getline(in, part, ',');) {
    const auto dash = part.find('-');
    count += dash == std::string::npos ? 1 : std::atoi(part.c_str() + dash + 1) - std::atoi(part.c_str()) + 1;
  }
  return count;
}

std::vector<CpuCache> caches() {
  std::vector<CpuCache> found;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    CpuCache cache{static_cast<int>(number_in(folder + "level").value_or(0)), first_line(folder + "type"),
                   size_in(first_line(folder + "size")), count_in(first_line(folder + "shared_cpu_list"))};
    if (cache.level > 0) found.push_back(std::move(cache));
  }
  return found;
}

std::string huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? "unknown" : line.substr(open + 1, close - open - 1);
}

}  // namespace

std::int64_t total_memory() {
  static const std::int64_t bytes = [] {
    const std::int64_t physical = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    return std::min(physical, memory_limit().limit);
  }();
  return bytes;
}

std::int64_t available_memory() {
  const auto kib = field_in("/proc/meminfo", "MemAvailable");
  return std::min(kib ? *kib * 1024 : total_memory(), memory_limit().left);
}

double cgroup_cpu_quota() {
  double cores = 0;
  const auto take = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (cores == 0 || quota / period < cores)) cores = quota / period;
  };
  for (const auto& folder : cgroup_folders("")) {
    std::istringstream text(first_line(folder + "/cpu.max"));
    double quota = 0, period = 0;
    if (text >> quota >> period) take(quota, period);  // "max 100000" has no number in front
  }
  for (const auto& folder : cgroup_folders("cpu"))
    take(static_cast<double>(number_in(folder + "/cpu.cfs_quota_us").value_or(0)),
         static_cast<double>(number_in(folder + "/cpu.cfs_period_us").value_or(0)));
  return cores;
}

Machine describe_machine() {
  Machine m;
  m.processor = cpuinfo({"model name", "Model", "CPU part"});
  if (m.processor.empty()) m.processor = "unknown";
  m.instruction_sets = instruction_sets();
  m.kernels = kernels().isa;
  m.processors = static_cast<int>(std::max<long>(sysconf(_SC_NPROCESSORS_ONLN), 1));
  m.allowed = allowed_cores();
  m.threads = thread_count();
  m.memory_total = total_memory();
  m.memory_available = available_memory();
  m.huge_pages = huge_pages();
  m.caches = caches();
  const BlasLibrary blas = blas_library();
  const auto version = [](int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  };
  m.libraries = {{"oneTBB", TBB_runtime_version()},
                 {"OpenBLAS", blas.loaded ? blas.config + " (kernels: " + blas.core + ")" : "missing"},
                 {"Highway", version(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
                 {"SLEEF", version(SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL)}};
  if (!blas.advice.empty()) m.advice.push_back(blas.advice);
  if (m.huge_pages == "never")
    m.advice.emplace_back(
        "Huge pages are off, which makes fresh arrays several times dearer: as root, "
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  if (m.threads > m.allowed)
    m.advice.push_back("GALOP_THREADS asks for " + std::to_string(m.threads) + " threads on " +
                       std::to_string(m.allowed) + " cores, which costs time: unset it, or set it to " +
                       std::to_string(m.allowed));
  return m;
}

}  // namespace galop::cpu
