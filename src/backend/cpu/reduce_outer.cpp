// Reductions whose innermost axis is kept: rows of results are folded one after the other.
#include "backend/cpu/reducer.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kShort = 64;    // rows below this length are folded many at a time
constexpr std::int64_t kBand = 128;    // fewest columns that are worth a thread of their own
constexpr std::int64_t kHalvings = 4;  // rows from which on halving them is worth the call

}  // namespace

// The innermost axis is kept: rows of `width` results are folded one after the other.
void Reducer::fold_outer() {
  int axis = plan_.shape.size();
  std::int64_t width = 1, rows = 1;
  while (axis > 0 && !(r_.reduced >> (axis - 1) & 1)) width *= plan_.shape[--axis];
  while (axis > 0 && (r_.reduced >> (axis - 1) & 1)) rows *= plan_.shape[--axis];
  const Outer outer(plan_.shape, axis, r_.reduced);
  if (outer.folded == 1 && rows * width <= piece_)
    fold_blocks(outer.kept, rows, width);
  else
    fold_columns(outer, rows, width);
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
      if (from != spare && rows % 2 != 0)
        std::memcpy(spare + half * step, from + half * step, static_cast<std::size_t>(step));
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
  const bool across = width <= kFewRows && (rows <= kFewRows || !any_order_) &&
                      (rounding_ != Rounding::never || !narrow_fold(r_.op, r_.dtype, width));
  in_parallel(results, block, [&](Evaluator& e, std::int64_t begin, std::int64_t end) {
    const std::int64_t most = std::min(group, end - begin);
    const Bytes scratch = bytes(most * block * size_), accs = bytes(most * width * size_),
                spare = bytes((across ? most : 1) * block * size_);
    for (std::int64_t o = begin; o < end; o += group) {
      const std::int64_t here = std::min(group, end - o);
      const char* in = dense(e, o * block, here * block, scratch.get());
      if (has_start_) start(accs.get(), here * width);
      if (across) fold_across(accs.get(), in, here, rows, width, spare.get(), has_start_);
      for (std::int64_t j = 0; j < here && !across; ++j, in += block * size_) {
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
  const double work =
      program_.work() * static_cast<double>(outer.kept) * static_cast<double>(total) * static_cast<double>(width);
  const auto threads = std::clamp<std::int64_t>(static_cast<std::int64_t>(work / kReduceGrain), 1, thread_count());
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
          if (started)
            fold_rows(acc, in, here, width, spare.get());
          else
            std::memcpy(acc, in, static_cast<std::size_t>(n * size_));
        } else {
          const void* in[kRows];
          for (std::int64_t k = 0; k < here; ++k) in[k] = dense(e, at + k * width, n, scratch.get() + k * band * size_);
          if (started)
            fold_far_rows(acc, in, static_cast<int>(here), n);
          else
            std::memcpy(acc, in[0], static_cast<std::size_t>(n * size_));
        }
        started = true;
        t += here;
      }
    }
  });
  const std::int64_t results = outer.kept * width;
  for (std::int64_t cut = 1; cut < cuts; ++cut)
    apply(partials.get(), partials.get(), partials.get() + cut * results * size_, results);
  sink_.store(partials.get(), 0, results);
}

}  // namespace galop::cpu
