// One GPU at work: memory, copies, plans, and kernels of the library.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backend/backend.hpp"
#include "backend/cuda/context.hpp"
#include "backend/cuda/jit_cache.hpp"
#include "backend/cuda/late_faults.hpp"
#include "backend/cuda/memory.hpp"
#include "backend/cuda/transfer.hpp"

namespace galop::cuda {

/// One GPU. All work goes through one stream, in the order of the calls; nothing waits for it but what says so.
/// Addresses are of the device. Thread-safe. Everything but release() and alive() throws DeviceError once the device is
/// lost, and in the child of a fork().
class CudaExecutor {
 public:
  /// Throws DeviceError when there is no driver or no such device.
  explicit CudaExecutor(int ordinal = 0, const std::filesystem::path& cache = JitCache::default_root());
  ~CudaExecutor();
  CudaExecutor(const CudaExecutor&) = delete;
  CudaExecutor& operator=(const CudaExecutor&) = delete;

  /// As MemoryPool says.
  void* allocate(std::int64_t bytes) { return memory_.allocate(bytes); }
  void release(void* p) noexcept { memory_.release(p); }
  MemoryPool& memory() { return memory_; }

  /// As Transfer says.
  void upload(void* device, const void* host, std::int64_t bytes) {
    ++writes_;
    transfer_.upload(device, host, bytes);
  }
  void download(void* host, const void* device, std::int64_t bytes) {
    const std::uint64_t launched = faults_.launches();
    transfer_.download(host, device, bytes);
    if (bytes > 0) faults_.settle(launched);
  }
  void copy(void* to, const void* from, std::int64_t bytes);
  /// Brings at most 64 KiB of what is there then, while later work goes on.
  Transfer::Arrival send(const void* device, std::int64_t bytes) { return {transfer_, device, bytes}; }
  /// From another device's memory, in the order of both streams.
  void copy_peer(void* to, CudaExecutor& other, const void* from, std::int64_t bytes);
  void fill_bytes(void* device, unsigned char value, std::int64_t bytes);

  /// A kernel of a program of ours, ready to launch: in memory, else from the disk, else `source()` compiled with the
  /// options of all kernels. `key` tells programs apart within the process; on disk the source's own hash does.
  /// `source` is called once a process and key; the program has no #include, and may start with `prelude()`. `entry` is
  /// the kernel's C name; one program (one key) may have several. Throws Error with the compiler's log.
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
  /// Waits; throws DeviceError naming the last kernels when one of them failed, and Interrupted.
  void synchronize() {
    const std::uint64_t launched = faults_.launches();
    context_.wait_unless_ended();
    context_.synchronize();
    faults_.settle(launched);
  }
  /// Floating-point flags of plans that somebody has waited for.
  LateFaults& faults() { return faults_; }
  bool alive() const noexcept { return context_.alive(); }

  /// Keeps `ends`, the running counts of a mask's tiles (select.cpp), for what packs by that mask next; takes over the
  /// memory. `take_counts` hands it on, once, when the stream has been given nothing to do since, else null.
  void keep_counts(const void* mask, std::int64_t n, void* ends);
  void* take_counts(const void* mask, std::int64_t n);

  /// Makes later work here wait for what `stream` has been given so far, and the other way round. A stream of the same
  /// device; 1 and 2 are its default ones.
  void wait_for(std::uintptr_t stream);
  void make_wait(std::uintptr_t stream);

  /// For libraries that work in the thread's current context.
  Context::Entered enter() const { return context_.enter(); }
  Context& context() { return context_; }
  const Context& context() const { return context_; }
  int ordinal() const { return context_.ordinal; }
  /// Compute capability as one number: 90 for 9.0.
  int capability() const { return context_.capability; }
  const std::string& name() const { return context_.name; }
  CUstream stream() const { return context_.stream; }
  JitCache::Counts cache_counts() const { return cache_.counts(); }
  /// Kernels that came compiled with the plug-in.
  int shipped_kernels() const { return shipped_; }

 private:
  struct Kernel {
    CUfunction function;
    std::string what;  // of a plan: its operations
  };
  const Kernel& find(const std::string& key, const char* entry, const std::function<std::string()>& what,
                     const std::function<std::string()>& cubin);
  std::string compiled(const std::string& key, const std::string& source, const char* entry);
  void enqueue(CUfunction function, Grid grid, Grid block, unsigned shared_bytes, void* const* args,
               const std::function<std::string()>& what);
  void open_peer(CudaExecutor& other);

  Context context_;
  MemoryPool memory_;
  Transfer transfer_;
  LateFaults faults_;
  JitCache cache_;
  std::mutex mutex_;
  std::unordered_map<std::string, CUmodule> modules_;  // by key
  std::unordered_map<std::string, Kernel> kernels_;    // by key and entry
  struct Counts {
    const void* mask = nullptr;
    std::int64_t n = 0;
    std::uint64_t works = 0;
    void* ends = nullptr;
  };
  std::mutex counts_mutex_;
  Counts counts_;
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<int> shipped_ = 0;
  /// Launches, copies and waits so far.
  std::uint64_t works() const { return context_.launches() + writes_; }
  std::mutex order_mutex_;
  CUevent order_ = nullptr;  // between streams
  std::unordered_map<const CudaExecutor*, bool> peers_;
};

}  // namespace galop::cuda
