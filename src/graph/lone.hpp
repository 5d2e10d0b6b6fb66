// Results of one operation over evaluated operands, without lowering to a plan.
#pragma once

#include "graph/value.hpp"

namespace galop::graph {

/// Makes `v` Ready when it is one operation over operands that lie ready and dense on the host, each in the order of
/// the result, and is too short for a plan to be worth its making. False, and nothing has happened, when it is not.
bool compute_alone(Value& v);

}  // namespace galop::graph
