// The engine's switches: read from the environment once, then set by set_settings().
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "galop/engine.hpp"
#include "galop/error.hpp"
#include "graph/value.hpp"

namespace galop {
namespace {

std::int64_t number(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const long long v = std::strtoll(text, &end, 10);
  if (*end) throw ValueError(std::string("[settings] ") + name + " is not an integer; got \"" + text + '"');
  return v;
}

Settings from_environment() {
  Settings s;
  s.eager_below = number("GALOP_EAGER_BELOW", s.eager_below);
  s.eager = number("GALOP_EAGER", 0) != 0;
  s.donation = number("GALOP_DONATION", 1) != 0;
  s.fusion_limit = static_cast<int>(number("GALOP_FUSION_LIMIT", s.fusion_limit));
  s.overlap_maybe = number("GALOP_OVERLAP_MAYBE", 0) != 0;
  s.threads = static_cast<int>(number("GALOP_THREADS", 0));
  s.block = number("GALOP_BLOCK", 0);
  return s;
}

Settings& current() {
  static Settings s = from_environment();
  return s;
}

}  // namespace

const Settings& settings() { return current(); }

std::function<bool()> set_interrupt_check(std::function<bool()> check) {
  return interrupt::set_check(std::move(check));
}

void set_settings(const Settings& s) {
  graph::Lock lock;
  if (s.fusion_limit < 1)
    throw ValueError("[settings] fusion_limit must be at least 1; got " + std::to_string(s.fusion_limit));
  if (s.block < 0) throw ValueError("[settings] block must not be negative; got " + std::to_string(s.block));
  if (s.threads != current().threads) cpu_backend().set_threads(s.threads);
  current() = s;
}

}  // namespace galop
