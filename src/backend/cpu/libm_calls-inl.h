// The bodies of libm_avx2.cpp and libm_avx3.cpp: each function of libm.def over vectors of GALOP_LIBM_BYTES in memory,
// in the namespace GALOP_LIBM_CALLS.

#include <cstddef>  // libm.def asks which C library this is

namespace galop::cpu::GALOP_LIBM_CALLS {

typedef double RawD __attribute__((vector_size(GALOP_LIBM_BYTES)));
typedef float RawF __attribute__((vector_size(GALOP_LIBM_BYTES)));

#define GALOP_LIBM_CALL1(ours, symbol, Raw)   \
  extern "C" Raw symbol(Raw) noexcept;        \
  void ours(void* r, const void* x) noexcept; \
  void ours(void* r, const void* x) noexcept { *static_cast<Raw*>(r) = symbol(*static_cast<const Raw*>(x)); }
#define GALOP_LIBM_CALL2(ours, symbol, Raw)                                                   \
  extern "C" Raw symbol(Raw, Raw) noexcept;                                                   \
  void ours(void* r, const void* x, const void* y) noexcept;                                  \
  void ours(void* r, const void* x, const void* y) noexcept {                                 \
    *static_cast<Raw*>(r) = symbol(*static_cast<const Raw*>(x), *static_cast<const Raw*>(y)); \
  }
#define GALOP_LIBM1_D(ours, symbol_d) GALOP_LIBM_CALL1(ours##_d, symbol_d, RawD)
#define GALOP_LIBM1(ours, symbol_d, symbol_f) \
  GALOP_LIBM1_D(ours, symbol_d)               \
  GALOP_LIBM_CALL1(ours##_f, symbol_f, RawF)
#define GALOP_LIBM2(ours, symbol_d, symbol_f) \
  GALOP_LIBM_CALL2(ours##_d, symbol_d, RawD)  \
  GALOP_LIBM_CALL2(ours##_f, symbol_f, RawF)
#include "backend/cpu/libm.def"

}  // namespace galop::cpu::GALOP_LIBM_CALLS
