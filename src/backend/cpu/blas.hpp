// Matrix products over raw memory of any strides. Results depend on operands and sizes only, never on the number of
// threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "galop/dtype.hpp"

namespace galop::cpu {

/// A matrix as it lies: address of element (0, 0) and the steps in bytes to the next row and column, of any sign, or 0.
struct MatrixRef {
  const void* data;
  std::int64_t row;
  std::int64_t col;
};

/// A matrix to write to; must not overlap itself or an operand.
struct MatrixMut {
  void* data;
  std::int64_t row;
  std::int64_t col;
};

/// c (m x n) = a (m x k) times b (k x n), all of dtype t. Floats and complex numbers go through OpenBLAS without a copy
/// where a stride of each operand is its item size and the other a multiple of it; others are copied first. When b is
/// a's transpose in the same memory the result is exactly symmetric, as NumPy's. Integers wrap, bool is the or of ands,
/// float16 sums in float32 and rounds once. k = 0 gives zeros. `flags`, unless null, receives the floating-point flags
/// that the product raised: product_flags(). Throws MemoryError, or Error when OpenBLAS is missing.
void gemm(DType t, std::int64_t m, std::int64_t n, std::int64_t k, const MatrixRef& a, const MatrixRef& b,
          const MatrixMut& c, std::uint8_t* flags = nullptr);

/// Which flags a product raised that is done, where the processor's flags are those given: overflow where an infinity
/// or NaN comes from finite rows and columns, invalid where NaN comes from a row and a column without one; underflow as
/// the processor has it. Libraries' kernels compute beside a matrix too, so that overflow and invalid are looked for
/// anew where they show.
std::uint8_t product_flags(DType t, std::int64_t m, std::int64_t n, std::int64_t k, const MatrixRef& a,
                           const MatrixRef& b, const MatrixMut& c, std::uint8_t hardware);

/// gemm for each index of `batch`; the strides give the bytes from one matrix to the next along each batch axis (0: the
/// same matrix).
void matmul(DType t, std::span<const std::int64_t> batch, std::int64_t m, std::int64_t n, std::int64_t k,
            const MatrixRef& a, std::span<const std::int64_t> a_strides, const MatrixRef& b,
            std::span<const std::int64_t> b_strides, const MatrixMut& c, std::span<const std::int64_t> c_strides);

/// *out = the sum over i of x[i] y[i], without conjugation; steps in bytes, of any sign.
void dot(DType t, std::int64_t n, const void* x, std::int64_t sx, const void* y, std::int64_t sy, void* out);

struct BlasLibrary {
  bool loaded = false;
  std::string config;  // OpenBLAS's own description of itself
  std::string core;    // the processor whose kernels it uses
  std::string advice;  // what is wrong with it here, or ""
};
BlasLibrary blas_library();

}  // namespace galop::cpu
