// The block interpreter: evaluates a plan's tape for a run of elements, in registers that stay in the first-level
// cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cpu/fp_flags.hpp"
#include "backend/cpu/kernels.hpp"

namespace galop::cpu {

/// Estimated nanoseconds for an element: of reading and writing it, and of an operation on it.
inline constexpr double kMoving = 0.2;
inline double nanoseconds_of(Op op) { return cost(op) < 4 ? 0.1 : 0.06 * cost(op); }
/// Elements that are worth a thread of their own when one takes so long.
inline std::int64_t grain_of(double nanoseconds) { return static_cast<std::int64_t>(16000 / nanoseconds); }

/// Copies n elements of so many bytes, which lie `from_step` bytes apart, to where they lie `to_step` apart.
void copy_run(int size, char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t n);

/// What all threads share about a plan: kernels, register slots, how each operand is read.
class Program {
 public:
  explicit Program(const Plan& plan);

  const Plan& plan() const { return plan_; }
  std::int64_t size() const { return size_; }
  /// Most elements of one block.
  std::int64_t block() const { return block_; }
  /// Blocks end at rows of the last axis, because rows are long.
  bool by_rows() const { return by_rows_; }
  /// Estimated nanoseconds an element, its reading and writing included, for splitting work.
  double work() const { return work_; }
  /// Results this large go past the caches.
  bool streams(std::size_t output) const { return stream_[output]; }

 private:
  friend class Evaluator;
  enum class Read : std::uint8_t { flat, strided, counter, constant };
  struct Source {
    Read read;
    int first_use;  // step before which it is loaded; steps() when only an output reads it
    std::int16_t slot;
  };
  struct Step {
    Kernel kernel;
    std::uint16_t in[3];
    std::uint16_t out[2];
    std::uint8_t nin, nout;
    std::uint8_t watch = 0;  // floating-point flags that somebody wants
    FlagTest test = FlagTest::none;
    Op op = Op::cast;
    DType loop = DType::bool_, result = DType::bool_;
  };

  const Plan& plan_;
  std::int64_t size_;
  std::int64_t block_;
  bool by_rows_;
  double work_;
  std::vector<Source> sources_;
  std::vector<Step> steps_;
  std::vector<std::int16_t>
      slot_;  // of every register; operands read in place use theirs only when they must be gathered
  std::vector<bool> stream_;
  std::vector<bool> direct_;  // outputs that the last step may write straight to memory
  bool copies_ = false;       // one operand, not dense, goes straight to one dense output
  int slots_;
  std::int64_t slot_bytes_;
};

/// One thread's registers and its place in the domain.
class Evaluator {
 public:
  explicit Evaluator(const Program& program);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Computes elements [start, start + n) in flat order of the domain, n <= block(), and stores the outputs.
  void run(std::int64_t start, std::int64_t n);
  /// The dense block of a register after run().
  const void* reg(std::uint16_t r) const { return at_[r]; }
  /// The elements [start, start + n) of a register, for any n, in one dense array: in `scratch`, or where they lie
  /// already.
  const void* dense(std::uint16_t r, std::int64_t start, std::int64_t n, void* scratch);
  /// Elements left in the row of the last axis at flat position `start`.
  std::int64_t row_left(std::int64_t start);

 private:
  void seek(std::int64_t start);
  void load(std::size_t operand, std::int64_t n);
  void gather(std::size_t operand, std::int64_t n, char* to) const;
  void store(std::size_t output, std::int64_t n);
  const char* address(const void* base, const Dims& strides) const;
  void run_watched(int step, void* const* out, const void* const* in, std::int64_t n);

  const Program& p_;
  std::unique_ptr<char[]> memory_;
  std::vector<void*> slot_at_;
  std::vector<void*> at_;            // current block of every register
  std::vector<const void*> filled_;  // splat registers: the address whose value fills the slot, to skip refilling
  std::vector<std::int64_t> filled_n_;
  Dims coords_;
  std::int64_t position_ = -1;
  bool streamed_ = false;
  void* redirect_ = nullptr;  // where register `redirected_` is to be written
  std::uint16_t redirected_ = 0;
  std::vector<std::uint8_t> flags_;  // as Plan::faults
};

/// Runs a plan with outputs over all threads.
void run_map(const Plan& plan);
/// Runs a plan with a reduction over all threads; the order of additions depends on the shape only.
void run_reduce(const Plan& plan);

}  // namespace galop::cpu
