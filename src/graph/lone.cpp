// What a plan for one kernel over dense arrays would do, straight away: at some thousand elements the plan takes longer
// to make than to run.
#include "graph/lone.hpp"

#include <algorithm>
#include <cstdlib>

#include "galop/engine.hpp"
#include "graph/evaluate.hpp"
#include "graph/place.hpp"
#include "graph/small.hpp"

namespace galop::graph {
namespace {

constexpr std::int64_t kMostElements = 1 << 19;  // beyond, results may go past the caches and interrupts count

// The elements lie one after the other, in the order of the result, from the view's offset on.
bool lies_as(const Input& in, const View& layout, std::int64_t result_size) {
  const std::int64_t size = itemsize(in.dtype);
  for (int k = 0; k < layout.ndim(); ++k)
    if (layout.shape[k] != 1 && in.view.strides[k] * result_size != layout.strides[k] * size) return false;
  return true;
}

// A copy of a view whose axes lie in memory as they do in the result, with gaps, backwards or repeated.
bool is_plain_copy(const Node& node, const Value& v) {
  const Input& from = node.in[0];
  if (node.op != Op::cast || from.dtype != v.dtype || !from.value) return false;
  const Dims& strides = from.view.strides;
  for (int k = 1; k < strides.size(); ++k)
    if (std::abs(strides[k]) > std::abs(strides[k - 1]) && v.layout.shape[k] != 1) return false;
  return true;
}

// R4 for a node by itself: the operand whose memory nobody else will read.
Value* donor(const Value& v) {
  if (!settings().donation) return nullptr;
  for (const Input& in : v.node->in) {
    Value* w = in.value.get();
    if (!w || in.view.offset != 0 || w->bytes != v.bytes || itemsize(w->dtype) != itemsize(v.dtype) ||
        itemsize(in.dtype) != itemsize(v.dtype))
      continue;
    const Buffer& b = *w->buffer;
    if (b.outside() || b.foreign() || b.in_block()) continue;
    std::int64_t ours = 0;
    for (const Input& other : v.node->in) ours += other.value.get() == w;
    if (w->refs.load() == ours) return w;
  }
  return nullptr;
}

}  // namespace

bool compute_alone(Value& v) {
  const Node& node = *v.node;
  const std::int64_t size = itemsize(v.dtype), n = v.bytes / size;
  if (node.kind != Kind::map || n > kMostElements || v.layout.offset != 0 || node.loop == DType::float16 ||
      v.wish.kind == DeviceKind::cuda || settings().block != 0)
    return false;
  if (v.wish.automatic() && !stays_on_host(n)) return false;
  const OpInfo& row = info(node.op);
  if (row.nout != 1 || (node.op != Op::cast && v.dtype != result_dtype(node.op, 0, node.loop))) return false;
  std::int64_t dense = 1;
  for (int k = 0; k < v.layout.ndim(); ++k) {
    if (v.layout.shape[k] != 1 && v.layout.strides[k] < 0) return false;
    dense *= v.layout.shape[k];
  }
  if (dense != n) return false;
  HostBackend::SmallOperand in[3];
  bool gathers = false;
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    const Input& from = node.in[i];
    DType want = node.loop;
    if (node.op == Op::where && i == 0) want = DType::bool_;
    if (row.int_second && i == 1) want = DType::int64;
    if (from.dtype != want) return false;
    in[i] = {nullptr, from.bits, want};
    if (!from.value) continue;
    gathers = !lies_as(from, v.layout, size);
    if ((gathers && !is_plain_copy(node, v)) || !(in[i].data = readable_at(*from.value, want, from.view.offset)))
      return false;
  }
  if (is_long_work(n, cost(node.op))) begin_long_work();
  Value* const gives = gathers ? nullptr : donor(v);
  BufferPtr fresh;
  if (!gives) fresh = std::make_unique<Buffer>(v.bytes, kCpu);
  void* out[1] = {(gives ? *gives->buffer : *fresh).address(kCpu)};
  std::uint8_t flags = 0;
  if (gathers) {
    const std::int64_t none = 0;
    const Input& from = node.in[0];
    cpu_backend().gather({static_cast<int>(size), 1, &none, const_cast<void*>(in[0].data), out[0], 0, v.layout.shape,
                          from.view.strides, v.layout.strides});
  } else if (!cpu_backend().run_dense(node.op, node.loop, v.dtype, in, out, n, faults::watched(node.policy), flags))
    return false;
  if (gives) gives->buffer->write(kCpu);
  counters().kernels += 1;
  counters().donations += gives != nullptr;
  counters().bytes += v.bytes;
  for (std::size_t i = 0; i < node.in.size(); ++i)
    if (in[i].data && (i == 0 || in[i].data != in[0].data)) counters().bytes += n * itemsize(in[i].dtype);
  note_faults(row.name, flags, node.policy);
  v.buffer = gives ? std::move(gives->buffer) : std::move(fresh);
  v.retain();
  v.drop_node();
  v.release();
  return true;
}

}  // namespace galop::graph
