// Which floating-point flags an operation raised: the processor's own where the kernel is the operation itself, tests
// of operands and results where the kernel takes other ways to it, as the libraries' functions do.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/cpu/kernels.hpp"
#include "core/faults.hpp"
#include "core/flag_test.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace galop::cpu {

/// The processor's flags, in faults' numbers; all are down afterwards.
inline std::uint8_t take_hardware_flags() {
#if defined(__x86_64__)
  const unsigned csr = _mm_getcsr();
  if (__builtin_expect((csr & 0x1d) == 0, 1)) return 0;
  _mm_setcsr(csr & ~0x3fu);
  return static_cast<std::uint8_t>((csr >> 2 & 7) | (csr & 1) << 3);
#else
  const int raised = std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
  if (raised == 0) return 0;
  std::feclearexcept(FE_ALL_EXCEPT);
  return static_cast<std::uint8_t>(
      (raised & FE_DIVBYZERO ? faults::kDivide : 0) | (raised & FE_OVERFLOW ? faults::kOverflow : 0) |
      (raised & FE_UNDERFLOW ? faults::kUnderflow : 0) | (raised & FE_INVALID ? faults::kInvalid : 0));
#endif
}

/// One kernel and how its flags are found.
struct Watched {
  Kernel kernel;
  Op op;
  DType loop;    // cast: from
  DType result;  // of the first result
  FlagTest test;
};

/// Runs the kernel and says which flags the operation raised; underflow of library functions only when it is watched.
std::uint8_t run_other(const Watched& w, void* const* out, const void* const* in, std::int64_t n, std::uint8_t watch);
inline std::uint8_t run_watched(const Watched& w, void* const* out, const void* const* in, std::int64_t n,
                                std::uint8_t watch) {
  if (w.test == FlagTest::none) {
    w.kernel(out, in, n);
    return 0;
  }
  if (w.test != FlagTest::hardware) return run_other(w, out, in, n, watch);
  take_hardware_flags();
  w.kernel(out, in, n);
  return take_hardware_flags();
}

/// The same of results apart from the operands, with one look at the flags where none are up, for small work: flags
/// that were up before show as well, and then the kernel runs once more.
inline std::uint8_t run_apart_watched(const Watched& w, void* const* out, const void* const* in, std::int64_t n,
                                      std::uint8_t watch) {
  if (w.test != FlagTest::hardware) return run_watched(w, out, in, n, watch);
  w.kernel(out, in, n);
  if (__builtin_expect(take_hardware_flags() == 0, 1)) return 0;
  w.kernel(out, in, n);
  return take_hardware_flags();
}
/// The same where the first result may be an operand.
inline std::uint8_t run_small_watched(const Watched& w, void* const* out, const void* const* in, int nin,
                                      std::int64_t n, std::uint8_t watch) {
  bool apart = true;
  for (int i = 0; i < nin; ++i) apart = apart && out[0] != in[i];
  return apart ? run_apart_watched(w, out, in, n, watch) : run_watched(w, out, in, n, watch);
}

/// Ors flags into a word that several threads share.
inline void note(std::uint8_t& word, std::uint8_t flags) {
  if (flags != 0) std::atomic_ref(word).fetch_or(flags, std::memory_order_relaxed);
}

/// The processor's flags of a scope, ored into a word at its end.
class HardwareFlags {
 public:
  explicit HardwareFlags(std::uint8_t* word) : word_(word) {
    if (word_) take_hardware_flags();
  }
  ~HardwareFlags() {
    if (word_) note(*word_, take_hardware_flags());
  }
  HardwareFlags(const HardwareFlags&) = delete;
  HardwareFlags& operator=(const HardwareFlags&) = delete;

 private:
  std::uint8_t* word_;
};

}  // namespace galop::cpu
