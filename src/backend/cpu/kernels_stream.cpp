// The copy past the caches.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels_stream.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include "backend/cpu/shards.hpp"
#include "backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {
namespace {

GALOP_INLINE void store_past_caches(char* p, Part<std::int64_t, kBytes / 8> x) {
#if HWY_TARGET == HWY_AVX3
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), (__m512i)x.v);
#elif HWY_TARGET == HWY_AVX2
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), (__m256i)x.v);
#elif HWY_TARGET == HWY_SSE4
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), (__m128i)x.v);
#else
  x.store(p);
#endif
}

/// Whole cache lines go past the caches, the unaligned ends through them. No fence: the caller needs one for all its
/// blocks.
void stream(void* out, const void* in, std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  char* q = static_cast<char*>(out);
  const char* p = static_cast<const char*>(in);
  std::int64_t head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(q) % line);
  if (head > bytes) head = bytes;
  std::memcpy(q, p, static_cast<std::size_t>(head));
  q += head;
  p += head;
  bytes -= head;
  for (; bytes >= line; bytes -= line, p += line, q += line) {
    for (int k = 0; k < line; k += kBytes) store_past_caches(q + k, Part<std::int64_t, kBytes / 8>::load(p + k));
  }
  std::memcpy(q, p, static_cast<std::size_t>(bytes));
}

void fill_target(Kernels& kernels) { kernels.stream = stream; }

}  // namespace
}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {

void fill_stream(std::int64_t target, Kernels& kernels) { GALOP_FILL_TARGET(target, kernels); }

}  // namespace galop::cpu
#endif
