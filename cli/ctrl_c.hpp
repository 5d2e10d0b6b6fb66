// Ctrl-C as an exception: long work ends, files in the making go, and then the program dies of the signal as others do.
#pragma once

#include <signal.h>

namespace galop::cli {

/// While it lives, SIGINT ends long work of this thread with Interrupted; a second one ends the program at once. An
/// ignored SIGINT stays ignored.
class CtrlC {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

  /// Throws Interrupted once SIGINT has come.
  static void check();
  /// Ends the program by SIGINT, so that a shell knows.
  [[noreturn]] static void die();

 private:
  struct sigaction before_;
};

}  // namespace galop::cli
