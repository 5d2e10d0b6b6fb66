// Reductions: a plan's last register folded over axes, in NumPy's order where the order shows, on all threads.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/cpu/evaluator.hpp"
#include "backend/cpu/reduce_order.hpp"
#include "backend/cpu/reduce_rows.hpp"
#include "backend/cpu/reduce_sink.hpp"
#include "backend/cpu/threads.hpp"
#include "galop/error.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kPieceBytes = 32 << 10;            // evaluated at once, so that it is folded from the caches
constexpr std::int64_t kGrain = 16000;                    // nanoseconds of work that are worth a thread
constexpr std::int64_t kPartials = std::int64_t{1} << 17; // partial results kept before they are combined
constexpr std::int64_t kShort = 64;                       // rows below this length are folded many at a time
constexpr std::int64_t kBand = 128;                       // fewest columns that are worth a thread of their own
constexpr std::int64_t kHalvings = 4;                     // rows from which on halving them is worth the call

using Bytes = std::unique_ptr<char[]>;
Bytes bytes(std::int64_t n) { return std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(n)); }

// The axes outside the units, as so many kept and so many folded positions.
class Outer {
 public:
  // The axes of `shape` before `count`, the last of which steps by one unit.
  Outer(const Dims& shape, int count, std::uint64_t reduced) {
    std::int64_t step = 1;
    for (int k = count - 1; k >= 0; --k) {
      const bool is_folded = reduced >> k & 1;
      if (!axes_.empty() && axes_.back().folded == is_folded) axes_.back().extent *= shape[k];
      else axes_.push_back({shape[k], step, is_folded});
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

bool selects(Op op) { return op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin; }

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
    const auto grain = static_cast<std::int64_t>(kGrain / (program_.work() * static_cast<double>(elements)));
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
  void start(char* acc, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(acc + i * size_, start_bits_, static_cast<std::size_t>(size_));
  }
  void fold_rows(char* acc, const char* in, std::int64_t rows, std::int64_t width, char* spare) const;
  void fold_far_rows(char* acc, const void* const* row, int count, std::int64_t width) const;
  const char* dense(Evaluator& e, std::int64_t at, std::int64_t n, char* scratch) const {
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
  const bool associative_;    // runs may be folded apart; sums of floats where NumPy cuts them
  const bool any_order_;
  Rounding rounding_ = Rounding::never;
  RowFold row_fold_ = nullptr;
  RunOrder order_{1, 1};
  bool has_start_ = false;    // the fold starts from start_bits_, else from the first element
  bool has_unit_ = false;     // x = unit ∘ x, bit for bit
  alignas(16) char start_bits_[16] = {};
  alignas(16) char unit_bits_[16] = {};
};

bool joins_freely(Op op, DType t) {
  switch (op) {
    case Op::add:
    case Op::multiply:
      return !is_inexact(t);
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
      return !is_complex(t);  // which of two NaNs wins shows in the other part
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
    case Op::gcd:
    case Op::lcm:
      return true;
    default:
      return false;
  }
}

Reducer::Reducer(const Plan& plan)
    : plan_(plan), r_(plan.reductions[0]), program_(plan), sink_(plan),
      kernel_(kernels().op[static_cast<int>(r_.op)][static_cast<int>(r_.dtype)]),
      fold_(kernels().fold[static_cast<int>(r_.op)][static_cast<int>(r_.dtype)]), size_(itemsize(r_.dtype)),
      piece_(kPieceBytes / size_), sums_floats_(r_.op == Op::add && is_inexact(r_.dtype)),
      associative_(joins_freely(r_.op, r_.dtype) || r_.op == Op::add || r_.op == Op::multiply || selects(r_.op)),
      any_order_(joins_freely(r_.op, r_.dtype)) {
  if (!kernel_ || !fold_)
    throw Error("[" + std::string(info(r_.op).name) + "] no fold for this dtype; got " + std::string(name(r_.dtype)));
  if (r_.round_to_half && !selects(r_.op)) {
    // NumPy's loops of these four keep a float32 inside a run.
    const bool in_float = r_.op == Op::add || r_.op == Op::subtract || r_.op == Op::multiply || r_.op == Op::divide;
    rounding_ = in_float ? Rounding::after_runs : Rounding::always;
  }
  if (rounding_ == Rounding::never) row_fold_ = row_fold(r_.op, r_.dtype);
  find_start();
}

void Reducer::find_start() {
  const Identity identity = info(r_.op).identity;
  has_start_ = identity != Identity::NONE && identity != Identity::ORDERED;
  if (identity == Identity::MINUS_ONE) {
    std::memset(start_bits_, r_.dtype == DType::bool_ ? 1 : 0xFF, static_cast<std::size_t>(size_));
  } else if (has_start_) {
    double value = 0;
    if (identity == Identity::ONE || identity == Identity::TRUE_) value = 1;
    if (identity == Identity::MINUS_INF) value = -std::numeric_limits<double>::infinity();
    convert(DType::float64, r_.dtype, &value, start_bits_, 1);
  }
  // Only sums and free folds are cut: -0.0 + x = x for every x, 0.0 + x is not.
  has_unit_ = has_start_ && associative_;
  std::memcpy(unit_bits_, start_bits_, sizeof unit_bits_);
  if (sums_floats_ && r_.dtype != DType::float64 && r_.dtype != DType::complex128) {
    const float zeros[2] = {-0.0F, -0.0F};
    std::memcpy(unit_bits_, zeros, static_cast<std::size_t>(size_));
  } else if (sums_floats_) {
    const double zeros[2] = {-0.0, -0.0};
    std::memcpy(unit_bits_, zeros, static_cast<std::size_t>(size_));
  }
  if (r_.has_initial) {
    has_start_ = true;
    if (r_.round_to_half) convert(DType::float16, DType::float32, r_.initial, start_bits_, 1);
    else std::memcpy(start_bits_, r_.initial, static_cast<std::size_t>(size_));
  }
}

void Reducer::run() {
  if (program_.size() == 0) {
    const std::int64_t n = sink_.size();
    const Bytes acc = bytes(n * size_);
    start(acc.get(), n);
    sink_.store(acc.get(), 0, n);
    return;
  }
  const int last = plan_.shape.size() - 1;
  if (last < 0 || (r_.reduced >> last & 1)) fold_inner();
  else fold_outer();
}

// The innermost axis is folded: units of neighbouring elements, each within one result.
void Reducer::fold_inner() {
  int axis = plan_.shape.size();
  if (sums_floats_ || rounding_ != Rounding::never) {
    order_ = run_order(plan_.shape, r_.input_strides, r_.reduced, r_.buffered);
    for (std::int64_t n = 1; n < order_.unit;) n *= plan_.shape[--axis];
  } else {
    std::int64_t n = 1;
    while (axis > 0 && (r_.reduced >> (axis - 1) & 1)) n *= plan_.shape[--axis];
    order_ = {n, n};
  }
  const Outer outer(plan_.shape, axis, r_.reduced);
  if (outer.folded == 1 && order_.unit <= piece_) fold_units(outer.kept);
  else if (!associative_) fold_each_result(outer);
  else if (order_.unit <= piece_) fold_many_units(outer);
  else fold_pieces(outer);
}

// A short unit a result.
void Reducer::fold_units(std::int64_t results) {
  const std::int64_t n = order_.unit;
  const ShortSum short_sum_ = rounding_ == Rounding::never && order_.run == n && n < 8 ? short_sum(r_.op, r_.dtype, n) : nullptr;
  const std::int64_t group = std::max<std::int64_t>(1, piece_ / n);
  in_parallel(results, n, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const Bytes scratch = bytes(std::min(group, end - begin) * n * size_), accs = bytes(std::min(group, end - begin) * size_);
    for (std::int64_t o = begin; o < end; o += group) {
      const std::int64_t here = std::min(group, end - o);
      const char* in = dense(e, o * n, here * n, scratch.get());
      if (has_start_) start(accs.get(), here);
      if (short_sum_) {
        short_sum_(accs.get(), in, here, n);
      } else {
        for (std::int64_t j = 0; j < here; ++j) {
          char* acc = accs.get() + j * size_;
          const char* unit = in + j * n * size_;
          if (!has_start_) std::memcpy(acc, unit, static_cast<std::size_t>(size_));
          for (std::int64_t at = 0; at < n; at += order_.run) {
            const std::int64_t skip = at == 0 && !has_start_ ? 1 : 0;
            fold_run(acc, unit + (at + skip) * size_, std::min(order_.run, n - at) - skip);
          }
        }
      }
      sink_.store(accs.get(), o, here);
    }
  });
}

// Operations that nothing may be taken apart of: a result is one chain.
void Reducer::fold_each_result(const Outer& outer) {
  const std::int64_t n = order_.unit;
  in_parallel(outer.kept, outer.folded * n, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const Bytes scratch = bytes(piece_ * size_);
    alignas(16) char acc[16];
    for (std::int64_t o = begin; o < end; ++o) {
      bool started = has_start_;
      std::memcpy(acc, start_bits_, sizeof acc);
      for (std::int64_t q = 0; q < outer.folded; ++q) {
        const std::int64_t unit = outer.unit(o, q) * n;
        for (std::int64_t at = 0; at < n;) {
          // To the end of the piece or of the run, where the accumulator is rounded.
          const std::int64_t run_end = std::min(n, (at / order_.run + 1) * order_.run);
          const std::int64_t here = std::min(piece_, run_end - at);
          const char* in = dense(e, unit + at, here, scratch.get());
          const std::int64_t skip = started ? 0 : 1;
          if (skip) std::memcpy(acc, in, static_cast<std::size_t>(size_));
          started = true;
          if (rounding_ == Rounding::after_runs) {
            fold_(acc, in + skip * size_, here - skip);
            if (at + here == run_end) round(acc, 1);
          } else {
            fold_run(acc, in + skip * size_, here - skip);
          }
          at += here;
        }
      }
      sink_.store(acc, o, 1);
    }
  });
}

// Many short units a result: partial results of a stretch of units, then those in order.
void Reducer::fold_many_units(const Outer& outer) {
  const std::int64_t n = order_.unit;
  const std::int64_t runs = (n + order_.run - 1) / order_.run;
  const std::int64_t units = outer.kept * outer.folded;
  const std::int64_t stretch = std::min(units, std::max<std::int64_t>(1, kPartials / runs));
  const std::int64_t group = std::max<std::int64_t>(1, piece_ / n);
  const ShortSum short_sum_ = runs == 1 && n < 8 ? short_sum(r_.op, r_.dtype, n) : nullptr;
  const Bytes partials = bytes(stretch * runs * size_), accs = bytes(outer.kept * size_);
  if (has_start_) start(accs.get(), outer.kept);
  for (std::int64_t from = 0; from < units; from += stretch) {
    const std::int64_t to = std::min(units, from + stretch);
    in_parallel(to - from, n, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
      const Bytes scratch = bytes(std::min(group, end - begin) * n * size_);
      for (std::int64_t u = begin; u < end; u += group) {
        const std::int64_t here = std::min(group, end - u);
        const char* in = dense(e, (from + u) * n, here * n, scratch.get());
        char* partial = partials.get() + u * runs * size_;
        if (short_sum_) {
          for (std::int64_t j = 0; j < here; ++j) std::memcpy(partial + j * size_, unit_bits_, static_cast<std::size_t>(size_));
          short_sum_(partial, in, here, n);
          continue;
        }
        for (std::int64_t j = 0; j < here; ++j)
          for (std::int64_t at = 0; at < n; at += order_.run, partial += size_)
            leaf(partial, in + (j * n + at) * size_, std::min(order_.run, n - at));
      }
    });
    const Outer::Row row = outer.row();
    for (std::int64_t u = from; u < to;) {
      const auto [o, q] = outer.positions(u);
      const std::int64_t here = std::min(to - u, row.extent - u % row.extent);
      const char* partial = partials.get() + (u - from) * runs * size_;
      char* acc = accs.get() + o * size_;
      const bool first = q == 0 && !has_start_;
      if (row.kept && runs == 1) {
        if (first) std::memcpy(acc, partial, static_cast<std::size_t>(here * size_));
        else apply(acc, acc, partial, here);
      } else {
        const std::int64_t step = row.kept ? size_ : 0;
        for (std::int64_t j = 0; j < here; ++j) {
          for (std::int64_t i = 0; i < runs; ++i, partial += size_) {
            if (first && i == 0 && (row.kept || j == 0)) std::memcpy(acc + j * step, partial, static_cast<std::size_t>(size_));
            else fold_run(acc + j * step, partial, 1);
          }
        }
      }
      u += here;
    }
  }
  sink_.store(accs.get(), 0, outer.kept);
}

// Long runs: all threads fold the leaves of their sums, which are then joined as the runs would have been folded.
void Reducer::fold_pieces(const Outer& outer) {
  struct Leaf {
    std::int64_t start, n;
  };
  std::vector<Leaf> leaves;  // of one unit
  for (std::int64_t at = 0; at < order_.unit; at += order_.run)
    each_leaf(at, std::min(order_.run, order_.unit - at), [&](std::int64_t start, std::int64_t n) { leaves.push_back({start, n}); });
  const auto count = static_cast<std::int64_t>(leaves.size());
  const Bytes partials = bytes(outer.kept * outer.folded * count * size_);
  in_parallel(outer.kept * outer.folded * count, order_.unit / count, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const Bytes scratch = bytes(piece_ * size_);
    std::int64_t unit = begin / count;
    std::int64_t k = begin % count;
    for (std::int64_t i = begin; i < end; ++i) {
      const Leaf& l = leaves[static_cast<std::size_t>(k)];
      leaf(partials.get() + i * size_, dense(e, unit * order_.unit + l.start, l.n, scratch.get()), l.n);
      if (++k == count) {
        k = 0;
        ++unit;
      }
    }
  });
  const Bytes accs = bytes(outer.kept * size_);
  parallel_for(outer.kept, std::max<std::int64_t>(1, (1 << 14) / (count * outer.folded)), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t o = begin; o < end; ++o) {
      char* acc = accs.get() + o * size_;
      bool started = has_start_;
      std::memcpy(acc, start_bits_, static_cast<std::size_t>(size_));
      for (std::int64_t q = 0; q < outer.folded; ++q) {
        char* next = partials.get() + outer.unit(o, q) * count * size_;
        for (std::int64_t at = 0; at < order_.unit; at += order_.run) {
          const char* sum = join(std::min(order_.run, order_.unit - at), next);
          if (started) fold_run(acc, sum, 1);
          else std::memcpy(acc, sum, static_cast<std::size_t>(size_));
          started = true;
        }
      }
    }
  });
  sink_.store(accs.get(), 0, outer.kept);
}

// The innermost axis is kept: rows of `width` results are folded one after the other.
void Reducer::fold_outer() {
  int axis = plan_.shape.size();
  std::int64_t width = 1, rows = 1;
  while (axis > 0 && !(r_.reduced >> (axis - 1) & 1)) width *= plan_.shape[--axis];
  while (axis > 0 && (r_.reduced >> (axis - 1) & 1)) rows *= plan_.shape[--axis];
  const Outer outer(plan_.shape, axis, r_.reduced);
  if (outer.folded == 1 && rows * width <= piece_) fold_blocks(outer.kept, rows, width);
  else fold_columns(outer, rows, width);
}

// Dense rows in order, or in any order where none shows.
void Reducer::fold_rows(char* acc, const char* in, std::int64_t rows, std::int64_t width, char* spare) const {
  if (rows == 0) return;
  if (rounding_ == Rounding::never) {
    if (const NarrowFold f = narrow_fold(r_.op, r_.dtype, width)) return f(acc, in, rows);
  }
  const std::int64_t step = width * size_;
  if (any_order_ && width < kShort && rows >= kHalvings) {
    // The second half onto the first, until one row is left.
    const char* from = in;
    while (rows > 1) {
      const std::int64_t half = rows / 2;
      apply(spare, from, from + (rows - half) * step, half * width);
      if (from != spare && rows % 2 != 0) std::memcpy(spare + half * step, from + half * step, static_cast<std::size_t>(step));
      from = spare;
      rows -= half;
    }
    return apply(acc, acc, from, width);
  }
  for (std::int64_t i = 0; i < rows; i += kRows) {
    const void* row[kRows];
    const int count = static_cast<int>(std::min<std::int64_t>(kRows, rows - i));
    for (int k = 0; k < count; ++k) row[k] = in + (i + k) * step;
    fold_far_rows(acc, row, count, width);
  }
}

void Reducer::fold_far_rows(char* acc, const void* const* row, int count, std::int64_t width) const {
  if (row_fold_) return row_fold_(acc, row, count, width);
  for (int k = 0; k < count; ++k) apply(acc, acc, row[k], width);
}

// Small blocks of rows, each with results of its own.
void Reducer::fold_blocks(std::int64_t results, std::int64_t rows, std::int64_t width) {
  const std::int64_t block = rows * width;
  const std::int64_t group = piece_ / block;
  in_parallel(results, block, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const std::int64_t most = std::min(group, end - begin);
    const Bytes scratch = bytes(most * block * size_), accs = bytes(most * width * size_), spare = bytes(block * size_);
    for (std::int64_t o = begin; o < end; o += group) {
      const std::int64_t here = std::min(group, end - o);
      const char* in = dense(e, o * block, here * block, scratch.get());
      if (has_start_) start(accs.get(), here * width);
      for (std::int64_t j = 0; j < here; ++j, in += block * size_) {
        char* acc = accs.get() + j * width * size_;
        const std::int64_t skip = has_start_ ? 0 : 1;
        if (skip) std::memcpy(acc, in, static_cast<std::size_t>(width * size_));
        fold_rows(acc, in + skip * width * size_, rows - skip, width, spare.get());
      }
      sink_.store(accs.get(), o * width, here * width);
    }
  });
}

// Long columns: cut into bands of columns, and into stretches of rows where the order does not show.
void Reducer::fold_columns(const Outer& outer, std::int64_t rows, std::int64_t width) {
  const std::int64_t total = outer.folded * rows;  // rows of a result
  const double work = program_.work() * static_cast<double>(outer.kept) * static_cast<double>(total) * static_cast<double>(width);
  const auto threads = std::clamp<std::int64_t>(static_cast<std::int64_t>(work / kGrain), 1, thread_count());
  const std::int64_t widest = piece_ / 2;
  std::int64_t bands = (width + widest - 1) / widest;
  if (outer.kept % threads != 0) bands = (bands + threads - 1) / threads * threads;
  std::int64_t band = (width + bands - 1) / bands;
  if (band < width) band = std::max(kBand, (band + 15) / 16 * 16);
  band = std::min(band, width);
  bands = (width + band - 1) / band;
  std::int64_t cuts = any_order_ ? std::min(total, (threads + outer.kept * bands - 1) / (outer.kept * bands)) : 1;
  const bool whole_rows = band == width;  // so that neighbouring rows are evaluated together
  const std::int64_t at_once = whole_rows ? std::max<std::int64_t>(kRows, piece_ / width) : kRows;

  const Bytes partials = bytes(cuts * outer.kept * width * size_);
  in_parallel(cuts * outer.kept * bands, total / cuts * band, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const Bytes scratch = bytes(at_once * band * size_), spare = bytes(at_once * band * size_);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t c = task % bands * band, o = task / bands % outer.kept, cut = task / bands / outer.kept;
      const std::int64_t n = std::min(band, width - c);
      char* acc = partials.get() + ((cut * outer.kept + o) * width + c) * size_;
      bool started = has_start_ && cut == 0;
      if (started) start(acc, n);
      const std::int64_t stop = total * (cut + 1) / cuts;
      for (std::int64_t t = total * cut / cuts; t < stop;) {
        const std::int64_t row = t % rows;
        const std::int64_t at = (outer.unit(o, t / rows) * rows + row) * width + c;
        std::int64_t here = std::min({at_once, stop - t, rows - row});
        if (!started) here = 1;
        if (whole_rows) {
          const char* in = dense(e, at, here * width, scratch.get());
          if (started) fold_rows(acc, in, here, width, spare.get());
          else std::memcpy(acc, in, static_cast<std::size_t>(n * size_));
        } else {
          const void* in[kRows];
          for (std::int64_t k = 0; k < here; ++k) in[k] = dense(e, at + k * width, n, scratch.get() + k * band * size_);
          if (started) fold_far_rows(acc, in, static_cast<int>(here), n);
          else std::memcpy(acc, in[0], static_cast<std::size_t>(n * size_));
        }
        started = true;
        t += here;
      }
    }
  });
  const std::int64_t results = outer.kept * width;
  for (std::int64_t cut = 1; cut < cuts; ++cut) apply(partials.get(), partials.get(), partials.get() + cut * results * size_, results);
  sink_.store(partials.get(), 0, results);
}

}  // namespace

void run_reduce(const Plan& plan) { Reducer(plan).run(); }

}  // namespace galop::cpu
