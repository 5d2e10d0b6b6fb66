// One short, dense row folded to one value at once, by the steps of the general fold and with its bits.
#pragma once

#include <cstdint>

#include "core/op.hpp"

namespace galop::cpu {

/// The value that a fold of this row starts from, unless it is told another; false when it starts from the first
/// element.
bool fold_start(Op op, DType t, void* bits);

/// op over n ≥ 1 elements of dtype `from`, accumulated in `loop`, to `out`; false where only the general fold does it.
/// `flags` receives the floating-point flags that it raised.
bool fold_small(Op op, DType loop, DType from, const void* in, std::int64_t n, void* out, std::uint8_t& flags);

}  // namespace galop::cpu
