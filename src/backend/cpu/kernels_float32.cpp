// Kernels of float32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels_float32.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include "backend/cpu/folds-inl.h"
#include "backend/cpu/shards.hpp"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {
namespace {

void fill_target(Kernels& kernels) {
  fill_rows<float>(kernels);
  fill_folds<float>(kernels);
}

}  // namespace
}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {

void fill_float32(std::int64_t target, Kernels& kernels) { GALOP_FILL_TARGET(target, kernels); }

}  // namespace galop::cpu
#endif
