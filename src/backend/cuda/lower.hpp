// A plan as one kernel launch: which kernel (its key), over which grid, with which parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace galop::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kHeavyThreads = 64;  // of heavy maps of one axis: a block makes room when its slowest warp ends
/// Blocks that a fold is split into where its results are few: fixed, so that every GPU folds in the same order, and so
/// many that a last, part-filled round costs little.
inline constexpr std::int64_t kFoldBlocks = 8192;

/// How a kernel reaches one operand or result. Only the mode and the dtype show in its source.
struct Access {
  enum class Mode : char {
    constant = 'k',   // two parameter words
    counter = 'i',    // start + Σ c·step
    dense = 'v',      // neighbours along the innermost axis, aligned: `vec` elements in one access
    strided = 's',    // any strides
    splat = 'b',      // stride 0 along the innermost axis
    turned = 't',     // neighbours along the tile's other axis: through shared memory
    unaligned = 'u',  // element by element in bytes
  } mode;
  DType dtype;
  int word = 0;  // of the base (or start, or constant); the strides follow, an axis a word
};

struct Lowered {
  enum class Kind : char {
    rows = 'm',     // a map: the innermost axis along x, the others as rows
    tile = 't',     // a map with turned operands, in tiles of 32 × 32 or 64 × 64
    ordered = 'o',  // a map by one thread, in C order
    inner = 'r',    // a fold along the innermost axis: 1 to 256 threads a result
    outer = 'c',    // a fold whose neighbours are neighbouring results
    serial = 's',   // a fold in order: one thread a result
    pack = 'p',     // a map of one axis whose second result is packed by the first
  } kind;
  int vec = 1;         // elements a thread takes at once
  int strips = 1;      // of rows: vectors a thread takes, from rows that follow each other or, of one axis, far apart;
                       // of pack: elements a thread takes
  bool heavy = false;  // of rows: the strips are computed side by side, since their functions share constants
  int width = 1;       // of a fold: elements a thread folds side by side, a multiple of vec
  int axes = 0;        // of a map
  int kept = 0;        // axes of a fold's results
  int folded = 0;      // axes that are folded
  int tile_axis = 0;   // the axis that is tiled with the last
  int tile = 0;        // side of a tile
  bool start = false;  // a fold starts from a value
  bool many = false;   // several blocks share a result
  std::vector<Access> operands, results;

  /// What is watched for floating-point flags: words of Plan::faults, eight to a word of the device.
  struct Watched {
    std::size_t word;
    bool underflow;  // is wanted too
  };
  std::vector<Watched> watched;
  int fault_word = -1;  // receives the addresses of those words on the device, and of 32 bytes a word on the host
  int fault_words() const { return static_cast<int>(watched.size() + 7) / 8; }

  std::string key;  // all that the source depends on, and nothing else
  std::vector<std::uint64_t> words;
  std::uint64_t blocks = 0;  // 0: nothing to do
  unsigned threads_x = kThreads, threads_y = 1;
  int scratch_word = -1;  // receives the address of `scratch_bytes` of memory
  std::int64_t scratch_bytes = 0;
};

/// A step that is a function of float64: bound by arithmetic and the loading of constants.
bool is_heavy(const Instruction& i);

/// What the code of the kernel depends on; neither sizes nor addresses nor values.
std::string kernel_key(const Plan& plan, const Lowered& l);

/// Throws Error for a plan that no kernel can take (too many parameters).
Lowered lower(const Plan& plan);

/// "add, sqrt": what a plan computes.
std::string operations(const Plan& plan);
/// "add, sqrt over (3, 4)": what an error says about a plan.
std::string describe(const Plan& plan);

}  // namespace galop::cuda
