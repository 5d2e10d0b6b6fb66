// Casts from bool and the integers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels_cast_integers.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include "backend/cpu/casts-inl.h"
#include "backend/cpu/shards.hpp"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {
namespace {

void fill_target(Kernels& kernels) {
  fill_casts<std::int8_t>(kernels);
  fill_casts<std::int16_t>(kernels);
  fill_casts<std::int32_t>(kernels);
  fill_casts<std::int64_t>(kernels);
  fill_casts<std::uint8_t>(kernels);
  fill_casts<std::uint16_t>(kernels);
  fill_casts<std::uint32_t>(kernels);
  fill_casts<std::uint64_t>(kernels);
}

}  // namespace
}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {

void fill_cast_integers(std::int64_t target, Kernels& kernels) { GALOP_FILL_TARGET(target, kernels); }

}  // namespace galop::cpu
#endif
