// The shards of the kernel table, one a source file so that they build in parallel. Each enters its kernels for one
// Highway target.
#pragma once

#include <cstdint>
#include <span>

#include "backend/cpu/kernels.hpp"

namespace galop::cpu {

/// An instruction set that the kernels are compiled for, by Galop's name and Highway's bit.
struct Isa {
  const char* name;
  std::int64_t target;
};
/// All of them, best first.
std::span<const Isa> isas();
/// Whether this processor has it.
bool supported(const Isa& isa);
/// The table for one instruction set; tests compare them.
Kernels make_kernels(const Isa& isa);

using FillShard = void (*)(std::int64_t target, Kernels& kernels);

void fill_int8(std::int64_t target, Kernels& kernels);
void fill_int16(std::int64_t target, Kernels& kernels);
void fill_int32(std::int64_t target, Kernels& kernels);
void fill_int64(std::int64_t target, Kernels& kernels);
void fill_rare(std::int64_t target, Kernels& kernels);
void fill_float32(std::int64_t target, Kernels& kernels);
void fill_float64(std::int64_t target, Kernels& kernels);
void fill_complex64(std::int64_t target, Kernels& kernels);
void fill_complex128(std::int64_t target, Kernels& kernels);
void fill_cast_integers(std::int64_t target, Kernels& kernels);
void fill_cast_floats(std::int64_t target, Kernels& kernels);
void fill_search(std::int64_t target, Kernels& kernels);
void fill_stream(std::int64_t target, Kernels& kernels);

}  // namespace galop::cpu

// The body of a shard's function: calls fill_target of the target's namespace.
#if defined(__x86_64__)
#define GALOP_FILL_TARGET(target, kernels)                     \
  if (target == HWY_AVX3) return N_AVX3::fill_target(kernels); \
  if (target == HWY_AVX2) return N_AVX2::fill_target(kernels); \
  return N_SSE4::fill_target(kernels)
#else
#define GALOP_FILL_TARGET(target, kernels) \
  static_cast<void>(target);               \
  return N_NEON::fill_target(kernels)
#endif
