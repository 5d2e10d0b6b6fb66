// The block interpreter.
#include "backend/cpu/evaluator.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "core/visit.hpp"
#include "galop/engine.hpp"
#include "galop/error.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kRegisterBytes = 32768;  // of all registers together: they stay in the first-level cache
constexpr std::int64_t kShortestBlock = 256, kLongestBlock = 16384;
constexpr std::int64_t kStreamBytes = std::int64_t{32} << 20;
constexpr std::int64_t kLongRow = 128;

bool is_flat(const Dims& shape, const Dims& strides, std::int64_t itemsize) {
  std::int64_t want = itemsize;
  for (int k = shape.size() - 1; k >= 0; --k) {
    if (strides[k] != want) return false;
    want *= shape[k];
  }
  return true;
}

bool is_constant(const Dims& strides) {
  return std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s == 0; });
}

template <int kSize>
struct Item {
  char bytes[kSize];
};

template <int kSize>
void copy_strided(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t n) {
  if (to_step == kSize && from_step == 2 * kSize) {  // steps that the compiler knows: vectors
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * kSize, from + 2 * i * kSize, kSize);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, kSize);
}

// Walks `n` elements of the domain from `coords` on, a piece of a row at a time: f(address offset, elements done,
// elements here).
template <class F>
void walk_rows(const Dims& shape, Dims coords, const Dims& strides, std::int64_t n, F&& f) {
  const int last = shape.size() - 1;
  std::int64_t offset = 0;
  for (int k = 0; k <= last; ++k) offset += coords[k] * strides[k];
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t here = std::min(n - done, shape[last] - coords[last]);
    f(offset, done, here);
    done += here;
    offset += here * strides[last];
    coords[last] += here;
    for (int k = last; k > 0 && coords[k] == shape[k]; --k) {
      offset += strides[k - 1] - shape[k] * strides[k];
      coords[k] = 0;
      ++coords[k - 1];
    }
  }
}

}  // namespace

void copy_run(int size, char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t n) {
  if (to_step == size && from_step == size) {
    std::memmove(to, from, static_cast<std::size_t>(n * size));
    return;
  }
  visit_itemsize(size, [&](auto item) { copy_strided<item>(to, to_step, from, from_step, n); });
}

Program::Program(const Plan& plan) : plan_(plan) {
  size_ = 1;
  for (std::int64_t d : plan.shape) size_ *= d;
  const int steps = static_cast<int>(plan.tape.size());
  const Kernels& k = kernels();

  int widest = 1;
  for (DType t : plan.registers) widest = std::max(widest, itemsize(t));

  // Last step that reads each register; outputs and reductions read at the end.
  std::vector<int> last(plan.registers.size(), -1), first(plan.registers.size(), steps),
      defined(plan.registers.size(), -1);
  work_ = kMoving;
  for (int s = 0; s < steps; ++s) {
    const Instruction& i = plan.tape[static_cast<std::size_t>(s)];
    const OpInfo& row = info(i.op);
    Step step{i.op == Op::cast ? k.cast[static_cast<int>(i.loop)][static_cast<int>(plan.registers[i.out[0]])]
                               : k.op[static_cast<int>(i.op)][static_cast<int>(i.loop)],
              {i.in[0], i.in[1], i.in[2]},
              {i.out[0], i.out[1]},
              static_cast<std::uint8_t>(row.nin),
              static_cast<std::uint8_t>(row.nout)};
    if (plan.faults) {
      step.op = i.op;
      step.loop = i.loop;
      step.result = plan.registers[i.out[0]];
      step.test = i.op == Op::cast ? cast_flag_test(i.loop, step.result) : flag_test(i.op, i.loop);
      if (step.test != FlagTest::none) step.watch = faults::watched(i.policy);
    }
    if (!step.kernel)
      throw Error("[" + std::string(row.name) + "] no kernel for this loop; got " + std::string(name(i.loop)));
    for (int j = 0; j < row.nin; ++j) {
      last[i.in[j]] = s;
      first[i.in[j]] = std::min(first[i.in[j]], s);
    }
    for (int j = 0; j < row.nout; ++j) defined[i.out[j]] = s;
    steps_.push_back(step);
    work_ += nanoseconds_of(i.op);
  }
  for (const Output& o : plan.outputs) last[o.reg] = steps;
  for (const Reduction& r : plan.reductions) last[r.reg] = steps;

  // Linear scan: a slot is free again after the last step that reads it.
  slot_.assign(plan.registers.size(), -1);
  std::vector<std::int16_t> free;
  std::int16_t count = 0;
  auto take = [&](std::size_t r) {
    if (free.empty()) {
      slot_[r] = count++;
    } else {
      slot_[r] = free.back();
      free.pop_back();
    }
  };
  std::vector<bool> pinned(plan.registers.size(), false);
  for (std::size_t o = 0; o < plan.operands.size(); ++o) {
    const Operand& in = plan.operands[o];
    Source src{Read::strided, first[o], 0};
    if (is_constant(in.strides)) {
      src.read = Read::constant;
    } else if (in.kind == Operand::Kind::iota) {
      src.read = Read::counter;
    } else if (is_flat(plan.shape, in.strides, itemsize(in.dtype)) &&
               reinterpret_cast<std::uintptr_t>(in.data) %
                       static_cast<std::uintptr_t>(std::min(itemsize(in.dtype), 8)) ==
                   0) {
      src.read = Read::flat;
    }
    const bool splat = src.read == Read::constant || (plan.shape.size() > 0 && in.strides.back() == 0);
    if (splat) {
      pinned[o] = true;  // filled once, or once a row
      take(o);
    }
    sources_.push_back(src);
  }
  auto release = [&](int s, const Instruction& i, const OpInfo& row) {
    for (int j = 0; j < row.nin; ++j) {
      const std::uint16_t r = i.in[j];
      if (last[r] == s && !pinned[r] && slot_[r] >= 0) {
        bool again = false;
        for (int q = 0; q < j; ++q) again = again || i.in[q] == r;
        if (!again) free.push_back(slot_[r]);
      }
    }
  };
  for (int s = 0; s < steps; ++s) {
    const Instruction& i = plan.tape[static_cast<std::size_t>(s)];
    const OpInfo& row = info(i.op);
    for (int j = 0; j < row.nin; ++j)
      if (slot_[i.in[j]] < 0) take(i.in[j]);  // an operand met for the first time
    // A result may take over an operand's slot when their items have one size.
    bool one_size = row.nout == 1;
    for (int j = 0; j < row.nin; ++j)
      one_size = one_size && itemsize(plan.registers[i.in[j]]) == itemsize(plan.registers[i.out[0]]);
    if (one_size) release(s, i, row);
    for (int j = 0; j < row.nout; ++j) take(i.out[j]);
    if (!one_size) release(s, i, row);
    for (int j = 0; j < row.nout; ++j)
      if (last[i.out[j]] < 0) free.push_back(slot_[i.out[j]]);  // the other result of a pair, not wanted
  }
  for (std::size_t o = 0; o < plan.operands.size(); ++o)
    if (slot_[o] < 0) take(o);
  slots_ = count;
  const std::int64_t fitting = kRegisterBytes / (widest * std::max<std::int64_t>(count, 1)) / 64 * 64;
  const std::int64_t wanted = settings().block;
  block_ = wanted > 0 ? wanted : std::clamp(fitting, kShortestBlock, kLongestBlock);
  slot_bytes_ = block_ * widest;
  by_rows_ = plan.shape.size() > 0 && plan.shape.back() >= std::min(block_, kLongRow);

  for (const Output& o : plan.outputs) {
    const int size = itemsize(o.dtype);
    const bool dense_rows = plan.shape.size() == 0 || o.strides.back() == size;
    stream_.push_back(o.fresh && dense_rows && !o.ordered && size_ * size > kStreamBytes);
    const bool aligned = reinterpret_cast<std::uintptr_t>(o.data) % static_cast<std::uintptr_t>(std::min(size, 8)) == 0;
    // Memory that may be an operand's is written by the last step only, when nothing reads the block any more.
    direct_.push_back(dense_rows && aligned && !o.ordered && !stream_.back() && defined[o.reg] >= 0 &&
                      (o.fresh || (plan.outputs.size() == 1 && defined[o.reg] == steps - 1)));
    copies_ = steps == 0 && plan.operands.size() == 1 && plan.outputs.size() == 1 &&
              sources_[0].read == Read::strided && plan.operands[0].strides.back() != 0 && o.fresh && dense_rows &&
              !o.ordered && !stream_.back();
  }
}

Evaluator::Evaluator(const Program& p)
    : p_(p),
      slot_at_(static_cast<std::size_t>(p.slots_)),
      at_(p.slot_.size()),
      filled_(p.slot_.size(), nullptr),
      filled_n_(p.slot_.size(), 0),
      coords_(p.plan_.shape.size(), 0) {
  // Slots start at different places modulo 4 KiB, so that kernels do not suffer from aliasing.
  const std::int64_t step = (p.slot_bytes_ + 63) / 64 * 64 + 192;
  const auto total = static_cast<std::size_t>(step * p.slots_ + 64);
  memory_ = std::make_unique_for_overwrite<char[]>(total);
  auto base = (reinterpret_cast<std::uintptr_t>(memory_.get()) + 63) / 64 * 64;
  for (std::size_t s = 0; s < slot_at_.size(); ++s)
    slot_at_[s] = reinterpret_cast<void*>(base + s * static_cast<std::size_t>(step));
  if (p.plan_.faults) {
    flags_.assign(1 + p.steps_.size(), 0);
    take_hardware_flags();
  }
}

Evaluator::~Evaluator() {
  if (streamed_) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (flags_.empty()) return;
  // Between blocks this thread folds, if it does.
  if (!p_.plan_.reductions.empty()) flags_[0] |= take_hardware_flags();
  for (std::size_t s = 0; s < flags_.size(); ++s) note(p_.plan_.faults[s], flags_[s]);
}

void Evaluator::run_watched(int step, void* const* out, const void* const* in, std::int64_t n) {
  const Program::Step& s = p_.steps_[static_cast<std::size_t>(step)];
  const std::uint8_t flags = cpu::run_watched({s.kernel, s.op, s.loop, s.result, s.test}, out, in, n, s.watch);
  flags_[static_cast<std::size_t>(step) + 1] |= static_cast<std::uint8_t>(flags & s.watch);
}

const char* Evaluator::address(const void* base, const Dims& strides) const {
  const auto* p = static_cast<const char*>(base);
  for (int k = 0; k < coords_.size(); ++k) p += coords_[k] * strides[k];
  return p;
}

void Evaluator::seek(std::int64_t start) {
  if (start == position_) return;
  std::int64_t rest = start;
  for (int k = coords_.size() - 1; k >= 0; --k) {
    coords_[k] = rest % p_.plan_.shape[k];
    rest /= p_.plan_.shape[k];
  }
  position_ = start;
}

std::int64_t Evaluator::row_left(std::int64_t start) {
  if (coords_.size() == 0) return 1;
  seek(start);
  return p_.plan_.shape.back() - coords_.back();
}

void Evaluator::gather(std::size_t o, std::int64_t n, char* to) const {
  const Operand& in = p_.plan_.operands[o];
  const int size = itemsize(in.dtype);
  const auto* base = static_cast<const char*>(in.data);
  const std::int64_t step = in.strides.back();
  walk_rows(p_.plan_.shape, coords_, in.strides, n, [&](std::int64_t offset, std::int64_t done, std::int64_t here) {
    copy_run(size, to + done * size, size, base + offset, step, here);
  });
}

void Evaluator::load(std::size_t o, std::int64_t n) {
  const Operand& in = p_.plan_.operands[o];
  const int size = itemsize(in.dtype);
  auto* slot = static_cast<char*>(slot_at_[static_cast<std::size_t>(p_.slot_[o])]);
  switch (p_.sources_[o].read) {
    case Program::Read::flat:
      at_[o] = const_cast<char*>(static_cast<const char*>(in.data)) + position_ * size;
      return;
    case Program::Read::constant: {
      if (filled_n_[o] < n) {
        const void* one = in.kind == Operand::Kind::constant ? static_cast<const void*>(in.bits)
                          : in.kind == Operand::Kind::iota   ? static_cast<const void*>(&in.start)
                                                             : in.data;
        copy_run(size, slot, size, static_cast<const char*>(one), 0, n);
        filled_n_[o] = n;
      }
      at_[o] = slot;
      return;
    }
    case Program::Read::counter: {
      auto* to = reinterpret_cast<std::int64_t*>(slot);
      const std::int64_t step = in.strides.back();
      walk_rows(p_.plan_.shape, coords_, in.strides, n, [&](std::int64_t offset, std::int64_t done, std::int64_t here) {
        for (std::int64_t i = 0; i < here; ++i) to[done + i] = in.start + offset + i * step;
      });
      filled_n_[o] = 0;
      at_[o] = slot;
      return;
    }
    case Program::Read::strided: {
      const bool one_row = coords_.back() + n <= p_.plan_.shape.back();
      const char* first = address(in.data, in.strides);
      const bool aligned =
          reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(std::min(size, 8)) == 0;
      if (one_row && in.strides.back() == size && aligned) {
        at_[o] = const_cast<char*>(first);
        return;
      }
      at_[o] = slot;
      if (one_row && in.strides.back() == 0) {
        if (filled_[o] == first && filled_n_[o] >= n) return;
        copy_run(size, slot, size, first, 0, n);
        filled_[o] = first;
        filled_n_[o] = n;
        return;
      }
      filled_[o] = nullptr;
      gather(o, n, slot);
      return;
    }
  }
}

void Evaluator::store(std::size_t k, std::int64_t n) {
  const Output& out = p_.plan_.outputs[k];
  const int size = itemsize(out.dtype);
  const auto* from = static_cast<const char*>(at_[out.reg]);
  auto* base = static_cast<char*>(out.data);
  if (coords_.size() == 0) {
    std::memmove(base, from, static_cast<std::size_t>(size));
    return;
  }
  const std::int64_t step = out.strides.back();
  walk_rows(p_.plan_.shape, coords_, out.strides, n, [&](std::int64_t offset, std::int64_t done, std::int64_t here) {
    if (p_.stream_[k]) {
      kernels().stream(base + offset, from + done * size, here * size);
      streamed_ = true;
    } else {
      copy_run(size, base + offset, step, from + done * size, size, here);
    }
  });
}

void Evaluator::run(std::int64_t start, std::int64_t n) {
  const Plan& plan = p_.plan_;
  const bool folding = !flags_.empty() && !plan.reductions.empty();
  if (folding) flags_[0] |= take_hardware_flags();
  seek(start);
  const bool one_row = coords_.size() == 0 || coords_.back() + n <= plan.shape.back();
  for (std::size_t r = plan.operands.size(); r < at_.size(); ++r)
    at_[r] = p_.slot_[r] >= 0 ? slot_at_[static_cast<std::size_t>(p_.slot_[r])] : nullptr;
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    if (p_.direct_[k] && one_row)
      at_[plan.outputs[k].reg] = const_cast<char*>(address(plan.outputs[k].data, plan.outputs[k].strides));

  if (redirect_ && redirected_ >= plan.operands.size()) at_[redirected_] = redirect_;

  const int steps = static_cast<int>(p_.steps_.size());
  for (int s = 0; s < steps; ++s) {
    const Program::Step& step = p_.steps_[static_cast<std::size_t>(s)];
    const void* in[3];
    void* out[2];
    for (int j = 0; j < step.nin; ++j) {
      const std::uint16_t r = step.in[j];
      if (r < plan.operands.size() && p_.sources_[r].first_use == s) load(r, n);
      in[j] = at_[r];
    }
    for (int j = 0; j < step.nout; ++j) out[j] = at_[step.out[j]];
    if (step.watch == 0)
      step.kernel(out, in, n);
    else
      run_watched(s, out, in, n);
  }
  if (folding) take_hardware_flags();
  for (std::size_t o = 0; o < plan.operands.size(); ++o)
    if (p_.sources_[o].first_use == steps && !(p_.copies_ && one_row)) load(o, n);
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    if (p_.copies_ && one_row) {
      gather(0, n, const_cast<char*>(address(plan.outputs[0].data, plan.outputs[0].strides)));
      continue;
    }
    // A result written in place is at home already, unless two outputs share the register and another address won.
    if (p_.direct_[k] && one_row && at_[plan.outputs[k].reg] == address(plan.outputs[k].data, plan.outputs[k].strides))
      continue;
    store(k, n);
  }
  // Step to the next block without divisions.
  position_ += n;
  if (coords_.size() > 0) {
    coords_.back() += n;
    for (int k = coords_.size() - 1; k > 0 && coords_[k] >= plan.shape[k]; --k) {
      coords_[k - 1] += coords_[k] / plan.shape[k];
      coords_[k] %= plan.shape[k];
    }
  }
}

const void* Evaluator::dense(std::uint16_t r, std::int64_t start, std::int64_t n, void* scratch) {
  if (r < p_.plan_.operands.size() && p_.sources_[r].read == Program::Read::flat)
    return static_cast<const char*>(p_.plan_.operands[r].data) + start * itemsize(p_.plan_.registers[r]);
  const std::int64_t size = itemsize(p_.plan_.registers[r]);
  if (r < p_.plan_.operands.size() && p_.sources_[r].read == Program::Read::strided && coords_.size() > 0) {
    // An operand itself: straight from its memory, or gathered straight into the scratch.
    const Operand& in = p_.plan_.operands[r];
    seek(start);
    const char* first = address(in.data, in.strides);
    const bool aligned =
        reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(std::min<std::int64_t>(size, 8)) == 0;
    if (in.strides.back() == size && aligned && coords_.back() + n <= p_.plan_.shape.back()) return first;
    gather(r, n, static_cast<char*>(scratch));
    return scratch;
  }
  for (std::int64_t done = 0; done < n;) {
    std::int64_t here = std::min(p_.block(), n - done);
    if (p_.by_rows()) here = std::min(here, row_left(start + done));
    redirect_ = static_cast<char*>(scratch) + done * size;
    redirected_ = r;
    run(start + done, here);
    if (at_[r] != redirect_) std::memcpy(redirect_, at_[r], static_cast<std::size_t>(here * size));
    done += here;
  }
  redirect_ = nullptr;
  return scratch;
}

namespace {

constexpr std::int64_t kTileRows = 32, kTileColumns = 128;

// The axis to tile together with the last one, or -1: an operand whose elements lie closer along another axis than
// along the last would be read a cache line for each element, row after row.
int tiled_axis(const Plan& plan) {
  const int last = plan.shape.size() - 1;
  if (last < 1 || plan.shape[last] < 2 * kTileColumns) return -1;
  for (const Operand& o : plan.operands) {
    if (o.kind != Operand::Kind::memory || std::abs(o.strides[last]) < 64) continue;
    for (int k = 0; k < last; ++k)
      if (o.strides[k] != 0 && std::abs(o.strides[k]) < std::abs(o.strides[last]) && plan.shape[k] >= kTileRows)
        return k;
  }
  return -1;
}

void run_tiles(const Program& program, int axis) {
  const Dims& shape = program.plan().shape;
  const int last = shape.size() - 1;
  const std::int64_t rows = (shape[axis] + kTileRows - 1) / kTileRows;
  const std::int64_t columns = (shape[last] + kTileColumns - 1) / kTileColumns;
  const Dims step = c_strides(shape, 1);
  const std::int64_t width = std::min(kTileColumns, program.block());
  const std::int64_t tiles = program.size() / (shape[axis] * shape[last]) * rows * columns;
  parallel_for(tiles, 16, [&](std::int64_t begin, std::int64_t end, int) {
    Evaluator e(program);
    for (std::int64_t tile = begin; tile < end; ++tile) {
      interrupt::poll();
      // Tiles follow each other down the rows, so that neighbours share the operand's cache lines.
      std::int64_t rest = tile / rows;
      const std::int64_t row = tile % rows * kTileRows;
      const std::int64_t column = rest % columns * kTileColumns;
      rest /= columns;
      std::int64_t start = column;
      for (int k = last - 1; k >= 0; --k) {
        if (k == axis) continue;
        start += rest % shape[k] * step[k];
        rest /= shape[k];
      }
      for (std::int64_t i = row; i < std::min(row + kTileRows, shape[axis]); ++i)
        for (std::int64_t j = column; j < std::min(column + kTileColumns, shape[last]); j += width)
          e.run(start - column + i * step[axis] + j, std::min({width, shape[last] - j, column + kTileColumns - j}));
    }
  });
}

}  // namespace

void run_map(const Plan& plan) {
  const Program program(plan);
  const bool ordered = std::any_of(plan.outputs.begin(), plan.outputs.end(), [](const Output& o) { return o.ordered; });
  if (const int axis = tiled_axis(plan); axis >= 0 && !ordered) return run_tiles(program, axis);
  const auto grain = std::max(program.block(), grain_of(program.work()));
  parallel_for(program.size(), ordered ? program.size() : grain, [&](std::int64_t begin, std::int64_t end, int) {
    Evaluator e(program);
    for (std::int64_t at = begin; at < end;) {
      interrupt::poll();
      std::int64_t n = std::min(program.block(), end - at);
      if (program.by_rows()) n = std::min(n, e.row_left(at));
      e.run(at, n);
      at += n;
    }
  });
}

}  // namespace galop::cpu
