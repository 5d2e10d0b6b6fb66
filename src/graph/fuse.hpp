// Lowers Pending Values to one plan: which producers are inlined, what is saved, what must be evaluated before.
#pragma once

#include <vector>

#include "graph/value.hpp"

namespace galop::graph {

/// How the axes of a node lie in the kernel's domain: for each kernel axis the node's axis (-1: broadcast) and its
/// direction.
struct AxisMap {
  Dims axis;
  std::uint64_t flip = 0;  // bit k: along axis k, backwards
  bool flips(int k) const { return flip >> k & 1; }
  bool operator==(const AxisMap&) const = default;
};

struct Fusion {
  Plan plan;                    // addresses of operands are offsets from their Values' buffers, until resolve()
  std::vector<Value*> saved;    // the plan's outputs, or the one reduction
  std::vector<Value*> inlined;  // computed in registers only, producers before consumers
  std::vector<Value*> loads;    // for each operand of the plan the Ready Value behind it, or null
  std::vector<Value*> origins;  // for each step of the tape the Pending Value whose operation it is, or null
  std::vector<Value*> first;    // must be evaluated before this can be lowered; then the plan is void
};

/// The kernel that computes `root`, and with it the live siblings that share costly work with it, unless it is asked
/// for `alone`. Output addresses are not yet set. `assumed` lists Pending Values that count as Ready, for explaining a
/// plan without running it.
Fusion lower(Value& root, const std::vector<Value*>* assumed = nullptr, bool alone = false);

/// Turns offsets into addresses on a device where the buffers are valid.
void resolve(Plan& plan, const std::vector<Value*>& loads, Device d);

/// Sorts, flips and merges the axes of a plan, so that backends see the fewest, in memory order.
void canonicalize(Plan& plan);

/// Whether somebody besides Pending Values refers to it.
inline bool has_handle(const Value& v) {
  return v.refs.load(std::memory_order_relaxed) > static_cast<std::int64_t>(v.readers.size());
}

}  // namespace galop::graph
