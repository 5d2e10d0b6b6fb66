// Lifetimes of buffers, values and cells.
#include "graph/value.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace galop::graph {

void Value::drop_pending() {
  for (Input& in : node->in) {
    if (!in.value) continue;
    auto& list = in.value->readers;
    auto at = std::find(list.rbegin(), list.rend(), this);
    if (at != list.rend()) {
      *at = list.back();
      list.pop_back();
    }
  }
  node.reset();
  operations = depth = cost = 0;
}

Value::~Value() { drop_node(); }

// One piece of memory, given back when both its Cell and its Value have gone. The bytes come after it.
struct Block {
  std::int32_t bytes, capacity;  // of its Storage; so short, they are copied one by one, not as a vector just written
  std::atomic<int> parts{2};
  union {
    Cell cell;
  };
  union {
    Value value;
  };
  union {
    Buffer buffer;
  };

  explicit Block(const Storage& s)
      : bytes(static_cast<std::int32_t>(s.bytes)), capacity(static_cast<std::int32_t>(s.capacity)) {}
  ~Block() {}

  void leave() {
    if (parts.load(std::memory_order_acquire) == 1 || parts.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
  }
  void end() { cpu_backend().release({this, bytes, capacity}); }
};

Cell* make_block(DType t, const Dims& shape, std::int64_t bytes, Device wish) {
  constexpr std::int64_t head = (static_cast<std::int64_t>(sizeof(Block)) + 63) / 64 * 64;
  const Storage s = cpu_backend().allocate(head + bytes);
  auto* b = new (s.data) Block(s);
  auto* v = new (&b->value) Value(t, shape, bytes);
  v->buffer.reset(new (&b->buffer) Buffer(Buffer::InBlock{}, static_cast<char*>(s.data) + head, bytes));
  v->wish = wish;
  v->born_ready = true;
  v->block = b;
  v->refs.store(1, std::memory_order_relaxed);
  auto* cell = new (&b->cell) Cell(Ref<Value>::adopt(v));
  cell->block = b;
  cell->refs.store(1, std::memory_order_relaxed);
  return cell;
}

void Value::destroy() {
  Block* b = block;
  if (!b) {
    delete this;
    return;
  }
  this->~Value();
  b->leave();
}

void Value::release() {
  std::int64_t n = refs.load(std::memory_order_acquire);
  while (n > 1)
    if (refs.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel, std::memory_order_acquire)) return;
  if (is_private()) return destroy();
  // Whoever holds the lock may find a Pending Value through another's readers, so its last reference goes under the
  // lock; but nobody waits here: whoever drops an array may hold locks that others need.
  if (!engine_lock.try_lock()) return leave_to_holder(*this);
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  engine_lock.unlock();
}

void Cell::release() {
  if (refs.load(std::memory_order_acquire) != 1 && refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Block* b = block;
  if (!b) {
    delete this;
    return;
  }
  Value* own = &b->value;
  if (value.get() == own && own->refs.load(std::memory_order_acquire) == 1 && own->is_private()) {
    // The common end: both at once.
    static_cast<void>(value.detach());
    this->~Cell();
    own->~Value();
    b->end();
    return;
  }
  this->~Cell();
  b->leave();
}

void retain(Cell* c) noexcept {
  if (c) c->retain();
}
void release(Cell* c) noexcept { c->release(); }

}  // namespace galop::graph
