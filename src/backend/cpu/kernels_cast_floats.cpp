// Casts from floats and complex numbers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels_cast_floats.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include "backend/cpu/casts-inl.h"
#include "backend/cpu/shards.hpp"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {
namespace {

void fill_target(Kernels& kernels) {
  fill_casts<half>(kernels);
  fill_casts<float>(kernels);
  fill_casts<double>(kernels);
  fill_casts<std::complex<float>>(kernels);
  fill_casts<std::complex<double>>(kernels);
}

}  // namespace
}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {

void fill_cast_floats(std::int64_t target, Kernels& kernels) { GALOP_FILL_TARGET(target, kernels); }

}  // namespace galop::cpu
#endif
