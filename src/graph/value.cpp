// Lifetimes of buffers, values and cells, and the engine's lock.
#include "graph/value.hpp"

#include <pthread.h>

#include <algorithm>
#include <new>

namespace galop::graph {

namespace {
std::recursive_mutex& engine_mutex();

// A lock that another thread holds at fork() would stay locked in the child for ever. The child gets a fresh one, since
// a lock is unlocked by the thread that locked it, and that thread is another there.
std::recursive_mutex* make_engine_mutex() {
  cpu_backend();  // whose handlers come first: fork() runs the last one first, and jobs run under this lock
  pthread_atfork([] { engine_mutex().lock(); }, [] { engine_mutex().unlock(); },
                 [] { new (&engine_mutex()) std::recursive_mutex; });
  return new std::recursive_mutex;
}

std::recursive_mutex& engine_mutex() {
  static auto* mutex = make_engine_mutex();  // never destroyed: handles may outlive main
  return *mutex;
}
}  // namespace

Lock::Lock() : lock_(engine_mutex()) {}

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
