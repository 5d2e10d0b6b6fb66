// Which device runs what: what the user asked for, where the operands are, and what it costs (docs/architecture.md).
#pragma once

#include <span>

#include "graph/evaluate.hpp"

namespace galop::graph {

/// The scope's device, else automatic.
Device scope_device();
/// What a new Value asks for: the scope's device, else a GPU that an operand asks for, else the CPU if one does, else
/// the default device.
Device joint_wish(Device a, Device b);
Device new_wish();

/// Where the plan of `f` runs. `also` is a Value that it reads besides its loads, or writes into.
Device place(const Fusion& f, const Value* also = nullptr);

/// Notes that the host's processors ran the plan although the model thought of a GPU: an operand that is used again and
/// again is worth its copy in the end.
void note_host_run(const Fusion& f);

}  // namespace galop::graph
