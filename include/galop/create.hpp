// Arrays from nothing: NumPy's creation functions of the same name.
#pragma once

#include <vector>

#include "galop/array.hpp"

namespace galop {

/// Throw ValueError for negative extents or a size beyond 2^63 bytes, MemoryError beyond the machine's memory.
array empty(const Dims& shape, DType t = DType::float64);
array zeros(const Dims& shape, DType t = DType::float64);
array ones(const Dims& shape, DType t = DType::float64);
/// `t` unset: the dtype of the value.
array full(const Dims& shape, const arg& value, std::optional<DType> t = {});
array empty_like(const array& a, std::optional<DType> t = {});
array zeros_like(const array& a, std::optional<DType> t = {});
array ones_like(const array& a, std::optional<DType> t = {});
array full_like(const array& a, const arg& value, std::optional<DType> t = {});
/// start, start + step, … before stop; NumPy's length and values. `t` unset: int64 or float64 by the arguments.
array arange(scalar start, scalar stop, scalar step = 1, std::optional<DType> t = {});
inline array arange(scalar stop) { return arange(0, stop); }
/// `num` evenly spaced numbers from start to stop, which is met exactly with `endpoint`. Operands may be arrays: the
/// new axis is first.
array linspace(const arg& start, const arg& stop, std::int64_t num = 50, bool endpoint = true,
               std::optional<DType> t = {});
/// base ** linspace(start, stop, num).
array logspace(const arg& start, const arg& stop, std::int64_t num = 50, bool endpoint = true, double base = 10.0,
               std::optional<DType> t = {});
/// Ones on diagonal k of an n × m matrix (m = -1: n).
array eye(std::int64_t n, std::int64_t m = -1, std::int64_t k = 0, DType t = DType::float64);
/// Coordinate matrices of 1-d axes; `matrix_indexing` is NumPy's indexing="ij", else "xy".
std::vector<array> meshgrid(std::span<const array> axes, bool matrix_indexing = false, bool sparse = false);

}  // namespace galop
