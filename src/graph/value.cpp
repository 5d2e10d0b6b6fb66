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

// Values whose last reference went while another thread had the lock, which ends them when it unlocks.
std::mutex left_mutex;
std::atomic<bool> any_left{false};
std::vector<Value*>& left() {
  static auto* values = new std::vector<Value*>;  // never destroyed: handles may outlive main
  return *values;
}

// A lock that another thread holds at fork() would stay locked in the child for ever. The child gets a fresh one, since
// a lock is unlocked by the thread that locked it, and that thread is another there.
std::recursive_mutex* make_engine_mutex() {
  cpu_backend();  // whose handlers come first: fork() runs the last one first, and jobs run under this lock
  pthread_atfork(
      [] {
        engine_mutex().lock();
        left_mutex.lock();
      },
      [] {
        left_mutex.unlock();
        engine_mutex().unlock();
      },
      [] {
        new (&left_mutex) std::mutex;
        new (&engine_mutex()) std::recursive_mutex;
      });
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
void* given_up = nullptr;  // what the thread with the lock gave up of the guest's

GuestLock guest{};

void end_left() {
  while (any_left.load()) {
    const std::unique_lock lock(engine_mutex(), std::try_to_lock);
    if (!lock) return;  // its holder comes by
    std::vector<Value*> mine;
    {
      const std::lock_guard guard(left_mutex);
      mine.swap(left());
      any_left.store(false);
    }
    for (Value* v : mine) delete v;
  }
}
}  // namespace

void set_guest_lock(const GuestLock& g) { guest = g; }

void begin_long_work() {
  if (!given_up && guest.give_up) given_up = guest.give_up();
}

Lock::Lock() : lock_(engine_mutex(), std::try_to_lock) {
  if (!lock_) {
    void* const ticket = guest.give_up ? guest.give_up() : nullptr;
    lock_.lock();
    given_up = ticket;
  }
  ++depth;
}

Lock::~Lock() noexcept(false) {
  if (--depth > 0) return;
  std::vector<faults::Fault> mine;
  // While another error is on its way, the next entry reports.
  if (!noted.empty() && std::uncaught_exceptions() == 0) mine.swap(noted);
  void* const ticket = std::exchange(given_up, nullptr);
  lock_.unlock();
  end_left();
  if (ticket) guest.take_back(ticket);
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

void note_late_faults(Device d, bool now) {
  if (d.is_cpu()) return;
  DeviceBackend& device = cuda_backend(d.ordinal);
  if (now) device.synchronize();
  for (const faults::Fault& f : device.take_late_faults()) note_faults(f.where, f.flags, f.policy);
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
    // Nobody waits here: whoever drops an array may hold locks that others need.
    const std::unique_lock lock(engine_mutex(), std::try_to_lock);
    if (lock) {
      delete this;
      return;
    }
    {
      const std::lock_guard guard(left_mutex);
      left().push_back(this);
      any_left.store(true);
    }
    end_left();
  }
}

void Cell::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void retain(Cell* c) noexcept {
  if (c) c->retain();
}
void release(Cell* c) noexcept { c->release(); }

}  // namespace galop::graph
