// Evaluation on request, and the plan that it would run as text.
#include <algorithm>
#include <string>
#include <vector>

#include "core/view.hpp"
#include "graph/evaluate.hpp"
#include "graph/place.hpp"

namespace galop {
namespace {

using graph::Fusion;
using graph::Value;

std::string in_bytes(std::int64_t n) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  double v = static_cast<double>(n);
  int u = 0;
  for (; v >= 1024 && u < 3; ++u) v /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, u ? "%.1f %s" : "%.0f %s", v, units[u]);
  return text;
}

// Bytes that must be copied to the device before the kernel can run there.
std::int64_t missing_bytes(const Fusion& f, Device d) {
  std::vector<const Value*> counted;
  std::int64_t bytes = 0;
  for (const Value* v : f.loads) {
    if (!v || !v->buffer || v->buffer->valid_on(d) || std::find(counted.begin(), counted.end(), v) != counted.end())
      continue;
    counted.push_back(v);
    bytes += v->buffer->bytes();
  }
  return bytes;
}

std::string describe_kernel(const Fusion& f) {
  const Plan& plan = f.plan;
  std::string steps, arrays;
  for (const Instruction& s : plan.tape) {
    if (!steps.empty()) steps += ' ';
    steps += std::string(info(s.op).name);
    if (s.op == Op::cast)
      steps += "(" + std::string(name(s.loop)) + "→" + std::string(name(plan.registers[s.out[0]])) + ")";
  }
  int reads = 0, counters = 0, constants = 0;
  for (const Operand& o : plan.operands) {
    reads += o.kind == Operand::Kind::memory;
    counters += o.kind == Operand::Kind::iota;
    constants += o.kind == Operand::Kind::constant;
  }
  std::string text =
      plan.reductions.empty() ? "map" : "fold " + std::string(info(plan.reductions[0].op).name) + " of map";
  text += " over " + to_string(plan.shape) + ": " + (steps.empty() ? "copy" : steps) + "; reads " +
          std::to_string(reads) + " arrays, " + std::to_string(counters) + " counters, " + std::to_string(constants) +
          " constants; writes " + std::to_string(plan.outputs.size() + plan.reductions.size()) + "; " +
          in_bytes(graph::plan_bytes(plan));
  return text;
}

}  // namespace

void eval(array_list arrays) {
  graph::Lock lock;
  for (const array& a : arrays) graph::force(*a.cell()->value);
}

std::string explain(const array& a) {
  graph::Lock lock;
  Value& root = *a.cell()->value;
  if (root.ready()) return "ready: nothing to compute";
  std::vector<Value*> done;
  std::vector<Value*> stack{&root};
  std::string text;
  int kernels = 0, temporaries = 0;
  std::int64_t bytes = 0, copied = 0;
  while (!stack.empty()) {
    Value* v = stack.back();
    if (v->ready() || std::find(done.begin(), done.end(), v) != done.end()) {
      stack.pop_back();
      continue;
    }
    const Fusion f = graph::lower(*v, &done);
    if (!f.first.empty()) {
      for (Value* p : f.first) stack.push_back(p);
      continue;
    }
    const Device d = graph::place(f);
    const std::int64_t missing = missing_bytes(f, d);
    text += "kernel " + std::to_string(++kernels) + (d.is_cpu() ? "" : " on " + to_string(d)) + ": " +
            describe_kernel(f) + (missing > 0 ? "; after a copy of " + in_bytes(missing) : "") + "\n";
    copied += missing;
    bytes += graph::plan_bytes(f.plan);
    if (v != &root) ++temporaries;
    done.insert(done.end(), f.saved.begin(), f.saved.end());
    stack.pop_back();
  }
  return text + std::to_string(kernels) + (kernels == 1 ? " kernel, " : " kernels, ") + in_bytes(bytes) + " moved, " +
         std::to_string(temporaries) + (temporaries == 1 ? " temporary" : " temporaries") +
         (copied > 0 ? ", " + in_bytes(copied) + " copied between devices" : "");
}

}  // namespace galop
