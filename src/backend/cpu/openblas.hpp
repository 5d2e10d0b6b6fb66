// OpenBLAS, opened at the first product rather than linked: only so can its kernels be chosen, and importing galop
// stays fast.
#pragma once

#include <complex>
#include <type_traits>

namespace galop::cpu {

// cblas.h's constants; its enums are ints.
inline constexpr int kRowMajor = 101, kColMajor = 102;
inline constexpr int kNoTrans = 111, kTrans = 112;
inline constexpr int kUpper = 121;

/// The functions for one element type, called with 1 and 0 for alpha and beta unless `add`, which makes beta 1.
template <class T>
struct BlasFunctions {
  static constexpr bool is_complex = !std::is_floating_point_v<T>;
  // Real types pass alpha and beta by value, complex ones by address.
  using Scale = std::conditional_t<is_complex, const void*, T>;

  void (*gemm_)(int, int, int, int, int, int, Scale, const T*, int, const T*, int, Scale, T*, int);
  void (*gemv_)(int, int, int, int, Scale, const T*, int, const T*, int, Scale, T*, int);
  void (*syrk_)(int, int, int, int, int, Scale, const T*, int, Scale, T*, int);
  void* dot_;

  static Scale scale(const T& x) {
    if constexpr (is_complex) {
      return &x;
    } else {
      return x;
    }
  }

  /// c (row-major m x n) = op(a) op(b), or is added to.
  void gemm(int ta, int tb, int m, int n, int k, const T* a, int lda, const T* b, int ldb, bool add, T* c,
            int ldc) const {
    const T one{1}, beta{add ? T{1} : T{0}};
    gemm_(kRowMajor, ta, tb, m, n, k, scale(one), a, lda, b, ldb, scale(beta), c, ldc);
  }
  /// y += a x, where a has `rows` x `cols` elements in the given order.
  void gemv(int order, int rows, int cols, const T* a, int lda, const T* x, int incx, T* y, int incy) const {
    const T one{1};
    gemv_(order, kNoTrans, rows, cols, scale(one), a, lda, x, incx, scale(one), y, incy);
  }
  /// The upper triangle of c (row-major n x n) = op(a) op(a)^T, or is added to.
  void syrk(int trans, int n, int k, const T* a, int lda, bool add, T* c, int ldc) const {
    const T one{1}, beta{add ? T{1} : T{0}};
    syrk_(kRowMajor, kUpper, trans, n, k, scale(one), a, lda, scale(beta), c, ldc);
  }
  /// The sum of x[i] y[i], without conjugation.
  T dot(int n, const T* x, int incx, const T* y, int incy) const {
    if constexpr (is_complex) {
      T sum;
      reinterpret_cast<void (*)(int, const void*, int, const void*, int, void*)>(dot_)(n, x, incx, y, incy, &sum);
      return sum;
    } else {
      return reinterpret_cast<T (*)(int, const T*, int, const T*, int)>(dot_)(n, x, incx, y, incy);
    }
  }
};

struct OpenBlas {
  void* handle = nullptr;  // of dlopen; null when there is no such library
  const char* config = "";
  const char* core = "";
  bool loaded_before = false;  // by somebody else, so that its kernels were not ours to choose
  BlasFunctions<float> s{};
  BlasFunctions<double> d{};
  BlasFunctions<std::complex<float>> c{};
  BlasFunctions<std::complex<double>> z{};
};

/// The library, opened once; throws galop::Error with the remedy when it is missing.
const OpenBlas& openblas();

/// As openblas(), but gives null handle instead of throwing.
const OpenBlas& find_openblas();

}  // namespace galop::cpu
