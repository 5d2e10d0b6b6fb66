// A plug-in of two devices that a machine without a GPU can test with: host memory at addresses of its own, computed on
// by the CPU backend, where every address that the graph hands over is checked and every failure can be ordered.
//
// GALOP_CUDA_PLUGIN=<build>/lib/libgalop_stand_in.so opens it. GALOP_STAND_IN_MEMORY: bytes of each device (1 GiB).
// GALOP_STAND_IN_FAULT: "allocate:N", the N-th allocation from now has no memory; "launch:N", the N-th piece of work is
// refused; "late:N", the N-th fails unseen until the host waits, and the device with it; "dead:N", the device fails at
// the N-th call of any kind; "open:N", the N-th start of a device finds its memory full; "busy:N", the device has N
// milliseconds of work before it. GALOP_STAND_IN_VERSION: the interface that it says it was built with.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "galop/error.hpp"
#include "galop_interface_version.hpp"

namespace galop {
namespace {

constexpr int kDevices = 2;
constexpr int kPoison = 0xDB;  // what memory holds that nobody wrote

std::atomic<long> count_allocate, count_launch, count_upload, count_download, count_copy, count_wait_for,
    count_make_wait, count_violations;
std::atomic<long> until_allocate, until_launch, until_late, until_dead,
    until_open;          // calls until the ordered failure; 0: none
std::atomic<long> busy;  // milliseconds

bool strikes(std::atomic<long>& until) {
  long n = until;
  while (n > 0 && !until.compare_exchange_weak(n, n - 1)) {
  }
  return n == 1;
}

bool inject(std::string_view kind, long n) {
  if (kind == "allocate") until_allocate = n;
  if (kind == "launch") until_launch = n;
  if (kind == "late") until_late = n;
  if (kind == "dead") until_dead = n;
  if (kind == "open") until_open = n;
  if (kind == "busy") busy = n;
  return kind == "open" || kind == "busy" || kind == "allocate" || kind == "launch" || kind == "late" || kind == "dead";
}

struct Live {
  std::int64_t bytes, capacity;
  int device;
};
// All devices' blocks by address; one table, so that another device's memory is told from the host's.
struct Table {
  std::mutex mutex;
  std::map<const char*, Live> live;

  const std::pair<const char* const, Live>* find(const char* p) {
    auto after = live.upper_bound(p);
    if (after == live.begin()) return nullptr;
    --after;
    return p < after->first + std::max<std::int64_t>(after->second.capacity, 1) ? &*after : nullptr;
  }
};
Table& table() {
  static auto* t = new Table;
  return *t;
}

[[noreturn]] void violation(const std::string& what) {
  ++count_violations;
  throw std::logic_error("[stand-in] " + what);
}

class StandIn final : public DeviceBackend {
 public:
  explicit StandIn(int ordinal) : ordinal_(ordinal) {
    if (const char* text = std::getenv("GALOP_STAND_IN_MEMORY"); text && *text) total_ = std::atoll(text);
  }

  Device device() const override { return {DeviceKind::cuda, static_cast<std::int16_t>(ordinal_)}; }
  DeviceSpeed speed() const override { return {5e-6, 4e12, 5e10, 1e12}; }
  std::string name() const override { return "Stand-in " + std::to_string(ordinal_); }
  int capability() const override { return 90; }
  bool alive() const override { return !dead_ && getpid() == process_; }

  Storage allocate(std::int64_t bytes) override {
    enter("allocate");
    ++count_allocate;
    const std::int64_t capacity = (std::max<std::int64_t>(bytes, 1) + 511) / 512 * 512;
    const std::lock_guard lock(table().mutex);
    const std::int64_t most = limit_ > 0 ? std::min(limit_, total_) : total_;
    if (strikes(until_allocate) || bytes < 0 || capacity > most - in_use_)
      throw MemoryError("[allocate] " + std::to_string(bytes) + " bytes on " + to_string(device()) + "; " +
                        std::to_string(most - in_use_) + " are free");
    char* data = nullptr;
    if (auto kept = cache_.find(capacity); kept != cache_.end()) {
      data = kept->second;
      cache_.erase(kept);
      cached_ -= capacity;
    } else {
      if (capacity > total_ - in_use_ - cached_) drop_cache();
      void* p = mmap(nullptr, pages(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) throw MemoryError("[allocate] " + std::to_string(bytes) + " bytes for a stand-in device");
      data = static_cast<char*>(p);
    }
    std::memset(data, kPoison, static_cast<std::size_t>(capacity));
    table().live[data] = {bytes, capacity, ordinal_};
    in_use_ += capacity;
    return {data, bytes, capacity};
  }

  void release(const Storage& s) noexcept override {
    if (!s.data) return;
    const std::lock_guard lock(table().mutex);
    auto* data = static_cast<char*>(s.data);
    const auto found = table().live.find(data);
    if (found == table().live.end() || found->second.device != ordinal_ || found->second.capacity != s.capacity) {
      ++count_violations;
      return;
    }
    table().live.erase(found);
    std::memset(data, kPoison, static_cast<std::size_t>(s.capacity));
    in_use_ -= s.capacity;
    cached_ += s.capacity;
    cache_.emplace(s.capacity, data);
  }

  std::int64_t capacity() const override { return total_; }

  void run(const Plan& plan) override {
    for (const Operand& o : plan.operands)
      if (o.kind == Operand::Kind::memory) strided("run: operand", o.data, plan.shape, o.strides, itemsize(o.dtype));
    for (const Output& o : plan.outputs) strided("run: output", o.data, plan.shape, o.strides, itemsize(o.dtype));
    for (const Reduction& r : plan.reductions) {
      Dims kept = plan.shape;
      for (int k = 0; k < kept.size(); ++k)
        if (r.reduced >> k & 1) kept[k] = 1;
      strided("run: reduction", r.data, kept, r.strides, itemsize(r.result));
    }
    if (!launch("run")) return;
    Plan watched = plan;
    std::vector<std::uint8_t> words(1 + plan.tape.size(), 0);
    if (plan.faults) watched.faults = words.data();
    cpu_backend().run(watched);
    for (std::size_t w = 0; w < words.size(); ++w)
      if (words[w] != 0) unseen_.push_back(fault_in(plan, w, words[w]));
  }

  void scan(Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
            const Dims& out_strides) override {
    strided("scan: in", in, shape, in_strides, itemsize(t));
    strided("scan: out", out, shape, out_strides, itemsize(t));
    if (!launch("scan")) return;
    cpu_backend().scan(op, t, shape, in, in_strides, out, out_strides);
    unseen_.push_back({"accumulate", cpu_backend().take_faults(), faults::policy()});
  }

  std::vector<faults::Fault> take_late_faults() override { return std::exchange(seen_, {}); }

  void at(Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n, const void* values) override {
    packed("at: offsets", offsets, n, 8);
    if (values) packed("at: values", values, n, itemsize(t));
    for (std::int64_t i = 0; i < n; ++i) span("at: element", at_offset(base, offsets[i]), itemsize(t));
    if (!launch("at")) return;
    cpu_backend().at(op, t, base, offsets, n, values);
    unseen_.push_back({info(op).name, cpu_backend().take_faults(), faults::policy()});
  }

  bool locate(std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets) override {
    for (const IndexedAxis& a : axes) packed("locate: index", a.index, count, 8);
    packed("locate: offsets", offsets, count, 8);
    const bool runs = launch("locate");
    waits("locate");
    return runs && cpu_backend().locate(axes, count, offsets);
  }
  void gather(const Blocks& b) override {
    blocks("gather", b);
    if (launch("gather")) cpu_backend().gather(b);
  }
  void scatter(const Blocks& b) override {
    blocks("scatter", b);
    if (launch("scatter")) cpu_backend().scatter(b);
  }
  std::int64_t count_true(const void* mask, std::int64_t n) override {
    packed("count_true: mask", mask, n, 1);
    const bool runs = launch("count_true");
    waits("count_true");
    return runs ? cpu_backend().count_true(mask, n) : 0;
  }
  void positions(const void* mask, std::int64_t n, std::int64_t* out) override {
    packed("positions: mask", mask, n, 1);
    packed("positions: out", out, cpu_backend().count_true(mask, n), 8);
    if (launch("positions")) cpu_backend().positions(mask, n, out);
  }
  void compress(const void* mask, std::int64_t n, int itemsize, const void* in, void* out) override {
    packed("compress: mask", mask, n, 1);
    packed("compress: in", in, n, itemsize);
    packed("compress: out", out, cpu_backend().count_true(mask, n), itemsize);
    if (launch("compress")) cpu_backend().compress(mask, n, itemsize, in, out);
  }
  // Half of what is kept for sure: the first attempt has no room, unless all elements were to be kept.
  std::int64_t estimate_kept(const Plan& plan) override { return packed_by(plan, 0, nullptr) / 2; }
  std::int64_t pack(const Plan& plan, std::int64_t room) override {
    const int item = itemsize(plan.outputs[1].dtype);
    packed("pack: out", plan.outputs[1].data, room, item);
    return packed_by(plan, room, static_cast<std::byte*>(plan.outputs[1].data));
  }

  void matmul(const Product& p) override {
    auto stack = [&](const char* what, const Matrix& m, const Dims& steps) {
      Dims shape = p.batch, strides = steps;
      shape.push_back(m.rows);
      shape.push_back(m.cols);
      strides.push_back(m.row);
      strides.push_back(m.col);
      strided(what, m.data, shape, strides, itemsize(p.dtype));
    };
    stack("matmul: c", p.c, p.c_batch);
    if (p.a.cols > 0) {
      stack("matmul: a", p.a, p.a_batch);
      stack("matmul: b", p.b, p.b_batch);
    }
    if (!launch("matmul")) return;
    cpu_backend().matmul(p);
    unseen_.push_back({p.where, cpu_backend().take_faults(), p.policy});
  }

  void synchronize() override {
    enter("synchronize");
    waits("synchronize");
  }

  void upload(void* to, const void* from, std::int64_t bytes) override {
    enter("upload");
    ++count_upload;
    span("upload: to", to, bytes);
    host("upload: from", from, bytes);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, const void* from, std::int64_t bytes) override {
    enter("download");
    ++count_download;
    span("download: from", from, bytes);
    host("download: to", to, bytes);
    waits("download");
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    enter("copy");
    ++count_copy;
    span("copy: to", to, bytes);
    span("copy: from", from, bytes);
    std::memmove(to, from, static_cast<std::size_t>(bytes));
  }
  // Upwards only, so that both ways between devices are tested.
  bool copy_peer(void* to, int from_ordinal, const void* from, std::int64_t bytes) override {
    enter("copy_peer");
    span("copy_peer: to", to, bytes);
    span("copy_peer: from", from, bytes, from_ordinal);
    if (from_ordinal > ordinal_) return false;
    ++count_copy;
    std::memmove(to, from, static_cast<std::size_t>(bytes));
    return true;
  }

  DeviceMemory memory() const override {
    const std::lock_guard lock(table().mutex);
    return {total_, total_ - in_use_ - cached_, in_use_, cached_, limit_};
  }
  void trim() override {
    const std::lock_guard lock(table().mutex);
    drop_cache();
  }
  void set_limit(std::int64_t bytes) override {
    const std::lock_guard lock(table().mutex);
    limit_ = bytes;
  }

  void wait_for(std::uintptr_t) override { ++count_wait_for; }
  void make_wait(std::uintptr_t) override { ++count_make_wait; }

 private:
  static std::size_t pages(std::int64_t bytes) { return (static_cast<std::size_t>(bytes) + 4095) / 4096 * 4096; }

  static const char* at_offset(const void* p, std::int64_t bytes) { return static_cast<const char*>(p) + bytes; }

  void drop_cache() {
    for (const auto& [capacity, data] : cache_) munmap(data, pages(capacity));
    cache_.clear();
    cached_ = 0;
  }

  // Every call that can fail begins here.
  void enter(const char* what) {
    if (getpid() != process_)
      throw DeviceError("[" + std::string(what) + "] " + to_string(device()) + " was used before this process forked");
    if (strikes(until_dead)) dead_ = true;
    if (dead_)
      throw DeviceError("[" + std::string(what) + "] " + to_string(device()) + " has failed; what it held is lost");
  }

  // How many elements the plan keeps; the first `room` of them at `out`.
  std::int64_t packed_by(Plan plan, std::int64_t room, std::byte* out) {
    const std::int64_t n = plan.shape[0];
    for (const Operand& o : plan.operands)
      if (o.kind == Operand::Kind::memory) strided("pack: operand", o.data, plan.shape, o.strides, itemsize(o.dtype));
    const bool runs = launch("pack");
    waits("pack");
    if (!runs) return 0;
    const auto item = static_cast<std::size_t>(itemsize(plan.outputs[1].dtype));
    std::vector<std::byte> mask(static_cast<std::size_t>(n)), values(static_cast<std::size_t>(n) * item);
    plan.packs = false;
    plan.outputs[0].data = mask.data();
    plan.outputs[1].data = values.data();
    cpu_backend().run(plan);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == std::byte{0}) continue;
      if (count < room) std::memcpy(out + static_cast<std::size_t>(count) * item, &values[i * item], item);
      ++count;
    }
    return count;
  }

  // Whether the work is done; not when its failure is to be seen only later.
  bool launch(const char* what) {
    enter(what);
    ++count_launch;
    if (strikes(until_launch))
      throw DeviceError("[" + std::string(what) + "] the launch was refused by " + to_string(device()));
    if (strikes(until_late)) late_ = what;
    return late_.empty();
  }

  void waits(const char* what) {
    for (; busy > 0; --busy) {
      interrupt::poll();  // as the GPU's plug-in does: what was begun goes on
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (const faults::Fault& f : std::exchange(unseen_, {}))
      if (f.flags != 0) seen_.push_back(f);
    if (late_.empty()) return;
    dead_ = true;
    throw DeviceError("[" + std::string(what) + "] " + late_ + " failed on " + to_string(device()));
  }

  void span(const char* what, const void* p, std::int64_t bytes, int device = -1) const {
    if (bytes <= 0) return;
    if (device < 0) device = ordinal_;
    const auto* begin = static_cast<const char*>(p);
    const std::lock_guard lock(table().mutex);
    const auto* block = table().find(begin);
    if (!block) violation(std::string(what) + " is not memory of a device");
    if (block->second.device != device)
      violation(std::string(what) + " is memory of cuda:" + std::to_string(block->second.device) +
                ", not of cuda:" + std::to_string(device));
    if (begin + bytes > block->first + block->second.bytes)
      violation(std::string(what) + " ends " + std::to_string(begin + bytes - block->first - block->second.bytes) +
                " bytes behind its block of " + std::to_string(block->second.bytes));
  }

  void host(const char* what, const void* p, std::int64_t bytes) const {
    if (bytes <= 0) return;
    const auto* begin = static_cast<const char*>(p);
    const std::lock_guard lock(table().mutex);
    if (table().find(begin) || table().find(begin + bytes - 1))
      violation(std::string(what) + " is a device's memory, not the host's");
  }

  void strided(const char* what, const void* p, const Dims& shape, const Dims& strides, std::int64_t item) const {
    if (shape.size() != strides.size())
      violation(std::string(what) + " has not as many strides as the domain has axes");
    std::int64_t low = 0, high = item;
    for (int k = 0; k < shape.size(); ++k) {
      if (shape[k] == 0) return;
      const std::int64_t last = (shape[k] - 1) * strides[k];
      (last < 0 ? low : high) += last;
    }
    span(what, at_offset(p, low), high - low);
  }
  void packed(const char* what, const void* p, std::int64_t n, std::int64_t item) const { span(what, p, n * item); }

  void blocks(const std::string& what, const Blocks& b) const {
    packed((what + ": offsets").c_str(), b.offsets, b.count, 8);
    for (std::int64_t i = 0; i < b.count; ++i) {
      strided((what + ": place").c_str(), at_offset(b.places, b.offsets[i]), b.shape, b.place_strides, b.itemsize);
      strided((what + ": packed").c_str(), at_offset(b.packed, i * b.packed_step), b.shape, b.packed_strides,
              b.itemsize);
    }
  }

  const int ordinal_;
  const pid_t process_ = getpid();
  std::int64_t total_ = std::int64_t{1} << 30, limit_ = 0, in_use_ = 0, cached_ = 0;
  std::multimap<std::int64_t, char*> cache_;  // released blocks by capacity
  std::atomic<bool> dead_ = false;
  std::string late_;                          // the work whose failure nobody has seen yet
  std::vector<faults::Fault> unseen_, seen_;  // floating-point flags, before and after somebody has waited
};

DeviceBackend* open(int ordinal) {
  if (strikes(until_open)) throw MemoryError("[stand-in] its memory is full; got device " + std::to_string(ordinal));
  return new StandIn(ordinal);
}

const DevicePlugin plugin{[] {
                            const char* said = std::getenv("GALOP_STAND_IN_VERSION");
                            return said ? said : GALOP_INTERFACE_VERSION;
                          }(),
                          [] { return kDevices; }, open};

}  // namespace
}  // namespace galop

extern "C" const galop::DevicePlugin* galop_device_plugin() {
  const char* fault = std::getenv("GALOP_STAND_IN_FAULT");
  if (const std::string_view text = fault ? fault : ""; text.find(':') != text.npos)
    galop::inject(text.substr(0, text.find(':')), std::atol(fault + text.find(':') + 1));
  return &galop::plugin;
}

/// Orders a failure, as GALOP_STAND_IN_FAULT does; n = 0 takes the order back. 0 for an unknown kind.
extern "C" int galop_stand_in_inject(const char* kind, long n) { return galop::inject(kind, n) ? 1 : 0; }

/// Calls since the start: "allocate", "launch", "upload", "download", "copy", "wait_for", "make_wait"; and
/// "violations": addresses that were wrong. -1 for another name.
extern "C" long galop_stand_in_count(const char* of) {
  const std::string_view name = of;
  if (name == "allocate") return galop::count_allocate;
  if (name == "launch") return galop::count_launch;
  if (name == "upload") return galop::count_upload;
  if (name == "download") return galop::count_download;
  if (name == "copy") return galop::count_copy;
  if (name == "wait_for") return galop::count_wait_for;
  if (name == "make_wait") return galop::count_make_wait;
  if (name == "violations") return galop::count_violations;
  return -1;
}
