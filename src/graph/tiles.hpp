// Kernels whose arrays do not fit a device: in pieces along the outermost axis, each brought from and to the host.
#pragma once

#include <memory>
#include <vector>

#include "graph/buffer.hpp"
#include "graph/fuse.hpp"

namespace galop::graph {

/// Computes the results of `f` on `d` into fresh buffers on the host. False when the plan cannot be cut, or not so
/// small that it fits; nothing has changed then. Sums are added tile by tile: in a fixed order, which is another one
/// than without tiles.
bool run_in_tiles(const Fusion& f, Device d, std::vector<BufferPtr>& results);

}  // namespace galop::graph
