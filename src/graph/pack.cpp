// a[mask] of a mask that is not computed yet: one kernel computes it and packs what it keeps.
#include <algorithm>

#include "core/faults.hpp"
#include "core/op.hpp"
#include "galop/device.hpp"
#include "galop/engine.hpp"
#include "graph/build.hpp"
#include "graph/place.hpp"

namespace galop::graph {
namespace {

constexpr std::int64_t kWorth = 1 << 14;  // elements, below which the mask's own kernel costs nothing

// The plan of where(mask, x, 0) without its last step: mask and x are its results.
bool take_apart(Plan& plan) {
  const Instruction last = plan.tape.empty() ? Instruction{} : plan.tape.back();
  if (plan.tape.empty() || last.op != Op::where || last.out[0] != plan.outputs[0].reg) return false;
  const DType t = plan.outputs[0].dtype;
  if (plan.registers[last.in[0]] != DType::bool_ || plan.registers[last.in[1]] != t) return false;
  plan.tape.pop_back();
  // The device does not look for floating-point flags here.
  for (const Instruction& i : plan.tape)
    if (faults::watched(i.policy) != 0 && plan.registers[i.out[0]] != DType::bool_) return false;
  const Output values = plan.outputs[0];
  Output mask{last.in[0], DType::bool_, nullptr, values.strides, true, false};
  for (std::int64_t& s : mask.strides) s /= itemsize(t);
  plan.outputs = {mask, {last.in[1], t, nullptr, values.strides, true, false}};
  canonicalize(plan);
  plan.packs = true;
  return plan.shape.size() == 1;
}

}  // namespace

std::optional<array> pack(const array& x, const array& mask) {
  Lock lock;
  Value& m = *mask.cell()->value;
  const DType t = x.dtype();
  // A mask that is used again is worth its memory.
  if (m.ready() || m.skipped != 0 || x.size() < kWorth || t == DType::float16 || settings().eager ||
      x.cell()->shared_with_outside() || !x.is_c_contiguous() || !mask.is_c_contiguous() || cuda_device_count() == 0)
    return std::nullopt;
  const MapOperand in[] = {{&mask, DType::bool_, {}}, {&x, t, {}}, {nullptr, t, {}}};
  const array both = map(Op::where, 0, t, t, in, x.shape());
  Value& root = *both.cell()->value;
  if (root.ready()) return std::nullopt;
  Fusion f = lower(root, nullptr, true);
  while (!f.first.empty()) {
    const std::vector<Ref<Value>> first(f.first.begin(), f.first.end());
    for (const Ref<Value>& p : first) force(*p);
    if (root.ready() || m.ready()) return std::nullopt;
    f = lower(root, nullptr, true);
  }
  const Device d = place(f);
  if (d.is_cpu()) return std::nullopt;
  DeviceBackend& gpu = cuda_backend(d.ordinal);
  try {
    begin_step();
    for (Value* v : f.loads)
      if (v) v->buffer->read(d);
    resolve(f.plan, f.loads, d);
    if (!take_apart(f.plan)) return std::nullopt;
    std::int64_t room = gpu.estimate_kept(f.plan), count = room;
    if (room < 0) return std::nullopt;
    std::unique_ptr<Buffer> packed;
    do {
      room = count;
      packed.reset();
      packed = std::make_unique<Buffer>(room * itemsize(t), d);
      f.plan.outputs[1].data = packed->address(d);
      count = gpu.pack(f.plan, room);
    } while (count > room);
    m.skipped = 1;
    counters().kernels += 1;
    packed->shrink(count * itemsize(t));
    return make_ready({count}, t, std::move(packed), root.wish);
  } catch (const MemoryError&) {
    return std::nullopt;
  }
}

}  // namespace galop::graph
