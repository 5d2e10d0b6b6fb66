// The parts below an array's operation, each alone: kernels and folds in the first-level cache, the interpreter by
// block size, memory, and what a call on a small array costs in C++.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/kernels.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/shards.hpp"
#include "core/op.hpp"
#include "galop/array.hpp"
#include "galop/create.hpp"
#include "galop/engine.hpp"
#include "galop/reduce.hpp"
#include "galop/ufunc.hpp"

namespace {

using galop::array;
using galop::DType;
using galop::Op;

constexpr std::int64_t kBlock = 512;  // elements: what the interpreter gives a kernel of 8-byte items

// Settings for the length of one benchmark.
class With {
 public:
  explicit With(const galop::Settings& s) : old_(galop::settings()) { galop::set_settings(s); }
  ~With() { galop::set_settings(old_); }

 private:
  galop::Settings old_;
};

// Three operands of any dtype, where every function is defined, and two results.
struct Blocks {
  std::vector<std::unique_ptr<char[]>> memory;
  const void* in[3];
  void* out[2];

  explicit Blocks(DType t, double low = 0.25) {
    for (int k = 0; k < 5; ++k) memory.push_back(std::make_unique<char[]>(kBlock * 16));
    const array values = galop::linspace(low, low + 0.5, kBlock).astype(t);
    for (std::size_t k = 0; k < 3; ++k) {
      std::memcpy(memory[k].get(), values.data(), static_cast<std::size_t>(values.nbytes()));
      in[k] = memory[k].get();
    }
    for (std::size_t k = 0; k < 2; ++k) out[k] = memory[3 + k].get();
  }
};

void rate(benchmark::State& state, std::int64_t elements, std::int64_t bytes_per_element) {
  state.SetItemsProcessed(state.iterations() * elements);
  state.SetBytesProcessed(state.iterations() * elements * bytes_per_element);
}

void run_kernel(benchmark::State& state, galop::cpu::Kernel kernel, Op op, DType t) {
  const Blocks b(t, galop::is_integer(t) ? 3 : op == Op::arccosh ? 1.25 : 0.25);
  for (auto _ : state) {
    kernel(b.out, b.in, kBlock);
    benchmark::ClobberMemory();
  }
  rate(state, kBlock, galop::itemsize(t) * galop::info(op).nin + galop::itemsize(galop::result_dtype(op, 0, t)));
}

void run_fold(benchmark::State& state, galop::cpu::Fold fold, DType t) {
  const Blocks b(t);
  for (auto _ : state) {
    fold(b.out[0], b.in[0], kBlock);
    benchmark::ClobberMemory();
  }
  rate(state, kBlock, galop::itemsize(t));
}

void run_scan(benchmark::State& state, galop::cpu::Scan scan, DType t) {
  const Blocks b(t);
  for (auto _ : state) {
    scan(b.out[0], b.in[0], b.out[1], kBlock);
    benchmark::ClobberMemory();
  }
  rate(state, kBlock, 2 * galop::itemsize(t));
}

// Every row that has a kernel for float64, some for other dtypes, and the dearest rows for every instruction set.
void register_kernels() {
  const galop::cpu::Kernels& k = galop::cpu::kernels();
  auto add = [](const galop::cpu::Kernels& table, Op op, DType t, const std::string& prefix) {
    const galop::cpu::Kernel kernel = table.op[static_cast<int>(op)][static_cast<int>(t)];
    if (!kernel) return;
    const std::string label = prefix + std::string(galop::info(op).name) + "/" + std::string(galop::name(t));
    benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) { run_kernel(state, kernel, op, t); });
  };
  for (int op = 0; op < galop::kTableOps; ++op) add(k, static_cast<Op>(op), DType::float64, "kernel/");
  for (const Op op : {Op::add, Op::multiply, Op::divide, Op::maximum, Op::sqrt, Op::exp, Op::sin})
    for (const DType t : {DType::float32, DType::int32, DType::complex128}) add(k, op, t, "kernel/");
  for (const galop::cpu::Isa& isa : galop::cpu::isas()) {
    if (!galop::cpu::supported(isa)) continue;
    static std::vector<std::unique_ptr<galop::cpu::Kernels>> tables;
    tables.push_back(std::make_unique<galop::cpu::Kernels>(galop::cpu::make_kernels(isa)));
    for (const Op op : {Op::add, Op::sqrt, Op::exp, Op::log, Op::sin, Op::power, Op::erf})
      add(*tables.back(), op, DType::float64, std::string("isa/") + isa.name + "/");
  }
  for (const Op op : {Op::add, Op::multiply, Op::maximum})
    for (const DType t : {DType::float32, DType::float64, DType::int64}) {
      const std::string label = std::string(galop::info(op).name) + "/" + std::string(galop::name(t));
      const galop::cpu::Fold fold = k.fold[static_cast<int>(op)][static_cast<int>(t)];
      const galop::cpu::Scan scan = k.scan[static_cast<int>(op)][static_cast<int>(t)];
      if (fold)
        benchmark::RegisterBenchmark(("fold/" + label).c_str(),
                                     [=](benchmark::State& state) { run_fold(state, fold, t); });
      if (scan)
        benchmark::RegisterBenchmark(("scan/" + label).c_str(),
                                     [=](benchmark::State& state) { run_scan(state, scan, t); });
    }
}
[[maybe_unused]] const bool registered = (register_kernels(), true);

// The interpreter: five cheap operations over arrays larger than the caches, by elements of a block.
void interpreter_by_block(benchmark::State& state) {
  galop::Settings s = galop::settings();
  s.block = state.range(0);
  const With with(s);
  constexpr std::int64_t n = std::int64_t{1} << 24;
  const array x = galop::linspace(0.0, 1.0, n), y = galop::linspace(1.0, 2.0, n);
  galop::eval(x);
  galop::eval(y);
  galop::eval((x + y) * (x - y) + x * 0.5);  // so that the result's memory is there
  for (auto _ : state) galop::eval((x + y) * (x - y) + x * 0.5);
  rate(state, n, 24);
}
BENCHMARK(interpreter_by_block)
    ->Arg(0)
    ->RangeMultiplier(2)
    ->Range(64, 8192)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// The same in the caches, where the cost of a step shows.
void interpreter_in_cache(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const array x = galop::linspace(0.0, 1.0, n), y = galop::linspace(1.0, 2.0, n);
  galop::eval(x);
  galop::eval(y);
  galop::eval((x + y) * (x - y) + x * 0.5);  // so that the result's memory is there
  for (auto _ : state) galop::eval((x + y) * (x - y) + x * 0.5);
  rate(state, n, 24);
}
BENCHMARK(interpreter_in_cache)->RangeMultiplier(8)->Range(8, 1 << 18)->UseRealTime();

// Fusion: a chain of multiplications in one kernel, and in one kernel each.
void chain_by_fusion_limit(benchmark::State& state) {
  galop::Settings s = galop::settings();
  s.fusion_limit = static_cast<int>(state.range(0));
  const With with(s);
  constexpr std::int64_t n = std::int64_t{1} << 23;
  const array x = galop::linspace(0.0, 1.0, n);
  galop::eval(x);
  for (auto _ : state) {
    array y = x;
    for (int i = 0; i < 8; ++i) y = y * 1.5;
    galop::eval(y);
  }
  rate(state, n, 16);
}
BENCHMARK(chain_by_fusion_limit)->Arg(1)->Arg(2)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);

void sum_by_size(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const array x = galop::linspace(0.0, 1.0, n);
  galop::eval(x);
  for (auto _ : state) galop::eval(galop::sum(x));
  rate(state, n, 8);
}
BENCHMARK(sum_by_size)->RangeMultiplier(16)->Range(16, 1 << 24)->UseRealTime();

// Small arrays: a node, its lowering, and its evaluation.
void small_add(benchmark::State& state) {
  const array x = galop::ones({state.range(0)}), y = galop::ones({state.range(0)});
  galop::eval(x);
  galop::eval(y);
  for (auto _ : state) galop::eval(x + y);
}
BENCHMARK(small_add)->Arg(1)->Arg(10)->Arg(1000);

void small_add_unevaluated(benchmark::State& state) {
  const array x = galop::ones({10}), y = galop::ones({10});
  galop::eval(x);
  galop::eval(y);
  for (auto _ : state) benchmark::DoNotOptimize(x + y);
}
BENCHMARK(small_add_unevaluated);

void small_add_in_place(benchmark::State& state) {
  array x = galop::ones({10});
  for (auto _ : state) {
    x += 1.0;
    galop::eval(x);
  }
}
BENCHMARK(small_add_in_place);

void small_slice(benchmark::State& state) {
  const array x = galop::ones({10});
  galop::eval(x);
  for (auto _ : state) benchmark::DoNotOptimize(x(galop::slice(1, -1)));
}
BENCHMARK(small_slice);

void small_item(benchmark::State& state) {
  const array x = galop::ones({10});
  galop::eval(x);
  for (auto _ : state) benchmark::DoNotOptimize(x(3).item<double>());
}
BENCHMARK(small_item);

void allocate(benchmark::State& state) {
  galop::cpu::release(galop::cpu::allocate(state.range(0)));  // fresh pages are another matter
  for (auto _ : state) {
    galop::cpu::Block b = galop::cpu::allocate(state.range(0));
    benchmark::DoNotOptimize(b.data);
    galop::cpu::release(b);
  }
}
BENCHMARK(allocate)->Arg(64)->Arg(4096)->Arg(1 << 20)->Arg(1 << 28);

}  // namespace
