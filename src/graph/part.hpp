// A few elements of an unevaluated array that is too large to be computed as a whole.
#pragma once

#include <optional>

#include "graph/build.hpp"

namespace galop::graph {

/// The elements that `a` shows of a larger Pending Value, computed alone, as an array of their own in C order; the
/// Value stays Pending. What lies below it and is no part of the same kernel is computed as a whole. Nothing where the
/// elements cannot be named in the kernel's axes, for folds, and for what is wished to be on a device.
std::optional<array> compute_part(const array& a);

/// `a`, evaluated; where there is no memory for the array that it is a view of, what compute_part() makes of it. Throws
/// MemoryError when that is of no help.
array computed(const array& a);

}  // namespace galop::graph
