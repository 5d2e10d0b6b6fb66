// The random streams' kernels compiled for the host, and a stand-in for the GPU that runs them: each thread of a block
// is a fiber, switched at barriers, in an order that changes with every round so that a missing barrier shows.
#pragma once

#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "backend/cuda/draw.hpp"

namespace galop::cuda::draw {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

class Fibers {
 public:
  /// Runs body() once for each of `threads` threads; index() tells which.
  static void run(int threads, void (*body)(const Args&), const Args& a) {
    auto& f = instance();
    f.body_ = body;
    f.args_ = &a;
    f.fibers_.resize(static_cast<std::size_t>(threads));
    for (Fiber& one : f.fibers_) prepare(one, f.scheduler_);
    f.loop();
  }
  static unsigned index() { return instance().current_; }

  void barrier() { wait(fibers_[current_].waits_for_block); }
  unsigned ballot(bool vote) {
    unsigned votes = 0;
    const auto& all = exchange(vote);
    for (std::size_t i = 0; i < 32; ++i) votes |= static_cast<unsigned>(all[i]) << i;
    return votes;
  }
  /// What the 32 threads of this warp gave.
  const std::array<std::uint64_t, 32>& exchange(std::uint64_t value) {
    auto& me = fibers_[current_];
    me.value = value;
    const std::size_t warp = current_ / 32;
    wait(me.waits_for_warp);
    return given_[warp];
  }
  static Fibers& instance() {
    static Fibers f;
    return f;
  }

 private:
  static constexpr std::size_t kStack = 48 << 10;
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool done = true, waits_for_block = false, waits_for_warp = false;
    std::uint64_t value = 0;
  };

  // On its own: getcontext may return twice, for all that the compiler knows.
  [[gnu::noinline]] static void prepare(Fiber& f, ucontext_t& scheduler) {
    if (!f.stack) f.stack = std::make_unique<char[]>(kStack);
    f.done = f.waits_for_block = f.waits_for_warp = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStack;
    f.context.uc_link = &scheduler;
    makecontext(&f.context, &Fibers::enter, 0);
  }
  static void enter() {
    auto& f = instance();
    f.body_(*f.args_);
    f.fibers_[f.current_].done = true;
  }
  void wait(bool& flag) {
    flag = true;
    swapcontext(&fibers_[current_].context, &scheduler_);
  }
  void loop() {
    const std::size_t n = fibers_.size();
    for (;;) {
      bool any = false;
      const std::size_t start = (round_ += 7919) % n;
      const bool backwards = round_ % 2 != 0;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = backwards ? (start + n - k) % n : (start + k) % n;
        Fiber& f = fibers_[i];
        if (f.done || f.waits_for_block || f.waits_for_warp) continue;
        any = true;
        current_ = static_cast<unsigned>(i);
        swapcontext(&scheduler_, &f.context);
      }
      for (std::size_t w = 0; w < n; w += 32) any |= release_warp(w);
      if (!any && !release_block()) return;
    }
  }
  bool release_warp(std::size_t from) {
    for (std::size_t i = from; i < from + 32; ++i)
      if (!fibers_[i].waits_for_warp) return false;
    for (std::size_t i = from; i < from + 32; ++i) {
      given_[from / 32][i - from] = fibers_[i].value;
      fibers_[i].waits_for_warp = false;
    }
    return true;
  }
  // False: all have ended. A thread that ended while others wait, or waits for a warp whose others do not, is an error.
  bool release_block() {
    std::size_t waiting = 0, done = 0;
    for (const Fiber& f : fibers_) waiting += f.waits_for_block, done += f.done;
    if (done == fibers_.size()) return false;
    if (waiting != fibers_.size()) throw std::logic_error("threads of a block wait at different places");
    for (Fiber& f : fibers_) f.waits_for_block = false;
    return true;
  }

  std::vector<Fiber> fibers_;
  std::array<std::array<std::uint64_t, 32>, 32> given_{};  // by warp
  ucontext_t scheduler_;
  void (*body_)(const Args&) = nullptr;
  const Args* args_ = nullptr;
  unsigned current_ = 0;
  std::size_t round_ = 0;
};

// What CUDA gives kernels.
struct Dimension {
  unsigned x;
};
inline Dimension blockIdx, gridDim;
struct ThreadIndex {
  struct X {
    operator unsigned() const { return Fibers::index(); }
  } x;
};
inline ThreadIndex threadIdx;
inline void __syncthreads() { Fibers::instance().barrier(); }
inline unsigned __ballot_sync(unsigned, bool vote) { return Fibers::instance().ballot(vote); }
template <class T>
T __shfl_xor_sync(unsigned, T x, int mask) {
  return static_cast<T>(Fibers::instance().exchange(x)[(Fibers::index() ^ static_cast<unsigned>(mask)) % 32]);
}
template <class T>
T __shfl_up_sync(unsigned, T x, int by) {
  const unsigned lane = Fibers::index() % 32, from = lane >= static_cast<unsigned>(by) ? lane - by : lane;
  return static_cast<T>(Fibers::instance().exchange(x)[from]);
}
template <class T>
T __shfl_sync(unsigned, T x, int lane) {
  return static_cast<T>(Fibers::instance().exchange(x)[static_cast<std::size_t>(lane)]);
}
inline void __syncwarp() { Fibers::instance().exchange(0); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, int shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32) | low) >> (shift & 31));
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return ::ffs(x); }
__extension__ typedef unsigned __int128 Wide;
inline u64 __umul64hi(u64 a, u64 b) { return static_cast<u64>((static_cast<Wide>(a) * b) >> 64); }
inline i64 __double_as_longlong(double x) { return std::bit_cast<i64>(x); }
inline double __longlong_as_double(i64 x) { return std::bit_cast<double>(x); }
inline float __uint_as_float(u32 x) { return std::bit_cast<float>(x); }
template <class T>
T atomicAdd(T* p, T v) {
  const T old = *p;
  *p += v;
  return old;
}
inline void atomicOr(u32* p, u32 v) { *p |= v; }
inline void atomicAnd(u32* p, u32 v) { *p &= v; }
using std::fabs, std::fma, std::fmaf, std::sqrt;

/// How the stand-in's exp and log1p differ from libm's: by this share of the value, with a sign that depends on its
/// bits.
inline double error_of_functions = 0;
inline double wrong(double x) { return x * (1 + (std::bit_cast<u64>(x) % 3 - 1.0) * error_of_functions); }
/// How many times more doubtful the kernels are of their decisions than they need be.
inline double doubt = 1;
#define GALOP_DRAW_DOUBT doubt
#define GALOP_DRAW_ROLLED
#define GALOP_DRAW_PAIRED
#define GALOP_DRAW_BY_FOUR
#define GALOP_DRAW_KEEP(kind, x) static_cast<void>(x)
#define GALOP_DRAW_IS_GLOBAL(p)
#define GALOP_DRAW_LOGF(x) std::log(x)
#define GALOP_DRAW_LOG1P(x) wrong(std::log1p(x))
#define GALOP_DRAW_EXP(x) wrong(std::exp(x))
#define __shared__ static
#define __noinline__

#include "backend/cuda/draw.cuh"
#include "backend/cuda/draw_normal.cuh"

#undef __shared__
#undef __noinline__
#pragma GCC diagnostic pop

class Emulated : public Machine {
 public:
  ~Emulated() override = default;
  void* allocate(std::int64_t bytes) override {
    void* p = std::aligned_alloc(256, static_cast<std::size_t>((bytes + 511) / 256 * 256));
    std::memset(p, 0xA5, static_cast<std::size_t>(bytes));
    ++held;
    return p;
  }
  void release(void* p) noexcept override {
    std::free(p);
    --held;
  }
  void upload(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    ++downloads;
  }
  void zero(void* to, std::int64_t bytes) override { std::memset(to, 0, static_cast<std::size_t>(bytes)); }
  void launch(Kernel k, unsigned blocks, const Args& a, const std::string&) override {
    using Function = void (*)(const Args&);
    static constexpr Function kFunctions[] = {
#define GALOP_DRAW_FUNCTION(name, call) [](const Args& a) { call; },
        GALOP_DRAW_KERNELS(GALOP_DRAW_FUNCTION)
#undef GALOP_DRAW_FUNCTION
    };
    gridDim = {blocks};
    for (unsigned b = 0; b < blocks; ++b) {
      blockIdx = {b};
      Fibers::run(kThreads, kFunctions[static_cast<int>(k)], a);
    }
    ++launches[k];
  }

  std::map<Kernel, int> launches;
  int held = 0, downloads = 0;
};

}  // namespace galop::cuda::draw
