// Small results at their call: each function does nothing, and says so, when the general way is to be taken. The Lock
// is held; a Cell that is returned lies in C order and is counted once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/build.hpp"

namespace galop::graph {

/// The address of the element of dtype t at an offset, where it can be read as it is: ready, aligned, on the host; else
/// null.
inline const char* readable_at(const Value& v, DType t, std::int64_t offset) {
  if (!v.ready() || (t == DType::bool_ && v.buffer->foreign())) return nullptr;  // bytes other than 0 and 1
  const char* bytes = v.buffer->host_bytes();
  if (!bytes) return nullptr;
  bytes += offset;
  const auto alignment = static_cast<std::uintptr_t>(std::min(itemsize(t), 8));
  return (reinterpret_cast<std::uintptr_t>(bytes) & (alignment - 1)) == 0 ? bytes : nullptr;
}

/// map() when the result is small and all operands are ready on the host and of the loop's dtype; what does not lie
/// in C order, or is to be repeated, is gathered.
Cell* map_small(Op op, DType loop, DType result, std::span<const MapOperand> operands, const Dims& shape);
/// map_small() of arrays of the loop's dtype, the short way of most calls; `y` is null for an operation on one. The
/// result has the shape of `x`.
Cell* map_small(Op op, DType loop, DType result, const array& x, const array* y);
/// Both results of an operation, likewise, over up to a MiB.
bool map_pair(Op op, DType loop, std::span<const MapOperand> operands, const Dims& shape, Cell* (&r)[2]);
/// map_small() into the memory of an array of the loop's dtype, which only its own handles may read, unless it overlaps
/// an operand otherwise than element by element.
bool map_small_into(Op op, DType loop, std::span<const MapOperand> operands, const array& to);
/// The same of arrays of the loop's dtype, the short way of most calls, where the result lies apart from them.
bool map_small_into(Op op, DType loop, const array& x, const array* y, const array& to);
/// cast() likewise.
Cell* cast_small(const array& a, DType t);
/// fill() of few elements.
Cell* fill_small(const Dims& shape, DType t, const void* bits);
/// The fold of all elements, a Cell of one.
Cell* reduce_small(Op op, DType loop, const array& a);
/// The running fold of few elements along the last axis, in their own dtype.
Cell* scan_small(Op op, DType loop, const array& a);
/// Position of the first greatest (or least) element, NaN before all, a Cell of one int64; of many bools too, where it
/// is among the first.
Cell* position_small(const array& a, bool greatest);
/// The same along an axis; a Cell of the other axes.
Cell* positions_small(const array& a, int axis, bool greatest);
/// Whether any or all elements are true, looking no further than it has to; of arrays of any size.
Cell* truth_at_once(Op op, const array& a);

// These take the Lock themselves.
/// Copies an element of `a`, so many bytes from element 0, to `to`, when the host has it.
bool read_element(const array& a, std::int64_t at, void* to);
/// The same the other way, when the host alone has it and nobody waits to read it.
bool write_element(const array& a, std::int64_t at, const void* from);

}  // namespace galop::graph
