// The placement rules and their cost model.
#include "graph/place.hpp"

#include <algorithm>
#include <cstdlib>

#include "galop/device.hpp"
#include "graph/build.hpp"

namespace galop {
namespace graph {
namespace {

constexpr std::int64_t kSmall = 1 << 14;  // elements that never move to a GPU
constexpr std::int64_t kLarge = 1 << 20;  // bytes on one GPU alone that are never moved away
constexpr int kTranscendental = 8;        // cost of an operation that is bound by arithmetic rather than memory

Device& default_wish() {
  static Device d = [] {
    const char* text = std::getenv("GALOP_DEVICE");
    const Device named = parse_device(text ? text : "");
    require_device(named);
    return named;
  }();
  return d;
}

bool gpus() {
  static const bool any = cuda_device_count() > 0;
  return any;
}

double seconds(const DeviceSpeed& s, double bytes, double math, double missing) {
  return s.start + std::max(bytes / s.bandwidth, math / s.math) +
         (missing > 0 && s.transfer > 0 ? missing / s.transfer : 0);
}

// The operands that decide: their bytes on the host only, and on which GPU the most bytes are alone.
struct Where {
  std::int64_t host_only = 0, device_only = 0, largest = 0;
  Device device{DeviceKind::cuda, 0};
  bool settled = false;  // some operand over 1 MiB is on a device alone
  double waited = 0;

  void add(const Buffer& b) {
    const Device home = b.home();
    if (home.is_cpu()) {
      // A copy of what the outside may change serves once.
      if (b.outside() || !b.valid_on(device)) host_only += b.bytes();
      waited = std::max(waited, b.outside() ? 0 : b.waited);
      return;
    }
    if (b.valid_on(kCpu) && !b.outside()) return;
    device_only += b.bytes();
    if (b.bytes() > largest) {
      largest = b.bytes();
      device = home;
    }
    settled = settled || b.bytes() > kLarge;
  }
};

Device choose(const Where& w, std::int64_t elements, double bytes, double math) {
  if (w.settled) return w.device;
  if (elements < kSmall && w.device_only == 0) return kCpu;
  if (!gpus()) return kCpu;
  DeviceBackend* gpu = cuda_backend_if_it_starts(w.device.ordinal);
  if (!gpu || !gpu->alive()) return kCpu;
  const DeviceSpeed fast = gpu->speed();
  const double there = seconds(fast, bytes, math, static_cast<double>(w.host_only));
  const double here =
      seconds(cpu_backend().speed(), bytes, math, 0) + static_cast<double>(w.device_only) / fast.transfer;
  return there < here + w.waited ? w.device : kCpu;
}

struct Work {
  std::int64_t elements = 1;
  double bytes = 0, math = 0;
};
Work work_of(const Plan& plan) {
  Work w;
  for (std::int64_t d : plan.shape) w.elements *= d;
  w.bytes = static_cast<double>(plan_bytes(plan));
  for (const Instruction& s : plan.tape)
    if (cost(s.op) > kTranscendental) w.math += static_cast<double>(w.elements);
  return w;
}

Device refuse_dead(Device d) {
  if (d.kind == DeviceKind::cuda && !cuda_backend(d.ordinal).alive())
    throw DeviceError("[device] " + to_string(d) +
                      " failed earlier in this process and cannot be used any more; got work for it");
  return d;
}

}  // namespace

constinit thread_local Device scope_of_thread;

bool stays_on_host(std::int64_t elements) { return elements < kSmall || !gpus(); }

Device new_wish() { return scope_of_thread.automatic() ? default_wish() : scope_of_thread; }

Device place(const Fusion& f, const Value* also) {
  const Value& root = *f.saved[0];
  if (!root.wish.automatic()) return refuse_dead(root.wish);
  Where w;
  for (const Value* v : f.loads)
    if (v && v->buffer) w.add(*v->buffer);
  if (also && also->ready()) w.add(*also->buffer);
  if (!w.settled && w.device_only == 0 && root.layout.size() < kSmall && f.plan.reductions.empty()) return kCpu;
  const Work work = work_of(f.plan);
  return choose(w, work.elements, work.bytes, work.math);
}

void note_host_run(const Fusion& f) {
  const Work work = work_of(f.plan);
  if (work.elements < kSmall || !gpus()) return;
  const double took = seconds(cpu_backend().speed(), work.bytes, work.math, 0);
  for (Value* v : f.loads)
    if (v && v->buffer && !v->buffer->outside()) v->buffer->waited += took;
}

Place place_call(std::span<const array* const> operands, double math) {
  Lock lock;
  Device wish = scope_device();
  Where w;
  std::int64_t elements = 0;
  double bytes = 0;
  for (const array* a : operands) {
    Value& v = *a->cell()->value;
    if (scope_device().automatic()) wish = joint_wish(wish, v.wish);
    force(v);
    w.add(*v.buffer);
    elements = std::max(elements, a->size());
    bytes += static_cast<double>(a->nbytes());
  }
  begin_step();
  if (wish.automatic()) wish = default_wish();
  if (!wish.automatic()) return {refuse_dead(wish), wish};
  return {choose(w, elements, bytes, math), wish};
}

Place place_new(std::int64_t bytes, double math) {
  const Device wish = new_wish();
  if (!wish.automatic()) return {refuse_dead(wish), wish};
  // Its elements are not known here; four bytes each is the middle of what there is.
  return {choose({}, bytes / 4, static_cast<double>(bytes), math), wish};
}

}  // namespace graph

Device default_device() { return graph::default_wish(); }

void set_default_device(Device d) {
  require_device(d);
  graph::Lock lock;
  graph::default_wish() = d;
}

device_scope::device_scope(Device d) : before_(graph::scope_of_thread) {
  require_device(d);
  if (!d.automatic()) graph::scope_of_thread = d;
}
device_scope::~device_scope() { graph::scope_of_thread = before_; }

void require_device(Device d) {
  if (d.kind == DeviceKind::cuda) cuda_backend(d.ordinal);
}

}  // namespace galop
