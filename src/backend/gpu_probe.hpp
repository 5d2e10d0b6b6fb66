// Which NVIDIA GPUs are there, and if galop cannot use them, why not and what to do; found out without linking anything
// of CUDA's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galop {

struct Gpu {
  std::string name;
  std::int64_t memory = 0;   // bytes
  int major = 0, minor = 0;  // compute capability
  bool fit = false;          // new enough for galop
};

struct GpuReport {
  bool usable = false;              // at least one GPU and a driver that galop can work with
  std::string driver;               // the kernel driver's version, such as "580.65.06", or ""
  int cuda = 0;                     // the newest CUDA version that the driver supports, 13000 for 13.0, or 0
  std::vector<Gpu> gpus;            // as the driver lists them
  std::vector<std::string> advice;  // what is missing and how to mend it, a sentence or two each
};

/// Looks at the machine. `root` is put before paths of /dev, /proc and /sys, and `library` is the driver's library;
/// both are for tests.
GpuReport probe_gpus(const std::string& root = "", const std::string& library = "libcuda.so.1");

/// Oldest things that work: CUDA 13.0, which came with driver 580, and compute capability 7.5 (Turing).
inline constexpr int kOldestCuda = 13000, kOldestDriver = 580, kOldestCapability = 75;

}  // namespace galop
