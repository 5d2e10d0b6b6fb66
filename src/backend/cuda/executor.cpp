// Context, pool, stream and launches.
#include "backend/cuda/executor.hpp"

#include <limits>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/lower.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

}  // namespace

std::string disk_key(const std::string& kernel_key) {
  const auto [major, minor] = nvrtc_version();
  return code_version() + "\nnvrtc " + std::to_string(major) + "." + std::to_string(minor) + "\n" + nvrtc_options() +
         kernel_key;
}

CudaExecutor::CudaExecutor(int ordinal, const std::filesystem::path& cache)
    : cuda_(driver()), ordinal_(ordinal), cache_(cache) {
  const std::string what = "device " + std::to_string(ordinal);
  cuda_.check(cuda_.cuDeviceGet(&device_, ordinal), "cuDeviceGet", what);
  char text[256] = "";
  cuda_.check(cuda_.cuDeviceGetName(text, sizeof text, device_), "cuDeviceGetName", what);
  name_ = text;
  int major = 0, minor = 0;
  cuda_.check(cuda_.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_),
              "cuDeviceGetAttribute", what);
  cuda_.check(cuda_.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_),
              "cuDeviceGetAttribute", what);
  capability_ = 10 * major + minor;
  cuda_.check(cuda_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain", what);
  enter();
  cuda_.check(cuda_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate", what);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = ordinal;
  cuda_.check(cuda_.cuMemPoolCreate(&pool_, &properties), "cuMemPoolCreate", what);
  cuuint64_t keep = std::numeric_limits<cuuint64_t>::max();  // freed memory stays with the pool
  cuda_.check(cuda_.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep), "cuMemPoolSetAttribute",
              what);
}

CudaExecutor::~CudaExecutor() {
  if (context_ == nullptr) return;
  // Errors are past mending here.
  cuda_.cuCtxSetCurrent(context_);
  if (stream_) cuda_.cuStreamSynchronize(stream_);
  for (const auto& [key, loaded] : loaded_) cuda_.cuModuleUnload(loaded.module);
  if (pool_) cuda_.cuMemPoolDestroy(pool_);
  if (stream_) cuda_.cuStreamDestroy(stream_);
  cuda_.cuDevicePrimaryCtxRelease(device_);
}

void CudaExecutor::enter() const { cuda_.check(cuda_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

void* CudaExecutor::allocate(std::int64_t bytes) {
  enter();
  CUdeviceptr p = 0;
  CUresult r = cuda_.cuMemAllocFromPoolAsync(&p, static_cast<std::size_t>(bytes > 0 ? bytes : 1), pool_, stream_);
  if (r == CUDA_ERROR_OUT_OF_MEMORY) {  // what the pool keeps may be in pieces
    cuda_.cuStreamSynchronize(stream_);
    cuda_.cuMemPoolTrimTo(pool_, 0);
    r = cuda_.cuMemAllocFromPoolAsync(&p, static_cast<std::size_t>(bytes), pool_, stream_);
  }
  cuda_.check(r, "cuMemAllocFromPoolAsync", std::to_string(bytes) + " bytes on " + name_);
  return reinterpret_cast<void*>(p);
}

void CudaExecutor::release(void* p) noexcept {
  if (p == nullptr) return;
  cuda_.cuCtxSetCurrent(context_);
  cuda_.cuMemFreeAsync(address(p), stream_);
}

void CudaExecutor::upload(void* device, const void* host, std::int64_t bytes) {
  if (bytes == 0) return;
  enter();
  cuda_.check(cuda_.cuMemcpyHtoDAsync(address(device), host, static_cast<std::size_t>(bytes), stream_),
              "cuMemcpyHtoDAsync", std::to_string(bytes) + " bytes");
  synchronize();
}

void CudaExecutor::download(void* host, const void* device, std::int64_t bytes) {
  if (bytes == 0) return;
  enter();
  cuda_.check(cuda_.cuMemcpyDtoHAsync(host, address(device), static_cast<std::size_t>(bytes), stream_),
              "cuMemcpyDtoHAsync", std::to_string(bytes) + " bytes");
  synchronize();
}

void CudaExecutor::fill_bytes(void* device, unsigned char value, std::int64_t bytes) {
  if (bytes == 0) return;
  enter();
  cuda_.check(cuda_.cuMemsetD8Async(address(device), value, static_cast<std::size_t>(bytes), stream_),
              "cuMemsetD8Async", std::to_string(bytes) + " bytes");
}

CUfunction CudaExecutor::function(const Plan& plan, const std::string& key, const Lowered& l) {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(key); found != loaded_.end()) return found->second.function;
  const std::string what = describe(plan);
  const std::string cubin =
      cache_.get(disk_key(key), capability_, [&] { return compile(source(plan, l), kKernelName, capability_); });
  Loaded loaded{};
  cuda_.check(cuda_.cuModuleLoadData(&loaded.module, cubin.data()), "cuModuleLoadData", what);
  if (const CUresult r = cuda_.cuModuleGetFunction(&loaded.function, loaded.module, kKernelName); r != CUDA_SUCCESS) {
    cuda_.cuModuleUnload(loaded.module);
    cuda_.check(r, "cuModuleGetFunction", what);
  }
  return loaded_.emplace(key, loaded).first->second.function;
}

void CudaExecutor::run(const Plan& plan) {
  Lowered l = lower(plan);
  if (l.blocks == 0) return;
  enter();
  const CUfunction kernel = function(plan, l.key, l);
  void* scratch = nullptr;
  if (l.scratch_bytes > 0) {
    scratch = allocate(l.scratch_bytes);
    l.words[static_cast<std::size_t>(l.scratch_word)] = reinterpret_cast<std::uint64_t>(scratch);
  }
  try {
    if (l.zeroed > 0) fill_bytes(scratch, 0, l.zeroed);
    void* parameters[] = {l.words.data()};
    cuda_.check(cuda_.cuLaunchKernel(kernel, static_cast<unsigned>(l.blocks), 1, 1, l.threads_x, l.threads_y, 1, 0,
                                     stream_, parameters, nullptr),
                "cuLaunchKernel", describe(plan));
  } catch (...) {
    release(scratch);
    throw;
  }
  release(scratch);  // in the stream's order: after the kernel
  const std::lock_guard lock(mutex_);
  last_ = l.key + " over " + to_string(plan.shape);
}

void CudaExecutor::synchronize() {
  enter();
  const CUresult r = cuda_.cuStreamSynchronize(stream_);
  if (r == CUDA_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  cuda_.check(r, "cuStreamSynchronize", last_.empty() ? "no kernel" : "a kernel up to and including " + last_);
}

}  // namespace galop::cuda
