// Kernels of the CPU: one function for each operation and loop dtype, over dense blocks, for every instruction set in
// one binary.
#pragma once

#include <cstdint>

#include "core/op.hpp"

namespace galop::cpu {

/// Computes `n` elements of the results out[0], out[1] from the operands in[0..nin). All are dense and aligned to their
/// element; an out may be the same memory as an operand of the same item size, and overlaps nothing else. An element's
/// result depends on its operands only, never on its place in the block or on `n`.
using Kernel = void (*)(void* const* out, const void* const* in, std::int64_t n);

/// acc = acc ∘ in[0] ∘ … ∘ in[n-1]. Sums of floats are acc + NumPy's pairwise sum of the run; other folds use a fixed
/// order that depends on n only.
using Fold = void (*)(void* acc, const void* in, std::int64_t n);

/// out[i] = acc = acc ∘ in[i] in order; `acc` carries on to the next call. `out` may be `in`.
using Scan = void (*)(void* acc, const void* in, void* out, std::int64_t n);

/// Where what was looked for is, and whether nothing after it matters (it is NaN, or true).
struct Found {
  std::int64_t at;
  bool last;
};
/// Searches n ≥ 1 elements, aligned or not.
using Search = Found (*)(const void* in, std::int64_t n);
/// out[c] = the row, among so many that lie `step` bytes apart, of the first extreme of column c, for `width` columns
/// side by side, no fewer than `least`.
struct ColumnSearch {
  void (*run)(const char* in, std::int64_t rows, std::int64_t step, std::int64_t width, std::int64_t* out);
  int least;
};

struct Kernels {
  const char* isa;           // "sse4", "avx2", "avx3", …: Highway's target
  Kernel op[kOps][kDTypes];  // by the loop dtype (of x and y; `where` by the dtype of y and z); null: no such loop, and
                             // for float16 where compute_dtype() says float32
  Kernel cast[kDTypes][kDTypes];  // [from][to], every pair, NumPy's astype(casting="unsafe")
  Fold fold[kTableOps]
           [kDTypes];  // binary rows with result SAME (and the logical ones over bool); null elsewhere and for float16
  Scan scan[kTableOps][kDTypes];  // as fold
  // [greatest]: the first greatest (or least) element by NumPy's order, the first NaN before all. Every dtype.
  Search extreme[2][kDTypes];
  ColumnSearch columns[2][kDTypes];
  // [truth]: the first element that is true (or false), or n. Every dtype.
  Search truth[2][kDTypes];
  // Whether n floats, or doubles, are all finite, and with `normal` none of them is below the least normal number.
  bool (*ordinary[2])(const void* in, std::int64_t n, bool normal);
  // A copy past the caches, for results that nobody reads soon. Other threads see it after a sequentially consistent
  // fence.
  void (*stream)(void* out, const void* in, std::int64_t bytes);
};

/// The kernels for this processor, or for the instruction set that GALOP_FORCE_ISA names (sse4, avx2, avx3; an unknown
/// or unsupported one throws ValueError). Resolved once.
const Kernels& kernels();

}  // namespace galop::cpu
