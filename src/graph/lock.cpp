// Waiting for the engine's lock, forks while it is held, and what its holder does when it goes.
#include "graph/lock.hpp"

#include <sched.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "graph/value.hpp"

namespace galop::graph {

constinit EngineLock engine_lock;
constinit bool duties_wait = false;
constinit std::atomic<bool> values_are_left{false};

namespace {
// Guarded by the lock.
void* given_up = nullptr;  // what the thread with the lock gave up of the guest's
std::vector<faults::Fault>& noted() {
  static auto* list = new std::vector<faults::Fault>;  // never destroyed: handles may outlive main
  return *list;
}

// Values whose last reference went while another thread had the lock.
std::mutex left_mutex;
std::vector<Value*>& left() {
  static auto* values = new std::vector<Value*>;
  return *values;
}

GuestLock guest{};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}
}  // namespace

void EngineLock::lock() {
  // A thread that computes holds the lock for microseconds or for long: nothing is lost by looking every 50.
  for (int tries = 0; !try_lock(); ++tries)
    if (tries < 100)
      pause();
    else if (tries < 120)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// A lock that another thread holds at fork() would stay locked in the child for ever. The child gets a fresh one, since
// a lock is unlocked by the thread that locked it, and that thread is another there.
void EngineLock::prepare_for_forks() {
  try {
    cpu_backend();  // whose handlers come first: fork() runs the last one first, and jobs run under this lock
  } catch (...) {
    state_.store(kUnused, std::memory_order_release);
    throw;
  }
  pthread_atfork(
      [] {
        engine_lock.lock();
        left_mutex.lock();
      },
      [] {
        left_mutex.unlock();
        engine_lock.unlock();
      },
      [] {
        new (&left_mutex) std::mutex;
        new (&engine_lock) EngineLock;
        engine_lock.state_.store(kFree, std::memory_order_relaxed);
      });
}

void set_guest_lock(const GuestLock& g) { guest = g; }

void begin_long_work() {
  if (given_up || !guest.give_up) return;
  given_up = guest.give_up();
  duties_wait = duties_wait || given_up;
}

void Lock::wait() {
  void* const ticket = guest.give_up ? guest.give_up() : nullptr;
  engine_lock.lock();
  given_up = ticket;
  duties_wait = duties_wait || ticket;
}

void Lock::unlock_and_do_them() {
  std::vector<faults::Fault> mine;
  // While another error is on its way, the next entry reports.
  if (std::uncaught_exceptions() == 0) mine.swap(noted());
  duties_wait = !noted().empty();
  void* const ticket = std::exchange(given_up, nullptr);
  engine_lock.unlock();
  if (values_are_left) drop_left();
  if (ticket) guest.take_back(ticket);
  for (const faults::Fault& f : mine) faults::report(f);
}

void leave_to_holder(Value& v) {
  {
    const std::lock_guard guard(left_mutex);
    left().push_back(&v);
    values_are_left = true;
  }
  drop_left();  // the holder may have gone meanwhile
}

void drop_left() {
  while (values_are_left.load()) {
    if (!engine_lock.try_lock()) return;  // its holder comes by
    std::vector<Value*> mine;
    {
      const std::lock_guard guard(left_mutex);
      mine.swap(left());
      values_are_left = false;
    }
    for (Value* v : mine) v->release();
    engine_lock.unlock();
  }
}

void note_faults(std::string_view where, std::uint8_t flags, faults::Policy policy) {
  flags = static_cast<std::uint8_t>(flags & faults::watched(policy));
  if (flags == 0) return;
  duties_wait = true;
  for (faults::Fault& f : noted())
    if (f.where == where && f.policy == policy) {
      f.flags = static_cast<std::uint8_t>(f.flags | flags);
      return;
    }
  noted().push_back({where, flags, policy});
}

void note_late_faults(Device d, bool now) {
  if (d.is_cpu()) return;
  DeviceBackend& device = cuda_backend(d.ordinal);
  if (now) device.synchronize();
  for (const faults::Fault& f : device.take_late_faults()) note_faults(f.where, f.flags, f.policy);
}

}  // namespace galop::graph
