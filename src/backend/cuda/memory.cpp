// The cache above the driver's pool, and what is tried before memory counts as used up.
#include "backend/cuda/memory.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include "backend/cuda/fault.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kStep = 512, kStepped = 1 << 20, kLargeStep = 2 << 20;

}  // namespace

MemoryPool::MemoryPool(Context& context) : context_(context) {
  const auto here = context_.enter();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = context_.ordinal;
  context_.check(context_.cuda.cuMemPoolCreate(&pool_, &properties), "cuMemPoolCreate");
  set_limit(0);
}

MemoryPool::~MemoryPool() {
  if (!context_.alive()) return;
  try {
    const auto here = context_.enter();
    drop_cache();
    context_.cuda.cuStreamSynchronize(context_.stream);
    context_.cuda.cuMemPoolDestroy(pool_);
  } catch (const Error&) {
    // The device is lost, and its memory with it.
  }
}

std::int64_t MemoryPool::size_class(std::int64_t bytes) {
  const std::int64_t step = bytes <= kStepped ? kStep : kLargeStep;
  return std::max<std::int64_t>((bytes + step - 1) / step * step, kStep);
}

CUresult MemoryPool::take(std::int64_t size, CUdeviceptr& p) const {
  return context_.cuda.cuMemAllocFromPoolAsync(&p, static_cast<std::size_t>(size), pool_, context_.stream);
}

void* MemoryPool::allocate(std::int64_t bytes) {
  const auto here = context_.enter();
  const auto what = [&] { return std::to_string(bytes) + " bytes"; };
  if (is_injected(Fault::allocate)) context_.fail(CUDA_ERROR_OUT_OF_MEMORY, "an allocation by request", what());
  if (bytes > context_.memory) context_.fail(CUDA_ERROR_OUT_OF_MEMORY, "cuMemAllocFromPoolAsync", what());
  const std::int64_t size = size_class(bytes);
  CUdeviceptr p = 0;
  {
    const std::lock_guard lock(mutex_);
    if (limit_ > 0 && size > limit_ - in_use_)
      throw MemoryError("[cuda] the limit of " + std::to_string(limit_) + " bytes on " + context_.label() + " leaves " +
                        std::to_string(std::max<std::int64_t>(limit_ - in_use_, 0)) + "; got " + what());
    const auto kept = cache_.find(size);
    if (kept != cache_.end() && !kept->second.empty()) {
      p = kept->second.back();
      sizes_.emplace(p, size);
      kept->second.pop_back();
      cached_ -= size;
      in_use_ += size;
      return reinterpret_cast<void*>(p);
    }
    in_use_ += size;
    if (limit_ > 0 && in_use_ + cached_ > limit_) drop_cache();
  }
  CUresult r = take(size, p);
  if (r == CUDA_ERROR_OUT_OF_MEMORY) {
    give_back();
    r = take(size, p);
  }
  const std::lock_guard lock(mutex_);
  try {
    context_.check(r, "cuMemAllocFromPoolAsync", r == CUDA_SUCCESS ? std::string() : what());
    sizes_.emplace(p, size);
  } catch (...) {
    in_use_ -= size;
    throw;
  }
  return reinterpret_cast<void*>(p);
}

void MemoryPool::release(void* data) noexcept {
  if (data == nullptr || !context_.alive()) return;
  const auto p = reinterpret_cast<CUdeviceptr>(data);
  const std::lock_guard lock(mutex_);
  const auto block = sizes_.find(p);
  if (block == sizes_.end()) return;
  const std::int64_t size = block->second;
  in_use_ -= size;
  sizes_.erase(block);
  try {
    if (limit_ > 0 && in_use_ + cached_ + size > limit_) throw std::bad_alloc();
    cache_[size].push_back(p);
    cached_ += size;
  } catch (const std::bad_alloc&) {  // not to be kept
    try {
      const auto here = context_.enter();
      context_.cuda.cuMemFreeAsync(p, context_.stream);
    } catch (const Error&) {
      // Lost meanwhile.
    }
  }
}

// The lock is held, the context entered.
void MemoryPool::drop_cache() noexcept {
  for (auto& [size, blocks] : cache_) {
    for (const CUdeviceptr p : blocks) context_.cuda.cuMemFreeAsync(p, context_.stream);
    blocks.clear();
  }
  cached_ = 0;
}

// What is freed becomes free for other sizes and other programs only when the stream has come so far.
void MemoryPool::give_back() noexcept {
  {
    const std::lock_guard lock(mutex_);
    drop_cache();
  }
  context_.cuda.cuStreamSynchronize(context_.stream);
  context_.cuda.cuMemPoolTrimTo(pool_, 0);
}

void MemoryPool::trim() {
  const auto here = context_.enter();
  give_back();
  context_.synchronize();
}

void MemoryPool::set_limit(std::int64_t bytes) {
  const auto here = context_.enter();
  {
    const std::lock_guard lock(mutex_);
    limit_ = std::max<std::int64_t>(bytes, 0);
    if (limit_ > 0 && in_use_ + cached_ > limit_) drop_cache();
  }
  // What the driver keeps of freed memory at each synchronisation.
  cuuint64_t keep = bytes > 0 ? static_cast<cuuint64_t>(bytes) : std::numeric_limits<cuuint64_t>::max();
  context_.check(context_.cuda.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
                 "cuMemPoolSetAttribute");
}

DeviceMemory MemoryPool::statistics() const {
  const auto here = context_.enter();
  cuuint64_t reserved = 0;
  context_.check(context_.cuda.cuMemPoolGetAttribute(pool_, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
                 "cuMemPoolGetAttribute");
  DeviceMemory m;
  m.total = context_.memory;
  m.free = context_.free_bytes();
  const std::lock_guard lock(mutex_);
  m.in_use = in_use_;
  m.cached = std::max(static_cast<std::int64_t>(reserved) - in_use_, cached_);
  m.limit = limit();
  return m;
}

}  // namespace galop::cuda
