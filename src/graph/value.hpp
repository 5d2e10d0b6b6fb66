// Values, buffers and cells: what the engine computes with (rules R1–R5 of docs/architecture.md).
//
// A Value is immutable once captured: Ready (it has a buffer) or Pending (it has a node). A Cell is the storage
// identity that views share; it points at one Value. Array handles are (Cell, View, dtype).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/op.hpp"
#include "galop/array.hpp"
#include "graph/buffer.hpp"
#include "graph/lock.hpp"
#include "graph/recycled.hpp"

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
  DType dtype{};  // as which the elements are read; the node's loop dtype may differ and is cast to
  alignas(16) std::byte bits[16] = {};
};

/// A node's operands, three at most, in the node's own memory.
class Inputs {
 public:
  Input& add() { return at_[static_cast<std::size_t>(size_++)]; }
  Input* begin() { return at_; }
  Input* end() { return at_ + size_; }
  const Input* begin() const { return at_; }
  const Input* end() const { return at_ + size_; }
  std::size_t size() const { return static_cast<std::size_t>(size_); }
  Input& operator[](std::size_t i) { return at_[i]; }
  const Input& operator[](std::size_t i) const { return at_[i]; }

 private:
  Input at_[3];
  int size_ = 0;
};

enum class Kind : std::uint8_t {
  fill,    // bits of in[0]
  iota,    // int64: start + Σ coordinate · weight
  map,     // op over the inputs
  reduce,  // op folded over `reduced` axes of in[0]
};

/// How a Pending Value is computed.
struct Node : Recycled<Node> {
  Kind kind;
  Op op = Op::cast;
  std::uint8_t which = 0;  // result number of an operation with two
  DType loop;              // dtype of the computation
  Dims domain;  // index space of the inputs' views; the Value's layout has the same shape, or the kept axes of it
  Inputs in{};
  Dims weights;               // iota
  std::int64_t start = 0;     // iota
  std::uint64_t reduced = 0;  // reduce: bit k is set when axis k of the domain is folded
  bool has_initial = false;   // reduce: in[1] is the value that the fold starts from
  faults::Policy policy = 0;  // where it was called; 0 again once its floating-point flags were reported
};

struct Block;

struct Value : Recycled<Value> {
  DType dtype;
  View layout;                  // where the elements lie in the buffer; dense: a permutation of C order, flips allowed
  std::int64_t bytes;           // of the buffer
  BufferPtr buffer;             // Ready
  std::unique_ptr<Node> node;   // Pending
  std::vector<Value*> readers;  // Pending Values with an input on this one, once for each input
  int operations = 0;           // of the pending graph below, saturating
  int depth = 0;
  int cost = 0;
  bool streams = false;      // a map of a file is read below, which may be larger than memory
  Device wish{};             // where it and what is computed from it should be; automatic: by cost
  std::uint8_t skipped = 0;  // times it was recomputed inside a kernel although a handle is alive
  bool generator = false;    // no memory is read below: recomputing costs no bandwidth
  bool born_ready = false;   // never Pending: nobody finds it through another Value's readers
  Block* block = nullptr;    // that it is a part of

  Value(DType t, const View& l, std::int64_t b) : dtype(t), layout(l), bytes(b) {}
  /// In C order.
  Value(DType t, const Dims& shape, std::int64_t b) : dtype(t), layout(View::Dense{}, shape, itemsize(t)), bytes(b) {}
  ~Value();
  bool ready() const { return buffer != nullptr; }
  /// Drops the node and tells the inputs; call when the Value is Ready.
  void drop_node() {
    if (node) drop_pending();
  }
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();
  std::atomic<std::int64_t> refs{0};

 private:
  friend struct Cell;
  void drop_pending();
  void destroy();
  // The last reference can be given up without the lock.
  bool is_private() const { return born_ready && (!buffer || buffer->unknown()); }
};

/// Storage identity shared by views.
struct Cell : Recycled<Cell> {
  Ref<Value> value;
  std::atomic<std::int64_t> refs{0};
  Block* block = nullptr;  // that it is a part of

  explicit Cell(Ref<Value> v) : value(std::move(v)) {}
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();
  /// The outside can write at any time (R5): reads are evaluated at the call.
  bool shared_with_outside() const { return value->ready() && value->buffer->outside(); }
};

/// The most bytes that lie in one piece of memory with their Cell and Value.
inline constexpr std::int64_t kMostInBlock = 1024;
/// A new Cell, counted once, of a Ready Value in C order with so many undefined bytes on the host, in one piece of
/// memory.
Cell* make_block(DType t, const Dims& shape, std::int64_t bytes, Device wish);

}  // namespace galop::graph
