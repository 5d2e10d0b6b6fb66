// Small steps that many functions of the API begin with: axes, writeability, operands, C order.
#pragma once

#include <string_view>

#include "galop/array.hpp"

namespace galop::api {

/// `axis` counted from the front. Throws AxisError unless -ndim <= axis < ndim.
int normalize_axis(std::string_view op, std::int64_t axis, int ndim);
/// The same for a list; throws ValueError when an axis comes twice.
Dims normalize_axes(std::string_view op, const Dims& axes, int ndim);

/// The result, or `out` once the result was written to it. Throws ValueError for another shape, TypeError where the
/// casting does not allow it.
array given(std::string_view op, const array* out, const array& result, Casting casting = Casting::same_kind);

/// Throws ValueError for a read-only destination.
void require_writeable(std::string_view op, const array& a);

/// The operand as an array; a number becomes a 0-d array of its own dtype.
array as_array(const arg& v);

/// Every element equal to the number, converted as `op` writes one element: OverflowError, ValueError or TypeError when
/// it does not fit.
array fill_with(const Dims& shape, const scalar& v, DType t);

/// Reports an overflow when the number is finite and too large for a real dtype.
void note_number(const scalar& v, DType t);

/// A lazy copy whose elements lie in C order.
array c_order_copy(const array& a);

/// A read-only handle on the same elements, stretched to the shape. Throws ValueError.
array stretched(std::string_view op, const array& a, const Dims& shape);

}  // namespace galop::api
