// Products of stacks of matrices on device addresses.
#pragma once

#include "backend/backend.hpp"
#include "backend/cuda/cublas.hpp"
#include "backend/cuda/executor.hpp"
#include "backend/cuda/library.hpp"

namespace galop::cuda {

/// float32 (in full precision unless tf32 is allowed), float64 and complex by cuBLASLt, strided and transposed operands
/// without a copy where one of the strides is the item; integers, bool and float16 (summed in float32 in order, as on
/// the CPU) by a kernel. Floating-point flags are looked for in the result, behind the product, and told late;
/// underflow is not seen. Throws DeviceError, with shapes, for what cuBLASLt reports.
void matmul(CudaExecutor& gpu, Blas& blas, const Product& p);

/// The kernel that looks for them in results of a dtype; `AXES` is still to be defined.
LibraryKernel look_kernel(DType t);

}  // namespace galop::cuda
