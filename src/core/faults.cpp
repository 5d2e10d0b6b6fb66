// The policies of C++ threads, and what is done about floating-point exceptions there.
#include "core/faults.hpp"

#include <cstdio>
#include <mutex>
#include <string>

#include "galop/errstate.hpp"

namespace galop {
namespace {

thread_local faults::Policy mine = 0;
faults::Host host{};

std::mutex handler_lock;
std::function<void(std::string_view)>& handler() {
  static auto* h = new std::function<void(std::string_view)>;  // never destroyed: threads may outlive main
  return *h;
}

void call_handler(const std::string& what) {
  std::function<void(std::string_view)> h;
  {
    std::lock_guard lock(handler_lock);
    h = handler();
  }
  if (h) h(what);
}

}  // namespace

FpPolicy fp_policy() {
  const auto at = [](int k) { return static_cast<FpAction>(faults::action(mine, k)); };
  return {at(0), at(1), at(2), at(3)};
}

void set_fp_policy(const FpPolicy& p) {
  mine = static_cast<faults::Policy>(static_cast<unsigned>(p.divide) | static_cast<unsigned>(p.overflow) << 3 |
                                     static_cast<unsigned>(p.underflow) << 6 | static_cast<unsigned>(p.invalid) << 9);
}

void set_fp_handler(std::function<void(std::string_view)> h) {
  std::lock_guard lock(handler_lock);
  handler() = std::move(h);
}

namespace faults {

std::string_view describe(int flag_number) {
  constexpr std::string_view words[] = {"divide by zero", "overflow", "underflow", "invalid value"};
  return words[flag_number];
}

void set_host(const Host& h) { host = h; }

Policy policy() { return host.policy ? host.policy() : mine; }

void report(const Fault& f) {
  if (host.report) return host.report(f);
  for (int k = 0; k < 4; ++k) {
    if (!(f.flags >> k & 1)) continue;
    const std::string what = std::string(describe(k)) + " encountered in " + std::string(f.where);
    switch (static_cast<FpAction>(action(f.policy, k))) {
      case FpAction::ignore:
        break;
      case FpAction::warn:
        std::fprintf(stderr, "galop: warning: %s\n", what.c_str());
        break;
      case FpAction::print:
        std::printf("Warning: %s\n", what.c_str());
        break;
      case FpAction::raise:
        throw FloatingPointError(what);
      case FpAction::call:
      case FpAction::log:
        call_handler(what);
        break;
    }
  }
}

}  // namespace faults
}  // namespace galop
