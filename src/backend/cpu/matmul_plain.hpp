// Matrix products of the types that BLAS does not know: integers (wrapping), bool (or of ands), float16 (summed in
// float32).
#pragma once

#include "backend/cpu/blas.hpp"

namespace galop::cpu {

/// c = a b for bool, integer and float16 matrices of any strides; k may be 0. Each sum runs over k in order, as
/// NumPy's.
void plain_gemm(DType t, std::int64_t m, std::int64_t n, std::int64_t k, const MatrixRef& a, const MatrixRef& b,
                const MatrixMut& c);

/// *out = the sum of x[i] y[i] over two strided vectors (strides in bytes).
void plain_dot(DType t, std::int64_t n, const void* x, std::int64_t sx, const void* y, std::int64_t sy, void* out);

}  // namespace galop::cpu
