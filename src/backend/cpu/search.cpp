// Searches: the kernels over lines, columns and threads.
#include "backend/cpu/search.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "backend/cpu/evaluator.hpp"
#include "backend/cpu/kernels.hpp"
#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kChunkBytes = std::int64_t{128} << 10;  // searched at once
constexpr std::int64_t kGrainBytes = std::int64_t{512} << 10;  // worth a thread
constexpr std::int64_t kShortLine = 16;
constexpr std::int64_t kBufferBytes = std::int64_t{16} << 10;  // elements that lie apart are searched in a copy

// A line of elements, dense or not, and what is looked for in it.
class Line {
 public:
  Line(Search search, bool compares, DType t, const void* in, std::int64_t n, std::int64_t step)
      : search_(search),
        compares_(compares),
        in_(static_cast<const char*>(in)),
        n_(n),
        step_(step),
        size_(itemsize(t)) {}

  // One chunk by the caller, since that may be all that it takes; then all threads.
  Found run() const {
    const std::int64_t chunk = kChunkBytes / size_, grain = kGrainBytes / size_;
    if (n_ < 2 * grain || in_parallel()) return part(0, n_, nullptr);
    const Found first = part(0, chunk, nullptr);
    if (first.last) return first;
    std::vector<Found> found(static_cast<std::size_t>(thread_count()), {-1, false});
    std::atomic<std::int64_t> end{n_};  // what begins here or later is not wanted
    parallel_for(n_ - chunk, grain, [&](std::int64_t from, std::int64_t to, int worker) {
      found[static_cast<std::size_t>(worker)] = part(chunk + from, chunk + to, &end);
    });
    Found r = first;
    for (const Found& f : found)
      if (f.at >= 0 && !r.last) r = better(r, f);
    return r;
  }

 private:
  // The result of elements [from, to); of those up to `end` at least, which it moves when it has found the last word.
  Found part(std::int64_t from, std::int64_t to, std::atomic<std::int64_t>* end) const {
    const bool dense = step_ == size_;
    const std::int64_t chunk = (dense ? kChunkBytes : kBufferBytes) / size_;
    alignas(64) char copy[kBufferBytes];
    Found r{-1, false};
    for (std::int64_t at = from; at < to && !r.last; at += chunk) {
      interrupt::poll();
      if (end && at >= end->load(std::memory_order_relaxed)) break;
      const std::int64_t here = std::min(chunk, to - at);
      const char* p = in_ + at * step_;
      if (!dense) {
        copy_run(static_cast<int>(size_), copy, size_, p, step_, here);
        p = copy;
      }
      Found f = search_(p, here);
      if (f.at == here) continue;  // nothing
      f.at += at;
      r = r.at < 0 ? f : better(r, f);
    }
    if (end && r.last)
      for (std::int64_t now = end->load(); r.at < now && !end->compare_exchange_weak(now, r.at);) {
      }
    return r;
  }

  // Of what was found before and after.
  Found better(Found a, Found b) const {
    if (b.last || a.at < 0) return b;
    if (!compares_) return a;
    alignas(16) char both[32];
    std::memcpy(both, in_ + a.at * step_, static_cast<std::size_t>(size_));
    std::memcpy(both + size_, in_ + b.at * step_, static_cast<std::size_t>(size_));
    return search_(both, 2).at == 0 ? a : b;
  }

  const Search search_;
  const bool compares_;
  const char* const in_;
  const std::int64_t n_, step_, size_;
};

}  // namespace

void find_extremes(DType t, const Dims& shape, const void* in, const Dims& strides, std::int64_t* out, bool greatest) {
  const int last = shape.size() - 1;
  const std::int64_t n = shape[last], step = strides[last], size = itemsize(t);
  const Search search = kernels().extreme[greatest][static_cast<int>(t)];
  if (last == 0 && step == size && n * size <= kChunkBytes) {
    *out = search(in, n).at;
    return;
  }
  std::int64_t lines = 1;
  for (int a = 0; a < last; ++a) lines *= shape[a];
  const auto* base = static_cast<const char*>(in);
  const ColumnSearch columns = kernels().columns[greatest][static_cast<int>(t)];
  const auto address = [&](std::int64_t line, int axis) {
    if (axis == 0) return base + line * strides[0];
    const char* p = base;
    for (; axis >= 0; --axis, line /= shape[axis + 1]) p += line % shape[axis] * strides[axis];
    return p;
  };

  // Lines that lie side by side are searched together.
  const std::int64_t width = last > 0 && strides[last - 1] == size ? shape[last - 1] : 0;
  if (n > 1 && step != size && width >= columns.least) {
    const std::int64_t together = std::min<std::int64_t>(width, 4 * columns.least);
    const std::int64_t groups = width / together;  // the last one takes what remains
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / (n * together * size));
    parallel_for(lines / width * groups, grain, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t g = begin; g < end; ++g) {
        interrupt::poll();
        const std::int64_t row = g / groups, column = g % groups * together;
        const std::int64_t here = g % groups == groups - 1 ? width - column : together;
        columns.run(address(row, last - 2) + column * size, n, step, here, out + row * width + column);
      }
    });
    return;
  }
  // Many short lines are turned into columns.
  const std::int64_t row = last > 0 ? shape[last - 1] : 0;
  if (n <= kShortLine && row >= columns.least) {
    const std::int64_t together = kBufferBytes / (n * size);
    const std::int64_t groups = (row + together - 1) / together;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / 8 / kBufferBytes);
    parallel_for(lines / row * groups, grain, [&](std::int64_t begin, std::int64_t end, int) {
      alignas(64) char copy[kBufferBytes];
      for (std::int64_t g = begin; g < end; ++g) {
        interrupt::poll();
        const std::int64_t from = row * (g % groups) / groups, here = row * (g % groups + 1) / groups - from;
        const char* p = address(g / groups, last - 2) + from * strides[last - 1];
        for (std::int64_t i = 0; i < n; ++i)
          copy_run(static_cast<int>(size), copy + i * here * size, size, p + i * step, strides[last - 1], here);
        columns.run(copy, n, here * size, here, out + g / groups * row + from);
      }
    });
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / (n * size));
  const auto find = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t line = begin; line < end; ++line) {
      const char* p = address(line, last - 1);
      const bool at_once = step == size && n * size <= kChunkBytes;
      out[line] = at_once ? search(p, n).at : Line(search, t != DType::bool_, t, p, n, step).run().at;
    }
  };
  if (lines < thread_count())
    find(0, lines, 0);  // each on all threads
  else
    parallel_for(lines, grain, find);
}

bool holds_any(DType t, const void* in, std::int64_t n, bool truth) {
  return Line(kernels().truth[truth][static_cast<int>(t)], false, t, in, n, itemsize(t)).run().last;
}

}  // namespace galop::cpu
