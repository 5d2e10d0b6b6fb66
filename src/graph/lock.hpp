// The engine's lock, which guards the graph, and the floating-point flags that are reported when it goes.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "backend/backend.hpp"
#include "core/faults.hpp"

namespace galop::graph {

struct Value;

/// A recursive lock for work that is mostly short: free, it is taken by one atomic exchange and given back by a store.
class EngineLock {
 public:
  /// False when another thread has it.
  bool try_lock() {
    const pthread_t me = pthread_self();
    if (owner_.load(std::memory_order_relaxed) == me) {
      ++depth_;
      return true;
    }
    if (const std::uint8_t before = state_.exchange(kHeld, std::memory_order_acquire); before != kFree) {
      if (before == kHeld) return false;
      prepare_for_forks();
    }
    owner_.store(me, std::memory_order_relaxed);
    depth_ = 1;
    return true;
  }
  /// Looks again and again, less often the longer it takes.
  void lock();
  void unlock() {
    if (--depth_ > 0) return;
    owner_.store(pthread_t{}, std::memory_order_relaxed);
    state_.store(kFree, std::memory_order_release);
  }
  /// How often its owner, the caller, has taken it.
  int depth() const { return depth_; }

 private:
  static constexpr std::uint8_t kFree = 0, kHeld = 1, kUnused = 2;
  void prepare_for_forks();

  std::atomic<std::uint8_t> state_{kUnused};
  std::atomic<pthread_t> owner_{};
  int depth_ = 0;
};
extern EngineLock engine_lock;

/// A lock that threads may hold when they ask for the engine's: Python's.
struct GuestLock {
  void* (*give_up)() noexcept;  // null: this thread does not hold it
  void (*take_back)(void*) noexcept;
};
void set_guest_lock(const GuestLock& guest);

/// Long work begins under the caller's Lock: the guest's lock is given up until that one goes.
void begin_long_work();

/// Whether the lock's holder has something to do when it goes: flags to report or the guest's lock to take back.
/// Guarded by the lock.
extern bool duties_wait;
/// Whether Values were left to the holder of the lock, or to the next.
extern std::atomic<bool> values_are_left;
/// Takes over the last reference to a Value while another thread has the lock, which drops it when it unlocks.
void leave_to_holder(Value& v);
/// Drops what was left, unless another thread has the lock, which does so then.
void drop_left();

/// Every entry of the API takes the engine's lock with it. The outermost one reports what was noted of floating-point
/// flags when it goes, after it has unlocked: then it may throw what a report throws. Nobody waits for it with the
/// guest's lock, nor for the guest's lock with it.
class Lock {
 public:
  Lock() {
    if (!engine_lock.try_lock()) wait();
  }
  ~Lock() noexcept(false) {
    const bool last = engine_lock.depth() == 1;
    if (__builtin_expect(duties_wait && last, 0)) {
      unlock_and_do_them();
    } else {
      engine_lock.unlock();
      if (__builtin_expect(last && values_are_left.load(std::memory_order_relaxed), 0)) drop_left();
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  static void wait();
  static void unlock_and_do_them();
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
