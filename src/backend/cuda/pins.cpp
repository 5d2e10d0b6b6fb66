// Pins and unpins whole mappings of the host's allocator.
#include "backend/cuda/pins.hpp"

#include "backend/backend.hpp"

namespace galop::cuda {
namespace {

// Pinning costs about what copying twice through staging does; a small part of a large region is not worth it.
constexpr std::int64_t kShareOfRegion = 4;

}  // namespace

Pins& Pins::instance() {
  static auto* pins = new Pins;  // never destroyed: arrays may outlive main
  return *pins;
}

Pins::Pins() : cap_(cpu_backend().capacity() / 4) { cpu_backend().watch_regions(&Pins::gone); }

char* Pins::hold(const Context& context, const void* p, std::int64_t bytes) {
  const Storage found = cpu_backend().region(p);  // has a lock of its own, which gone() is called under
  const auto* start = static_cast<const char*>(p);
  char* const base = static_cast<char*>(found.data);
  if (base == nullptr || start + bytes > base + found.bytes) return nullptr;
  const std::lock_guard lock(mutex_);
  Region& r = regions_[base];
  r.bytes = found.bytes;
  r.used = ++clock_;
  if (r.by == nullptr) {
    if (r.refused) return nullptr;
    r.copied += bytes;
    if (r.copied < r.bytes / kShareOfRegion || !make_room(r.bytes)) return nullptr;
    const CUresult result =
        context.cuda.cuMemHostRegister(base, static_cast<std::size_t>(r.bytes), CU_MEMHOSTREGISTER_PORTABLE);
    if (result != CUDA_SUCCESS) {
      r.refused = true;
      return nullptr;
    }
    r.by = &context;
    pinned_ += r.bytes;
  }
  ++r.users;
  return base;
}

void Pins::let_go(char* base) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto r = regions_.find(base); r != regions_.end()) --r->second.users;
}

void Pins::gone(char* base, std::int64_t) noexcept {
  if (is_forked()) return;
  Pins& pins = instance();
  const std::lock_guard lock(pins.mutex_);
  const auto r = pins.regions_.find(base);
  if (r == pins.regions_.end()) return;
  pins.unpin(base, r->second);
  pins.regions_.erase(r);
}

void Pins::unpin(char* base, Region& r) noexcept {
  if (r.by == nullptr) return;
  const Driver& cuda = r.by->cuda;
  CUcontext before = nullptr;
  cuda.cuCtxGetCurrent(&before);
  if (before != r.by->context) cuda.cuCtxSetCurrent(r.by->context);
  cuda.cuMemHostUnregister(base);
  if (before != r.by->context && before != nullptr) cuda.cuCtxSetCurrent(before);
  r.by = nullptr;
  r.copied = 0;
  pinned_ -= r.bytes;
}

// Unpins what was used longest ago; false when that is not enough.
bool Pins::make_room(std::int64_t bytes) noexcept {
  while (pinned_ + bytes > cap_) {
    auto oldest = regions_.end();
    for (auto r = regions_.begin(); r != regions_.end(); ++r)
      if (r->second.by && r->second.users == 0 && (oldest == regions_.end() || r->second.used < oldest->second.used))
        oldest = r;
    if (oldest == regions_.end()) return false;
    unpin(oldest->first, oldest->second);
  }
  return true;
}

void Pins::forget(const Context& context) noexcept {
  if (is_forked()) return;
  const std::lock_guard lock(mutex_);
  for (auto& [base, r] : regions_)
    if (r.by == &context) unpin(base, r);
}

std::int64_t Pins::bytes() const {
  const std::lock_guard lock(mutex_);
  return pinned_;
}

}  // namespace galop::cuda
