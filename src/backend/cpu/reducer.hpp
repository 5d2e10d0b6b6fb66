// One reduction: its accumulators, its order and the strategies that share the work out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "backend/cpu/evaluator.hpp"
#include "backend/cpu/reduce_order.hpp"
#include "backend/cpu/reduce_rows.hpp"
#include "backend/cpu/reduce_sink.hpp"
#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"

namespace galop::cpu {

inline constexpr std::int64_t kPieceBytes = 32 << 10;  // evaluated at once, so that it is folded from the caches
inline constexpr std::int64_t kReduceGrain = 16000;    // nanoseconds of work that are worth a thread
inline constexpr std::int64_t kFewRows =
    32;  // rows up to this many, or this short, are folded those of many units at a time

/// Whether the elements of a fold can be joined in any order without another result.
bool joins_freely(Op op, DType t);

using Bytes = std::unique_ptr<char[]>;
inline Bytes bytes(std::int64_t n) { return std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(n)); }

// The axes outside the units, as so many kept and so many folded positions.
class Outer {
 public:
  // The axes of `shape` before `count`, the last of which steps by one unit.
  Outer(const Dims& shape, int count, std::uint64_t reduced) {
    std::int64_t step = 1;
    for (int k = count - 1; k >= 0; --k) {
      const bool is_folded = reduced >> k & 1;
      if (!axes_.empty() && axes_.back().folded == is_folded)
        axes_.back().extent *= shape[k];
      else
        axes_.push_back({shape[k], step, is_folded});
      (is_folded ? folded : kept) *= shape[k];
      step *= shape[k];
    }
  }

  std::int64_t kept = 1;
  std::int64_t folded = 1;

  /// The unit at kept position o and folded position q.
  std::int64_t unit(std::int64_t o, std::int64_t q) const {
    std::int64_t at = 0;
    for (const Axis& a : axes_) {
      std::int64_t& rest = a.folded ? q : o;
      at += rest % a.extent * a.step;
      rest /= a.extent;
    }
    return at;
  }
  /// Units in a row that belong to neighbouring results (`kept`) or to one result, and where unit u stands in that row.
  struct Row {
    bool kept;
    std::int64_t extent;
  };
  Row row() const { return axes_.empty() ? Row{true, 1} : Row{!axes_[0].folded, axes_[0].extent}; }
  /// The kept and the folded position of a unit.
  std::pair<std::int64_t, std::int64_t> positions(std::int64_t unit) const {
    std::int64_t o = 0, q = 0, o_step = 1, q_step = 1;
    for (const Axis& a : axes_) {
      (a.folded ? q : o) += unit % a.extent * (a.folded ? q_step : o_step);
      (a.folded ? q_step : o_step) *= a.extent;
      unit /= a.extent;
    }
    return {o, q};
  }

 private:
  struct Axis {
    std::int64_t extent, step;
    bool folded;
  };
  std::vector<Axis> axes_;
};

class Reducer {
 public:
  explicit Reducer(const Plan& plan);
  void run();

 private:
  enum class Rounding { never, after_runs, always };

  void fold_inner();
  void fold_outer();
  void fold_each_result(const Outer& outer);
  void fold_units(std::int64_t results);
  void fold_many_units(const Outer& outer);
  void fold_pieces(const Outer& outer);
  void fold_blocks(std::int64_t results, std::int64_t rows, std::int64_t width);
  void fold_columns(const Outer& outer, std::int64_t rows, std::int64_t width);

  // Calls f(evaluator, begin, end) for parts of [0, n) whose items are so many elements each.
  template <class F>
  void in_parallel(std::int64_t n, std::int64_t elements, F&& f) const {
    const auto grain = static_cast<std::int64_t>(kReduceGrain / (program_.work() * static_cast<double>(elements)));
    parallel_for(n, std::max<std::int64_t>(1, grain), [&](std::int64_t begin, std::int64_t end, int) {
      Evaluator e(program_);
      f(e, begin, end);
    });
  }
  // Cuts a run into the leaves of its sum: f(start, n) for each in order.
  template <class F>
  void each_leaf(std::int64_t start, std::int64_t n, F&& f) const {
    if (n <= piece_) return f(start, n);
    const std::int64_t first = split(n);
    each_leaf(start, first, f);
    each_leaf(start + first, n - first, f);
  }
  std::int64_t split(std::int64_t n) const { return pairwise_split(n, is_complex(r_.dtype)); }
  // Puts the leaves of a run together; `leaf` moves on. The result takes the place of the first.
  char* join(std::int64_t n, char*& leaf) const {
    if (n <= piece_) return std::exchange(leaf, leaf + size_);
    const std::int64_t first = split(n);
    char* a = join(first, leaf);
    const char* b = join(n - first, leaf);
    fold_(a, b, 1);
    return a;
  }
  // The fold of n elements alone.
  void leaf(char* acc, const char* in, std::int64_t n) const {
    if (has_unit_) {
      std::memcpy(acc, unit_bits_, static_cast<std::size_t>(size_));
      fold_(acc, in, n);
    } else {
      std::memcpy(acc, in, static_cast<std::size_t>(size_));
      if (n > 1) fold_(acc, in + size_, n - 1);
    }
  }
  // acc ∘ n elements that NumPy's loop sees at once.
  void fold_run(char* acc, const char* in, std::int64_t n) const {
    if (rounding_ != Rounding::always) fold_(acc, in, n);
    for (std::int64_t i = 0; i < n && rounding_ == Rounding::always; ++i) {
      fold_(acc, in + i * size_, 1);
      round(acc, 1);
    }
    if (rounding_ == Rounding::after_runs) round(acc, 1);
  }
  void round(void* acc, std::int64_t n) const {
    std::uint16_t half[256];
    for (auto* at = static_cast<float*>(acc); n > 0; n -= 256, at += 256) {
      const std::int64_t here = std::min<std::int64_t>(n, 256);
      convert(DType::float32, DType::float16, at, half, here);
      convert(DType::float16, DType::float32, half, at, here);
    }
  }
  void apply(void* out, const void* a, const void* b, std::int64_t n) const {
    const void* in[] = {a, b};
    kernel_(&out, in, n);
    if (rounding_ != Rounding::never) round(out, n);
  }
  void start(char* acc, std::int64_t n) const { fill(acc, start_bits_, n); }
  void fill(char* to, const char* item, std::int64_t n) const {
    if (n == 0) return;
    std::memcpy(to, item, static_cast<std::size_t>(size_));
    for (std::int64_t done = 1; done < n; done *= 2) {
      const std::int64_t here = std::min(done, n - done);
      std::memcpy(to + done * size_, to, static_cast<std::size_t>(here * size_));
    }
  }
  // Row after row of many small blocks at once: acc[b] ∘ in[b][0] ∘ …, each of `width` elements. `spare` takes as much
  // as `in`.
  void fold_across(char* acc, const char* in, std::int64_t blocks, std::int64_t rows, std::int64_t width, char* spare,
                   bool started) const {
    gather_rows(spare, in, blocks, rows, width, size_);
    const std::int64_t n = blocks * width;
    if (!started) std::memcpy(acc, spare, static_cast<std::size_t>(n * size_));
    for (std::int64_t r = started ? 0 : 1; r < rows; ++r) apply(acc, acc, spare + r * n * size_, n);
  }
  void fold_rows(char* acc, const char* in, std::int64_t rows, std::int64_t width, char* spare) const;
  void fold_far_rows(char* acc, const void* const* row, int count, std::int64_t width) const;
  const char* dense(Evaluator& e, std::int64_t at, std::int64_t n, char* scratch) const {
    interrupt::poll();
    return static_cast<const char*>(e.dense(r_.reg, at, n, scratch));
  }
  void find_start();

  const Plan& plan_;
  const Reduction& r_;
  const Program program_;
  const Sink sink_;
  const Kernel kernel_;
  const Fold fold_;
  const std::int64_t size_;   // bytes of an accumulator
  const std::int64_t piece_;  // most elements evaluated at once
  const bool sums_floats_;
  const bool associative_;  // runs may be folded apart; sums of floats where NumPy cuts them
  const bool any_order_;
  Rounding rounding_ = Rounding::never;
  RowFold row_fold_ = nullptr;
  RunOrder order_{1, 1};
  bool has_start_ = false;  // the fold starts from start_bits_, else from the first element
  bool has_unit_ = false;   // x = unit ∘ x, bit for bit
  alignas(16) char start_bits_[16] = {};
  alignas(16) char unit_bits_[16] = {};
};

}  // namespace galop::cpu
