// Which device runs what: what the user asked for, where the operands are, and what it costs (docs/architecture.md).
#pragma once

#include <span>

#include "graph/evaluate.hpp"

namespace galop::graph {

// Read on the way of every small operation: a load, without a call that finds the thread's storage.
extern constinit thread_local Device scope_of_thread __attribute__((tls_model("initial-exec")));
/// The scope's device, else automatic.
inline Device scope_device() { return scope_of_thread; }
/// What a new Value asks for: the scope's device, else a GPU that an operand asks for, else the CPU if one does, else
/// the default device.
inline Device joint_wish(Device a, Device b) { return a.kind == DeviceKind::cuda || b.automatic() ? a : b; }
Device new_wish();

/// Where the plan of `f` runs. `also` is a Value that it reads besides its loads, or writes into.
Device place(const Fusion& f, const Value* also = nullptr);

/// Whether so many elements, all of whose operands the host has, are computed there when nobody wished for a device.
bool stays_on_host(std::int64_t elements);

/// Notes that the host's processors ran the plan although the model thought of a GPU: an operand that is used again and
/// again is worth its copy in the end.
void note_host_run(const Fusion& f);

}  // namespace galop::graph
