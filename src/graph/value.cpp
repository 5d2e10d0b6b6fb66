// Lifetimes of buffers, values and cells, and the engine's lock.
#include "graph/value.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

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

namespace {
// Both guarded by the lock.
int depth = 0;
std::vector<faults::Fault> noted;
}  // namespace

Lock::Lock() : lock_(engine_mutex()) { ++depth; }

Lock::~Lock() noexcept(false) {
  if (--depth > 0 || noted.empty()) return;
  if (std::uncaught_exceptions() > 0) return;  // another error is on its way: the next entry reports
  const std::vector<faults::Fault> mine = std::exchange(noted, {});
  lock_.unlock();
  for (const faults::Fault& f : mine) faults::report(f);
}

void note_faults(std::string_view where, std::uint8_t flags, faults::Policy policy) {
  flags = static_cast<std::uint8_t>(flags & faults::watched(policy));
  if (flags == 0) return;
  for (faults::Fault& f : noted)
    if (f.where == where && f.policy == policy) {
      f.flags = static_cast<std::uint8_t>(f.flags | flags);
      return;
    }
  noted.push_back({where, flags, policy});
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
    const std::lock_guard lock(engine_mutex());  // reports nothing: no value is computed, and nobody may throw
    delete this;
  }
}

void Cell::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const std::lock_guard lock(engine_mutex());  // reports nothing: no value is computed, and nobody may throw
    delete this;
  }
}

void retain(Cell* c) noexcept {
  if (c) c->retain();
}
void release(Cell* c) noexcept { c->release(); }

}  // namespace galop::graph
