// Redraws one line; \033[K wipes what a longer line left.
#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace galop::cli {

Progress::Progress(int steps) : steps_(std::max(steps, 1)), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

void Progress::say(const std::string& what) {
  what_ = what;
  draw();
}

void Progress::step() {
  done_ = std::min(done_ + 1, steps_);
  draw();
}

void Progress::draw() const {
  if (!shown_) return;
  constexpr int kWidth = 30;
  const auto full = static_cast<std::size_t>(kWidth * done_ / steps_);
  fmt::print(stderr, "\r[{:<{}}] {:3}% {}\033[K", std::string(full, '='), kWidth, 100 * done_ / steps_, what_);
  std::fflush(stderr);
}

}  // namespace galop::cli
