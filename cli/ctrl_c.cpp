// The handler sets a flag; the engine and the loops over files look at it.
#include "ctrl_c.hpp"

#include <atomic>
#include <cstdlib>

#include "galop/engine.hpp"
#include "galop/error.hpp"

namespace galop::cli {
namespace {

std::atomic<bool> pressed{false};

}  // namespace

CtrlC::CtrlC() {
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;
  struct sigaction ours {};
  ours.sa_handler = [](int) { pressed.store(true, std::memory_order_relaxed); };
  ours.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &ours, nullptr);
  set_interrupt_check([] { return pressed.load(std::memory_order_relaxed); });
}

CtrlC::~CtrlC() {
  set_interrupt_check({});
  sigaction(SIGINT, &before_, nullptr);
}

void CtrlC::check() {
  if (pressed.load(std::memory_order_relaxed)) throw Interrupted();
}

void CtrlC::die() {
  signal(SIGINT, SIG_DFL);
  raise(SIGINT);
  std::_Exit(130);
}

}  // namespace galop::cli
