// Lowering of a Pending graph to one plan.
#include "graph/fuse.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/view.hpp"
#include "galop/engine.hpp"

namespace galop::graph {
namespace {

constexpr int kMaxOutputs = 4;
constexpr int kCheap = 16;        // up to this cost a live interior value is recomputed once before it is saved
constexpr int kWorthSharing = 8;  // a producer of this cost pulls its other live consumers into the kernel
constexpr std::size_t kMaxOperands = 64;

AxisMap identity(int ndim) {
  AxisMap m;
  for (int k = 0; k < ndim; ++k) m.axis.push_back(k);
  return m;
}

// The producer's axes as seen from the consumer's domain, when the consumer's view reaches every element of the
// producer by a permutation, flips and broadcasting alone.
struct Reach {
  AxisMap map;
  bool broadcast = false;
};
std::optional<Reach> reach(const View& view, const View& layout) {
  const int n = view.ndim();
  Reach r;
  r.map.axis.resize(n, -1);
  std::int64_t offset = layout.offset;
  int matched = 0;
  for (int j = 0; j < layout.ndim(); ++j) {
    if (layout.shape[j] == 1) continue;
    int found = -1;
    for (int i = 0; i < n && found < 0; ++i)
      if (view.shape[i] == layout.shape[j] && std::abs(view.strides[i]) == std::abs(layout.strides[j]) &&
          r.map.axis[i] < 0)
        found = i;
    if (found < 0) return std::nullopt;
    const bool flip = view.strides[found] != layout.strides[j];
    if (flip) offset += layout.strides[j] * (layout.shape[j] - 1);
    r.map.axis[found] = j;
    r.map.flip |= std::uint64_t{flip} << found;
    ++matched;
  }
  if (offset != view.offset) return std::nullopt;
  for (int i = 0; i < n; ++i) {
    if (view.shape[i] == 1 || r.map.axis[i] >= 0) continue;
    if (view.strides[i] != 0) return std::nullopt;
    r.broadcast = true;
  }
  return r;
}

AxisMap compose(const AxisMap& outer, const AxisMap& inner) {
  AxisMap m;
  for (int k = 0; k < outer.axis.size(); ++k) {
    const int i = static_cast<int>(outer.axis[k]);
    m.axis.push_back(i < 0 ? -1 : inner.axis[i]);
    if (m.axis[k] >= 0 && outer.flips(k) != inner.flips(i)) m.flip |= std::uint64_t{1} << k;
  }
  return m;
}

class Lowering {
 public:
  Lowering(const Value& root, const std::vector<Value*>* assumed) : assumed_(assumed), wish_(root.wish) {
    f_.plan.shape = root.node->domain;
    // Most graphs are small: one allocation each.
    const std::size_t steps = static_cast<std::size_t>(std::min(root.operations, 63)) + 1;
    for (auto* values : {&f_.inlined, &f_.loads, &f_.origins}) values->reserve(steps);
    f_.plan.tape.reserve(steps);
    f_.plan.operands.reserve(std::min<std::size_t>(steps + 1, 8));
    f_.plan.registers.reserve(2 * steps + 1);
    operand_regs_.reserve(steps + 1);
    done_.reserve(steps);
  }

  std::uint16_t value(Value& v, const AxisMap& m) {
    for (const Done& d : done_) {
      if (d.value != &v) continue;
      if (d.map == m) return d.reg;
      if (v.cost > 4) need(v);  // the same costly node in two orders: compute it once
    }
    const std::uint16_t reg = node(v, m);
    done_.push_back({&v, m, reg});
    f_.inlined.push_back(&v);
    return reg;
  }

  std::uint16_t input(const Input& in, const AxisMap& m, DType want) {
    std::uint16_t reg;
    if (!in.value)
      reg = constant(in.dtype, in.bits);
    else if (is_ready(*in.value))
      reg = load(in, m);
    else
      reg = pending(in, m);
    return cast(reg, want);
  }

  // For a loop over float16, computed in float32: operands that float16 cannot hold are rounded to it first.
  std::uint16_t input(const Input& in, const AxisMap& m, DType want, DType loop) {
    if (loop != DType::float16 || want != DType::float32 || can_cast_safely(in.dtype, loop)) return input(in, m, want);
    return cast(input(in, m, loop), want);
  }

  // The root's own computation, never served from memory.
  std::uint16_t node(Value& v, const AxisMap& m) {
    const Node& n = *v.node;
    switch (n.kind) {
      case Kind::fill:
        return cast(constant(n.in[0].dtype, n.in[0].bits), v.dtype);
      case Kind::iota:
        return cast(counter(n, m), v.dtype);
      case Kind::map:
        return operation(v, n, m);
      case Kind::reduce:
        need(v);
        return 0;
    }
    return 0;
  }

  Fusion take() { return std::move(f_); }
  Fusion& fusion() { return f_; }
  bool failed() const { return !f_.first.empty(); }
  std::size_t steps() const { return f_.plan.tape.size(); }
  std::size_t operands() const { return operand_regs_.size(); }

  // Forgets everything since `steps` steps and so many inlined values, when a sibling turns out not to fit.
  struct Mark {
    Plan plan;
    std::vector<Value*> origins;
    std::size_t inlined, done, loads;
    std::vector<std::uint16_t> operand_regs;
  };
  Mark mark() const { return {f_.plan, f_.origins, f_.inlined.size(), done_.size(), f_.loads.size(), operand_regs_}; }
  void rewind(Mark m) {
    f_.plan = std::move(m.plan);
    f_.origins = std::move(m.origins);
    f_.inlined.resize(m.inlined);
    done_.resize(m.done);
    f_.loads.resize(m.loads);
    operand_regs_ = std::move(m.operand_regs);
    f_.first.clear();
  }

 private:
  struct Done {
    Value* value;
    AxisMap map;
    std::uint16_t reg;
  };

  bool is_ready(const Value& v) const {
    return v.ready() || (assumed_ && std::find(assumed_->begin(), assumed_->end(), &v) != assumed_->end());
  }

  void need(Value& v) {
    if (std::find(f_.first.begin(), f_.first.end(), &v) == f_.first.end()) f_.first.push_back(&v);
  }

  std::uint16_t add_operand(Operand o, Value* v) {
    for (std::size_t i = 0; i < f_.plan.operands.size(); ++i) {
      const Operand& p = f_.plan.operands[i];
      if (p.kind == o.kind && p.dtype == o.dtype && p.data == o.data && p.start == o.start && p.strides == o.strides &&
          std::memcmp(p.bits, o.bits, sizeof o.bits) == 0 && f_.loads[i] == v)
        return operand_regs_[i];
    }
    const std::uint16_t reg = new_register(o.dtype);
    f_.plan.operands.push_back(std::move(o));
    f_.loads.push_back(v);
    operand_regs_.push_back(reg);
    return reg;
  }

  // Strides over the kernel's axes of something that has `strides` over the node's axes, and the shift that flips
  // cause.
  std::pair<Dims, std::int64_t> along(const Dims& strides, const AxisMap& m) const {
    Dims out(m.axis.size(), 0);
    std::int64_t shift = 0;
    for (int k = 0; k < out.size(); ++k) {
      const int i = static_cast<int>(m.axis[k]);
      if (i < 0) continue;
      const std::int64_t s = strides[i];
      if (m.flips(k)) {
        shift += s * (f_.plan.shape[k] - 1);
        out[k] = -s;
      } else {
        out[k] = s;
      }
    }
    return {out, shift};
  }

  std::uint16_t load(const Input& in, const AxisMap& m) {
    auto [strides, shift] = along(in.view.strides, m);
    for (int k = 0; k < strides.size(); ++k)
      if (f_.plan.shape[k] == 1) strides[k] = 0;
    Operand o{Operand::Kind::memory, in.dtype};
    o.data = reinterpret_cast<const void*>(in.view.offset + shift);
    o.strides = strides;
    // Memory from outside may hold other bytes than 1 for true.
    const bool raw = in.dtype == DType::bool_ && in.value->ready() && in.value->buffer->foreign();
    if (raw) o.dtype = DType::uint8;
    const std::uint16_t reg = add_operand(std::move(o), in.value.get());
    return raw ? cast(reg, DType::bool_) : reg;
  }

  std::uint16_t constant(DType t, const std::byte* bits) {
    Operand o{Operand::Kind::constant, t};
    std::memcpy(o.bits, bits, static_cast<std::size_t>(itemsize(t)));
    return add_operand(std::move(o), nullptr);
  }

  std::uint16_t counter(const Node& n, const AxisMap& m) {
    auto [strides, shift] = along(n.weights, m);
    Operand o{Operand::Kind::iota, DType::int64};
    o.strides = strides;
    o.start = n.start + shift;
    return add_operand(std::move(o), nullptr);
  }

  std::uint16_t pending(const Input& in, const AxisMap& m) {
    Value& p = *in.value;
    // What should be elsewhere is computed there, so that its bits do not depend on who reads it.
    const bool away = !p.wish.automatic() && !(p.wish == wish_);
    if (p.node->kind == Kind::reduce || in.dtype != p.dtype || away) {
      need(p);
      return new_register(in.dtype);
    }
    auto r = reach(in.view, p.layout);
    if (!r || (r->broadcast && p.cost > 4)) {
      need(p);
      return new_register(in.dtype);
    }
    return value(p, compose(m, r->map));
  }

  std::uint16_t operation(Value& v, const Node& n, const AxisMap& m) {
    if (n.op == Op::cast) {
      const std::uint16_t from = input(n.in[0], m, n.in[0].dtype);
      return cast(from, v.dtype, &v, Op::cast);
    }
    const DType compute = compute_dtype(n.op, n.loop);
    const OpInfo& row = info(n.op);
    Instruction step{n.op, compute};
    step.policy = n.policy;
    for (std::size_t i = 0; i < n.in.size(); ++i) {
      DType want = compute;
      if (n.op == Op::where && i == 0) want = DType::bool_;
      if (row.int_second && i == 1) want = DType::int64;
      step.in[i] = input(n.in[i], m, want, n.loop);
    }
    std::uint16_t result = 0;
    bool found = false;
    for (const Instruction& old : f_.plan.tape)
      if (old.op == step.op && old.loop == step.loop && std::equal(old.in, old.in + row.nin, step.in)) {
        result = old.out[n.which];
        found = true;
        break;
      }
    if (!found) {
      for (int k = 0; k < row.nout; ++k) step.out[k] = new_register(result_dtype(n.op, k, compute));
      f_.plan.tape.push_back(step);
      f_.origins.push_back(&v);
      result = step.out[n.which];
    }
    // A float16 loop rounds its result to float16 before anything else sees it.
    return cast(cast(result, result_dtype(n.op, n.which, n.loop), &v, n.op), v.dtype, &v, n.op);
  }

  // `v`, unless null, is whose floating-point flags the cast raises, under the name of `blame`.
  std::uint16_t cast(std::uint16_t reg, DType to, Value* v = nullptr, Op blame = Op::cast) {
    const DType from = f_.plan.registers[reg];
    if (from == to) return reg;
    for (const Instruction& old : f_.plan.tape)
      if (old.op == Op::cast && old.in[0] == reg && f_.plan.registers[old.out[0]] == to) return old.out[0];
    Instruction step{Op::cast, from};
    step.in[0] = reg;
    step.out[0] = new_register(to);
    if (v) step.policy = v->node->policy;
    step.blame = blame;
    f_.plan.tape.push_back(step);
    f_.origins.push_back(v);
    return step.out[0];
  }

  std::uint16_t new_register(DType t) {
    f_.plan.registers.push_back(t);
    return static_cast<std::uint16_t>(f_.plan.registers.size() - 1);
  }

  Fusion f_;
  std::vector<Done> done_;
  const std::vector<Value*>* assumed_;
  const Device wish_;
  std::vector<std::uint16_t> operand_regs_;

  friend Fusion finish(Lowering&);
};

// Registers of operands come first in a plan; lowering numbered them as they were met.
void number_operands_first(Plan& plan, const std::vector<std::uint16_t>& operand_regs,
                           std::vector<std::uint16_t*> refs) {
  std::vector<std::uint16_t> to(plan.registers.size());
  std::vector<bool> is_operand(plan.registers.size(), false);
  std::uint16_t next = 0;
  for (std::uint16_t r : operand_regs) {
    to[r] = next++;
    is_operand[r] = true;
  }
  for (std::size_t r = 0; r < to.size(); ++r)
    if (!is_operand[r]) to[r] = next++;
  std::vector<DType> registers(to.size());
  for (std::size_t r = 0; r < to.size(); ++r) registers[to[r]] = plan.registers[r];
  plan.registers = std::move(registers);
  for (Instruction& s : plan.tape) {
    for (int i = 0; i < info(s.op).nin; ++i) s.in[i] = to[s.in[i]];
    for (int i = 0; i < info(s.op).nout; ++i) s.out[i] = to[s.out[i]];
  }
  for (std::uint16_t* r : refs) *r = to[*r];
}

Fusion finish(Lowering& l) {
  std::vector<std::uint16_t*> refs;
  for (Output& o : l.f_.plan.outputs) refs.push_back(&o.reg);
  for (Reduction& r : l.f_.plan.reductions) refs.push_back(&r.reg);
  number_operands_first(l.f_.plan, l.operand_regs_, refs);
  return l.take();
}

// Pending Values above `p` that somebody holds and that share the kernel's domain: computing them now spares computing
// `p` again.
void live_consumers(const Value& p, const Dims& domain, std::vector<Value*>& out, int levels) {
  for (Value* r : p.readers) {
    if (r->refs.load() == 0 || !r->node || r->node->kind != Kind::map || !(r->node->domain == domain)) continue;
    if (has_handle(*r)) {
      if (std::find(out.begin(), out.end(), r) == out.end()) out.push_back(r);
    } else if (levels > 0) {
      live_consumers(*r, domain, out, levels - 1);
    }
    if (out.size() > 16) return;
  }
}

void add_output(Fusion& f, Value& v, std::uint16_t reg, const Dims& strides) {
  f.plan.outputs.push_back({reg, v.dtype, nullptr, strides, true, false});
  f.saved.push_back(&v);
}

// Whether every element lies at a multiple of its dtype's alignment. A temporary does.
bool is_aligned(const Input& in) {
  const std::int64_t part = itemsize(real_dtype(in.dtype));
  if (!in.value || !in.value->ready()) return true;
  const Buffer& b = *in.value->buffer;
  auto bits = static_cast<std::uintptr_t>(in.view.offset);
  if (b.foreign()) bits += reinterpret_cast<std::uintptr_t>(b.address(b.home()));
  for (int k = 0; k < in.view.ndim(); ++k)
    if (in.view.shape[k] > 1) bits |= static_cast<std::uintptr_t>(in.view.strides[k]);
  return bits % static_cast<std::uintptr_t>(part) == 0;
}

Fusion lower_reduction(Value& root, const std::vector<Value*>* assumed) {
  const Node& n = *root.node;
  Lowering l(root, assumed);
  const DType compute = compute_dtype(n.op, n.loop);
  const std::uint16_t reg = l.input(n.in[0], identity(n.domain.size()), compute, n.loop);
  if (l.failed()) return l.take();
  // A live producer is written before it is folded, unless it is cheap and was not recomputed before: the reduction's
  // kernel has no other output.
  for (Value* v : l.fusion().inlined) {
    if (!has_handle(*v) || (v->generator && v->cost <= kCheap)) continue;
    if (v->cost <= kCheap && v->skipped == 0) {
      if (!assumed) v->skipped = 1;
      continue;
    }
    l.fusion().first = {v};
    return l.take();
  }
  Reduction r{n.op, compute, reg, n.reduced, root.dtype, nullptr, Dims(n.domain.size(), 0), n.has_initial};
  r.policy = n.policy;
  r.round_to_half = compute != n.loop;
  if (n.has_initial) std::memcpy(r.initial, n.in[1].bits, sizeof r.initial);
  for (int k = 0, j = 0; k < n.domain.size(); ++k)
    if (!(n.reduced >> k & 1)) r.strides[k] = root.layout.strides[j++];
  r.input_strides = n.in[0].view.strides;
  r.buffered = n.in[0].dtype != n.loop || !is_aligned(n.in[0]);
  l.fusion().plan.reductions.push_back(std::move(r));
  l.fusion().saved.push_back(&root);
  return finish(l);
}

}  // namespace

Fusion lower(Value& root, const std::vector<Value*>* assumed, bool alone) {
  if (root.node->kind == Kind::reduce) return lower_reduction(root, assumed);
  const Dims domain = root.node->domain;
  const AxisMap id = identity(domain.size());
  Lowering l(root, assumed);
  const std::uint16_t reg = l.value(root, id);
  l.fusion().inlined.pop_back();  // the root itself
  if (l.failed()) return l.take();
  if (l.operands() > kMaxOperands) {
    // Too many arrays for one kernel: split at the direct producers.
    for (const Input& in : root.node->in)
      if (in.value && !in.value->ready()) l.fusion().first.push_back(in.value.get());
    if (l.failed()) return l.take();
  }
  add_output(l.fusion(), root, reg, root.layout.strides);
  if (alone) return finish(l);

  const Settings s = settings();
  const std::vector<Value*> inner = l.fusion().inlined;
  std::vector<Value*> siblings;
  for (Value* v : inner)
    if (v->cost >= kWorthSharing) live_consumers(*v, domain, siblings, 8);
  const std::size_t sharing = siblings.size();
  // The other result of the same step: a second output that costs nothing.
  const Value* const operand = info(root.node->op).nout == 2 ? root.node->in[0].value.get() : nullptr;
  if (operand) live_consumers(*operand, domain, siblings, 0);
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    Value* const v = siblings[i];
    if (i >= sharing && v->node->op != root.node->op) continue;
    if (l.fusion().saved.size() >= kMaxOutputs) break;
    if (!(v->wish == root.wish)) continue;
    auto& f = l.fusion();
    if (std::find(f.saved.begin(), f.saved.end(), v) != f.saved.end() ||
        std::find(f.inlined.begin(), f.inlined.end(), v) != f.inlined.end())
      continue;
    auto before = l.mark();
    const auto steps = l.steps();
    const std::uint16_t r = l.value(*v, id);
    if (l.failed() || l.operands() > kMaxOperands || static_cast<int>(l.steps()) > s.fusion_limit ||
        (i >= sharing && l.steps() != steps)) {
      l.rewind(std::move(before));
      continue;
    }
    f.inlined.pop_back();
    add_output(f, *v, r, v->layout.strides);
  }
  // Inner values that somebody holds: written now when they are costly or were recomputed before, else recomputed once.
  Fusion& f = l.fusion();
  const std::vector<Value*> all = f.inlined;
  for (Value* v : all) {
    if (!has_handle(*v) || (v->generator && v->cost <= kCheap) || !(v->node->domain == domain)) continue;
    if (v->cost <= kCheap && v->skipped == 0) {
      if (!assumed) v->skipped = 1;
      continue;
    }
    if (f.saved.size() >= kMaxOutputs || std::find(f.saved.begin(), f.saved.end(), v) != f.saved.end()) continue;
    auto before = l.mark();
    const std::uint16_t r = l.value(*v, id);
    if (l.failed() || f.inlined.size() != before.inlined) {  // it was inlined in another order only
      l.rewind(std::move(before));
      continue;
    }
    add_output(f, *v, r, v->layout.strides);
    f.inlined.erase(std::find(f.inlined.begin(), f.inlined.end(), v));
  }
  return finish(l);
}

void resolve(Plan& plan, const std::vector<Value*>& loads, Device d) {
  for (std::size_t i = 0; i < loads.size(); ++i)
    if (loads[i])
      plan.operands[i].data = loads[i]->buffer->address(d) + reinterpret_cast<std::intptr_t>(plan.operands[i].data);
}

void canonicalize(Plan& plan) {
  const int n = plan.shape.size();
  const bool folding = !plan.reductions.empty();
  // Order of the axes in memory: of the folded array, or of the first result.
  View lead{plan.shape, folding ? plan.reductions[0].input_strides : plan.outputs[0].strides, 0};
  std::vector<View> views;
  std::vector<const View*> order_by;
  order_by.reserve(1 + plan.operands.size());
  order_by.push_back(&lead);
  if (!folding) {
    views.reserve(plan.operands.size());
    for (const Operand& o : plan.operands)
      if (o.kind == Operand::Kind::memory) order_by.push_back(&views.emplace_back(View{plan.shape, o.strides, 0}));
  }
  const bool ordered =
      !folding && std::any_of(plan.outputs.begin(), plan.outputs.end(), [](auto& o) { return o.ordered; });
  Dims order = ordered ? Dims() : memory_order(n, order_by);
  if (ordered)
    for (int k = 0; k < n; ++k) order.push_back(k);

  struct Lane {
    Dims* strides;
    Dims old;
    const void** data;
    std::int64_t* start;
  };
  std::vector<Lane> lanes;
  lanes.reserve(plan.operands.size() + plan.outputs.size() + 2 * plan.reductions.size());
  for (Operand& o : plan.operands) {
    if (o.kind == Operand::Kind::constant) o.strides = Dims(n, 0);
    lanes.push_back({&o.strides, o.strides, o.kind == Operand::Kind::memory ? &o.data : nullptr,
                     o.kind == Operand::Kind::iota ? &o.start : nullptr});
  }
  std::vector<const void*> out_data;
  out_data.reserve(plan.outputs.size());
  for (Output& o : plan.outputs) {
    out_data.push_back(o.data);
    lanes.push_back({&o.strides, o.strides, &out_data.back(), nullptr});
  }
  for (Reduction& r : plan.reductions) {
    lanes.push_back({&r.strides, r.strides, nullptr, nullptr});
    lanes.push_back({&r.input_strides, r.input_strides, nullptr, nullptr});
  }
  const Dims shape = plan.shape;
  const std::uint64_t reduced = folding ? plan.reductions[0].reduced : 0;
  std::uint64_t kept_reduced = 0;  // of the axes of the plan's new shape
  plan.shape.clear();
  for (Lane& l : lanes) l.strides->clear();
  for (int q = 0; q < n; ++q) {
    const int k = static_cast<int>(order[q]);
    if (shape[k] == 1) continue;
    const bool is_reduced = reduced >> k & 1;
    if (!folding && !ordered && lead.strides[k] < 0) {
      for (Lane& l : lanes) {
        const std::int64_t shift = l.old[k] * (shape[k] - 1);
        if (l.data) *l.data = static_cast<const char*>(*l.data) + shift;
        if (l.start) *l.start += shift;
        l.old[k] = -l.old[k];
      }
    }
    // Merge with the axis outside when every lane steps through both as through one.
    bool merge = plan.shape.size() > 0 && (kept_reduced >> (plan.shape.size() - 1) & 1) == is_reduced;
    for (const Lane& l : lanes) merge = merge && l.strides->back() == l.old[k] * shape[k];
    if (merge) {
      plan.shape.back() *= shape[k];
      for (Lane& l : lanes) l.strides->back() = l.old[k];
    } else {
      plan.shape.push_back(shape[k]);
      for (Lane& l : lanes) l.strides->push_back(l.old[k]);
      kept_reduced |= std::uint64_t{is_reduced} << (plan.shape.size() - 1);
    }
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) plan.outputs[i].data = const_cast<void*>(out_data[i]);
  if (folding) plan.reductions[0].reduced = kept_reduced;
}

}  // namespace galop::graph
