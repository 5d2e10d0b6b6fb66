// Words on the device, bytes on the host.
#include "backend/cuda/late_faults.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "galop/error.hpp"

namespace galop::cuda {
namespace {

constexpr int kWords = 4096;
constexpr int kBytes = 32;  // of the host, a word
constexpr int kSteps = 8;   // a word

int words_for(std::size_t steps) { return static_cast<int>((steps + kSteps - 1) / kSteps); }

}  // namespace

LateFaults::~LateFaults() {
  if (bytes_ == nullptr || !context_.alive()) return;
  try {
    const auto here = context_.enter();
    context_.cuda.cuStreamSynchronize(context_.stream);
    context_.cuda.cuMemFreeHost(bytes_);
    context_.cuda.cuMemFree(words_);
  } catch (const Error&) {
    // Lost meanwhile.
  }
}

void LateFaults::allocate() {
  void* bytes = nullptr;
  context_.check(context_.cuda.cuMemHostAlloc(&bytes, kWords * kBytes, CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  if (const CUresult r = context_.cuda.cuMemAlloc(&words_, kWords * 4); r != CUDA_SUCCESS) {
    context_.cuda.cuMemFreeHost(bytes);
    context_.fail(r, "cuMemAlloc");
  }
  context_.check(context_.cuda.cuMemsetD8Async(words_, 0, kWords * 4, context_.stream), "cuMemsetD8Async");
  std::memset(bytes, 0, kWords * kBytes);
  bytes_ = static_cast<std::uint8_t*>(bytes);
}

LateFaults::Place LateFaults::take(const std::vector<faults::Fault>& watched) {
  const std::lock_guard lock(mutex_);
  const auto here = context_.enter();
  if (bytes_ == nullptr) allocate();
  const int words = words_for(watched.size());
  if (next_ + words > kWords) {
    context_.synchronize();
    settle_locked(settled_ + under_way_.size());
  }
  const int word = std::exchange(next_, next_ + words);
  under_way_.push_back({word, watched});
  return {words_ + static_cast<CUdeviceptr>(word) * 4,
          reinterpret_cast<std::uint64_t>(bytes_) + static_cast<std::uint64_t>(word) * kBytes};
}

LateFaults::Place LateFaults::take(const Plan& plan, const Lowered& l) {
  std::vector<faults::Fault> watched;
  watched.reserve(l.watched.size());
  for (const Lowered::Watched& w : l.watched) watched.push_back(fault_in(plan, w.word, 0));
  return take(watched);
}

std::uint64_t LateFaults::launches() const {
  const std::lock_guard lock(mutex_);
  return settled_ + under_way_.size();
}

void LateFaults::settle(std::uint64_t launches) {
  const std::lock_guard lock(mutex_);
  settle_locked(launches);
}

void LateFaults::settle_locked(std::uint64_t launches) {
  if (launches <= settled_) return;
  const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(launches - settled_, under_way_.size()));
  const auto end = under_way_.begin() + count;
  for (auto launch = under_way_.begin(); launch != end; ++launch) {
    std::uint8_t* const bytes = bytes_ + launch->word * kBytes;
    const int words = words_for(launch->watched.size());
    bool any = false;
    for (std::size_t s = 0; s < launch->watched.size(); ++s) {
      faults::Fault f = launch->watched[s];
      for (int k = 0; k < 4; ++k) f.flags = static_cast<std::uint8_t>(f.flags | (bytes[4 * s + k] != 0 ? 1 << k : 0));
      if (f.flags == 0) continue;
      any = true;
      const auto same = std::find_if(heard_.begin(), heard_.end(),
                                     [&](auto& h) { return h.where == f.where && h.policy == f.policy; });
      if (same != heard_.end())
        same->flags = static_cast<std::uint8_t>(same->flags | f.flags);
      else
        heard_.push_back(f);
    }
    if (!any) continue;
    std::memset(bytes, 0, static_cast<std::size_t>(words) * kBytes);
    const auto here = context_.enter();
    context_.check(context_.cuda.cuMemsetD8Async(words_ + static_cast<CUdeviceptr>(launch->word) * 4, 0,
                                                 static_cast<std::size_t>(words) * 4, context_.stream),
                   "cuMemsetD8Async");
  }
  under_way_.erase(under_way_.begin(), end);
  settled_ += static_cast<std::uint64_t>(count);
  if (under_way_.empty()) next_ = 0;
}

std::vector<faults::Fault> LateFaults::heard() {
  const std::lock_guard lock(mutex_);
  return std::exchange(heard_, {});
}

}  // namespace galop::cuda
