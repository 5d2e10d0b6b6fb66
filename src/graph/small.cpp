// What is computed at its call because it is small: over operands that lie ready, dense and aligned on the host, with
// neither a node nor a plan.
#include "graph/small.hpp"

#include <algorithm>
#include <cstring>

#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "core/visit.hpp"
#include "galop/engine.hpp"
#include "graph/build.hpp"
#include "graph/place.hpp"

namespace galop::graph {
namespace {

constexpr std::int64_t kFirstLook = 16384;     // elements that are searched where they are, whatever devices there are
constexpr std::int64_t kLongSearch = 1 << 18;  // elements

// A copy of so many bytes as an element has, without a call.
inline void copy_element(void* to, const void* from, int bytes) {
  visit_itemsize(bytes, [&](auto size) { std::memcpy(to, from, size); });
}

constexpr std::int64_t kUsual = 8;  // bytes of the elements that `eager_below` counts; there may be more shorter ones
constexpr std::int64_t kFolded = 128;  // bytes of a fold's elements: no later operation can be fused with what it reads

// The elements of a shape when there are at most so many, else 0.
std::int64_t size_up_to(const Dims& shape, std::int64_t most) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) {
    if (d > most) return 0;  // so that no product wraps
    n *= d;
    if (n > most) return 0;
  }
  return n;
}
// The same when there are so few that they are computed at the call; `bytes` each at most.
std::int64_t small_size(const Dims& shape, std::int64_t bytes = kUsual) {
  return size_up_to(shape, kUsual * settings().eager_below / std::min(bytes, kUsual) - 1);
}

// The view has this shape, and its elements lie one after the other in C order.
bool is_dense(const View& v, const Dims& shape, std::int64_t step) {
  if (v.ndim() != shape.size()) return false;
  for (int k = v.ndim() - 1; k >= 0; --k) {
    const std::int64_t n = shape[k];
    if (v.shape[k] != n || (n != 1 && v.strides[k] != step)) return false;
    step *= n;
  }
  return true;
}
// The number of elements of views that have one shape, all in C order, when they are so few that they are computed at
// the call, else 0.
template <int N>
inline std::int64_t dense_size(const array* const (&a)[N], std::int64_t itemsize) {
  const int ndim = a[0]->ndim();
  const std::int64_t *shape[N], *strides[N];
  for (int i = 0; i < N; ++i) {
    if (a[i]->ndim() != ndim) return 0;
    shape[i] = a[i]->shape().data();
    strides[i] = a[i]->strides().data();
  }
  std::int64_t n = 1;
  for (int k = ndim - 1; k >= 0; --k) {
    const std::int64_t d = shape[0][k];
    for (int i = 0; i < N; ++i)
      if (shape[i][k] != d || (strides[i][k] != itemsize * n && d != 1)) return 0;
    n *= d;
  }
  return n < settings().eager_below ? n : 0;
}

const char* element0(const array& a) { return readable_at(*a.cell()->value, a.dtype(), a.view().offset); }
// The same where the elements lie in C order of this shape.
const char* readable(const array& a, const Dims& shape) {
  return is_dense(a.view(), shape, a.itemsize()) ? element0(a) : nullptr;
}

// What does not lie in C order, or has to be repeated along an axis, is gathered first.
struct Gathered {
  static constexpr std::int64_t kMost = 16 << 10;  // bytes of one
  alignas(64) char bytes[3][kMost];
  int count = 0;
};
// Whether an array of the shape `from` can be repeated to the shape `to`.
bool reaches(const Dims& from, const Dims& to) {
  const int lead = to.size() - from.size();
  if (lead < 0) return false;
  for (int k = 0; k < from.size(); ++k)
    if (from[k] != to[lead + k] && from[k] != 1) return false;
  return true;
}

void gather(const View& v, int size, const char* from, char* to) {
  const std::int64_t none = 0;
  const Dims packed = c_strides(v.shape, size);
  cpu_backend().gather({size, 1, &none, const_cast<char*>(from), to, 0, v.shape, v.strides, packed});
}
const char* gathered(const array& a, const Dims& shape, std::int64_t n, Gathered& room) {
  const char* from = n * a.itemsize() <= Gathered::kMost && room.count < 3 ? element0(a) : nullptr;
  if (!from || !reaches(a.shape(), shape)) return nullptr;
  char* to = room.bytes[room.count++];
  gather(broadcast_view("map", a.view(), shape), a.itemsize(), from, to);
  return to;
}
// Whether a new array that follows this view lies in C order.
bool follows_in_c_order(const View& v, const Dims& shape) {
  if (shape.size() < 2) return true;
  if (!reaches(v.shape, shape)) return false;
  const View wide = broadcast_view("map", v, shape);
  const View* one = &wide;
  return keep_order_strides(shape, 1, {&one, 1}) == c_strides(shape, 1);
}

// The operands of an operation at once, all of them as the kernel takes them; false when one is not. `any_order`: the
// result's order is settled already.
bool small_operands(Op op, DType loop, std::span<const MapOperand> operands, const Dims& shape, std::int64_t n,
                    bool any_order, Gathered& room, HostBackend::SmallOperand* in) {
  if (loop == DType::float16) return false;
  const OpInfo& row = info(op);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType want = op == Op::where && i == 0 ? DType::bool_ : row.int_second && i == 1 ? DType::int64 : loop;
    const MapOperand& m = operands[i];
    if (m.t != want) return false;
    in[i] = {nullptr, m.bits, want};
    if (!m.a || (in[i].data = readable(*m.a, shape))) continue;
    if (!any_order && !follows_in_c_order(m.a->view(), shape)) return false;
    if (!(in[i].data = gathered(*m.a, shape, n, room))) return false;
  }
  return true;
}

// What the result of an operation on `a` alone asks for.
Device small_wish(const array& a) {
  Device wish = scope_device();
  if (wish.automatic()) wish = a.cell()->value->wish;
  return wish.automatic() ? new_wish() : wish;
}
}  // namespace

Cell* fill_small(const Dims& shape, DType t, const void* bits) {
  const std::int64_t n = small_size(shape);
  const Device wish = new_wish();
  if (n == 0 || wish.kind == DeviceKind::cuda) return nullptr;
  Cell* r = new_cell(shape, t, n * itemsize(t), {kCpu, wish});
  char* to = r->value->buffer->address(kCpu);
  const std::int64_t bytes = n * itemsize(t), first = std::min<std::int64_t>(n, 32);
  for (std::int64_t i = 0; i < first; ++i) copy_element(to + i * itemsize(t), bits, itemsize(t));
  for (std::int64_t done = first * itemsize(t); done < bytes; done *= 2)
    std::memcpy(to + done, to, static_cast<std::size_t>(std::min(done, bytes - done)));
  return r;
}

namespace {
Device small_wish(std::span<const MapOperand> operands) {
  Device wish = scope_device();
  if (wish.automatic())
    for (const MapOperand& m : operands)
      if (m.a) wish = joint_wish(wish, m.a->cell()->value->wish);
  return wish.automatic() ? new_wish() : wish;
}
bool stays(Device wish, std::int64_t n) {
  return wish.kind != DeviceKind::cuda && (!wish.automatic() || stays_on_host(n));
}
}  // namespace

Cell* map_small(Op op, DType loop, DType result, std::span<const MapOperand> operands, const Dims& shape) {
  const std::int64_t n = small_size(shape, std::max(itemsize(loop), itemsize(result)));
  HostBackend::SmallOperand in[3];
  Gathered room;
  if (n == 0 || op == Op::cast || info(op).nout != 1 || result != result_dtype(op, 0, loop) ||
      !small_operands(op, loop, operands, shape, n, false, room, in))
    return nullptr;
  const Device wish = small_wish(operands);
  if (!stays(wish, n)) return nullptr;
  Cell* r = new_cell(shape, result, n * itemsize(result), {kCpu, wish});
  void* out[1] = {r->value->buffer->address(kCpu)};
  std::uint8_t flags = 0;
  if (!cpu_backend().run_small(op, loop, in, out, n, flags)) {
    r->release();
    return nullptr;
  }
  note_faults(info(op).name, flags);
  return r;
}

namespace {
template <int N>
Cell* map_dense(Op op, DType loop, DType result, const array* const (&a)[N]) {
  const std::int64_t n = dense_size(a, itemsize(loop));
  if (n == 0) return nullptr;
  const void* in[N];
  Device wish = scope_device();
  for (int i = 0; i < N; ++i)
    if (!(in[i] = element0(*a[i]))) return nullptr;
  if (wish.automatic())
    for (int i = 0; i < N; ++i) wish = joint_wish(wish, a[i]->cell()->value->wish);
  if (wish.automatic()) wish = new_wish();
  if (wish.kind == DeviceKind::cuda) return nullptr;
  Cell* r = new_cell(a[0]->shape(), result, n * itemsize(result), {kCpu, wish});
  const int flags = cpu_backend().run_apart(op, loop, in, r->value->buffer->address(kCpu), n);
  if (flags < 0) {
    r->release();
    return nullptr;
  }
  if (flags > 0) note_faults(info(op).name, static_cast<std::uint8_t>(flags));
  return r;
}
}  // namespace

Cell* map_small(Op op, DType loop, DType result, const array& x, const array* y) {
  return y ? map_dense<2>(op, loop, result, {&x, y}) : map_dense<1>(op, loop, result, {&x});
}

bool map_pair(Op op, DType loop, std::span<const MapOperand> operands, const Dims& shape, Cell* (&r)[2]) {
  const DType results[2] = {result_dtype(op, 0, loop), result_dtype(op, 1, loop)};
  // Each result by itself would be a kernel that computes both.
  const std::int64_t n = size_up_to(shape, kFolded * settings().eager_below / itemsize(loop) - 1);
  HostBackend::SmallOperand in[3];
  Gathered room;
  if (n == 0 || !small_operands(op, loop, operands, shape, n, false, room, in)) return false;
  const Device wish = small_wish(operands);
  if (!stays(wish, n)) return false;
  if (is_long_work(n, cost(op))) begin_long_work();
  void* out[2];
  for (int k = 0; k < 2; ++k) {
    r[k] = new_cell(shape, results[k], n * itemsize(results[k]), {kCpu, wish});
    out[k] = r[k]->value->buffer->address(kCpu);
  }
  std::uint8_t flags = 0;
  if (!cpu_backend().run_dense(op, loop, results[0], in, out, n, faults::watched(faults::policy()), flags)) {
    for (Cell* c : r) c->release();
    return false;
  }
  note_faults(info(op).name, flags);
  return true;
}

Cell* cast_small(const array& a, DType t) {
  const std::int64_t n = small_size(a.shape(), std::max(a.itemsize(), itemsize(t)));
  const char* in = n > 0 ? readable(a, a.shape()) : nullptr;
  Gathered room;
  const bool copies = n > 0 && !in && a.dtype() == t;  // straight to where they belong
  if (n > 0 && !in && follows_in_c_order(a.view(), a.shape()))
    in = copies ? element0(a) : gathered(a, a.shape(), n, room);
  const Device wish = in ? small_wish(a) : Device{};
  if (!in || !stays(wish, n)) return nullptr;
  Cell* r = new_cell(a.shape(), t, n * itemsize(t), {kCpu, wish});
  char* out = r->value->buffer->address(kCpu);
  if (copies)
    gather(a.view(), a.itemsize(), in, out);
  else
    note_faults("cast", cpu_backend().cast_small(a.dtype(), t, in, out, n));
  return r;
}

bool map_small_into(Op op, DType loop, std::span<const MapOperand> operands, const array& to) {
  const Dims& shape = to.shape();
  const std::int64_t n = small_size(shape, itemsize(loop));
  const Value& v = *to.cell()->value;
  HostBackend::SmallOperand in[3];
  Gathered room;
  if (n == 0 || info(op).nout != 1 || !v.ready() || v.refs.load(std::memory_order_acquire) != 1 ||
      v.wish.kind == DeviceKind::cuda || (v.wish.automatic() && !stays_on_host(n)) ||
      scope_device().kind == DeviceKind::cuda || !small_operands(op, loop, operands, shape, n, true, room, in))
    return false;
  char* bytes = v.buffer->only_bytes();
  if (!bytes || !readable(to, shape)) return false;
  bytes += to.view().offset;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto* p = static_cast<const char*>(in[i].data);
    if (!p) continue;
    if (operands[i].a->cell()->value->wish.kind == DeviceKind::cuda) return false;
    if (p != bytes && p < bytes + to.nbytes() && bytes < p + n * itemsize(operands[i].t)) return false;
  }
  void* out[1] = {bytes};
  std::uint8_t flags = 0;
  if (!cpu_backend().run_small(op, loop, in, out, n, flags)) return false;
  note_faults(info(op).name, flags);
  return true;
}

namespace {
template <int N>
bool map_dense_into(Op op, DType loop, const array* const (&a)[N]) {  // the last one is the result
  const std::int64_t n = dense_size(a, itemsize(loop));
  const array& to = *a[N - 1];
  const Value& v = *to.cell()->value;
  if (n == 0 || !v.ready() || v.refs.load(std::memory_order_acquire) != 1 || v.wish.kind == DeviceKind::cuda ||
      (v.wish.automatic() && !stays_on_host(n)) || scope_device().kind == DeviceKind::cuda)
    return false;
  char* bytes = v.buffer->only_bytes();
  if (!bytes || !element0(to)) return false;
  bytes += to.view().offset;
  const void* in[N - 1];
  for (int i = 0; i < N - 1; ++i) {
    const char* p = element0(*a[i]);
    if (!p || a[i]->cell()->value->wish.kind == DeviceKind::cuda) return false;
    if (p < bytes + n * itemsize(loop) && bytes < p + n * itemsize(loop)) return false;
    in[i] = p;
  }
  const int flags = cpu_backend().run_apart(op, loop, in, bytes, n);
  if (flags > 0) note_faults(info(op).name, static_cast<std::uint8_t>(flags));
  return flags >= 0;
}
}  // namespace

bool map_small_into(Op op, DType loop, const array& x, const array* y, const array& to) {
  return y ? map_dense_into<3>(op, loop, {&x, y, &to}) : map_dense_into<2>(op, loop, {&x, &to});
}

Cell* position_small(const array& a, bool greatest) {
  const bool of_bools = a.dtype() == DType::bool_;
  std::int64_t n = std::min(a.size(), kFirstLook);
  if (n < a.size() && !of_bools) return nullptr;
  const char* in = n > 0 ? readable(a, a.shape()) : nullptr;
  const Device wish = in ? small_wish(a) : Device{};
  if (!in || wish.kind == DeviceKind::cuda) return nullptr;
  std::int64_t at = 0;
  cpu_backend().find_extremes(a.dtype(), Dims(1, n), in, Dims(1, a.itemsize()), &at, greatest);
  if (n < a.size() && (in[at] != 0) != greatest) return nullptr;
  Cell* r = new_cell(Dims(), DType::int64, itemsize(DType::int64), {kCpu, wish});
  std::memcpy(r->value->buffer->address(kCpu), &at, sizeof at);
  return r;
}

Cell* positions_small(const array& a, int axis, bool greatest) {
  const char* in = a.size() > 0 && a.size() <= kFirstLook ? readable(a, a.shape()) : nullptr;
  const Device wish = in ? small_wish(a) : Device{};
  if (!in || wish.kind == DeviceKind::cuda) return nullptr;
  Dims shape = a.shape(), strides = a.strides();
  const std::int64_t extent = shape[axis], stride = strides[axis];
  shape.erase(axis);
  strides.erase(axis);
  Cell* r = new_cell(shape, DType::int64, a.size() / extent * itemsize(DType::int64), {kCpu, wish});
  auto* at = reinterpret_cast<std::int64_t*>(r->value->buffer->address(kCpu));
  shape.push_back(extent);
  strides.push_back(stride);
  cpu_backend().find_extremes(a.dtype(), shape, in, strides, at, greatest);
  return r;
}

Cell* truth_at_once(Op op, const array& a) {
  const std::int64_t n = a.size();
  const bool of_bools = a.dtype() == DType::bool_;
  const bool any = op == Op::logical_or || (of_bools && op == Op::maximum);
  const bool all = op == Op::logical_and || (of_bools && op == Op::minimum);
  const char* in = n > 0 && (any || all) ? readable(a, a.shape()) : nullptr;
  const Device wish = in ? small_wish(a) : Device{};
  if (!in || wish.kind == DeviceKind::cuda) return nullptr;
  const std::int64_t first = std::min(n, kFirstLook);
  bool decided = cpu_backend().holds_any(a.dtype(), in, first, any);
  if (!decided && first < n) {
    if (n >= kLongSearch) begin_long_work();
    const interrupt::Scope scope(true);
    decided = cpu_backend().holds_any(a.dtype(), in + first * a.itemsize(), n - first, any);
  }
  Cell* r = new_cell(Dims(), DType::bool_, 1, {kCpu, wish});
  *r->value->buffer->address(kCpu) = static_cast<char>(decided == any);
  return r;
}

Cell* reduce_small(Op op, DType loop, const array& a) {
  const std::int64_t n = a.nbytes() < kFolded * settings().eager_below ? a.size() : 0;
  const char* in = n > 0 ? readable(a, a.shape()) : nullptr;
  if (!in) return nullptr;
  const Device wish = small_wish(a);
  if (!stays(wish, n)) return nullptr;
  Cell* r = new_cell(Dims(), loop, itemsize(loop), {kCpu, wish});
  std::uint8_t flags = 0;
  if (!cpu_backend().fold_small(op, loop, a.dtype(), in, n, r->value->buffer->address(kCpu), flags)) {
    r->release();
    return nullptr;
  }
  note_faults("reduce", flags);
  return r;
}

Cell* scan_small(Op op, DType loop, const array& a) {
  const std::int64_t n = small_size(a.shape());
  const char* in = n > 0 ? readable(a, a.shape()) : nullptr;
  const Device wish = in ? small_wish(a) : Device{};
  if (!in || !stays(wish, n)) return nullptr;
  Cell* r = new_cell(a.shape(), loop, n * itemsize(loop), {kCpu, wish});
  const Dims strides = c_strides(a.shape(), itemsize(loop));
  cpu_backend().scan(op, loop, a.shape(), in, strides, r->value->buffer->address(kCpu), strides);
  return r;
}

bool read_element(const array& a, std::int64_t at, void* to) {
  Lock lock;
  const Value& v = *a.cell()->value;
  const char* bytes = v.ready() ? v.buffer->host_bytes() : nullptr;
  if (!bytes) return false;
  copy_element(to, bytes + a.view().offset + at, a.itemsize());
  return true;
}

bool write_element(const array& a, std::int64_t at, const void* from) {
  Lock lock;
  const Value& v = *a.cell()->value;
  char* bytes = v.ready() && v.readers.empty() && v.wish.kind != DeviceKind::cuda ? v.buffer->only_bytes() : nullptr;
  if (!bytes) return false;
  copy_element(bytes + a.view().offset + at, from, a.itemsize());
  return true;
}

}  // namespace galop::graph
