// Waits for a device that an interrupt ends, over a driver that says for how long it is busy.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "backend/cuda/ahead/idle_driver.hpp"
#include "backend/cuda/executor.hpp"
#include "core/interrupt.hpp"
#include "galop/engine.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

int busy = 0;     // queries that find the stream at work
int queries = 0;  // so far
int looks = 0;    // looks for an interrupt before there is one

template <class F>
bool ends(F&& f) {
  const interrupt::Scope scope(true);
  busy = 1000, queries = 0, looks = 10;
  try {
    f();
  } catch (const Interrupted&) {
    return queries < 20;
  }
  return false;
}

int waits() {
  Driver driver = idle_driver(90);
  driver.cuStreamQuery = [](CUstream) {
    ++queries;
    return busy > 0 && busy-- > 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  replace_driver(&driver);
  CudaExecutor gpu(0, std::filesystem::temp_directory_path());
  void* const device = gpu.allocate(1 << 20);
  std::vector<char> host(1 << 20, 'x');
  const std::vector<char> before = host;
  set_interrupt_check([] { return looks-- <= 0; });
  if (!ends([&] { gpu.synchronize(); })) return 1;
  for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{1} << 20})
    if (!ends([&] { gpu.download(host.data(), device, bytes); }) || host != before) return 2;
  {
    const interrupt::Scope scope(true);  // waits to the end where nobody interrupts
    looks = 1 << 30, queries = 0, busy = 50;
    gpu.synchronize();
    if (queries != 51) return 3;
  }
  looks = 0, queries = 0, busy = 50;  // outside of work that may be ended nothing is asked
  gpu.synchronize();
  gpu.download(host.data(), device, 8);
  if (queries != 0) return 4;
  set_interrupt_check({});
  gpu.release(device);
  return 0;
}

// In a process of its own, since a driver is for good.
TEST(CudaWait, IsEndedByAnInterrupt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(waits()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace galop::cuda
