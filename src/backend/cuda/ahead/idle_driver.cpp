// Every function succeeds; those that give something out give numbers.
#include "backend/cuda/ahead/idle_driver.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace galop::cuda {
namespace {

constexpr std::size_t kMemory = std::size_t{64} << 30;
int capability_of_device = 0;

template <class... A>
void succeed(CUresult(CUDAAPI*& function)(A...)) {
  function = [](A...) { return CUDA_SUCCESS; };
}

// Handles and addresses are numbers that never repeat; memory is as aligned as the driver's.
std::uintptr_t fresh(std::size_t bytes) {
  static std::atomic<std::uintptr_t> next{std::uintptr_t{1} << 40};
  return next.fetch_add((bytes + 512) / 512 * 512);
}
template <class Handle>
CUresult give(Handle* to) {
  *to = reinterpret_cast<Handle>(fresh(1));
  return CUDA_SUCCESS;
}

CUresult attribute(int* value, CUdevice_attribute which, CUdevice) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = capability_of_device / 10;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = capability_of_device % 10;
      break;
    default:
      *value = 128;
  }
  return CUDA_SUCCESS;
}

CUresult message(CUresult, const char** text) {
  *text = "an idle driver";
  return CUDA_SUCCESS;
}

}  // namespace

Driver idle_driver(int capability) {
  capability_of_device = capability;
  Driver d;
#define GALOP_SUCCEED(name) succeed(d.name);
  GALOP_CUDA_DRIVER(GALOP_SUCCEED)
#undef GALOP_SUCCEED
  d.cuDriverGetVersion = [](int* version) {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
  };
  d.cuGetErrorName = message;
  d.cuGetErrorString = message;
  d.cuDeviceGet = [](CUdevice* device, int) {
    *device = 0;
    return CUDA_SUCCESS;
  };
  d.cuDeviceGetCount = [](int* count) {
    *count = 1;
    return CUDA_SUCCESS;
  };
  d.cuDeviceGetName = [](char* name, int size, CUdevice) {
    std::strncpy(name, "idle", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  };
  d.cuDeviceGetAttribute = attribute;
  d.cuDeviceTotalMem = [](std::size_t* bytes, CUdevice) {
    *bytes = kMemory;
    return CUDA_SUCCESS;
  };
  d.cuDevicePrimaryCtxRetain = [](CUcontext* c, CUdevice) { return give(c); };
  d.cuCtxGetCurrent = [](CUcontext* c) {
    *c = nullptr;
    return CUDA_SUCCESS;
  };
  d.cuStreamCreate = [](CUstream* s, unsigned) { return give(s); };
  d.cuEventCreate = [](CUevent* e, unsigned) { return give(e); };
  d.cuMemPoolCreate = [](CUmemoryPool* p, const CUmemPoolProps*) { return give(p); };
  d.cuMemPoolGetAttribute = [](CUmemoryPool, CUmemPool_attribute, void* value) {
    std::memset(value, 0, sizeof(cuuint64_t));
    return CUDA_SUCCESS;
  };
  d.cuMemAllocFromPoolAsync = [](CUdeviceptr* p, std::size_t bytes, CUmemoryPool, CUstream) {
    *p = static_cast<CUdeviceptr>(fresh(bytes));
    return CUDA_SUCCESS;
  };
  d.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
    *free = *total = kMemory;
    return CUDA_SUCCESS;
  };
  d.cuMemHostAlloc = [](void** p, std::size_t bytes, unsigned) {
    *p = std::malloc(bytes);
    return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  };
  d.cuMemFreeHost = [](void* p) {
    std::free(p);
    return CUDA_SUCCESS;
  };
  d.cuMemcpyDtoHAsync = [](void* to, CUdeviceptr, std::size_t bytes, CUstream) {
    std::memset(to, 0, bytes);
    return CUDA_SUCCESS;
  };
  d.cuModuleLoadData = [](CUmodule* m, const void*) { return give(m); };
  d.cuModuleGetFunction = [](CUfunction* f, CUmodule, const char*) { return give(f); };
  return d;
}

}  // namespace galop::cuda
