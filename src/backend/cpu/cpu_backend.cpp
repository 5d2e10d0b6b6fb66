// The CPU as a Backend: forwards to memory, interpreter, reductions and products.
#include "backend/backend.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backend/cpu/blas.hpp"
#include "backend/cpu/evaluator.hpp"
#include "backend/cpu/fp_flags.hpp"
#include "backend/cpu/gather.hpp"
#include "backend/cpu/machine.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/reduce_small.hpp"
#include "backend/cpu/scan.hpp"
#include "backend/cpu/search.hpp"
#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"
#include "core/visit.hpp"

namespace galop {
namespace cpu {
namespace {

/// Fills `to` with n copies of an item.
void repeat(char* to, const void* item, int size, std::int64_t n) {
  visit_itemsize(size, [&](auto bytes) {
    Word<bytes> v;
    std::memcpy(&v, item, sizeof v);
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * bytes, &v, sizeof v);
  });
}

Watched watched_cast(DType from, DType to) {
  return {kernels().cast[static_cast<int>(from)][static_cast<int>(to)], Op::cast, from, to, cast_flag_test(from, to)};
}

/// Tests of results look only for what the policy wants: a result that has underflowed is dear to find.
std::uint8_t wanted(const Watched& w) {
  return w.test == FlagTest::results ? faults::watched(faults::policy()) : std::uint8_t{15};
}

constexpr std::int64_t kPiece = 1024;

/// Runs one operation over elements [begin, end) of dense arrays, at most `most` at a time, and of kPiece where a
/// number stands for an operand: it is spread over an array of so many. f(out, in, n) returns flags.
template <class F>
std::uint8_t run_pieces(const Watched& w, const HostBackend::SmallOperand* operands, void* const* out,
                        std::int64_t begin, std::int64_t end, std::int64_t most, F&& f) {
  alignas(64) char splat[3][kPiece * 16];
  const int nin = info(w.op).nin, nout = info(w.op).nout;
  const void* in[3];
  for (int i = 0; i < nin; ++i) {
    const HostBackend::SmallOperand& o = operands[i];
    if (o.data) {
      in[i] = static_cast<const char*>(o.data) + begin * itemsize(o.dtype);
    } else {
      most = std::min(most, kPiece);
      repeat(splat[i], o.constant, itemsize(o.dtype), std::min(end - begin, most));
      in[i] = splat[i];
    }
  }
  void* to[2];
  for (int k = 0; k < nout; ++k)
    to[k] = static_cast<char*>(out[k]) + begin * itemsize(k == 0 ? w.result : result_dtype(w.op, k, w.loop));
  std::uint8_t flags = 0;
  for (;;) {
    const std::int64_t here = std::min(most, end - begin);
    flags |= f(to, in, here);
    if ((begin += here) >= end) return flags;
    for (int i = 0; i < nin; ++i)
      if (operands[i].data) in[i] = static_cast<const char*>(in[i]) + here * itemsize(operands[i].dtype);
    for (int k = 0; k < nout; ++k)
      to[k] = static_cast<char*>(to[k]) + here * itemsize(k == 0 ? w.result : result_dtype(w.op, k, w.loop));
  }
}

class CpuBackend final : public HostBackend {
 public:
  CpuBackend() {
    survive_forks();
    for (int o = 0; o < kOps; ++o)
      for (int t = 0; t < kDTypes; ++t) {
        const Op op = static_cast<Op>(o);
        const DType loop = static_cast<DType>(t);
        small_[o][t] = {kernels().op[o][t], op, loop, result_dtype(op, 0, loop), flag_test(op, loop)};
      }
  }

  Device device() const override { return kCpu; }
  // Of 16 cores of a server; which side of a choice a smaller machine is on hardly changes.
  DeviceSpeed speed() const override { return {8e-6, 5e9 * allowed_cores(), 0, 3e8 * allowed_cores()}; }

  Storage allocate(std::int64_t bytes) override { return cpu::allocate(bytes); }
  void release(const Storage& s) noexcept override { cpu::release(s); }

  std::int64_t capacity() const override { return total_memory(); }

  void run(const Plan& plan) override { plan.reductions.empty() ? run_map(plan) : run_reduce(plan); }

  bool run_small(Op op, DType loop, const SmallOperand* operands, void* const* out, std::int64_t n,
                 std::uint8_t& flags) override {
    const Watched& watched = small_[static_cast<int>(op)][static_cast<int>(loop)];
    if (!watched.kernel) return false;
    const std::uint8_t watch = wanted(watched);
    flags = run_pieces(watched, operands, out, 0, n, n, [&](void* const* to, const void* const* in, std::int64_t here) {
      return run_small_watched(watched, to, in, info(op).nin, here, watch);
    });
    return true;
  }

  bool run_dense(Op op, DType loop, DType result, const SmallOperand* operands, void* const* out, std::int64_t n,
                 std::uint8_t watch, std::uint8_t& flags) override {
    const Watched watched =
        op == Op::cast ? watched_cast(loop, result) : small_[static_cast<int>(op)][static_cast<int>(loop)];
    if (!watched.kernel) return false;
    // Tests of results look at a block while the first-level cache has it.
    const std::int64_t piece = watch != 0 && watched.test == FlagTest::results ? kPiece : n;
    parallel_for(n, grain_of(kMoving + nanoseconds_of(op)), [&](std::int64_t begin, std::int64_t end, int) {
      note(flags, run_pieces(watched, operands, out, begin, end, piece,
                             [&](void* const* to, const void* const* in, std::int64_t here) -> std::uint8_t {
                               if (watch != 0) return run_watched(watched, to, in, here, watch) & watch;
                               watched.kernel(to, in, here);
                               return 0;
                             }));
    });
    return true;
  }

  int run_apart(Op op, DType loop, const void* const* in, void* out, std::int64_t n) override {
    const Watched& watched = small_[static_cast<int>(op)][static_cast<int>(loop)];
    return watched.kernel ? run_apart_watched(watched, &out, in, n, wanted(watched)) : -1;
  }

  std::uint8_t cast_small(DType from, DType to, const void* in, void* out, std::int64_t n) override {
    return run_small_watched(watched_cast(from, to), &out, &in, 1, n, 15);
  }

  bool fold_small(Op op, DType loop, DType from, const void* in, std::int64_t n, void* out,
                  std::uint8_t& flags) override {
    return cpu::fold_small(op, loop, from, in, n, out, flags);
  }

  void find_extremes(DType t, const Dims& shape, const void* in, const Dims& strides, std::int64_t* out,
                     bool greatest) override {
    cpu::find_extremes(t, shape, in, strides, out, greatest);
  }
  bool holds_any(DType t, const void* in, std::int64_t n, bool truth) override {
    return cpu::holds_any(t, in, n, truth);
  }

  void scan(Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
            const Dims& out_strides) override {
    run_scan(op, t, shape, in, in_strides, out, out_strides, &faults_);
  }

  void at(Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n, const void* values) override {
    const Kernel kernel = kernels().op[static_cast<int>(op)][static_cast<int>(t)];
    const auto* v = static_cast<const char*>(values);
    const Watched watched{kernel, op, t, t, flag_test(op, t)};
    interrupt::polled(static_cast<std::size_t>(n), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        void* out = static_cast<char*>(base) + offsets[i];
        const void* in[2] = {out, v};
        faults_ |= run_watched(watched, &out, in, 1, 15);
        if (v) v += itemsize(t);
      }
    });
  }

  bool locate(std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets) override {
    return cpu::locate(axes, count, offsets);
  }
  void gather(const Blocks& b) override { cpu::gather(b); }
  void scatter(const Blocks& b) override { cpu::scatter(b); }
  std::int64_t count_true(const void* mask, std::int64_t n) override { return cpu::count_true(mask, n); }
  void positions(const void* mask, std::int64_t n, std::int64_t* out) override { cpu::positions(mask, n, out); }
  void compress(const void* mask, std::int64_t n, int itemsize, const void* in, void* out) override {
    cpu::compress(mask, n, itemsize, in, out);
  }

  void parallel(std::int64_t n, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& f) override {
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end, int) { f(begin, end); });
  }

  void set_threads(int n) override { set_thread_count(n > 0 ? n : allowed_cores()); }

  void matmul(const Product& p) override {
    Matrix a = p.a, b = p.b, c = p.c;
    auto step = [](Matrix& m, std::int64_t bytes) { m.data = static_cast<char*>(m.data) + bytes; };
    Dims at(p.batch.size(), 0);
    std::uint8_t* const flags = is_inexact(p.dtype) && faults::watched(p.policy) != 0 ? &faults_ : nullptr;
    for (;;) {
      interrupt::poll();
      gemm(p.dtype, c.rows, c.cols, a.cols, {a.data, a.row, a.col}, {b.data, b.row, b.col}, {c.data, c.row, c.col},
           flags);
      int axis = p.batch.size() - 1;
      for (; axis >= 0; --axis) {
        const bool wraps = ++at[axis] == p.batch[axis];
        const std::int64_t back = wraps ? at[axis] - 1 : -1;
        step(a, -back * p.a_batch[axis]);
        step(b, -back * p.b_batch[axis]);
        step(c, -back * p.c_batch[axis]);
        if (!wraps) break;
        at[axis] = 0;
      }
      if (axis < 0) return;
    }
  }

  std::uint8_t take_faults() override { return std::exchange(faults_, std::uint8_t{0}); }

  Storage region(const void* p) const override { return region_of(p); }
  void watch_regions(void (*forget)(char* base, std::int64_t bytes) noexcept) override { cpu::watch_regions(forget); }

 private:
  Watched small_[kOps][kDTypes];
  std::uint8_t faults_ = 0;  // guarded by the engine's lock, as every call of scan() and at() is
};

}  // namespace
}  // namespace cpu

HostBackend& cpu_backend() {
  static auto* backend = new cpu::CpuBackend;  // never destroyed: arrays may outlive main
  return *backend;
}

}  // namespace galop
