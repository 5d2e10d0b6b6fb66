// What a device computes besides plans, on device addresses, in the order of the calls: the functions behind the
// methods of Backend in src/backend/backend.hpp, and what they share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "backend/backend.hpp"
#include "backend/cuda/executor.hpp"

namespace galop::cuda {

/// Inclusive scan along the last axis. Integers, extremes and logic are exact in any order; sums, products and the
/// other reorderable rows of floats are folded in tiles that the sizes alone fix; float16 (rounded at every step, as
/// NumPy does) and rows with an order run in order, a thread a line. Throws Error where the CPU has no scan.
void scan(CudaExecutor& gpu, Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
          const Dims& out_strides);

/// The bits of NumPy's loop in order. Waits for the device once.
void at(CudaExecutor& gpu, Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n, const void* values);

/// Waits for the device.
bool locate(CudaExecutor& gpu, std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets);
void gather(CudaExecutor& gpu, const Blocks& b);
/// Blocks of different offsets must not overlap.
void scatter(CudaExecutor& gpu, const Blocks& b);

/// Waits for the device.
std::int64_t count_true(CudaExecutor& gpu, const void* mask, std::int64_t n);
void positions(CudaExecutor& gpu, const void* mask, std::int64_t n, std::int64_t* out);
void compress(CudaExecutor& gpu, const void* mask, std::int64_t n, int itemsize, const void* in, void* out);

/// For a plan that has run, whose reduction is about the mean: finds which floating-point flags it raised, of "reduce",
/// "subtract" and "square", and tells them late.
void watch_moments(CudaExecutor& gpu, const Plan& plan);

/// As DeviceBackend says; for a plan of one axis.
std::int64_t estimate_kept(CudaExecutor& gpu, const Plan& plan);
std::int64_t pack(CudaExecutor& gpu, const Plan& plan, std::int64_t room);

// For the functions above.

/// Device memory until the end of the scope, then free again in the stream's order.
class Scratch {
 public:
  Scratch(CudaExecutor& gpu, std::int64_t bytes) : gpu_(gpu), data_(gpu.allocate(bytes)) {}
  /// Memory that was allocated elsewhere.
  Scratch(CudaExecutor& gpu, void* data) : gpu_(gpu), data_(data) {}
  Scratch(Scratch&& other) noexcept : gpu_(other.gpu_), data_(other.give()) {}
  ~Scratch() { gpu_.release(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return static_cast<char*>(data_); }
  /// The caller's from now on.
  void* give() noexcept { return std::exchange(data_, nullptr); }

 private:
  CudaExecutor& gpu_;
  void* data_;
};

/// A kernel of one of the .cuh files: `head` (types, functions and macros) goes between prelude and `text`.
struct LibraryKernel {
  const char* file;   // the file's name, for keys
  const char* text;   // the file
  const char* entry;  // the kernel in it
  std::string head;
  bool with_complex = false;
  bool with_flags = false;

  std::string key() const;
  std::string source() const;
};

constexpr unsigned kLibraryThreads = 256;
/// Tiles of a group and groups of a section, as tiles.cuh has them, and more blocks that take tiles than run at once.
constexpr std::int64_t kTileGroup = 128, kTileSection = 32, kTileBlocks = 1024;

/// Blocks of 256 threads; `args` are addresses of the parameters. `what` names the operation, with sizes.
void launch(CudaExecutor& gpu, const LibraryKernel& k, std::int64_t blocks, std::span<const void* const> args,
            const std::string& what, std::int64_t shared_bytes = 0);
inline void launch(CudaExecutor& gpu, const LibraryKernel& k, std::int64_t blocks,
                   std::initializer_list<const void*> args, const std::string& what, std::int64_t shared_bytes = 0) {
  launch(gpu, k, blocks, std::span(args.begin(), args.size()), what, shared_bytes);
}

/// The kernel of watch_moments().
LibraryKernel moments_kernel(DType element, DType loop, std::int64_t kept, std::int64_t folded);

/// "using S = …;" and `S join(S, S)` (or `S join(S)`) for a row of ops.def that maps a dtype to itself; float16 goes
/// through float and is rounded.
std::string join_function(Op op, DType t);
/// `u32 join_flags(S a, S b, S joined)`: which floating-point flags that raised.
std::string flags_function(Op op, DType t, bool underflow);
std::string define(const char* macro, std::int64_t value);
constexpr std::int64_t blocks_for(std::int64_t n, std::int64_t each) { return (n + each - 1) / each; }
/// Whether the address and all strides are multiples of `bytes`.
bool aligned_to(std::int64_t bytes, const void* p, const Dims& strides);
/// What a kernel may assume of the address of an element: 1, 2, 4 or 8.
constexpr int alignment_of(DType t) { return is_complex(t) ? itemsize(t) / 2 : itemsize(t); }

}  // namespace galop::cuda
