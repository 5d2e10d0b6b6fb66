// The plan of the whole, with its axes cut to those of the view.
#include "graph/part.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/interrupt.hpp"
#include "galop/error.hpp"
#include "graph/evaluate.hpp"

namespace galop::graph {
namespace {

// Where a view begins in the axes of a layout, and along which of them its own axes go, in how large steps.
struct Cut {
  Dims begin;  // for each axis of the layout
  Dims axis;   // for each axis of the view the layout's, or -1: it repeats
  Dims step;

  std::int64_t offset(const Dims& strides) const {
    return std::inner_product(begin.begin(), begin.end(), strides.begin(), std::int64_t{0});
  }
  Dims strides(const Dims& of_layout) const {
    Dims s;
    for (int k = 0; k < axis.size(); ++k) s.push_back(axis[k] < 0 ? 0 : step[k] * of_layout[static_cast<int>(axis[k])]);
    return s;
  }
};

std::optional<Cut> cut(const View& view, const View& layout) {
  const int n = layout.shape.size();
  Cut c{Dims(n, 0), {}, {}};
  std::int64_t rest = view.offset - layout.offset;
  Dims order;  // axes, the largest stride first
  for (int k = 0; k < n; ++k)
    if (layout.shape[k] > 1) order.push_back(k);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    return std::abs(layout.strides[static_cast<int>(a)]) > std::abs(layout.strides[static_cast<int>(b)]);
  });
  for (const std::int64_t a : order) {
    const int k = static_cast<int>(a);
    if (layout.strides[k] < 0) return std::nullopt;
    c.begin[k] = rest / layout.strides[k];
    rest %= layout.strides[k];
  }
  if (rest != 0) return std::nullopt;  // a part of an element
  Dims first = c.begin, last = c.begin;
  for (int j = 0; j < view.shape.size(); ++j) {
    int found = -1;
    for (const std::int64_t a : order)
      if (view.shape[j] > 1 && view.strides[j] != 0 && view.strides[j] % layout.strides[static_cast<int>(a)] == 0) {
        found = static_cast<int>(a);
        break;
      }
    if (view.shape[j] > 1 && view.strides[j] != 0 && found < 0) return std::nullopt;
    c.axis.push_back(found);
    c.step.push_back(found < 0 ? 0 : view.strides[j] / layout.strides[found]);
    if (found >= 0) (c.step[j] < 0 ? first : last)[found] += c.step[j] * (view.shape[j] - 1);
  }
  for (int k = 0; k < n; ++k)
    if (first[k] < 0 || last[k] >= layout.shape[k]) return std::nullopt;  // it wraps around
  return c;
}

}  // namespace

std::optional<array> compute_part(const array& a) {
  Lock lock;
  Value& v = *a.cell()->value;
  if (v.ready() || a.dtype() != v.dtype || a.size() == 0 || !(v.wish.automatic() || v.wish.is_cpu()))
    return std::nullopt;
  const Ref<Value> hold(&v);
  Fusion f = lower(v, nullptr, true);
  while (!f.first.empty()) {
    std::vector<Ref<Value>> first;
    for (Value* p : f.first)
      if (p != &v) first.emplace_back(p);
    if (first.empty()) return std::nullopt;
    for (const auto& p : first) force(*p);
    f = lower(v, nullptr, true);
  }
  if (!f.plan.reductions.empty() || f.plan.outputs.size() != 1 || f.plan.shape != v.layout.shape) return std::nullopt;
  const std::optional<Cut> c = cut(a.view(), v.layout);
  if (!c) return std::nullopt;
  Plan& plan = f.plan;
  for (Operand& o : plan.operands) {
    if (o.kind == Operand::Kind::constant) continue;
    if (o.kind == Operand::Kind::iota)
      o.start += c->offset(o.strides);
    else
      o.data = reinterpret_cast<const void*>(reinterpret_cast<std::int64_t>(o.data) + c->offset(o.strides));
    o.strides = c->strides(o.strides);
  }
  plan.shape = a.shape();
  // Flags are told when the whole is computed.
  for (Instruction& i : plan.tape) i.policy = 0;
  const array result = make_empty(a.shape(), a.dtype(), Place{kCpu, v.wish});
  for (Value* w : f.loads)
    if (w) w->buffer->read(kCpu);
  resolve(plan, f.loads, kCpu);
  Output& out = plan.outputs[0];
  out.data = write_pointer(result);
  out.strides = result.strides();
  out.fresh = true;
  const interrupt::Scope scope(true);
  canonicalize(plan);
  backend_of(kCpu).run(plan);
  counters().kernels += 1;
  counters().bytes += plan_bytes(plan);
  return result;
}

array computed(const array& a) {
  try {
    force(a);
  } catch (const MemoryError&) {
    if (auto part = compute_part(a)) return *part;
    throw;
  }
  return a;
}

}  // namespace galop::graph
