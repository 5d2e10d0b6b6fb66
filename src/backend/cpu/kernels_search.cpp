// Kernels that search, over every dtype.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels_search.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include "backend/cpu/search-inl.h"
#include "backend/cpu/shards.hpp"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {
namespace {

void fill_target(Kernels& kernels) {
  enter_search<DType::bool_, BoolKeys>(kernels);
  enter_search<DType::int8, RealKeys<std::int8_t>>(kernels);
  enter_search<DType::int16, RealKeys<std::int16_t>>(kernels);
  enter_search<DType::int32, RealKeys<std::int32_t>>(kernels);
  enter_search<DType::int64, RealKeys<std::int64_t>>(kernels);
  enter_search<DType::uint8, RealKeys<std::uint8_t>>(kernels);
  enter_search<DType::uint16, RealKeys<std::uint16_t>>(kernels);
  enter_search<DType::uint32, RealKeys<std::uint32_t>>(kernels);
  enter_search<DType::uint64, RealKeys<std::uint64_t>>(kernels);
  enter_search<DType::float16, HalfKeys>(kernels);
  enter_search<DType::float32, RealKeys<float>>(kernels);
  enter_search<DType::float64, RealKeys<double>>(kernels);
  enter_search<DType::complex64, ComplexKeys<float>>(kernels);
  enter_search<DType::complex128, ComplexKeys<double>>(kernels);
  kernels.ordinary[0] = all_ordinary<float>;
  kernels.ordinary[1] = all_ordinary<double>;
}

}  // namespace
}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {

void fill_search(std::int64_t target, Kernels& kernels) { GALOP_FILL_TARGET(target, kernels); }

}  // namespace galop::cpu
#endif
