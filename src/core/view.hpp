// Arithmetic on views: contiguity, broadcasting, memory bounds, overlap.
#pragma once

#include <span>
#include <string_view>

#include "galop/shape.hpp"

namespace galop {

bool is_c_contiguous(const View& v, std::int64_t itemsize);
bool is_f_contiguous(const View& v, std::int64_t itemsize);

/// Number of elements; throws ValueError for negative extents and when the bytes pass 2^63 - 1. `op` names the caller
/// in the message.
std::int64_t checked_size(std::string_view op, const Dims& shape, std::int64_t itemsize);

/// The common shape by NumPy's broadcasting; throws ValueError naming the shapes.
Dims broadcast(std::string_view op, std::span<const Dims* const> shapes);
/// The view with stride 0 along new or stretched axes; throws ValueError when the shape does not reach.
View broadcast_view(std::string_view op, const View& v, const Dims& shape);

/// Layout of a fresh result of this shape that follows the operands' memory order, as NumPy's order='K'.
Dims keep_order_strides(const Dims& shape, std::int64_t itemsize, std::span<const View* const> operands);
/// Axes from outermost to innermost in memory, by NumPy's nditer rules for the given operands (all of one shape).
Dims memory_order(int ndim, std::span<const View* const> operands);

/// Every element of a buffer of `bytes` bytes exactly once, in any order of axes and directions.
bool covers_once(const View& v, std::int64_t itemsize, std::int64_t bytes);
/// Two different index tuples may reach the same element (stride 0 or crossing strides).
bool has_internal_overlap(const View& v, std::int64_t itemsize);
/// First byte and one past the last byte that the view touches, relative to its buffer; equal when it is empty.
std::pair<std::int64_t, std::int64_t> byte_bounds(const View& v, std::int64_t itemsize);
/// Same address, shape and strides, extents of 1 apart.
bool same_map(const View& a, const View& b);

enum class Overlap { no, yes, maybe };
/// Whether two views of one buffer share a byte, found by bounds and then by a bounded search for a solution; `maybe`
/// after `max_work` steps (negative: no limit).
Overlap overlap(const View& a, std::int64_t itemsize_a, const View& b, std::int64_t itemsize_b, std::int64_t max_work);

}  // namespace galop
