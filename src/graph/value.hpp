// Values, buffers and cells: what the engine computes with (rules R1–R5 of docs/architecture.md).
//
// A Value is immutable once captured: Ready (it has a buffer) or Pending (it has a node). A Cell is the storage
// identity that views share; it points at one Value. Array handles are (Cell, View, dtype).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/op.hpp"
#include "galop/array.hpp"
#include "graph/buffer.hpp"

namespace galop::graph {

/// An intrusive reference.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }
  /// Takes over a reference that somebody else counted.
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* detach() { return std::exchange(p_, nullptr); }

 private:
  T* p_ = nullptr;
};

struct Value;

/// One operand of a node: a view of another Value, broadcast to the node's domain, or a number.
struct Input {
  Ref<Value> value;  // null: a number
  View view;
  DType dtype;  // as which the elements are read; the node's loop dtype may differ and is cast to
  alignas(16) std::byte bits[16] = {};
};

enum class Kind : std::uint8_t {
  fill,    // bits of in[0]
  iota,    // int64: start + Σ coordinate · weight
  map,     // op over the inputs
  reduce,  // op folded over `reduced` axes of in[0]
};

/// How a Pending Value is computed.
struct Node {
  Kind kind;
  Op op = Op::cast;
  std::uint8_t which = 0;  // result number of an operation with two
  DType loop;              // dtype of the computation
  Dims domain;  // index space of the inputs' views; the Value's layout has the same shape, or the kept axes of it
  std::vector<Input> in;
  Dims weights;               // iota
  std::int64_t start = 0;     // iota
  std::uint64_t reduced = 0;  // reduce: bit k is set when axis k of the domain is folded
  bool has_initial = false;   // reduce: in[1] is the value that the fold starts from
  faults::Policy policy = 0;  // where it was called; 0 again once its floating-point flags were reported
};

struct Value {
  DType dtype;
  View layout;         // where the elements lie in the buffer; dense: a permutation of C order, flips allowed
  std::int64_t bytes;  // of the buffer
  std::unique_ptr<Buffer> buffer;  // Ready
  std::unique_ptr<Node> node;      // Pending
  std::vector<Value*> readers;     // Pending Values with an input on this one, once for each input
  int operations = 0;              // of the pending graph below, saturating
  int depth = 0;
  int cost = 0;
  bool streams = false;      // a map of a file is read below, which may be larger than memory
  Device wish{};             // where it and what is computed from it should be; automatic: by cost
  std::uint8_t skipped = 0;  // times it was recomputed inside a kernel although a handle is alive
  bool generator = false;    // no memory is read below: recomputing costs no bandwidth

  Value(DType t, View l, std::int64_t b) : dtype(t), layout(std::move(l)), bytes(b) {}
  ~Value();
  bool ready() const { return buffer != nullptr; }
  /// Drops the node and tells the inputs; call when the Value is Ready.
  void drop_node();
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();
  std::atomic<std::int64_t> refs{0};
};

/// Storage identity shared by views.
struct Cell {
  Ref<Value> value;
  std::atomic<std::int64_t> refs{0};

  explicit Cell(Ref<Value> v) : value(std::move(v)) {}
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();
  /// The outside can write at any time (R5): reads are evaluated at the call.
  bool shared_with_outside() const { return value->ready() && value->buffer->outside(); }
};

/// A lock that threads may hold when they ask for the engine's: Python's.
struct GuestLock {
  void* (*give_up)() noexcept;  // null: this thread does not hold it
  void (*take_back)(void*) noexcept;
};
void set_guest_lock(const GuestLock& guest);

/// Long work begins under the caller's Lock: the guest's lock is given up until that one goes.
void begin_long_work();

/// One lock guards the graph; it is recursive, and every entry of the API takes it. The outermost one reports what was
/// noted of floating-point flags when it goes, after it has unlocked: then it may throw what a report throws. Nobody waits for it with the guest's lock, nor for the guest's lock with it.
class Lock {
 public:
  Lock();
  ~Lock() noexcept(false);
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Floating-point flags to report when the lock goes; those that the policy ignores are left out. `where` is of static
/// storage.
void note_faults(std::string_view where, std::uint8_t flags, faults::Policy policy);
/// The same of what a device has been waited for; `now`: after waiting for it. Nothing on the CPU.
void note_late_faults(Device d, bool now = false);
/// The same of an operation that is being called.
inline void note_faults(std::string_view where, std::uint8_t flags) {
  if (__builtin_expect(flags != 0, 0)) note_faults(where, flags, faults::policy());
}
/// The same of a call of scan() or at() on `d`.
inline void note_call_faults(std::string_view where, Device d) {
  note_faults(where, backend_of(d).take_faults());
  if (!d.is_cpu()) note_late_faults(d, faults::stops(faults::policy()));
}

}  // namespace galop::graph
