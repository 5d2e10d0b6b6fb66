// Evaluation: which kernel runs when, over which buffers.
#include "graph/evaluate.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/engine.hpp"
#include "graph/build.hpp"
#include "graph/lone.hpp"
#include "graph/place.hpp"
#include "graph/tiles.hpp"

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
    if (!w || !w->ready() || w->buffer->outside() || w->buffer->foreign() || w->buffer->in_block() ||
        w->bytes != out.bytes || itemsize(w->dtype) != itemsize(out.dtype))
      continue;
    if (std::find(taken.begin(), taken.end(), w) != taken.end() || !only_retired_refer(*w, retired)) continue;
    // Another output that is a plain copy of this operand would find it overwritten.
    bool same = true;
    for (std::size_t q = 0; q < f.plan.outputs.size(); ++q)
      same = same && (q == o || f.plan.outputs[q].reg >= f.loads.size() || f.loads[f.plan.outputs[q].reg] != w);
    for (std::size_t i = 0; i < f.loads.size() && same; ++i) {
      if (f.loads[i] != w) continue;
      const Operand& in = f.plan.operands[i];
      same = itemsize(in.dtype) == itemsize(out.dtype) &&
             reinterpret_cast<std::int64_t>(in.data) == out.layout.offset &&
             same_map({f.plan.shape, in.strides, 0}, {f.plan.shape, f.plan.outputs[o].strides, 0});
    }
    if (same) return w;
  }
  return nullptr;
}

// Where the results go, and what they become once the kernel has been started.
struct Results {
  std::vector<BufferPtr> fresh;
  std::vector<Value*> donors;
};

void run_on(Fusion& f, Device d, Results& r, bool donate) {
  begin_step();
  for (Value* v : f.loads)
    if (v) v->buffer->read(d);
  r.fresh.resize(f.saved.size());
  r.donors.assign(f.saved.size(), nullptr);
  if (donate && settings().donation && f.plan.reductions.empty()) {
    const std::vector<Value*> retired = retired_values(f);
    std::vector<Value*> taken;
    for (std::size_t o = 0; o < f.saved.size(); ++o)
      if ((r.donors[o] = donor(f, o, retired, taken))) taken.push_back(r.donors[o]);
  }
  // What is written over an operand must be finished.
  const interrupt::Scope scope(std::all_of(r.donors.begin(), r.donors.end(), [](Value* w) { return !w; }));
  // What may have to run elsewhere, or again, keeps its offsets.
  std::optional<Plan> copy;
  if (!d.is_cpu() || !donate) copy = f.plan;
  Plan& plan = copy ? *copy : f.plan;
  resolve(plan, f.loads, d);
  for (std::size_t o = 0; o < f.saved.size(); ++o) {
    const Value& v = *f.saved[o];
    if (!r.donors[o]) r.fresh[o] = std::make_unique<Buffer>(v.bytes, d);
    char* base = (r.donors[o] ? *r.donors[o]->buffer : *r.fresh[o]).address(d) + v.layout.offset;
    if (!plan.reductions.empty()) {
      plan.reductions[0].data = base;
    } else {
      plan.outputs[o].data = base;
      if (r.donors[o]) plan.outputs[o].fresh = false;
    }
  }
  canonicalize(plan);
  backend_of(d).run(plan);
  counters().kernels += 1;
  counters().bytes += plan_bytes(plan);
  for (Value* w : r.donors)
    if (w) w->buffer->write(d);
}

bool is_long(const Fusion& f) {
  int costs = static_cast<int>(f.plan.reductions.size());
  for (const Instruction& s : f.plan.tape) costs += cost(s.op);
  std::int64_t n = 1;
  for (const std::int64_t extent : f.plan.shape) n *= extent;
  return is_long_work(n, costs);
}

// Whether a kernel is bound by functions like sin, and takes seconds: then a second buffer costs little beside it, and
// leaves the operand whole when the work is ended.
bool is_worth_a_buffer(const Fusion& f) {
  std::int64_t n = 0;
  for (const Instruction& s : f.plan.tape) n += cost(s.op) > 8;
  for (const std::int64_t extent : f.plan.shape) n *= extent;
  return n >= 1 << 28;
}

void run(Fusion& f) {
  Device d = place(f);
  if (is_long(f)) begin_long_work();
  FaultWatch watch(f);
  const bool donate = !(d.is_cpu() && interrupt::asked() && is_worth_a_buffer(f));
  Results r;
  try {
    run_on(f, d, r, donate);
    if (d.is_cpu()) note_host_run(f);
  } catch (const MemoryError&) {
    if (d.is_cpu() && donate) throw;
    // The last rungs of the ladder: in pieces from and to the host, and on the host's processors.
    r = {};
    if (!d.is_cpu() && run_in_tiles(f, d, r.fresh))
      r.donors.assign(f.saved.size(), nullptr);
    else
      run_on(f, d = kCpu, r, true);
  }
  for (std::size_t o = 0; o < f.saved.size(); ++o) {
    if (r.donors[o]) counters().donations += 1;
    f.saved[o]->buffer = r.donors[o] ? std::move(r.donors[o]->buffer) : std::move(r.fresh[o]);
  }
  watch.note(d);
  // Nodes go last: dropping one may free the Values below it, never the Values saved here, which somebody holds.
  for (Value* v : f.saved) v->retain();
  for (Value* v : f.saved) v->drop_node();
  for (Value* v : f.saved) v->release();
}

}  // namespace

FaultWatch::FaultWatch(Fusion& f) : f_(f) {
  bool wanted = !f.plan.reductions.empty() && f.plan.reductions[0].policy != 0;
  for (const Instruction& i : f.plan.tape) wanted = wanted || i.policy != 0;
  if (!wanted) return;
  flags_.assign(1 + f.plan.tape.size(), 0);
  f.plan.faults = flags_.data();
}

void FaultWatch::note(Device d) const {
  if (flags_.empty()) return;
  bool stops = !f_.plan.reductions.empty() && faults::stops(f_.plan.reductions[0].policy);
  for (std::size_t w = 0; w < flags_.size(); ++w) {
    if (flags_[w] != 0) {
      const faults::Fault fault = fault_in(f_.plan, w, flags_[w]);
      note_faults(fault.where, fault.flags, fault.policy);
    }
    if (w == 0) continue;
    stops = stops || faults::stops(f_.plan.tape[w - 1].policy);
    // It may be computed again in another kernel: one report is enough. What a device will report is not known yet.
    if (Value* v = f_.origins[w - 1]; v && v->node && (flags_[w] != 0 || !d.is_cpu())) v->node->policy = 0;
  }
  note_late_faults(d, stops);
}

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
  if (root.ready() || compute_alone(root)) return;
  std::vector<Ref<Value>> stack{Ref(&root)};
  while (!stack.empty()) {
    Value& v = *stack.back();
    if (v.ready()) {
      stack.pop_back();
      continue;
    }
    if (compute_alone(v)) {
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

void run_into(Fusion& f, Buffer& target, Device d, bool ordered) {
  const Value& v = *f.saved[0];
  begin_step();
  for (Value* w : f.loads)
    if (w) w->buffer->read(d);
  target.read(d);
  std::optional<Plan> copy;
  if (!d.is_cpu()) copy = f.plan;
  Plan& plan = copy ? *copy : f.plan;
  resolve(plan, f.loads, d);
  plan.outputs[0].data = target.address(d) + v.layout.offset;
  plan.outputs[0].fresh = false;
  plan.outputs[0].ordered = ordered;
  canonicalize(plan);
  backend_of(d).run(plan);
  target.write(d);
  counters().kernels += 1;
  counters().bytes += plan_bytes(plan);
}

void store(Fusion& f, Value& old, bool ordered) {
  Buffer& target = *old.buffer;
  Device d = target.outside() ? target.home() : place(f, &old);
  if (is_long(f)) begin_long_work();
  FaultWatch watch(f);
  try {
    run_into(f, target, d, ordered);
  } catch (const MemoryError&) {
    if (d.is_cpu() || target.outside()) throw;
    run_into(f, target, d = kCpu, ordered);
  }
  watch.note(d);
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
