// How long work on a GPU's stream takes, by the driver's events.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/cuda/executor.hpp"

namespace galop::cuda::test {

/// The median of so many timed calls of f, in milliseconds, after a few that are not counted.
template <class F>
float median_ms(CudaExecutor& gpu, int calls, F&& f) {
  const Driver& cuda = driver();
  CUevent from = nullptr, to = nullptr;
  cuda.check(cuda.cuEventCreate(&from, CU_EVENT_DEFAULT), "cuEventCreate");
  cuda.check(cuda.cuEventCreate(&to, CU_EVENT_DEFAULT), "cuEventCreate");
  for (int i = 0; i < 3; ++i) f();
  std::vector<float> times;
  for (int i = 0; i < calls; ++i) {
    cuda.check(cuda.cuEventRecord(from, gpu.stream()), "cuEventRecord");
    f();
    cuda.check(cuda.cuEventRecord(to, gpu.stream()), "cuEventRecord");
    gpu.synchronize();
    float ms = 0;
    cuda.check(cuda.cuEventElapsedTime(&ms, from, to), "cuEventElapsedTime");
    times.push_back(ms);
  }
  cuda.cuEventDestroy(from);
  cuda.cuEventDestroy(to);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace galop::cuda::test
