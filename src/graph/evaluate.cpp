// Evaluation: which kernel runs when, over which buffers.
#include "graph/evaluate.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/view.hpp"
#include "galop/engine.hpp"
#include "graph/build.hpp"

namespace galop::graph {
namespace {

// R4: counts, for every Value, the references that this evaluation gives up; a buffer with no other reference can be
// written over.
std::vector<Value*> retired_values(const Fusion& f) {
  std::vector<Value*> retired = f.saved;
  auto gives_up = [&](const Value* p) {
    std::int64_t n = 0;
    for (const Value* r : retired)
      for (const Input& in : r->node->in) n += in.value.get() == p;
    return n;
  };
  for (auto it = f.inlined.rbegin(); it != f.inlined.rend(); ++it) {
    Value* v = *it;
    if (std::find(retired.begin(), retired.end(), v) != retired.end() || !v->node) continue;
    if (v->refs.load() == gives_up(v)) retired.push_back(v);
  }
  return retired;
}

bool only_retired_refer(const Value& w, const std::vector<Value*>& retired) {
  std::int64_t n = 0;
  for (const Value* r : retired)
    for (const Input& in : r->node->in) n += in.value.get() == &w;
  return w.refs.load() == n;
}

// The leaf whose buffer the output `o` of the plan may take over, or null.
Value* donor(const Fusion& f, std::size_t o, const std::vector<Value*>& retired, const std::vector<Value*>& taken) {
  const Value& out = *f.saved[o];
  for (Value* w : f.loads) {
    if (!w || !w->ready() || w->buffer->foreign || w->bytes != out.bytes || itemsize(w->dtype) != itemsize(out.dtype))
      continue;
    if (std::find(taken.begin(), taken.end(), w) != taken.end() || !only_retired_refer(*w, retired)) continue;
    // Another output that is a plain copy of this operand would find it overwritten.
    bool same = true;
    for (std::size_t q = 0; q < f.plan.outputs.size(); ++q)
      same = same && (q == o || f.plan.outputs[q].reg >= f.loads.size() || f.loads[f.plan.outputs[q].reg] != w);
    for (std::size_t i = 0; i < f.loads.size() && same; ++i) {
      if (f.loads[i] != w) continue;
      const Operand& in = f.plan.operands[i];
      same =
          itemsize(in.dtype) == itemsize(out.dtype) &&
          static_cast<const char*>(in.data) - static_cast<const char*>(w->buffer->storage.data) == out.layout.offset &&
          same_map({f.plan.shape, in.strides, 0}, {f.plan.shape, f.plan.outputs[o].strides, 0});
    }
    if (same) return w;
  }
  return nullptr;
}

void run(Fusion& f) {
  Plan& plan = f.plan;
  std::vector<std::unique_ptr<Buffer>> fresh(f.saved.size());
  std::vector<Value*> donors(f.saved.size(), nullptr);
  if (plan.reductions.empty()) {
    const std::vector<Value*> retired = retired_values(f);
    std::vector<Value*> taken;
    for (std::size_t o = 0; o < f.saved.size(); ++o) {
      Value& v = *f.saved[o];
      if (settings().donation) donors[o] = donor(f, o, retired, taken);
      if (donors[o]) {
        taken.push_back(donors[o]);
        plan.outputs[o].fresh = false;
      } else {
        fresh[o] = std::make_unique<Buffer>(v.bytes);
      }
      Buffer& b = donors[o] ? *donors[o]->buffer : *fresh[o];
      plan.outputs[o].data = static_cast<char*>(b.storage.data) + v.layout.offset;
    }
  } else {
    fresh[0] = std::make_unique<Buffer>(f.saved[0]->bytes);
    plan.reductions[0].data = static_cast<char*>(fresh[0]->storage.data) + f.saved[0]->layout.offset;
  }
  canonicalize(plan);
  counters().kernels += 1;
  counters().bytes += plan_bytes(plan);
  cpu_backend().run(plan);
  for (std::size_t o = 0; o < f.saved.size(); ++o) {
    if (donors[o]) counters().donations += 1;
    f.saved[o]->buffer = donors[o] ? std::move(donors[o]->buffer) : std::move(fresh[o]);
  }
  // Nodes go last: dropping one may free the Values below it, never the Values saved here, which somebody holds.
  for (Value* v : f.saved) v->retain();
  for (Value* v : f.saved) v->drop_node();
  for (Value* v : f.saved) v->release();
}

}  // namespace

Counters& counters() {
  static Counters c;
  return c;
}

std::int64_t plan_bytes(const Plan& plan) {
  std::int64_t total = 0;
  auto span = [&](const Dims& strides, DType t) {
    std::int64_t n = itemsize(t);
    for (int k = 0; k < plan.shape.size(); ++k)
      if (strides[k] != 0) n *= plan.shape[k];
    return n;
  };
  for (const Operand& o : plan.operands)
    if (o.kind == Operand::Kind::memory) total += span(o.strides, o.dtype);
  for (const Output& o : plan.outputs) total += span(o.strides, o.dtype);
  for (const Reduction& r : plan.reductions) total += span(r.strides, r.dtype);
  return total;
}

void force(Value& root) {
  if (root.ready()) return;
  std::vector<Ref<Value>> stack{Ref(&root)};
  while (!stack.empty()) {
    Value& v = *stack.back();
    if (v.ready()) {
      stack.pop_back();
      continue;
    }
    // The stack's own reference must not stand in the way of donation, which counts references.
    Fusion f = lower(v);
    if (f.first.empty()) {
      run(f);
      stack.pop_back();
      continue;
    }
    for (Value* p : f.first)
      if (p != &v) stack.emplace_back(p);
  }
}

void run_into(Fusion& f, void* base, bool ordered) {
  Value& v = *f.saved[0];
  f.plan.outputs[0].data = static_cast<char*>(base) + v.layout.offset;
  f.plan.outputs[0].fresh = false;
  f.plan.outputs[0].ordered = ordered;
  canonicalize(f.plan);
  counters().kernels += 1;
  counters().bytes += plan_bytes(f.plan);
  cpu_backend().run(f.plan);
}

void force_readers(Value& v, const View& region, std::int64_t itemsize_, std::initializer_list<const Value*> except) {
  std::vector<Value*> live;
  std::vector<Value*> seen;
  std::vector<Value*> climb;
  const std::int64_t work = settings().overlap_maybe ? 0 : 1;
  for (Value* r : v.readers) {
    if (r->refs.load() == 0 || !r->node) continue;
    for (const Input& in : r->node->in)
      if (in.value.get() == &v && overlap(in.view, itemsize(in.dtype), region, itemsize_, work) != Overlap::no) {
        climb.push_back(r);
        break;
      }
  }
  while (!climb.empty()) {
    Value* r = climb.back();
    climb.pop_back();
    if (std::find(except.begin(), except.end(), r) != except.end() || r->refs.load() == 0 || !r->node ||
        std::find(seen.begin(), seen.end(), r) != seen.end())
      continue;
    seen.push_back(r);
    if (has_handle(*r)) {
      live.push_back(r);
    } else {
      climb.insert(climb.end(), r->readers.begin(), r->readers.end());
    }
  }
  std::vector<Ref<Value>> hold;
  for (Value* r : live) hold.emplace_back(r);
  for (auto& r : hold) force(*r);
}

}  // namespace galop::graph
