// Random numbers on the GPU: which kernels make a Draw, with what parameters, and what the host adds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/backend.hpp"

namespace galop::cuda {

class CudaExecutor;

namespace draw {

#include "backend/cuda/draw_args.cuh"

// Every kernel, its name and what it does with its parameters `a`. The sources of words S are PCG64 and MT19937, whose
// draws of 64 and of 32 bits pair words in different orders.
#define GALOP_DRAW_STREAMS(X, S, W, N, U)                    \
  X(S##_uniform64, (direct<Uniform<U>, W>(a)))               \
  X(S##_uniform32, (direct<UniformFloat, N>(a)))             \
  X(S##_torch, (direct<Torch, N>(a)))                        \
  X(S##_bits, (direct<Bits, N>(a)))                          \
  GALOP_DRAW_INTEGERS(X, S##_8, (Integers<u8, u8>), N)       \
  GALOP_DRAW_INTEGERS(X, S##_16, (Integers<u16, u16>), N)    \
  GALOP_DRAW_INTEGERS(X, S##_32, (Integers<u32, u32>), N)    \
  GALOP_DRAW_INTEGERS(X, S##_32_64, (Integers<u32, u64>), N) \
  GALOP_DRAW_INTEGERS(X, S##_64, (Integers<u64, u64>), W)    \
  GALOP_DRAW_NORMALS(X, S##_normal64, (NormalDouble<U>, W))  \
  GALOP_DRAW_NORMALS(X, S##_normal32, (NormalFloat, N))      \
  X(S##_polar_find, (select_count<Polar<U, W>, W>(a)))       \
  X(S##_polar_write, (select_write<Polar<U, W>, W>(a)))
#define GALOP_DRAW_BARE(...) __VA_ARGS__
#define GALOP_DRAW_FIRST(P, S) P
#define GALOP_DRAW_INTEGERS(X, S, M, N)                \
  X(S##_direct, (direct<GALOP_DRAW_BARE M, N>(a)))     \
  X(S##_find, (select_count<GALOP_DRAW_BARE M, N>(a))) \
  X(S##_write, (select_write<GALOP_DRAW_BARE M, N>(a)))
#define GALOP_DRAW_NORMALS(X, S, M)                   \
  X(S##_find, (normal_find<GALOP_DRAW_BARE M>(a)))    \
  X(S##_tails, (normal_tails<GALOP_DRAW_FIRST M>(a))) \
  X(S##_write, (normal_write<GALOP_DRAW_BARE M>(a)))  \
  X(S##_place, (normal_place<GALOP_DRAW_BARE M>(a)))
#define GALOP_DRAW_KERNELS(X)                                                \
  GALOP_DRAW_STREAMS(X, pcg64, Pcg, Pcg, UnitPcg)                            \
  GALOP_DRAW_STREAMS(X, mt19937, Twister<true>, Twister<false>, UnitTwister) \
  X(fix_polar_pairs, (fix_polar(a)))                                         \
  X(twister_leap_lanes, (twister_leap(a)))                                   \
  X(twister_fill_lanes, (twister_fill(a)))

enum class Kernel : int {
#define GALOP_DRAW_NAME(name, call) name,
  GALOP_DRAW_KERNELS(GALOP_DRAW_NAME)
#undef GALOP_DRAW_NAME
      count
};

std::string kernel_name(Kernel k);
/// The program of one kernel, or of all of them, for NVRTC.
std::string source(Kernel k);
std::string source_of_all();

/// What a Draw needs of a GPU; tests stand in for one.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual void* allocate(std::int64_t bytes) = 0;  // throws MemoryError
  virtual void release(void* p) noexcept = 0;
  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) = 0;
  /// Brings what was there after the launches so far, while later ones run; at most 64 KiB. Else at once.
  class Arrival {
   public:
    virtual ~Arrival() = default;
    virtual void get(void* to) = 0;  // waits
  };
  virtual std::unique_ptr<Arrival> send(const void* from, std::int64_t bytes);
  virtual void zero(void* to, std::int64_t bytes) = 0;
  /// Makes a kernel ready that will be launched later, while others run.
  virtual void prepare(Kernel) {}
  virtual void launch(Kernel k, unsigned blocks, const Args& a, const std::string& what) = 0;

  std::int64_t most_blocks = 2112;  // of a launch; the same on every GPU
  std::int64_t multiprocessors = 132;
};

/// DeviceBackend::draw on a machine.
bool run(Machine& machine, Draw& d);

}  // namespace draw

/// DeviceBackend::draw on a GPU. Thread-safe as the executor is.
bool draw_numbers(CudaExecutor& gpu, Draw& d);

}  // namespace galop::cuda
