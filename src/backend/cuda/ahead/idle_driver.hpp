// A driver of one GPU that does nothing, for programs that only want to know which kernels would run: addresses without
// memory behind them, copies from the device that bring zeros.
#pragma once

#include "backend/cuda/driver.hpp"

namespace galop::cuda {

/// Of compute capability `capability` (90 for 9.0).
Driver idle_driver(int capability);

}  // namespace galop::cuda
