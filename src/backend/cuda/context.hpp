// What the parts of one opened GPU share: its context and stream, whether it still works, and what it was given last.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "backend/cuda/driver.hpp"
#include "galop/shape.hpp"

namespace galop::cuda {

/// One GPU's primary context, which other libraries share, and the one stream that all of Galop's work goes through.
/// Thread-safe.
class Context {
 public:
  /// Throws DeviceError when there is no driver, no such device, or one that is too old.
  explicit Context(int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The device's context is this thread's current one while the object lives; another's is put back then.
  class [[nodiscard]] Entered {
   public:
    Entered(const Driver& cuda, CUcontext other) : cuda_(cuda), other_(other) {}
    ~Entered() {
      if (other_) cuda_.cuCtxSetCurrent(other_);
    }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    const Driver& cuda_;
    const CUcontext other_;
  };
  /// Throws DeviceError when the device is lost, or in the child of a fork().
  Entered enter() const;

  /// False once an error has destroyed the device's context, and in the child of a fork().
  bool alive() const noexcept { return !lost_.load(std::memory_order_acquire) && !is_forked(); }

  /// Throws for a result that is not success: MemoryError when memory ran out, naming `what` and the bytes that are
  /// free, else DeviceError naming the last launches. An error that CUDA cannot recover from loses the device.
  void check(CUresult r, const char* call, std::string_view what = {}) {
    if (r != CUDA_SUCCESS) [[unlikely]]
      fail(r, call, what);
  }
  [[noreturn]] void fail(CUresult r, const char* call, std::string_view what = {});

  /// Remembers a launch for errors that show later. `kernel` stays where it is as long as this object.
  void note(const std::string& kernel, const Dims& shape);
  void note(const std::string& what);

  /// How many have been noted so far.
  std::uint64_t launches() const;

  /// Waits for the stream; throws as `check` does.
  void synchronize();
  /// The same where the caller's work may be ended (core/interrupt.hpp), else returns at once. Throws Interrupted; what
  /// the stream was given goes on. For places where nothing is under way to memory that the caller may free then.
  void wait_unless_ended();

  /// "cuda:0 (NVIDIA H200)".
  std::string label() const;
  std::int64_t free_bytes() const;
  int attribute(CUdevice_attribute a) const;

  const Driver& cuda;
  const int ordinal;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::string name;
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  std::int64_t memory = 0;  // bytes

 private:
  std::string last_launches() const;

  struct Launched {
    const std::string* kernel = nullptr;  // null: `what` says it all
    Dims shape;
    std::string what;
  };
  mutable std::mutex mutex_;
  std::array<Launched, 4> launched_;
  std::uint64_t launches_ = 0;
  std::string why_lost_;
  std::atomic<bool> lost_ = false;
};

}  // namespace galop::cuda
