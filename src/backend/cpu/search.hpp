// Positions of extremes, and of the element that decides whether any or all are true.
#pragma once

#include <cstdint>

#include "galop/dtype.hpp"
#include "galop/shape.hpp"

namespace galop::cpu {

/// out[…] = position along the last axis of `shape` of the first greatest (or least) element, the first NaN before all,
/// packed in C order of the other axes, over all threads. Strides in bytes; the last extent is not 0.
void find_extremes(DType t, const Dims& shape, const void* in, const Dims& strides, std::int64_t* out, bool greatest);

/// Whether any of n ≥ 1 dense elements is true, or false; looks no further than it has to.
bool holds_any(DType t, const void* in, std::int64_t n, bool truth);

}  // namespace galop::cpu
