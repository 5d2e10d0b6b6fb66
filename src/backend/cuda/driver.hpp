// The CUDA driver, opened at run time: one table of its functions, and errors that name the call and what it worked on.
#pragma once

#include <cuda.h>

#include <string>

namespace galop::cuda {

// All the functions that are called, in one list. cuda.h maps some names to versioned ones; so does the table.
#define GALOP_CUDA_DRIVER(X)   \
  X(cuInit)                    \
  X(cuDriverGetVersion)        \
  X(cuGetErrorName)            \
  X(cuGetErrorString)          \
  X(cuDeviceGet)               \
  X(cuDeviceGetCount)          \
  X(cuDeviceGetName)           \
  X(cuDeviceGetAttribute)      \
  X(cuDeviceTotalMem)          \
  X(cuDevicePrimaryCtxRetain)  \
  X(cuDevicePrimaryCtxRelease) \
  X(cuCtxSetCurrent)           \
  X(cuCtxGetCurrent)           \
  X(cuStreamCreate)            \
  X(cuStreamDestroy)           \
  X(cuStreamQuery)             \
  X(cuStreamSynchronize)       \
  X(cuStreamWaitEvent)         \
  X(cuMemPoolCreate)           \
  X(cuMemPoolDestroy)          \
  X(cuMemPoolSetAttribute)     \
  X(cuMemPoolGetAttribute)     \
  X(cuMemPoolTrimTo)           \
  X(cuMemAllocFromPoolAsync)   \
  X(cuMemFreeAsync)            \
  X(cuMemGetInfo)              \
  X(cuMemAlloc)                \
  X(cuMemFree)                 \
  X(cuMemPoolSetAccess)        \
  X(cuDeviceCanAccessPeer)     \
  X(cuMemHostAlloc)            \
  X(cuMemFreeHost)             \
  X(cuMemHostRegister)         \
  X(cuMemHostUnregister)       \
  X(cuMemcpyPeerAsync)         \
  X(cuMemcpyHtoDAsync)         \
  X(cuMemcpyDtoHAsync)         \
  X(cuMemcpyDtoDAsync)         \
  X(cuMemsetD8Async)           \
  X(cuModuleLoadData)          \
  X(cuModuleUnload)            \
  X(cuModuleGetFunction)       \
  X(cuFuncSetAttribute)        \
  X(cuLaunchKernel)            \
  X(cuEventCreate)             \
  X(cuEventDestroy)            \
  X(cuEventRecord)             \
  X(cuEventSynchronize)        \
  X(cuEventElapsedTime)

struct Driver {
#define GALOP_MEMBER(name) decltype(&::name) name = nullptr;
  GALOP_CUDA_DRIVER(GALOP_MEMBER)
#undef GALOP_MEMBER

  /// "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string explain(CUresult result, const char* call) const;
  /// For calls outside a context, which has a check of its own. Throws DeviceError naming the call, the driver's
  /// message and `what`; MemoryError when memory ran out.
  void check(CUresult result, const char* call, const std::string& what = "") const;
};

/// For programs that run without a GPU, before the first use: what answers instead of libcuda.so.1.
void replace_driver(const Driver* driver);

/// True in the child of a fork() after the driver was opened: nothing of CUDA works there.
bool is_forked() noexcept;
/// Throws DeviceError in such a child, with the remedy.
void require_not_forked();

/// The driver of this machine, initialised once; null with a sentence in `reason` when there is none that works.
const Driver* find_driver(std::string* reason = nullptr);
/// The same; throws DeviceError with that sentence.
const Driver& driver();

}  // namespace galop::cuda
