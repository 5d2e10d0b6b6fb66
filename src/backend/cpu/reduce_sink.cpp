// Where a reduction's results go.
#include "backend/cpu/reduce_sink.hpp"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kChunk = 256;

}  // namespace

void convert(DType from, DType to, const void* in, void* out, std::int64_t n) {
  if (from == to) {
    std::memcpy(out, in, static_cast<std::size_t>(n * itemsize(from)));
    return;
  }
  kernels().cast[static_cast<int>(from)][static_cast<int>(to)](&out, &in, n);
}

Sink::Sink(const Plan& plan)
    : from_(plan.reductions[0].dtype),
      to_(plan.reductions[0].result),
      data_(static_cast<char*>(plan.reductions[0].data)) {
  const Reduction& r = plan.reductions[0];
  for (int k = 0; k < plan.shape.size(); ++k) {
    if (r.reduced >> k & 1) continue;
    size_ *= plan.shape[k];
    if (shape_.size() > 0 && strides_.back() == r.strides[k] * plan.shape[k]) {
      shape_.back() *= plan.shape[k];
      strides_.back() = r.strides[k];
    } else {
      shape_.push_back(plan.shape[k]);
      strides_.push_back(r.strides[k]);
    }
  }
  const std::int64_t part = std::min(itemsize(to_), 8);
  flat_ = shape_.size() <= 1 && (size_ <= 1 || strides_[0] == itemsize(to_)) &&
          reinterpret_cast<std::uintptr_t>(data_) % static_cast<std::uintptr_t>(part) == 0;
}

void Sink::store(const char* acc, std::int64_t first, std::int64_t n) const {
  const std::int64_t size = itemsize(to_);
  if (flat_) return convert(from_, to_, acc, data_ + first * size, n);
  alignas(16) char chunk[kChunk * 16];
  for (std::int64_t done = 0; done < n; done += kChunk) {
    const std::int64_t here = std::min(kChunk, n - done);
    convert(from_, to_, acc + done * itemsize(from_), chunk, here);
    for (std::int64_t i = 0; i < here; ++i) {
      char* at = data_;
      std::int64_t rest = first + done + i;
      for (int k = shape_.size() - 1; k >= 0; --k) {
        at += rest % shape_[k] * strides_[k];
        rest /= shape_[k];
      }
      std::memcpy(at, chunk + i * size, static_cast<std::size_t>(size));
    }
  }
}

}  // namespace galop::cpu
