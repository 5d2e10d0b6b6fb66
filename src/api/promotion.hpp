// Which dtype an operation computes in: NumPy's promotion with weak Python scalars (NEP 50).
#pragma once

#include <span>
#include <string_view>

#include "galop/ufunc.hpp"

namespace galop::api {

/// result_type of the operands: arrays are strong, numbers weak.
DType result_type(std::span<const arg> operands);
/// Throws TypeError unless a result of dtype `from` may be stored as `to`.
void require_cast(std::string_view op, std::string_view what, DType from, DType to, Casting casting);
/// "float64", "int8 and int (scalar)", … for messages.
std::string describe(std::span<const arg> operands);

}  // namespace galop::api
