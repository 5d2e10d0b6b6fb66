// Loops for folds of many short rows, where a call of a kernel a row would cost more than the work.
#pragma once

#include <cstdint>

#include "core/op.hpp"
#include "galop/dtype.hpp"

namespace galop::cpu {

/// acc[c] = acc[c] ∘ row[0][c] ∘ … ∘ row[count-1][c] for c in [0, n), in this order; count is 1 to kRows.
using RowFold = void (*)(void* acc, const void* const* row, int count, std::int64_t n);
inline constexpr int kRows = 4;

/// Sums and products of numbers; null for what has no such loop.
RowFold row_fold(Op op, DType t);

/// acc[c] = acc[c] + in[0][c] + … for c in [0, width): dense rows of at most kNarrow elements.
using NarrowFold = void (*)(void* acc, const void* in, std::int64_t rows);
inline constexpr int kNarrow = 8;

/// Sums of inexact numbers; null for others and for wider rows.
NarrowFold narrow_fold(Op op, DType t, std::int64_t width);

/// acc[i] = acc[i] + (the pairwise sum of row i) for dense rows of `n` < 8 elements.
using ShortSum = void (*)(void* acc, const void* in, std::int64_t rows, std::int64_t n);

/// Sums of inexact numbers; null for others and for longer rows.
ShortSum short_sum(Op op, DType t, std::int64_t n);

/// Row r of every block side by side: to[r][b][c] = from[b][r][c] for items of `size` bytes, c in [0, width).
void gather_rows(void* to, const void* from, std::int64_t blocks, std::int64_t rows, std::int64_t width,
                 std::int64_t size);

}  // namespace galop::cpu
