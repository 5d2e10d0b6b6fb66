// Running folds: every partial result of a fold along one axis.
#pragma once

#include "core/op.hpp"
#include "galop/dtype.hpp"
#include "galop/shape.hpp"

namespace galop::cpu {

/// out[i] = op over the elements of dtype `t` before and at i, one after the other along the last axis of `shape`, over
/// all threads; strides in bytes. `out` may be `in` with the same strides; else they do not overlap. Throws Error when
/// the operation has no fold over `t`. `flags` gets the floating-point flags that it raised ored in.
void run_scan(Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
              const Dims& out_strides, std::uint8_t* flags = nullptr);

}  // namespace galop::cpu
