// Kernels, launches, and the order between streams.
#include "backend/cuda/executor.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "backend/cuda/archive.hpp"
#include "backend/cuda/codegen.hpp"
#include "backend/cuda/fault.hpp"
#include "backend/cuda/lower.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "backend/cuda/pins.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }
std::string text(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

// GALOP_SYNC=1: every launch is waited for, so that an error shows at the call that made it.
bool waits_for_launches() {
  static const bool asked = [] {
    const char* value = std::getenv("GALOP_SYNC");
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return asked;
}

}  // namespace

CudaExecutor::CudaExecutor(int ordinal, const std::filesystem::path& cache)
    : context_(ordinal), memory_(context_), transfer_(context_), faults_(context_), cache_(cache) {
  const auto here = context_.enter();
  context_.check(context_.cuda.cuEventCreate(&order_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

CudaExecutor::~CudaExecutor() {
  Pins::instance().forget(context_);
  release(counts_.ends);
  if (!alive()) return;
  try {
    const auto here = context_.enter();
    context_.cuda.cuStreamSynchronize(stream());
    for (const auto& [key, module] : modules_) context_.cuda.cuModuleUnload(module);
    context_.cuda.cuEventDestroy(order_);
  } catch (const Error&) {
    // Lost meanwhile.
  }
}

void CudaExecutor::copy(void* to, const void* from, std::int64_t bytes) {
  ++writes_;
  if (bytes == 0) return;
  const auto here = context_.enter();
  context_.check(context_.cuda.cuMemcpyDtoDAsync(address(to), address(from), static_cast<std::size_t>(bytes), stream()),
                 "cuMemcpyDtoDAsync", text(bytes));
}

// Lets this device reach the other's pool, where the bus allows it; copies go by way of the host otherwise.
void CudaExecutor::open_peer(CudaExecutor& other) {
  {
    const std::lock_guard lock(order_mutex_);
    if (!peers_.emplace(&other, true).second) return;
  }
  const Driver& cuda = context_.cuda;
  int can = 0;
  if (cuda.cuDeviceCanAccessPeer(&can, context_.device, other.context_.device) != CUDA_SUCCESS || !can) return;
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = ordinal();
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  cuda.cuMemPoolSetAccess(other.memory_.pool(), &access, 1);
}

void CudaExecutor::copy_peer(void* to, CudaExecutor& other, const void* from, std::int64_t bytes) {
  ++writes_;
  if (bytes == 0) return;
  open_peer(other);
  // The other's work that makes the memory comes first, and its later work, which may reuse it, waits.
  const auto follow = [](CudaExecutor& earlier, CudaExecutor& later) {
    const std::lock_guard lock(earlier.order_mutex_);
    {
      const auto there = earlier.context_.enter();
      earlier.context_.check(earlier.context_.cuda.cuEventRecord(earlier.order_, earlier.stream()), "cuEventRecord");
    }
    const auto here = later.context_.enter();
    later.context_.check(later.context_.cuda.cuStreamWaitEvent(later.stream(), earlier.order_, 0), "cuStreamWaitEvent");
  };
  follow(other, *this);
  {
    const auto here = context_.enter();
    context_.check(context_.cuda.cuMemcpyPeerAsync(address(to), context_.context, address(from), other.context_.context,
                                                   static_cast<std::size_t>(bytes), stream()),
                   "cuMemcpyPeerAsync", text(bytes) + " from " + other.context_.label());
  }
  follow(*this, other);
}

void CudaExecutor::fill_bytes(void* device, unsigned char value, std::int64_t bytes) {
  ++writes_;
  if (bytes == 0) return;
  const auto here = context_.enter();
  context_.check(context_.cuda.cuMemsetD8Async(address(device), value, static_cast<std::size_t>(bytes), stream()),
                 "cuMemsetD8Async", text(bytes));
}

void CudaExecutor::keep_counts(const void* mask, std::int64_t n, void* ends) {
  const std::lock_guard lock(counts_mutex_);
  release(std::exchange(counts_, Counts{mask, n, works(), ends}).ends);
}

void* CudaExecutor::take_counts(const void* mask, std::int64_t n) {
  const std::lock_guard lock(counts_mutex_);
  const Counts kept = std::exchange(counts_, Counts{});
  if (kept.mask == mask && kept.n == n && kept.works == works()) return kept.ends;
  release(kept.ends);
  return nullptr;
}

void CudaExecutor::wait_for(std::uintptr_t other) {
  ++writes_;
  if (other == 0) throw ValueError("[cuda] stream 0 is not a stream here; got 0, where 1 is the default stream");
  const auto here = context_.enter();
  const std::lock_guard lock(order_mutex_);
  context_.check(context_.cuda.cuEventRecord(order_, reinterpret_cast<CUstream>(other)), "cuEventRecord",
                 "stream " + std::to_string(other));
  context_.check(context_.cuda.cuStreamWaitEvent(stream(), order_, 0), "cuStreamWaitEvent");
}

void CudaExecutor::make_wait(std::uintptr_t other) {
  if (other == 0) throw ValueError("[cuda] stream 0 is not a stream here; got 0, where 1 is the default stream");
  const auto here = context_.enter();
  const std::lock_guard lock(order_mutex_);
  context_.check(context_.cuda.cuEventRecord(order_, stream()), "cuEventRecord");
  context_.check(context_.cuda.cuStreamWaitEvent(reinterpret_cast<CUstream>(other), order_, 0), "cuStreamWaitEvent",
                 "stream " + std::to_string(other));
}

const CudaExecutor::Kernel& CudaExecutor::find(const std::string& key, const char* entry,
                                               const std::function<std::string()>& what,
                                               const std::function<std::string()>& cubin) {
  const std::string name = key + '\n' + entry;
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second;
  auto module = modules_.find(key);
  if (module == modules_.end()) {
    CUmodule loaded = nullptr;
    context_.check(context_.cuda.cuModuleLoadData(&loaded, cubin().data()), "cuModuleLoadData", name);
    module = modules_.emplace(key, loaded).first;
  }
  CUfunction f = nullptr;
  context_.check(context_.cuda.cuModuleGetFunction(&f, module->second, entry), "cuModuleGetFunction", name);
  return kernels_.emplace(name, Kernel{f, what()}).first->second;
}

// The key holds the source's hash, so a kernel that would be written otherwise today is never found: neither in what
// was compiled with the plug-in, whatever the compiler, nor on the disk.
std::string CudaExecutor::compiled(const std::string& key, const std::string& source, const char* entry) {
  static const Archive archive(Archive::default_file());
  const std::string program = nvrtc_options() + "source " + hash_text(source) + "\n" + key;
  if (std::string cubin = archive.find(program, capability()); !cubin.empty()) {
    ++shipped_;
    return cubin;
  }
  const auto [major, minor] = nvrtc_version();
  return cache_.get("nvrtc " + std::to_string(major) + "." + std::to_string(minor) + "\n" + program, capability(),
                    [&] { return compile(source, entry, capability()); });
}

CUfunction CudaExecutor::kernel(const std::string& key, const std::function<std::string()>& source, const char* entry) {
  const auto here = context_.enter();
  return find(
             key, entry, [] { return std::string(); }, [&] { return compiled(key, source(), entry); })
      .function;
}

void CudaExecutor::enqueue(CUfunction function, Grid grid, Grid block, unsigned shared_bytes, void* const* args,
                           const std::function<std::string()>& what) {
  const auto here = context_.enter();
  CUresult r = CUDA_SUCCESS;
  if (is_injected(Fault::launch)) r = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  constexpr unsigned kPlainShared = 32 << 10;  // more has to be asked for: of 48 KiB, some may be the kernel's already
  if (r == CUDA_SUCCESS && shared_bytes > kPlainShared)
    r = context_.cuda.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(shared_bytes));
  if (r == CUDA_SUCCESS)
    r = context_.cuda.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                                     stream(), const_cast<void**>(args), nullptr);
  if (r != CUDA_SUCCESS) context_.fail(r, "cuLaunchKernel", what());
}

void CudaExecutor::launch(CUfunction function, Grid grid, Grid block, unsigned shared_bytes, void* const* args,
                          const std::string& what) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  enqueue(function, grid, block, shared_bytes, args, [&] { return what; });
  context_.note(what);
  if (waits_for_launches()) synchronize();
}

void CudaExecutor::run(const Plan& plan) {
  Lowered l = lower(plan);
  if (l.blocks == 0) return;
  const auto here = context_.enter();
  const Kernel& kernel = find(
      l.key, kKernelName, [&] { return operations(plan); },
      [&] { return compiled(l.key, source(plan, l), kKernelName); });
  void* scratch = nullptr;
  if (l.scratch_bytes > 0) {
    scratch = allocate(l.scratch_bytes);
    l.words[static_cast<std::size_t>(l.scratch_word)] = reinterpret_cast<std::uint64_t>(scratch);
  }
  try {
    if (!l.watched.empty()) {
      const LateFaults::Place place = faults_.take(plan, l);
      l.words[static_cast<std::size_t>(l.fault_word)] = place.device;
      l.words[static_cast<std::size_t>(l.fault_word) + 1] = place.host;
    }
    void* parameters[] = {l.words.data()};
    enqueue(kernel.function, {static_cast<unsigned>(l.blocks)}, {l.threads_x, l.threads_y}, 0, parameters,
            [&] { return describe(plan); });
  } catch (...) {
    release(scratch);
    throw;
  }
  release(scratch);  // in the stream's order: after the kernel
  context_.note(kernel.what, plan.shape);
  if (waits_for_launches()) synchronize();
}

}  // namespace galop::cuda
