// The ring for small uploads, the stages for foreign memory, and direct copies of pinned memory.
#include "backend/cuda/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/pins.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }
std::string text(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

void copy_host(char* to, const char* from, std::int64_t bytes) {
  constexpr std::int64_t grain = 256 << 10;
  cpu_backend().parallel(bytes, grain, [=](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

// Pieces small enough that a copy of medium size overlaps too, and no larger than a stage.
std::int64_t piece(std::int64_t bytes, std::int64_t stage) {
  constexpr std::int64_t least = 512 << 10;
  return std::clamp((bytes / 6 + least - 1) / least * least, least, stage);
}

}  // namespace

Transfer::~Transfer() {
  if (!context_.alive()) return;
  try {
    const auto here = context_.enter();
    for (Buffer& b : ring_) free(b);
    for (Buffer& b : stages_) free(b);
    free(back_);
    free(arrival_);
  } catch (const Error&) {
    // Lost meanwhile.
  }
}

// Allocates on first use; false when the system refuses to pin more.
bool Transfer::pinned(Buffer& b, std::int64_t bytes) {
  if (b.data) return true;
  void* data = nullptr;
  if (context_.cuda.cuMemHostAlloc(&data, static_cast<std::size_t>(bytes), 0) != CUDA_SUCCESS) return false;
  if (const CUresult r = context_.cuda.cuEventCreate(&b.done, CU_EVENT_DISABLE_TIMING); r != CUDA_SUCCESS) {
    context_.cuda.cuMemFreeHost(data);
    context_.fail(r, "cuEventCreate");
  }
  b.data = static_cast<char*>(data);
  return true;
}

void Transfer::free(Buffer& b) noexcept {
  if (b.data == nullptr) return;
  if (b.busy) context_.cuda.cuEventSynchronize(b.done);
  context_.cuda.cuEventDestroy(b.done);
  context_.cuda.cuMemFreeHost(b.data);
  b = {};
}

void Transfer::wait(Buffer& b) {
  if (!b.busy) return;
  context_.check(context_.cuda.cuEventSynchronize(b.done), "cuEventSynchronize");
  b.busy = false;
}

void Transfer::sent(Buffer& b) {
  context_.check(context_.cuda.cuEventRecord(b.done, context_.stream), "cuEventRecord");
  b.busy = true;
}

void Transfer::upload(void* device, const void* host, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto here = context_.enter();
  if (bytes <= kSmall && upload_small(address(device), host, bytes)) return;
  const Pins::Hold region(Pins::instance(), context_, host, bytes);
  if (!region && upload_staged(address(device), static_cast<const char*>(host), bytes)) return;
  context_.check(
      context_.cuda.cuMemcpyHtoDAsync(address(device), host, static_cast<std::size_t>(bytes), context_.stream),
      "cuMemcpyHtoDAsync", text(bytes));
  context_.synchronize();
}

void Transfer::download(void* host, const void* device, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto here = context_.enter();
  if (bytes <= kSmall && download_small(host, address(device), bytes)) return;
  context_.wait_unless_ended();
  const Pins::Hold region(Pins::instance(), context_, host, bytes);
  if (!region && download_staged(static_cast<char*>(host), address(device), bytes)) return;
  context_.check(
      context_.cuda.cuMemcpyDtoHAsync(host, address(device), static_cast<std::size_t>(bytes), context_.stream),
      "cuMemcpyDtoHAsync", text(bytes));
  context_.synchronize();
}

bool Transfer::upload_small(CUdeviceptr device, const void* host, std::int64_t bytes) {
  const std::lock_guard lock(ring_mutex_);
  if (filled_ + bytes > kSegment) {
    sent(ring_[segment_]);
    segment_ = (segment_ + 1) % ring_.size();
    filled_ = 0;
  }
  Buffer& b = ring_[segment_];
  if (!pinned(b, kSegment)) return false;
  if (filled_ == 0) wait(b);
  char* const at = b.data + filled_;
  std::memcpy(at, host, static_cast<std::size_t>(bytes));
  filled_ += (bytes + 63) / 64 * 64;
  context_.check(context_.cuda.cuMemcpyHtoDAsync(device, at, static_cast<std::size_t>(bytes), context_.stream),
                 "cuMemcpyHtoDAsync", text(bytes));
  return true;
}

bool Transfer::download_small(void* host, CUdeviceptr device, std::int64_t bytes) {
  const std::lock_guard lock(back_mutex_);
  if (!pinned(back_, kSmall)) return false;
  context_.check(context_.cuda.cuMemcpyDtoHAsync(back_.data, device, static_cast<std::size_t>(bytes), context_.stream),
                 "cuMemcpyDtoHAsync", text(bytes));
  context_.wait_unless_ended();  // then the bytes arrive where nobody looks
  context_.synchronize();
  std::memcpy(host, back_.data, static_cast<std::size_t>(bytes));
  return true;
}

Transfer::Arrival::Arrival(Transfer& transfer, const void* device, std::int64_t bytes)
    : transfer_(transfer), lock_(transfer.arrival_mutex_), device_(device), bytes_(bytes) {
  Context& context = transfer.context_;
  const auto here = context.enter();
  Buffer& b = transfer.arrival_;
  sent_ = transfer.pinned(b, kSmall);
  if (!sent_) return;
  transfer.wait(b);  // one that nobody took
  context.check(
      context.cuda.cuMemcpyDtoHAsync(b.data, address(device), static_cast<std::size_t>(bytes), context.stream),
      "cuMemcpyDtoHAsync", text(bytes));
  transfer.sent(b);
}

void Transfer::Arrival::get(void* host) {
  if (!sent_) return transfer_.download(host, device_, bytes_);
  const auto here = transfer_.context_.enter();
  transfer_.wait(transfer_.arrival_);
  std::memcpy(host, transfer_.arrival_.data, static_cast<std::size_t>(bytes_));
}

bool Transfer::upload_staged(CUdeviceptr device, const char* host, std::int64_t bytes) {
  const std::lock_guard lock(stage_mutex_);
  for (Buffer& b : stages_)
    if (!pinned(b, kStage)) return false;
  const std::int64_t step = piece(bytes, kStage);
  for (std::int64_t at = 0, i = 0; at < bytes; at += step, ++i) {
    Buffer& b = stages_[static_cast<std::size_t>(i) % stages_.size()];
    wait(b);
    const std::int64_t n = std::min(step, bytes - at);
    copy_host(b.data, host + at, n);
    context_.check(context_.cuda.cuMemcpyHtoDAsync(device + static_cast<CUdeviceptr>(at), b.data,
                                                   static_cast<std::size_t>(n), context_.stream),
                   "cuMemcpyHtoDAsync", text(n));
    sent(b);
  }
  return true;
}

bool Transfer::download_staged(char* host, CUdeviceptr device, std::int64_t bytes) {
  const std::lock_guard lock(stage_mutex_);
  for (Buffer& b : stages_)
    if (!pinned(b, kStage)) return false;
  const std::int64_t step = piece(bytes, kStage), pieces = (bytes + step - 1) / step;
  const auto count = static_cast<std::int64_t>(stages_.size());
  const auto length = [&](std::int64_t i) { return std::min(step, bytes - i * step); };
  const auto fetch = [&](std::int64_t i) {
    Buffer& b = stages_[static_cast<std::size_t>(i % count)];
    context_.check(context_.cuda.cuMemcpyDtoHAsync(b.data, device + static_cast<CUdeviceptr>(i * step),
                                                   static_cast<std::size_t>(length(i)), context_.stream),
                   "cuMemcpyDtoHAsync", text(length(i)));
    sent(b);
  };
  for (std::int64_t i = 0; i < std::min(count, pieces); ++i) fetch(i);
  for (std::int64_t i = 0; i < pieces; ++i) {
    Buffer& b = stages_[static_cast<std::size_t>(i % count)];
    wait(b);
    copy_host(host + i * step, b.data, length(i));
    if (i + count < pieces) fetch(i + count);
  }
  return true;
}

}  // namespace galop::cuda
