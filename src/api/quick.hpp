// The short way of element-wise calls without options over small arrays.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/op.hpp"
#include "galop/array.hpp"
#include "graph/value.hpp"

namespace galop::api {

/// A new Cell in C order, counted once, with its shape and dtype; null when the call takes the general way.
struct Quick {
  graph::Cell* cell = nullptr;
  const Dims* shape = nullptr;
  DType dtype{};

  explicit operator bool() const { return cell != nullptr; }
  operator array() const { return array(cell, *shape, dtype); }
};

/// The operation over one or two operands: small arrays of one dtype, ready on the host, of which one has the result's
/// shape, and numbers that the dtype holds.
Quick quick(Op op, std::span<const arg> in);
/// The same of arrays alone; `y` is null for an operation on one.
Quick quick(Op op, const array& x, const array* y);
/// The same over arrays of any size, ready or not and however they lie: a new array, perhaps to be computed.
/// `out`, unless null, must have its dtype and shape.
std::optional<array> quick_later(Op op, std::span<const arg> in, const array* out = nullptr);
/// Both results of the operation; false when the call takes the general way.
bool quick_pair(Op op, std::span<const arg> in, std::vector<array>& results);
/// The operation over small arrays into an array of that dtype and shape; false when the call takes the general way.
bool quick_into(Op op, std::span<const arg> in, const array& out);

}  // namespace galop::api
