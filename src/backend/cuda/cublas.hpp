// cuBLASLt, opened at run time when a product of floats first needs it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/cuda/executor.hpp"
#include "galop/dtype.hpp"

namespace galop::cuda {

/// c = op(a) · op(b), column by column as cuBLAS has it: c is m × n, op(a) m × k, op(b) k × n. Leading dimensions and
/// the steps of the stack count elements; addresses are aligned to elements.
struct Gemm {
  DType dtype = DType::float64;
  bool tf32 = false;
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 1, ldb = 1, ldc = 1;
  std::int64_t stack = 1, step_a = 0, step_b = 0, step_c = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// One GPU's handle, and the algorithms chosen for shapes seen before. Thread-safe. It must go before its executor.
class Blas {
 public:
  Blas();
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// Enqueues the product; false, and nothing done, when cuBLASLt has no algorithm for it. Takes less workspace, or
  /// none, where memory is short. Throws DeviceError naming the call, its status and `what`, or what installs the
  /// library.
  bool multiply(CudaExecutor& gpu, const Gemm& g, const std::string& what);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace galop::cuda
