// Ending long work before it is done: where it may stop, and who is asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace galop::interrupt {

/// The calling thread's check: galop::set_interrupt_check.
std::function<bool()> set_check(std::function<bool()> check);
/// Whether work that this thread calls for may be ended.
bool asked();

/// Work that may be ended, shared by the threads that do it.
class Job {
 public:
  explicit Job(const std::function<bool()>& check) : check_(check) {}
  /// Throws Interrupted once the check has said so; then on every thread.
  void poll();

 private:
  const std::function<bool()>& check_;
  std::atomic<bool> ended_{false};
};

// What the calling thread works for; null: work that is not to be ended.
extern constinit thread_local Job* job __attribute__((tls_model("initial-exec")));

/// A place where work may stop. Called every few microseconds or milliseconds of it, from whichever thread.
inline void poll() {
  if (job) job->poll();
}

/// body(from, to) for pieces of 0 … n, with a place to stop before each: for loops of some nanoseconds a step.
template <class Body>
void polled(std::size_t n, Body&& body) {
  constexpr std::size_t kPiece = 1 << 18;
  for (std::size_t from = 0; from < n; from += kPiece) {
    poll();
    body(from, n - from < kPiece ? n : from + kPiece);
  }
}

/// Makes the caller's work one that may be ended, if the thread has a check, or one that may not, as it is outside of
/// all scopes: `may_end` is for work that writes to fresh memory only, so that nothing half done is seen. Undone at the
/// end.
class Scope {
 public:
  explicit Scope(bool may_end);
  ~Scope() { job = before_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Job* const before_ = job;
  Job mine_;
};

/// A place where work may stop whatever it writes to: between two elements that are each written wholly.
inline void look() {
  const Scope scope(true);
  poll();
}

/// Has this thread work for another's job, or for none.
class Join {
 public:
  explicit Join(Job* theirs) { job = theirs; }
  ~Join() { job = before_; }
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

 private:
  Job* const before_ = job;
};

}  // namespace galop::interrupt
