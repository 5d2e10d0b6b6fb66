// Copies between the host and one GPU, in the order of its stream.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "backend/cuda/context.hpp"

namespace galop::cuda {

/// Memory that the driver has pinned is copied directly; small pieces and other memory go through pinned buffers, whose
/// filling and emptying overlaps the bus. Thread-safe.
class Transfer {
 public:
  explicit Transfer(Context& context) : context_(context) {}
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// When it returns the host's memory can be written again; the copy itself may still be on its way. Throws
  /// DeviceError.
  void upload(void* device, const void* host, std::int64_t bytes);
  /// Waits for the stream up to the copy. Throws DeviceError.
  void download(void* host, const void* device, std::int64_t bytes);

  /// A copy on its way to the host: of what was there when it was asked for, while later work goes on. One at a time.
  class Arrival {
   public:
    Arrival(Transfer& transfer, const void* device, std::int64_t bytes);  // at most kSmall
    /// Waits for the copy. Throws DeviceError.
    void get(void* host);

   private:
    Transfer& transfer_;
    std::unique_lock<std::mutex> lock_;
    const void* device_;
    std::int64_t bytes_;
    bool sent_;
  };

 private:
  // Pinned memory of this class, and when the device is done with it.
  struct Buffer {
    char* data = nullptr;
    CUevent done = nullptr;
    bool busy = false;
  };
  static constexpr std::int64_t kSmall = 64 << 10;     // at most so much goes through the ring
  static constexpr std::int64_t kSegment = 256 << 10;  // of the ring
  static constexpr std::int64_t kStage = std::int64_t{16} << 20;

  bool pinned(Buffer& b, std::int64_t bytes);
  void free(Buffer& b) noexcept;
  void wait(Buffer& b);
  void sent(Buffer& b);
  bool upload_small(CUdeviceptr device, const void* host, std::int64_t bytes);
  bool download_small(void* host, CUdeviceptr device, std::int64_t bytes);
  bool upload_staged(CUdeviceptr device, const char* host, std::int64_t bytes);
  bool download_staged(char* host, CUdeviceptr device, std::int64_t bytes);

  Context& context_;
  std::mutex ring_mutex_, back_mutex_, stage_mutex_, arrival_mutex_;
  std::array<Buffer, 8> ring_;
  std::size_t segment_ = 0;
  std::int64_t filled_ = 0;  // bytes of the segment in hand
  Buffer back_, arrival_;
  std::array<Buffer, 3> stages_;
};

}  // namespace galop::cuda
