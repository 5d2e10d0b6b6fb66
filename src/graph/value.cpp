// Lifetimes of buffers, values and cells, and the engine's lock.
#include "graph/value.hpp"

#include <algorithm>

namespace galop::graph {

namespace {
std::recursive_mutex& engine_mutex() {
  static auto* mutex = new std::recursive_mutex;  // never destroyed: handles may outlive main
  return *mutex;
}
}  // namespace

Lock::Lock() : lock_(engine_mutex()) {}

Buffer::Buffer(std::int64_t bytes) : storage(cpu_backend().allocate(bytes)) {}

Buffer::Buffer(void* data, std::int64_t bytes, bool readonly_, std::function<void()> owner_)
    : storage{data, bytes, 0}, foreign(true), readonly(readonly_), owner(std::move(owner_)) {}

Buffer::~Buffer() {
  if (!foreign)
    cpu_backend().release(storage);
  else if (owner)
    owner();
}

void Value::drop_node() {
  if (!node) return;
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

void Value::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Lock lock;
    delete this;
  }
}

void Cell::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Lock lock;
    delete this;
  }
}

void retain(Cell* c) noexcept {
  if (c) c->retain();
}
void release(Cell* c) noexcept { c->release(); }

}  // namespace galop::graph
