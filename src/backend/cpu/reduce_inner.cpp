// Reductions whose innermost axis is folded: units of neighbouring elements, each within one result.
#include "backend/cpu/reducer.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kPartials = std::int64_t{1} << 17;  // partial results kept before they are combined

}  // namespace

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
  if (outer.folded == 1 && order_.unit <= piece_)
    fold_units(outer.kept);
  else if (!associative_)
    fold_each_result(outer);
  else if (order_.unit <= piece_)
    fold_many_units(outer);
  else
    fold_pieces(outer);
}

// A short unit a result.
void Reducer::fold_units(std::int64_t results) {
  const std::int64_t n = order_.unit;
  const ShortSum short_sum_ =
      rounding_ == Rounding::never && order_.run == n && n < 8 ? short_sum(r_.op, r_.dtype, n) : nullptr;
  const bool by_columns = n > 1 && n <= kFewRows && !sums_floats_ && rounding_ != Rounding::after_runs;
  const std::int64_t group = std::max<std::int64_t>(1, piece_ / n);
  in_parallel(results, n, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const std::int64_t most = std::min(group, end - begin);
    const Bytes scratch = bytes(most * n * size_), accs = bytes(most * size_),
                columns = bytes(by_columns ? most * n * size_ : 0);
    for (std::int64_t o = begin; o < end; o += group) {
      const std::int64_t here = std::min(group, end - o);
      const char* in = dense(e, o * n, here * n, scratch.get());
      if (has_start_) start(accs.get(), here);
      if (short_sum_) {
        short_sum_(accs.get(), in, here, n);
      } else if (by_columns) {
        fold_across(accs.get(), in, here, n, 1, columns.get(), has_start_);
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
  const bool by_columns = runs == 1 && n <= kFewRows && !sums_floats_ && rounding_ == Rounding::never;
  const Bytes partials = bytes(stretch * runs * size_), accs = bytes(outer.kept * size_);
  if (has_start_) start(accs.get(), outer.kept);
  for (std::int64_t from = 0; from < units; from += stretch) {
    const std::int64_t to = std::min(units, from + stretch);
    in_parallel(to - from, n, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
      const std::int64_t most = std::min(group, end - begin) * n * size_;
      const Bytes scratch = bytes(most), columns = bytes(by_columns ? most : 0);
      for (std::int64_t u = begin; u < end; u += group) {
        const std::int64_t here = std::min(group, end - u);
        const char* in = dense(e, (from + u) * n, here * n, scratch.get());
        char* partial = partials.get() + u * runs * size_;
        if (short_sum_) {
          fill(partial, unit_bits_, here);
          short_sum_(partial, in, here, n);
          continue;
        }
        if (by_columns) {
          fold_across(partial, in, here, n, 1, columns.get(), false);
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
        if (first)
          std::memcpy(acc, partial, static_cast<std::size_t>(here * size_));
        else
          apply(acc, acc, partial, here);
      } else {
        const std::int64_t step = row.kept ? size_ : 0;
        for (std::int64_t j = 0; j < here; ++j) {
          for (std::int64_t i = 0; i < runs; ++i, partial += size_) {
            if (first && i == 0 && (row.kept || j == 0))
              std::memcpy(acc + j * step, partial, static_cast<std::size_t>(size_));
            else
              fold_run(acc + j * step, partial, 1);
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
    each_leaf(at, std::min(order_.run, order_.unit - at), [&](std::int64_t start, std::int64_t n) {
      leaves.push_back({start, n});
    });
  const auto count = static_cast<std::int64_t>(leaves.size());
  const Bytes partials = bytes(outer.kept * outer.folded * count * size_);
  in_parallel(outer.kept * outer.folded * count, order_.unit / count,
              [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
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
  parallel_for(outer.kept, std::max<std::int64_t>(1, (1 << 14) / (count * outer.folded)),
               [&](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t o = begin; o < end; ++o) {
                   char* acc = accs.get() + o * size_;
                   bool started = has_start_;
                   std::memcpy(acc, start_bits_, static_cast<std::size_t>(size_));
                   for (std::int64_t q = 0; q < outer.folded; ++q) {
                     char* next = partials.get() + outer.unit(o, q) * count * size_;
                     for (std::int64_t at = 0; at < order_.unit; at += order_.run) {
                       const char* sum = join(std::min(order_.run, order_.unit - at), next);
                       if (started)
                         fold_run(acc, sum, 1);
                       else
                         std::memcpy(acc, sum, static_cast<std::size_t>(size_));
                       started = true;
                     }
                   }
                 }
               });
  sink_.store(accs.get(), 0, outer.kept);
}

}  // namespace galop::cpu
