// Runs plans on one GPU: its memory pool, its stream, its compiled kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backend/backend.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/jit_cache.hpp"
#include "backend/cuda/lower.hpp"

namespace galop::cuda {

/// One GPU. All work goes through one stream, in the order of the calls; `run` does not wait for it. Addresses in plans
/// are device addresses. Thread-safe.
class CudaExecutor {
 public:
  /// Throws Error when there is no driver or no such device.
  explicit CudaExecutor(int ordinal = 0, const std::filesystem::path& cache = JitCache::default_root());
  ~CudaExecutor();
  CudaExecutor(const CudaExecutor&) = delete;
  CudaExecutor& operator=(const CudaExecutor&) = delete;

  /// Device memory, aligned to 256 bytes. Throws MemoryError naming the bytes.
  void* allocate(std::int64_t bytes);
  void release(void* p) noexcept;
  /// Copies that are done when they return (the host side) and in order with the plans (the device side).
  void upload(void* device, const void* host, std::int64_t bytes);
  void download(void* host, const void* device, std::int64_t bytes);
  void fill_bytes(void* device, unsigned char value, std::int64_t bytes);

  /// A kernel of a program of ours, ready to launch: in memory, else from the disk, else `source()` compiled with the
  /// options of all kernels. `key` tells programs apart within the process; on disk the source's own hash does. `source`
  /// is called once a process and key; the program has no #include, and may start with `prelude()`. `entry` is the
  /// kernel's C name; one program (one key) may have several. Thread-safe. Throws Error with the compiler's log.
  CUfunction kernel(const std::string& key, const std::function<std::string()>& source, const char* entry);

  struct Grid {
    unsigned x = 1, y = 1, z = 1;
  };
  /// Enqueues a kernel. `args` holds the address of each of its parameters, as cuLaunchKernel takes them. `what` says
  /// what it computes, with shapes, for errors that show late. A grid of zero blocks launches nothing.
  void launch(CUfunction function, Grid grid, Grid block, unsigned shared_bytes, void* const* args,
              const std::string& what);

  /// Enqueues the plan's kernel; compiles it where neither memory nor disk has it.
  void run(const Plan& plan);
  /// Waits; throws Error naming the last kernel when one of them failed.
  void synchronize();

  /// Makes the device's context this thread's, for libraries that work in the current one.
  void enter() const;

  int ordinal() const { return ordinal_; }
  /// Compute capability as one number: 90 for 9.0.
  int capability() const { return capability_; }
  const std::string& name() const { return name_; }
  CUstream stream() const { return stream_; }
  JitCache::Counts cache_counts() const { return cache_.counts(); }

 private:
  CUfunction function(const std::string& key, const char* entry, const std::function<std::string()>& cubin);

  const Driver& cuda_;
  const int ordinal_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmemoryPool pool_ = nullptr;
  int capability_ = 0;
  std::string name_;
  JitCache cache_;
  std::mutex mutex_;
  std::unordered_map<std::string, CUmodule> modules_;      // by key
  std::unordered_map<std::string, CUfunction> functions_;  // by key and entry
  std::string last_;  // what was launched last, for an error that shows late
};

/// What the disk cache keys a kernel by besides the architecture.
std::string disk_key(const std::string& kernel_key);

}  // namespace galop::cuda
