// Switches of the evaluation engine, for tests and curiosity: none of them ever changes a result.
#pragma once

#include <cstdint>
#include <functional>

#include "galop/errstate.hpp"

namespace galop {

struct Settings {
  std::int64_t eager_below = 8192;  ///< smaller results of 8-byte elements are computed at the call (GALOP_EAGER_BELOW)
  bool eager = false;               ///< evaluate every operation at its call (GALOP_EAGER)
  bool donation = true;             ///< write results over operands that nobody can reach any more (GALOP_DONATION)
  int fusion_limit = 64;            ///< most operations in one kernel (GALOP_FUSION_LIMIT)
  bool overlap_maybe = false;       ///< take every undecided overlap for one (GALOP_OVERLAP_MAYBE)
  int threads = 0;                  ///< worker threads; 0: all cores allowed (GALOP_THREADS)
  std::int64_t block = 0;           ///< elements per block of the interpreter; 0: by cache size (GALOP_BLOCK)
};

/// The settings in force, first read from the environment.
const Settings& settings();
void set_settings(const Settings& s);

/// Has long work that this thread calls for ask `check` every few milliseconds or more often; true ends it with
/// Interrupted, and every array is as it was before the call: what was to be computed still is. Kernels that write over
/// existing memory go on to their end; writes through index arrays, `at`, `reduceat` into `out` and shuffles in place
/// stop between two elements, each of which is written wholly or not at all. Work on a GPU goes on, only the wait for
/// it ends. `check` is called from several of Galop's threads at once, and only looks at a flag. Returns the one
/// before; an empty one asks nobody.
std::function<bool()> set_interrupt_check(std::function<bool()> check);

}  // namespace galop
