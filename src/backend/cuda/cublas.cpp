// Finds libcublasLt.so.13, and asks it for algorithms once a shape.
#include "backend/cuda/cublas.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "backend/cuda/library_path.hpp"
#include "galop/error.hpp"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <dlfcn.h>

#define GALOP_CUBLAS(X)                   \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtGetStatusName)                \
  X(cublasLtMatmul)                       \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatrixLayoutSetAttribute)     \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)

namespace galop::cuda {
namespace {

struct Functions {
#define GALOP_MEMBER(name) decltype(&::name) name = nullptr;
  GALOP_CUBLAS(GALOP_MEMBER)
#undef GALOP_MEMBER
};

struct Opened {
  Functions f;
  std::string reason;
};

Opened open() {
  Opened o;
  void* const library = open_library({"libcublasLt.so.13", "GALOP_CUBLASLT", "cublas", "nvidia-cublas"}, o.reason);
  if (library == nullptr) return o;
#define GALOP_FIND(name)                                                  \
  o.f.name = reinterpret_cast<decltype(o.f.name)>(dlsym(library, #name)); \
  if (o.f.name == nullptr && o.reason.empty()) o.reason = "libcublasLt.so.13 lacks " #name "; install a newer one";
  GALOP_CUBLAS(GALOP_FIND)
#undef GALOP_FIND
  return o;
}

const Functions& functions() {
  static const Opened o = open();
  if (!o.reason.empty()) throw DeviceError("[matmul] " + o.reason);
  return o.f;
}

void check(const Functions& f, cublasStatus_t status, const char* call, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const char* name = f.cublasLtGetStatusName(status);
  throw DeviceError("[matmul] " + std::string(call) + " failed with " + (name ? name : "an unknown status") + "; got " +
                    what);
}

struct Types {
  cudaDataType_t data;
  cublasComputeType_t compute;
};

Types types_of(DType t, bool tf32) {
  const cublasComputeType_t single = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  switch (t) {
    case DType::float32:
      return {CUDA_R_32F, single};
    case DType::float64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::complex64:
      return {CUDA_C_32F, single};
    default:
      return {CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}

// What the address can be relied on for, at most 256 bytes.
std::uint32_t alignment(const void* p) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p) | 256u;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

// The descriptions of one shape, and the algorithm chosen for it.
struct Chosen {
  const Functions& f;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace = 0;
  bool found = false;

  Chosen(const Functions& functions, cublasLtHandle_t handle, const Gemm& g, std::size_t room, const std::string& what)
      : f(functions) {
    try {
      choose(handle, g, room, what);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~Chosen() { destroy(); }
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;

 private:
  void destroy() {
    if (operation) f.cublasLtMatmulDescDestroy(operation);
    for (cublasLtMatrixLayout_t layout : {a, b, c})
      if (layout) f.cublasLtMatrixLayoutDestroy(layout);
  }

  template <class T>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, T value, const std::string& what) {
    check(f, f.cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute", what);
  }

  void layout(cublasLtMatrixLayout_t& to, cudaDataType_t t, std::int64_t rows, std::int64_t cols, std::int64_t ld,
              std::int64_t stack, std::int64_t step, const std::string& what) {
    check(f,
          f.cublasLtMatrixLayoutCreate(&to, t, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), ld),
          "cublasLtMatrixLayoutCreate", what);
    if (stack == 1) return;
    set(to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(stack), what);
    set(to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step, what);
  }

  void choose(cublasLtHandle_t handle, const Gemm& g, std::size_t room, const std::string& what) {
    const Types types = types_of(g.dtype, g.tf32);
    check(f, f.cublasLtMatmulDescCreate(&operation, types.compute, types.data), "cublasLtMatmulDescCreate", what);
    const cublasOperation_t op_a = g.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_b = g.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(f, f.cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a),
          "cublasLtMatmulDescSetAttribute", what);
    check(f, f.cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b),
          "cublasLtMatmulDescSetAttribute", what);
    layout(a, types.data, g.transpose_a ? g.k : g.m, g.transpose_a ? g.m : g.k, g.lda, g.stack, g.step_a, what);
    layout(b, types.data, g.transpose_b ? g.n : g.k, g.transpose_b ? g.k : g.n, g.ldb, g.stack, g.step_b, what);
    layout(c, types.data, g.m, g.n, g.ldc, g.stack, g.step_c, what);

    struct Preference {
      const Functions& f;
      cublasLtMatmulPreference_t handle = nullptr;
      ~Preference() {
        if (handle) f.cublasLtMatmulPreferenceDestroy(handle);
      }
      void set(cublasLtMatmulPreferenceAttributes_t attribute, const void* value, std::size_t size,
               const std::string& what) {
        check(f, f.cublasLtMatmulPreferenceSetAttribute(handle, attribute, value, size),
              "cublasLtMatmulPreferenceSetAttribute", what);
      }
    } preference{f};
    check(f, f.cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate", what);
    const auto most = static_cast<std::uint64_t>(room);
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most, what);
    const std::uint32_t at_a = alignment(g.a), at_b = alignment(g.b), at_c = alignment(g.c);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &at_a, sizeof at_a, what);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &at_b, sizeof at_b, what);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &at_c, sizeof at_c, what);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &at_c, sizeof at_c, what);

    constexpr int kAsked = 4;
    cublasLtMatmulHeuristicResult_t results[kAsked]{};
    int count = 0;
    const cublasStatus_t status =
        f.cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, c, c, preference.handle, kAsked, results, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return;
    check(f, status, "cublasLtMatmulAlgoGetHeuristic", what);
    for (int i = 0; i < count && !found; ++i) {
      if (results[i].state != CUBLAS_STATUS_SUCCESS || results[i].workspaceSize > room) continue;
      algorithm = results[i].algo;
      workspace = results[i].workspaceSize;
      found = true;
    }
  }
};

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string key_of(const Gemm& g, std::size_t room) {
  std::string key;
  append(key, g.dtype);
  append(key, static_cast<char>(g.tf32 | g.transpose_a << 1 | g.transpose_b << 2));
  for (const std::int64_t x : {g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.stack, g.step_a, g.step_b, g.step_c})
    append(key, x);
  for (const void* p : {g.a, g.b, static_cast<const void*>(g.c)}) append(key, alignment(p));
  append(key, room);
  return key;
}

constexpr std::size_t kRooms[] = {std::size_t{32} << 20, std::size_t{4} << 20, 0};
constexpr std::size_t kKept = 4096;  // shapes; then all are forgotten

}  // namespace

struct Blas::State {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  std::unordered_map<std::string, std::shared_ptr<const Chosen>> chosen;

  std::shared_ptr<const Chosen> choose(const Functions& f, const Gemm& g, std::size_t room, const std::string& what) {
    const std::lock_guard lock(mutex);
    if (handle == nullptr) check(f, f.cublasLtCreate(&handle), "cublasLtCreate", what);
    const std::string key = key_of(g, room);
    if (const auto found = chosen.find(key); found != chosen.end()) return found->second;
    if (chosen.size() >= kKept) chosen.clear();
    return chosen.emplace(key, std::make_shared<const Chosen>(f, handle, g, room, what)).first->second;
  }
};

Blas::Blas() : state_(std::make_unique<State>()) {}
Blas::~Blas() {
  state_->chosen.clear();
  if (state_->handle) functions().cublasLtDestroy(state_->handle);
}

bool Blas::multiply(CudaExecutor& gpu, const Gemm& g, const std::string& what) {
  const Functions& f = functions();
  const auto entered = gpu.context().enter();
  constexpr float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
  constexpr double one_d[2] = {1, 0}, zero_d[2] = {0, 0};
  const bool single = g.dtype == DType::float32 || g.dtype == DType::complex64;
  const void* const one = single ? static_cast<const void*>(one_f) : one_d;
  const void* const zero = single ? static_cast<const void*>(zero_f) : zero_d;
  for (const std::size_t room : kRooms) {
    const std::shared_ptr<const Chosen> chosen = state_->choose(f, g, room, what);
    if (!chosen->found) return false;
    void* workspace = nullptr;
    if (chosen->workspace > 0) {
      try {
        workspace = gpu.allocate(static_cast<std::int64_t>(chosen->workspace));
      } catch (const MemoryError&) {
        continue;
      }
    }
    const cublasStatus_t status =
        f.cublasLtMatmul(state_->handle, chosen->operation, one, g.a, chosen->a, g.b, chosen->b, zero, g.c, chosen->c,
                         g.c, chosen->c, &chosen->algorithm, workspace, chosen->workspace, gpu.stream());
    gpu.release(workspace);  // in the stream's order
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return false;
    check(f, status, "cublasLtMatmul", what);
    return true;
  }
  return false;
}

}  // namespace galop::cuda

#else

namespace galop::cuda {

struct Blas::State {};
Blas::Blas() = default;
Blas::~Blas() = default;

bool Blas::multiply(CudaExecutor&, const Gemm&, const std::string&) {
  throw DeviceError(
      "[matmul] this build of the CUDA plug-in has no cuBLASLt: its headers (cublasLt.h) were absent; build it again "
      "with the CUDA 13 toolkit");
}

}  // namespace galop::cuda

#endif
