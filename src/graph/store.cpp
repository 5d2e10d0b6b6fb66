// Writing into storage that views share: rules R2 (full write), R3 (partial write) and R6 (overlapping destination).
#include <algorithm>
#include <cstring>

#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/engine.hpp"
#include "graph/build.hpp"
#include "graph/evaluate.hpp"
#include "graph/place.hpp"

namespace galop::graph {
namespace {

// A Pending copy of `value` whose elements lie as `dst` says: the root of the kernel that performs a write.
Ref<Value> store_node(const array& dst, const array& value) {
  const Value& old = *dst.cell()->value;
  auto node = std::make_unique<Node>();
  node->kind = Kind::map;
  node->op = Op::cast;
  node->loop = value.dtype();
  node->domain = dst.shape();
  node->policy = faults::policy();
  Input& in = node->in.add();
  in.value = value.cell()->value;
  in.view = broadcast_view("setitem", value.view(), dst.shape());
  in.dtype = value.dtype();
  Ref<Value> v(new Value(dst.dtype(), dst.view(), old.bytes));
  v->wish = scope_device().automatic() ? old.wish : scope_device();
  Value& below = *node->in[0].value;
  v->operations = below.operations + 1;
  v->depth = below.depth + 1;
  v->cost = below.cost + 1;
  v->node = std::move(node);
  below.readers.push_back(v.get());
  return v;
}

// Evaluates producers until the write is one kernel, which has the write alone as output.
Fusion lower_store(Value& root) {
  for (;;) {
    Fusion f = lower(root, nullptr, true);
    if (f.first.empty()) return f;
    for (Value* p : f.first) force(*p);
  }
}

// A kernel that reads the storage through another map than the one it writes by must not write in place.
bool clashes(const Fusion& f, const Value& target, const array& dst) {
  const std::int64_t work = settings().overlap_maybe ? 0 : 1;
  const Buffer& to = *target.buffer;
  const auto [dl, dh] = byte_bounds(dst.view(), dst.itemsize());
  for (std::size_t i = 0; i < f.loads.size(); ++i) {
    const Value* w = f.loads[i];
    if (!w) continue;
    const Operand& in = f.plan.operands[i];
    View v{f.plan.shape, in.strides, reinterpret_cast<std::int64_t>(in.data)};
    if (w != &target) {
      // Foreign wrappers may share memory without sharing a Value.
      const Buffer& from = *w->buffer;
      if ((!from.foreign() && !to.foreign()) || !(from.home() == to.home())) continue;
      v.offset += from.address(from.home()) - to.address(to.home());
      const auto [l, h] = byte_bounds(v, itemsize(in.dtype));
      if (l < dh && dl < h) return true;
      continue;
    }
    if (itemsize(in.dtype) == dst.itemsize() && same_map(v, {f.plan.shape, dst.strides(), dst.view().offset})) continue;
    if (overlap(v, itemsize(in.dtype), dst.view(), dst.itemsize(), work) != Overlap::no) return true;
  }
  return false;
}

// The first index of `dst` along each axis of the layout when dst is a box of it, axis by axis with the same strides.
bool box_of(const View& dst, const View& layout, Dims& first) {
  if (dst.ndim() != layout.ndim()) return false;
  std::int64_t rest = dst.offset - layout.offset;
  first.clear();
  for (int k = 0; k < dst.ndim(); ++k) {
    if (layout.strides[k] <= 0 || (k > 0 && layout.strides[k] > layout.strides[k - 1])) return false;
    if (dst.strides[k] != layout.strides[k]) return false;
    first.push_back(rest / layout.strides[k]);
    rest %= layout.strides[k];
    if (first[k] < 0 || first[k] + dst.shape[k] > layout.shape[k]) return false;
  }
  return rest == 0;
}

// Copies a box of the layout, or two of them: the second one lies `apart` bytes behind the first.
void copy_box(Device d, const char* from, char* to, const View& layout, DType t, const Dims& low, const Dims& high,
              std::int64_t apart = 0) {
  Plan p;
  Operand o{Operand::Kind::memory, t};
  std::int64_t offset = layout.offset;
  if (apart != 0) {
    p.shape.push_back(2);
    o.strides.push_back(apart);
  }
  for (int k = 0; k < layout.ndim(); ++k) {
    if (high[k] <= low[k]) return;
    offset += low[k] * layout.strides[k];
    p.shape.push_back(high[k] - low[k]);
    o.strides.push_back(layout.strides[k]);
  }
  o.data = from + offset;
  p.operands.push_back(o);
  p.registers.push_back(t);
  p.outputs.push_back({0, t, to + offset, o.strides, true, false});
  canonicalize(p);
  backend_of(d).run(p);
}

// The contents of `old` with the kernel's results in the box at `first`, in a fresh buffer on `d`.
BufferPtr beside(const Fusion& f, const array& dst, Value& old, const Dims& first, Device d) {
  begin_step();
  for (Value* v : f.loads)
    if (v) v->buffer->read(d);
  const char* from = old.buffer->read(d);
  auto fresh = std::make_unique<Buffer>(old.bytes, d);
  char* to = fresh->address(d);
  Plan plan = f.plan;
  resolve(plan, f.loads, d);
  plan.outputs[0].data = to + dst.view().offset;
  canonicalize(plan);
  const interrupt::Scope scope(true);
  backend_of(d).run(plan);
  counters().kernels += 1;
  counters().bytes += plan_bytes(plan);
  Dims low(old.layout.ndim(), 0), high = old.layout.shape;
  for (int k = 0; k < old.layout.ndim(); ++k) {
    // The borders before and behind along axis k; as one where they are equally wide.
    const std::int64_t before = first[k], behind = old.layout.shape[k] - first[k] - dst.shape()[k];
    Dims cut = high;
    cut[k] = before;
    const bool both = before == behind && old.layout.ndim() < kMaxDims;
    copy_box(d, from, to, old.layout, old.dtype, low, cut,
             both ? (old.layout.shape[k] - before) * old.layout.strides[k] : 0);
    if (!both) {
      cut = low;
      cut[k] = high[k] - behind;
      copy_box(d, from, to, old.layout, old.dtype, cut, high);
    }
    low[k] = first[k];
    high[k] = first[k] + dst.shape()[k];
  }
  return fresh;
}

// Large write that reads its own storage: the new contents go into a second buffer, the rest is copied beside them, and
// the Cell moves over. It moves fewer bytes than a temporary and a copy back, and old readers keep their Value.
bool write_beside(const array& dst, Value& root, Value& old) {
  Dims first;
  if (2 * dst.size() < old.layout.size() || !box_of(dst.view(), old.layout, first) || old.dtype != dst.dtype())
    return false;
  Fusion f = lower_store(root);
  if (!old.ready()) return false;
  if (dst.size() >= 1 << 15) begin_long_work();
  FaultWatch watch(f);
  Ref<Value> next(new Value(old.dtype, old.layout, old.bytes));
  const Device d = place(f, &old);
  try {
    next->buffer = beside(f, dst, old, first, d);
  } catch (const MemoryError&) {
    return false;  // a temporary of the written part alone may still fit
  }
  watch.note(d);
  next->wish = old.wish;
  dst.cell()->value = std::move(next);
  return true;
}

// A small dense write that nobody else waits for is a plain copy.
bool write_small(const array& dst, const array& value) {
  Value& old = *dst.cell()->value;
  const Value& from = *value.cell()->value;
  if (dst.size() >= settings().eager_below || !old.ready() || !from.ready() || !old.readers.empty()) return false;
  if (dst.dtype() != value.dtype() || !(dst.shape() == value.shape()) || !dst.is_c_contiguous() ||
      !value.is_c_contiguous() || (value.dtype() == DType::bool_ && from.buffer->foreign()))
    return false;
  if (!old.buffer->home().is_cpu() || !from.buffer->home().is_cpu() || old.wish.kind == DeviceKind::cuda) return false;
  std::memmove(old.buffer->write(kCpu) + dst.view().offset, from.buffer->read(kCpu) + value.view().offset,
               static_cast<std::size_t>(dst.nbytes()));
  return true;
}

// A result that is still to be computed, that nobody else knows of and whose elements will lie as those of the whole
// destination, becomes its Value: `a += 1` is one operation.
bool take_over(const array& dst, array& value) {
  const Ref<Value>& next = value.cell()->value;
  Value& old = *dst.cell()->value;
  const Device wish = scope_device().automatic() ? old.wish : scope_device();
  if (next->ready() || value.cell()->refs.load() != 1 || next->refs.load() != 1 || !(next->wish == wish) ||
      next->dtype != dst.dtype() || old.dtype != dst.dtype() || next->bytes != old.bytes ||
      !same_map(value.view(), next->layout) || !same_map(next->layout, dst.view()))
    return false;
  dst.cell()->value = next;
  return true;
}

}  // namespace

void assign(const array& dst, array value, const array* where) {
  Lock lock;
  if (dst.size() == 0) return;
  Cell& cell = *dst.cell();
  // `a[i:j] += x` stores the view that it has just changed.
  if (!where && value.cell() == dst.cell() && value.dtype() == dst.dtype() && same_map(value.view(), dst.view()))
    return;
  if (where) {
    // As an operation of its own the cast raises flags.
    if (value.dtype() != dst.dtype() && faults::watched(faults::policy()) != 0) value = cast(value, dst.dtype());
    const MapOperand in[] = {{where, where->dtype(), {}}, {&value, value.dtype(), {}}, {&dst, dst.dtype(), {}}};
    value = map(Op::where, 0, dst.dtype(), dst.dtype(), in, dst.shape());
  }
  if (write_small(dst, value)) return;
  const bool outside = cell.shared_with_outside();
  if (!outside && take_over(dst, value)) return;
  if (!outside && dst.dtype() == cell.value->dtype && covers_once(dst.view(), dst.itemsize(), cell.value->bytes)) {
    const bool at_once = settings().eager || faults::stops(faults::policy()) || value.cell()->shared_with_outside() ||
                         value.cell()->value->readers.size() > kMaxReaders;
    Ref<Value> next = store_node(dst, value);
    if (next->operations > settings().fusion_limit) force(*value.cell()->value);
    cell.value = next;
    value = array();
    Value* raw = next.get();
    next = Ref<Value>();
    if (at_once || raw->depth > 48) force(*raw);
    return;
  }
  Value& old = *cell.value;
  force(old);
  Ref<Value> root = store_node(dst, value);
  const bool crossed = has_internal_overlap(dst.view(), dst.itemsize());
  {
    Fusion f = lower_store(*root);
    if (crossed || clashes(f, old, dst)) {
      if (!outside && !crossed && write_beside(dst, *root, old)) return;
      counters().temporaries += 1;
      root = Ref<Value>();
      // A Value of its own, so that nothing of the destination is read any more when it is written.
      if (value.cell()->value->ready()) value = cast(value, value.dtype());
      force(*value.cell()->value);
      root = store_node(dst, value);
    }
  }
  // What nobody but this write can reach, nor read, need not see the old elements afterwards.
  Value* below = value.cell()->value.get();
  const bool ours = value.cell()->refs.load() == 1 && below->refs.load() == 2 && below->readers.size() == 1;
  force_readers(old, dst.view(), dst.itemsize(), {root.get(), ours ? below : nullptr});
  Fusion f = lower_store(*root);
  store(f, old, crossed);
}

}  // namespace galop::graph
