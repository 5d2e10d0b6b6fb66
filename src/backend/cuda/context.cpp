// Opens a device, and turns the driver's results into errors.
#include "backend/cuda/context.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "backend/gpu_probe.hpp"
#include "core/interrupt.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

// After these every call in the context fails, whatever it is.
bool is_final(CUresult r) {
  switch (r) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

}  // namespace

Context::Context(int ordinal_) : cuda(driver()), ordinal(ordinal_) {
  const std::string what = "device " + std::to_string(ordinal);
  cuda.check(cuda.cuDeviceGet(&device, ordinal), "cuDeviceGet", what);
  char text[256] = "";
  cuda.check(cuda.cuDeviceGetName(text, sizeof text, device), "cuDeviceGetName", what);
  name = text;
  std::size_t total = 0;
  cuda.check(cuda.cuDeviceTotalMem(&total, device), "cuDeviceTotalMem", what);
  memory = static_cast<std::int64_t>(total);
  capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
               attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (capability < kOldestCapability)
    throw DeviceError("[cuda] Galop needs a GPU of compute capability " + std::to_string(kOldestCapability / 10) + "." +
                      std::to_string(kOldestCapability % 10) + " or newer; got " + label() + " of " +
                      std::to_string(capability / 10) + "." + std::to_string(capability % 10));
  cuda.check(cuda.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain", what);
  try {
    const Entered here = enter();
    check(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", what);
  } catch (...) {
    cuda.cuDevicePrimaryCtxRelease(device);
    throw;
  }
}

Context::~Context() {
  if (is_forked()) return;
  // Errors are past mending here.
  CUcontext before = nullptr;
  cuda.cuCtxGetCurrent(&before);
  cuda.cuCtxSetCurrent(context);
  cuda.cuStreamDestroy(stream);
  cuda.cuCtxSetCurrent(before == context ? nullptr : before);
  cuda.cuDevicePrimaryCtxRelease(device);
}

Context::Entered Context::enter() const {
  require_not_forked();
  if (lost_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    throw DeviceError("[cuda] " + label() + " is lost, with what it held, until the process is started again; got " +
                      why_lost_);
  }
  CUcontext before = nullptr;
  cuda.cuCtxGetCurrent(&before);
  if (before != context) cuda.check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent", label());
  return {cuda, before == context ? nullptr : before};
}

void Context::fail(CUresult r, const char* call, std::string_view what) {
  std::string got(what);
  if (r == CUDA_ERROR_OUT_OF_MEMORY) {
    got += (got.empty() ? "" : " on ") + label() + ", " + std::to_string(free_bytes()) + " bytes free";
    throw MemoryError("[cuda] " + cuda.explain(r, call) + "; got " + got);
  }
  const std::lock_guard lock(mutex_);
  const std::string launches = last_launches();
  got += (got.empty() ? "" : ", ") + label() + (launches.empty() ? "" : ", last launched: " + launches);
  std::string message = cuda.explain(r, call);
  if (is_final(r)) {
    why_lost_ = message + " after " + (launches.empty() ? "no launch" : launches);
    lost_.store(true, std::memory_order_release);
    message += ", and the device is lost";
  }
  throw DeviceError("[cuda] " + message + "; got " + got);
}

std::string Context::last_launches() const {
  std::string text;
  for (std::uint64_t i = launches_ > launched_.size() ? launches_ - launched_.size() : 0; i < launches_; ++i) {
    const Launched& l = launched_[i % launched_.size()];
    text += (text.empty() ? "" : "; ") + (l.kernel ? *l.kernel + " over " + to_string(l.shape) : l.what);
  }
  return text;
}

void Context::note(const std::string& kernel, const Dims& shape) {
  const std::lock_guard lock(mutex_);
  Launched& l = launched_[launches_++ % launched_.size()];
  l.kernel = &kernel;
  l.shape = shape;
}

std::uint64_t Context::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}

void Context::note(const std::string& what) {
  const std::lock_guard lock(mutex_);
  Launched& l = launched_[launches_++ % launched_.size()];
  l.kernel = nullptr;
  l.what = what;
}

void Context::synchronize() {
  const Entered here = enter();
  check(cuda.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void Context::wait_unless_ended() {
  using namespace std::chrono;
  if (!interrupt::job) return;
  const Entered here = enter();
  const auto begin = steady_clock::now();
  for (CUresult r; (r = cuda.cuStreamQuery(stream)) != CUDA_SUCCESS;) {
    if (r != CUDA_ERROR_NOT_READY) fail(r, "cuStreamQuery");
    interrupt::poll();
    // As the driver does, it asks again and again; after a while with rests that a measurement does not show.
    const auto waited = steady_clock::now() - begin;
    if (waited > milliseconds(20))
      std::this_thread::sleep_for(std::min<steady_clock::duration>(waited / 1000, milliseconds(5)));
  }
}

std::string Context::label() const { return "cuda:" + std::to_string(ordinal) + " (" + name + ")"; }

std::int64_t Context::free_bytes() const {
  std::size_t free = 0, total = 0;
  return cuda.cuMemGetInfo(&free, &total) == CUDA_SUCCESS ? static_cast<std::int64_t>(free) : 0;
}

int Context::attribute(CUdevice_attribute a) const {
  int value = 0;
  cuda.check(cuda.cuDeviceGetAttribute(&value, a, device), "cuDeviceGetAttribute", label());
  return value;
}

}  // namespace galop::cuda
