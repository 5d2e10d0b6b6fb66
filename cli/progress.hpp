// A progress bar on standard error, where that is a terminal.
#pragma once

#include <string>

namespace galop::cli {

class Progress {
 public:
  /// A bar of `steps` steps; silent when standard error is no terminal.
  explicit Progress(int steps);
  /// Wipes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows what is being done now.
  void say(const std::string& what);
  /// Counts a step as done.
  void step();

 private:
  void draw() const;

  int steps_;
  int done_ = 0;
  bool shown_;
  std::string what_;
};

}  // namespace galop::cli
