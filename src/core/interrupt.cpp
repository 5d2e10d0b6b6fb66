// Each thread's check, and the end of work that it asks for.
#include "core/interrupt.hpp"

#include <utility>

#include "galop/error.hpp"

namespace galop::interrupt {
namespace {

std::function<bool()>& check_of_thread() {
  static thread_local std::function<bool()> check;
  return check;
}

}  // namespace

std::function<bool()> set_check(std::function<bool()> check) {
  return std::exchange(check_of_thread(), std::move(check));
}

constinit thread_local Job* job __attribute__((tls_model("initial-exec"))) = nullptr;

bool asked() { return static_cast<bool>(check_of_thread()); }

void Job::poll() {
  if (!ended_.load(std::memory_order_relaxed)) {
    if (!check_()) return;
    ended_.store(true, std::memory_order_relaxed);
  }
  throw Interrupted();
}

Scope::Scope(bool may_end) : mine_(check_of_thread()) { job = may_end && asked() ? &mine_ : nullptr; }

}  // namespace galop::interrupt
