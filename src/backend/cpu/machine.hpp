// What this machine offers: processor, caches, memory, limits of the control group, libraries in use.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace galop::cpu {

/// Bytes of memory that this process may ever use: the machine's, or the control group's limit if that is less. Read
/// once.
std::int64_t total_memory();

/// Bytes that can be had now without pushing anybody out: the kernel's MemAvailable, cut by the control group's limit.
std::int64_t available_memory();

/// The control group's processor quota in cores, or 0 without one.
double cgroup_cpu_quota();

struct CpuCache {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  std::int64_t bytes = 0;
  int shared_by = 0;  // logical processors that share one
};

struct Machine {
  std::string processor;
  std::vector<std::string> instruction_sets;  // those that matter to kernels, in order of age
  std::string kernels;                        // the instruction set in use
  int processors = 0;                         // logical processors of the machine
  int allowed = 0;                            // those this process may use
  int threads = 0;                            // those that galop uses
  std::int64_t memory_total = 0;              // bytes
  std::int64_t memory_available = 0;
  std::string huge_pages;  // the kernel's setting: "always", "madvise" or "never"
  std::vector<CpuCache> caches;
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version
  std::vector<std::string> advice;                             // what slows galop down here, and how to mend it
};

/// Looks at the machine; throws what kernels() throws for a bad GALOP_FORCE_ISA.
Machine describe_machine();

}  // namespace galop::cpu
