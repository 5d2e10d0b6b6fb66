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
  for (const auto& [key, module] : modules_) cuda_.cuModuleUnload(module);
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

CUfunction CudaExecutor::function(const std::string& key, const char* entry, const std::function<std::string()>& cubin) {
  const std::string name = key + '\n' + entry;
  const std::lock_guard lock(mutex_);
  if (const auto found = functions_.find(name); found != functions_.end()) return found->second;
  auto module = modules_.find(key);
  if (module == modules_.end()) {
    CUmodule loaded = nullptr;
    cuda_.check(cuda_.cuModuleLoadData(&loaded, cubin().data()), "cuModuleLoadData", name);
    module = modules_.emplace(key, loaded).first;
  }
  CUfunction f = nullptr;
  cuda_.check(cuda_.cuModuleGetFunction(&f, module->second, entry), "cuModuleGetFunction", name);
  return functions_.emplace(name, f).first->second;
}

CUfunction CudaExecutor::kernel(const std::string& key, const std::function<std::string()>& source, const char* entry) {
  enter();
  return function(key, entry, [&] {
    const std::string text = source();
    return cache_.get(disk_key("source " + hash_text(text) + "\n" + key), capability_,
                      [&] { return compile(text, entry, capability_); });
  });
}

void CudaExecutor::launch(CUfunction function, Grid grid, Grid block, unsigned shared_bytes, void* const* args,
                          const std::string& what) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  enter();
  constexpr unsigned kPlainShared = 48 << 10;  // more has to be asked for
  if (shared_bytes > kPlainShared)
    cuda_.check(cuda_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(shared_bytes)),
                "cuFuncSetAttribute", what);
  cuda_.check(cuda_.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream_,
                                   const_cast<void**>(args), nullptr),
              "cuLaunchKernel", what);
  const std::lock_guard lock(mutex_);
  last_ = what;
}

void CudaExecutor::run(const Plan& plan) {
  Lowered l = lower(plan);
  if (l.blocks == 0) return;
  enter();
  const CUfunction kernel = function(l.key, kKernelName, [&] {
    return cache_.get(disk_key(l.key), capability_, [&] { return compile(source(plan, l), kKernelName, capability_); });
  });
  void* scratch = nullptr;
  if (l.scratch_bytes > 0) {
    scratch = allocate(l.scratch_bytes);
    l.words[static_cast<std::size_t>(l.scratch_word)] = reinterpret_cast<std::uint64_t>(scratch);
  }
  try {
    if (l.zeroed > 0) fill_bytes(scratch, 0, l.zeroed);
    void* parameters[] = {l.words.data()};
    launch(kernel, {static_cast<unsigned>(l.blocks)}, {l.threads_x, l.threads_y}, 0, parameters, describe(plan));
  } catch (...) {
    release(scratch);
    throw;
  }
  release(scratch);  // in the stream's order: after the kernel
}

void CudaExecutor::synchronize() {
  enter();
  const CUresult r = cuda_.cuStreamSynchronize(stream_);
  if (r == CUDA_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  cuda_.check(r, "cuStreamSynchronize", last_.empty() ? "no kernel" : "a kernel up to and including " + last_);
}

}  // namespace galop::cuda
