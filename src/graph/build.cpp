// Building expressions: every node of the graph is made here.
#include "graph/build.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/engine.hpp"
#include "graph/evaluate.hpp"
#include "graph/place.hpp"
#include "graph/small.hpp"

namespace galop::graph {
namespace {

constexpr int kMaxDepth = 48;
constexpr int kMostCost = 1 << 20;  // of a graph whose nodes are counted once for each path

array handle(Ref<Value> v, View view, DType t) {
  auto* cell = new Cell(std::move(v));
  cell->retain();
  return array(cell, std::move(view), t);
}

// Distinct Pending Values below, the node itself included; stops counting above `limit`.
int pending_operations(const Node& node, int limit) {
  std::vector<const Value*> seen;
  std::vector<const Node*> stack{&node};
  int n = 0;
  while (!stack.empty()) {
    const Node* top = stack.back();
    stack.pop_back();
    if (top->kind == Kind::map && ++n > limit) return n;
    for (const Input& in : top->in) {
      const Value* v = in.value.get();
      if (!v || v->ready() || std::find(seen.begin(), seen.end(), v) != seen.end()) continue;
      seen.push_back(v);
      stack.push_back(v->node.get());
    }
  }
  return n;
}

bool streams(const Value& v) { return v.ready() ? v.buffer->immutable() : v.streams; }

// Links a node to its inputs and applies the limits of laziness.
array finish(std::unique_ptr<Node> node, DType t, View layout, bool at_once) {
  const std::int64_t bytes = layout.size() * itemsize(t);
  const Settings& s = settings();
  if (node->kind == Kind::map || node->kind == Kind::reduce) {
    node->policy = faults::policy();
    at_once = at_once || faults::stops(node->policy);
  }
  int operations = node->kind == Kind::map, depth = 1, own = cost(node->op);
  if (node->kind == Kind::fill || node->kind == Kind::iota || node->op == Op::cast) own = 1;
  bool generator = node->kind != Kind::reduce, streaming = false;
  int total = own;
  Device wish = scope_device();
  const bool scoped = !wish.automatic();
  for (const Input& in : node->in) {
    Value* v = in.value.get();
    if (!v) continue;
    if (!scoped) wish = joint_wish(wish, v->wish);
    generator = generator && v->generator && !v->ready();
    streaming = streaming || streams(*v);
    operations += v->operations;
    depth = std::max(depth, v->depth + 1);
    total = std::min(total + v->cost, kMostCost);
    at_once = at_once || v->readers.size() > kMaxReaders;
  }
  if (operations > s.fusion_limit || depth > kMaxDepth) {
    operations = pending_operations(*node, s.fusion_limit);
    if (operations > s.fusion_limit || depth > kMaxDepth) {
      for (Input& in : node->in)
        if (in.value) force(*in.value);
      operations = depth = 1;
      total = own;
      generator =
          generator && std::none_of(node->in.begin(), node->in.end(), [](const Input& in) { return in.value.get(); });
    }
  }
  Ref<Value> v(new Value(t, std::move(layout), bytes));
  v->operations = operations;
  v->depth = depth;
  v->cost = total;
  v->generator = generator;
  v->streams = streaming;
  v->wish = wish.automatic() ? new_wish() : wish;
  v->node = std::move(node);
  for (Input& in : v->node->in)
    if (in.value) in.value->readers.push_back(v.get());
  Value* raw = v.get();
  View view = v->layout;
  array a = handle(std::move(v), std::move(view), t);
  if (s.eager || at_once) force(*raw);
  return a;
}

// An array that can never exist is refused where it is asked for, although nothing is allocated yet.
void require_capacity(std::string_view op, const Dims& shape, DType t) {
  const std::int64_t bytes = checked_size(op, shape, itemsize(t)) * itemsize(t);
  std::int64_t most = cpu_backend().capacity();
  if (bytes <= most) return;
  if (const Device d = new_wish(); d.kind == DeviceKind::cuda) most = std::max(most, backend_of(d).capacity());
  if (bytes > most)
    throw MemoryError("[memory] the machine has " + std::to_string(most >> 20) + " MiB; got an array of " +
                      std::to_string(bytes) + " bytes with shape " + to_string(shape) + " and dtype " +
                      std::string(name(t)));
}

void add_input(Node& node, const array& a, View view) {
  Input& in = node.in.add();
  in.value = a.cell()->value;
  in.view = std::move(view);
  in.dtype = a.dtype();
}
void add_input(Node& node, const MapOperand& number) {
  Input& in = node.in.add();
  in.dtype = number.t;
  std::memcpy(in.bits, number.bits, sizeof in.bits);
}

}  // namespace

namespace {
// A Cell, counted once, of a Ready Value that lies as `layout`, a View or the shape of C order, says.
template <class Layout>
Cell* make_cell(const Layout& layout, DType t, std::int64_t bytes, const Place& place) {
  Lock lock;
  Ref<Value> v(new Value(t, layout, bytes));
  v->wish = place.wish;
  v->born_ready = true;
  v->buffer = std::make_unique<Buffer>(bytes, place.device);
  auto* cell = new Cell(std::move(v));
  cell->retain();
  return cell;
}
}  // namespace

Cell* new_cell(const Dims& shape, DType t, std::int64_t bytes, const Place& place) {
  if (place.device.is_cpu() && bytes <= kMostInBlock) return make_block(t, shape, bytes, place.wish);
  return make_cell(shape, t, bytes, place);
}

array make_empty(const View& layout, DType t, std::int64_t bytes, const Place& place) {
  return array(make_cell(layout, t, bytes, place), layout, t);
}

array make_ready(const Dims& shape, DType t, std::unique_ptr<Buffer> buffer, Device wish) {
  Lock lock;
  const View layout = c_view(shape, itemsize(t));
  Ref<Value> v(new Value(t, layout, buffer->bytes()));
  v->wish = wish;
  v->born_ready = true;
  v->buffer = std::move(buffer);
  return handle(std::move(v), layout, t);
}

array make_empty(const View& layout, DType t, std::int64_t bytes) {
  return make_empty(layout, t, bytes, {kCpu, new_wish()});
}

array make_empty(const Dims& shape, DType t, const Place& place) {
  std::int64_t bytes = itemsize(t);
  for (std::int64_t d : shape) bytes *= d;
  return array(new_cell(shape, t, bytes, place), shape, t);
}

array make_empty(const Dims& shape, DType t) { return make_empty(shape, t, {kCpu, new_wish()}); }

namespace {
array wrap_foreign(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable, bool immutable,
                   std::function<void()> owner, Device d) {
  Lock lock;
  View view{shape, strides, 0};
  const auto [low, high] = byte_bounds(view, itemsize(t));
  view.offset = -low;
  Ref<Value> v(new Value(t, view, high - low));
  if (!d.is_cpu()) v->wish = d;
  v->born_ready = true;
  v->buffer =
      std::make_unique<Buffer>(static_cast<char*>(data) + low, high - low, d, !writeable, immutable, std::move(owner));
  array a = handle(std::move(v), view, t);
  a.set_writeable(writeable);
  return a;
}
}  // namespace

array wrap(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable, std::function<void()> owner,
           Device d) {
  return wrap_foreign(data, t, shape, strides, writeable, false, std::move(owner), d);
}

array wrap_immutable(const void* data, DType t, const Dims& shape, const Dims& strides, std::function<void()> owner) {
  return wrap_foreign(const_cast<void*>(data), t, shape, strides, false, true, std::move(owner), kCpu);
}

array fill(const Dims& shape, DType t, const void* bits) {
  Lock lock;
  require_capacity("full", shape, t);
  if (Cell* r = fill_small(shape, t, bits)) return array(r, shape, t);
  View layout = c_view(shape, itemsize(t));
  if (layout.size() == 0) return make_empty(shape, t);
  auto node = std::make_unique<Node>();
  node->kind = Kind::fill;
  node->loop = t;
  node->domain = shape;
  Input& in = node->in.add();
  in.dtype = t;
  std::memcpy(in.bits, bits, static_cast<std::size_t>(itemsize(t)));
  return finish(std::move(node), t, std::move(layout), false);
}

array iota(const Dims& shape, const Dims& weights, std::int64_t start) {
  Lock lock;
  require_capacity("arange", shape, DType::int64);
  View layout = c_view(shape, 8);
  if (layout.size() == 0) return make_empty(shape, DType::int64);
  auto node = std::make_unique<Node>();
  node->kind = Kind::iota;
  node->loop = DType::int64;
  node->domain = shape;
  node->weights = weights;
  node->start = start;
  return finish(std::move(node), DType::int64, std::move(layout), false);
}

array map(Op op, int which, DType loop, DType result, std::span<const MapOperand> operands, const Dims& shape) {
  {
    Lock lock;
    if (Cell* r = map_small(op, loop, result, operands, shape)) return array(r, shape, result);
  }
  return map_later(op, which, loop, result, operands, shape);
}

array map_later(Op op, int which, DType loop, DType result, std::span<const MapOperand> operands, const Dims& shape) {
  Lock lock;
  // What is computed from mapped files need never be in memory as a whole.
  bool streaming = false;
  for (const MapOperand& o : operands) streaming = streaming || (o.a && streams(*o.a->cell()->value));
  if (streaming)
    checked_size(info(op).name, shape, itemsize(result));
  else
    require_capacity(info(op).name, shape, result);
  View views[3];
  const View* arrays[3];
  std::size_t many = 0;
  bool at_once = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].a) continue;
    const array& a = *operands[i].a;
    views[i] = broadcast_view(info(op).name, a.view(), shape);
    arrays[many++] = &views[i];
    at_once = at_once || a.cell()->shared_with_outside();
  }
  View layout{shape, keep_order_strides(shape, itemsize(result), std::span(arrays).first(many)), 0};
  if (layout.size() == 0) return make_empty(layout, result, 0);
  auto node = std::make_unique<Node>();
  node->kind = Kind::map;
  node->op = op;
  node->which = static_cast<std::uint8_t>(which);
  node->loop = loop;
  node->domain = shape;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].a)
      add_input(*node, *operands[i].a, std::move(views[i]));
    else
      add_input(*node, operands[i]);
  }
  return finish(std::move(node), result, std::move(layout), at_once);
}

array cast(const array& a, DType t) {
  {
    Lock lock;
    if (Cell* r = cast_small(a, t)) return array(r, a.shape(), t);
  }
  const MapOperand in{&a, a.dtype(), {}};
  return map(Op::cast, 0, a.dtype(), t, {&in, 1}, a.shape());
}

array reduce(Op op, DType loop, DType result, const array& a, std::uint64_t reduced, const MapOperand* initial) {
  Lock lock;
  Dims kept;
  View kept_view;
  for (int k = 0; k < a.ndim(); ++k) {
    if (reduced >> k & 1) continue;
    kept.push_back(a.shape()[k]);
    kept_view.strides.push_back(a.strides()[k]);
  }
  if (!streams(*a.cell()->value)) require_capacity(info(op).name, kept, result);
  kept_view.shape = kept;
  const View* by = &kept_view;
  View layout{kept, keep_order_strides(kept, itemsize(result), {&by, 1}), 0};
  if (layout.size() == 0) return make_empty(layout, result, 0);
  auto node = std::make_unique<Node>();
  node->kind = Kind::reduce;
  node->op = op;
  node->loop = loop;
  node->domain = a.shape();
  node->reduced = reduced;
  add_input(*node, a, a.view());
  if (initial) {
    node->has_initial = true;
    add_input(*node, *initial);
  }
  return finish(std::move(node), result, std::move(layout), a.cell()->shared_with_outside());
}

void force(const array& a) {
  Lock lock;
  force(*a.cell()->value);
}

const void* read_pointer(const array& a, Device d) {
  Lock lock;
  Value& v = *a.cell()->value;
  force(v);
  if (d.is_cpu() && v.bytes >= 1 << 20 && !v.buffer->home().is_cpu()) begin_long_work();
  const interrupt::Scope scope(true);  // waiting for a device, and the copy from it
  return v.buffer->read(d) + a.view().offset;
}

void* write_pointer(const array& a, Device d) {
  Lock lock;
  Value& v = *a.cell()->value;
  force(v);
  force_readers(v, a.view(), a.itemsize(), {});
  return v.buffer->write(d) + a.view().offset;
}

void* export_pointer(const array& a, Device d) {
  Lock lock;
  Value& v = *a.cell()->value;
  force(v);
  if (a.writeable()) force_readers(v, a.view(), a.itemsize(), {});
  return v.buffer->begin_export(d) + a.view().offset;
}

bool on_host(const array& a) {
  Lock lock;
  const Value& v = *a.cell()->value;
  return v.ready() && v.wish.kind != DeviceKind::cuda && v.buffer->home().is_cpu();
}

Device writing_place(const array& a, Device otherwise) {
  Lock lock;
  const Value& v = *a.cell()->value;
  return v.ready() && v.buffer->outside() ? v.buffer->home() : otherwise;
}

Device device_of(const array& a) {
  Lock lock;
  Value& v = *a.cell()->value;
  if (v.ready() && v.buffer->outside()) return v.buffer->home();
  if (!v.wish.automatic()) return v.wish;
  force(v);
  return v.buffer->home();
}

array to_device(const array& a, Device d) {
  Lock lock;
  {
    Value& v = *a.cell()->value;
    force(v);
    if (v.buffer->home() == d && (v.wish.automatic() || v.wish == d)) {
      v.wish = d;
      return a;
    }
  }
  // The whole of its storage, so that a view takes along no more than its elements.
  const bool whole = a.dtype() == a.cell()->value->dtype && covers_once(a.view(), a.itemsize(), a.cell()->value->bytes);
  const array source = whole ? a : cast(a, a.dtype());
  Value& from = *source.cell()->value;
  force(from);
  Ref<Value> v(new Value(from.dtype, from.layout, from.bytes));
  v->wish = d;
  begin_step();
  v->buffer = std::make_unique<Buffer>(from.bytes, d);
  const Device home = from.buffer->home();
  if (from.bytes >= 1 << 20) begin_long_work();
  const interrupt::Scope scope(true);
  copy_bytes(d, v->buffer->address(d), home, from.buffer->read(home), from.bytes);
  return handle(std::move(v), source.view(), source.dtype());
}

bool may_overlap(const array& a, const array& b) {
  if (a.cell() == b.cell())
    return overlap(a.view(), a.itemsize(), b.view(), b.itemsize(), settings().overlap_maybe ? 0 : 1) != Overlap::no;
  Lock lock;
  Value& va = *a.cell()->value;
  Value& vb = *b.cell()->value;
  if (!va.ready() || !vb.ready() || (!va.buffer->foreign() && !vb.buffer->foreign())) return false;
  // Two wrappers of foreign memory: compare addresses.
  const auto [al, ah] = byte_bounds(a.view(), a.itemsize());
  const auto [bl, bh] = byte_bounds(b.view(), b.itemsize());
  const Device home = va.buffer->home();
  if (!(home == vb.buffer->home())) return false;
  const char* pa = va.buffer->address(home);
  const char* pb = vb.buffer->address(home);
  return pa + al < pb + bh && pb + bl < pa + ah;
}

}  // namespace galop::graph
