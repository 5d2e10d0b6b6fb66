// What this machine can do at best, measured: memory bandwidth and arithmetic, with as many threads as galop uses.
#pragma once

#include <cstdint>

#include "galop/dtype.hpp"

namespace galop::cpu {

/// Bytes per second between memory and cores. A copy counts what it reads and what it writes.
struct Bandwidth {
  double copy = 0;
  double fill = 0;
  double read = 0;
};

/// The best of `runs` runs over arrays of `bytes` bytes, of which two are allocated; they must be far larger than the
/// caches.
Bandwidth measure_bandwidth(std::int64_t bytes = std::int64_t{1} << 28, int runs = 5);

/// Floating-point operations per second, a multiplication and an addition counting as two, of float32 or float64 (best
/// of `runs`).
double measure_peak(DType t, int runs = 5);

}  // namespace galop::cpu
