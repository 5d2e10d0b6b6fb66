// Device memory: blocks of exact classes, kept for reuse, over the driver's stream-ordered pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backend/cuda/context.hpp"
#include "galop/device.hpp"

namespace galop::cuda {

/// Everything happens in the order of the context's stream: a block given back is used again at once. Thread-safe.
class MemoryPool {
 public:
  /// Throws DeviceError.
  explicit MemoryPool(Context& context);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// What a block of so many bytes takes: steps of 512 bytes to 1 MiB, then of 2 MiB.
  static std::int64_t size_class(std::int64_t bytes);

  /// Aligned to 256 bytes, never null. Before it fails, it gives back what is cached and waits for the stream. Throws
  /// MemoryError naming the bytes and what is free, or the limit.
  void* allocate(std::int64_t bytes);
  /// Null is nothing. Silent when the device is lost.
  void release(void* p) noexcept;

  /// Waits for the stream.
  void trim();
  void set_limit(std::int64_t bytes);
  std::int64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  DeviceMemory statistics() const;

  CUmemoryPool pool() const { return pool_; }

 private:
  CUresult take(std::int64_t size, CUdeviceptr& p) const;
  void drop_cache() noexcept;
  void give_back() noexcept;

  Context& context_;
  CUmemoryPool pool_ = nullptr;
  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, std::vector<CUdeviceptr>> cache_;  // by size
  std::unordered_map<CUdeviceptr, std::int64_t> sizes_;               // of blocks in use
  std::int64_t in_use_ = 0, cached_ = 0;
  std::atomic<std::int64_t> limit_ = 0;  // written under the lock
};

}  // namespace galop::cuda
