// Runs what fuse.hpp lowers: order of evaluation, donation of buffers, writing into existing storage.
#pragma once

#include "graph/fuse.hpp"

namespace galop::graph {

/// Makes `v` Ready. Explicit stack: graphs may be deep. On an exception no Value has changed its state.
void force(Value& v);

/// Whether other threads should not wait until n elements are read and written, with operations of so much cost() on
/// each: it takes a tenth of a millisecond or more.
inline bool is_long_work(std::int64_t n, int costs) { return n * (1 + costs) >= 1 << 19; }

/// Has a fusion's plan report floating-point flags where its operations were called under a policy that wants them.
class FaultWatch {
 public:
  explicit FaultWatch(Fusion& f);
  /// After the plan has run there, before nodes are dropped. Waits for a device only where a policy stops the program.
  void note(Device d) const;

 private:
  Fusion& f_;
  std::vector<std::uint8_t> flags_;
};

/// Runs a lowered plan of one output straight into the memory of a Ready Value (a partial write, R3).
void store(Fusion& f, Value& old, bool ordered);

/// Evaluates the Pending Values that somebody holds, other than those in `except`, and that read `v` inside `region`
/// (R3 ii).
void force_readers(Value& v, const View& region, std::int64_t itemsize, std::initializer_list<const Value*> except);

/// Counters since the start, for tests and explain.
struct Counters {
  std::int64_t kernels = 0;
  std::int64_t donations = 0;
  std::int64_t temporaries = 0;
  std::int64_t bytes = 0;
};
Counters& counters();

/// Bytes that a plan reads and writes.
std::int64_t plan_bytes(const Plan& plan);

}  // namespace galop::graph
