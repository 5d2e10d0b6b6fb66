// Without a GPU: every kernel compiles for every architecture that CUDA 13 serves.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/jit_cache.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "galop/error.hpp"
#include "plans.hpp"

namespace galop::cuda::test {
namespace {

constexpr int kCapabilities[] = {75, 80, 90, 120};

class CudaCompile : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
  }

  void add(const Plan& plan) {
    const Lowered l = lower(plan);
    ASSERT_NE(l.blocks, 0u);
    kernels_ += kernel_source(plan, l, "kernel_" + std::to_string(count_++));
  }
  // All kernels so far as one program.
  void compile_all(int capability) {
    const std::string text = prelude(true) + kernels_;
    std::string cubin;
    ASSERT_NO_THROW(cubin = compile(text, "many", capability));
    EXPECT_EQ(cubin.substr(1, 3), "ELF");
  }

  std::string kernels_;
  int count_ = 0;
};

std::vector<const void*> inputs(int n) {
  std::vector<const void*> p;
  for (int k = 0; k < n; ++k) p.push_back(somewhere(k));
  return p;
}

// All rows of one loop dtype as one tape: every function, one kernel.
Plan every_row(DType loop) {
  Plan all;
  all.shape = {1000};
  for (int k = 0; k < 3; ++k) all.operands.push_back(memory(loop, somewhere(k), {itemsize(loop)}));
  all.operands.push_back(memory(DType::int64, somewhere(3), {8}));
  all.operands.push_back(memory(DType::bool_, somewhere(4), {1}));
  all.registers = {loop, loop, loop, DType::int64, DType::bool_};
  each_loop([&](Op op, DType t) {
    if (t != loop || compute_dtype(op, t) != t) return;
    Instruction i{op, t, {0, 1, 2}, {}};
    if (info(op).int_second) i.in[1] = 3;
    if (op == Op::where) i.in[0] = 4, i.in[2] = 0;
    for (int k = 0; k < info(op).nout; ++k) {
      i.out[k] = static_cast<std::uint16_t>(all.registers.size());
      all.registers.push_back(result_dtype(op, k, t));
      const DType to = all.registers.back();
      all.outputs.push_back(
          {i.out[k], to, somewhere(8 + static_cast<int>(all.outputs.size())), {itemsize(to)}, true, false});
    }
    all.tape.push_back(i);
  });
  for (int k = 0; k < kDTypes; ++k) {
    const auto to = static_cast<DType>(k);
    const auto reg = static_cast<std::uint16_t>(all.registers.size());
    all.registers.push_back(to);
    all.tape.push_back({Op::cast, loop, {0}, {reg}});
    all.outputs.push_back({reg, to, somewhere(8 + static_cast<int>(all.outputs.size())), {itemsize(to)}, true, false});
  }
  return all;
}

TEST_F(CudaCompile, EveryRowAndCast) {
  for (int t = 0; t < kDTypes; ++t) add(every_row(static_cast<DType>(t)));
  for (const int capability : kCapabilities) compile_all(capability);
}

TEST_F(CudaCompile, EveryLayoutAndFold) {
  const Op add_op = Op::add;
  for (const DType t : {DType::uint8, DType::float16, DType::float32, DType::complex128}) {
    const std::int64_t s = itemsize(t);
    const Op op = t == DType::float16 ? Op::where : add_op;
    const auto in = inputs(3);
    const auto at = [&](const Dims& shape, const Dims& strides) {
      std::vector<Dims> all(3, strides);
      if (op == Op::where)
        for (std::int64_t& x : all[0]) x /= s;
      add(one_operation(op, t, shape, in, all, {somewhere(4)}));
    };
    at({1000}, {s});
    at({1000}, {3 * s});
    at({100, 70}, {100 * s, s});
    at({100, 70}, {0, s});
    at({100, 70}, {s, 0});
    at({100, 64}, {s, 128 * s});
    at({5, 60, 70}, {100000 * s, s, 200 * s});
    at({3, 4, 5, 6}, {10000 * s, 1000 * s, 50 * s, 2 * s});
    at({3, 2, 2, 2, 2}, {10000 * s, 1000 * s, 100 * s, 20 * s, 2 * s});
  }
  Plan ordered = one_operation(Op::add, DType::int32, {10}, inputs(2), {{4}, {4}}, {somewhere(2)});
  ordered.outputs[0].ordered = true;
  ordered.outputs[0].strides = {0};
  add(ordered);
  Plan counters;
  counters.shape = {50, 60};
  counters.operands = {iota(3, {60, 1}), constant(std::int64_t{7}, 2)};
  counters.registers = {DType::int64, DType::int64, DType::int64};
  counters.tape = {{Op::multiply, DType::int64, {0, 1}, {2}}};
  counters.outputs = {{2, DType::int64, somewhere(0), {480, 8}, true, false},
                      {0, DType::int64, somewhere(1), {8, 400}, true, false}};
  add(counters);
  for (int o = 0; o < kTableOps; ++o) {
    const Op op = static_cast<Op>(o);
    if (info(op).nin != 2 || info(op).nout != 1 || info(op).int_second) continue;
    for (const DType t : {DType::bool_, DType::int16, DType::float64, DType::complex64}) {
      if (info(op).types.find(typecode(t)) == std::string_view::npos || result_dtype(op, 0, t) != t) continue;
      const std::int64_t s = itemsize(t);
      add(one_fold(op, t, {1 << 20}, {s}, 1, somewhere(0), somewhere(1)));
    }
  }
  for (const DType t : {DType::uint8, DType::float32, DType::complex128}) {
    const std::int64_t s = itemsize(t);
    add(one_fold(Op::add, t, {100, 3000}, {3000 * s, s}, 2, somewhere(0), somewhere(1)));
    add(one_fold(Op::add, t, {3000, 100}, {100 * s, s}, 1, somewhere(0), somewhere(1)));
    add(one_fold(Op::add, t, {30, 40, 52}, {40 * 60 * s, 60 * s, s}, 5, somewhere(0), somewhere(1)));
    add(one_fold(Op::add, t, {100, 7}, {16 * s, s}, 2, somewhere(0), somewhere(1)));
    add(one_fold(Op::maximum, t, {100, 3000}, {3000 * s, 2 * s}, 3, somewhere(0), somewhere(1)));
  }
  compile_all(90);
}

// Shared memory has room for so many; the others are read where they lie.
TEST_F(CudaCompile, TilesOfManyOperands) {
  for (const DType t : {DType::uint8, DType::float16, DType::float32, DType::float64, DType::complex128})
    for (const int n : {1, 2, 3, 7})
      for (const std::int64_t side : {40, 1000})
        if (t != DType::float16 || n == 1) add(turned_sum(t, {side, side}, inputs(n), somewhere(9)));
  compile_all(75);
  compile_all(90);
}

// All architectures, over a choice of layouts and folds: what differs between them is NVRTC's part.
TEST_F(CudaCompile, EveryArchitecture) {
  add(one_fold(Op::add, DType::float64, {1 << 20}, {8}, 1, somewhere(0), somewhere(1)));
  add(one_operation(Op::add, DType::float32, {100, 64}, inputs(2), {{4, 512}, {4, 512}}, {somewhere(2)}));
  // Bands of rows, functions side by side, sine with cosine, squares about the mean.
  const auto in = inputs(3);
  add(one_operation(Op::add, DType::float64, {100, 63}, {in[0], in[1]}, {{512, 8}, {0, 8}}, {somewhere(4)}));
  Plan angles = one_operation(Op::sin, DType::float64, {1000}, {in[0]}, {{8}}, {somewhere(4)});
  angles.registers.push_back(DType::float64);
  angles.tape.push_back({Op::cos, DType::float64, {0}, {2}});
  angles.outputs.push_back({2, DType::float64, somewhere(5), {8}, true, false});
  add(angles);
  add(one_operation(Op::divmod, DType::float64, {70, 50}, {in[0], in[1]}, {{408, 8}, {8, 0}},
                    {somewhere(4), somewhere(5)}));
  Plan quotient = one_operation(Op::divide, DType::float64, {1000}, {in[0], in[1]}, {{8}, {8}}, {somewhere(4)});
  quotient.operands[1] = constant(3.0, 1);
  EXPECT_NE(kernel_source(quotient, lower(quotient), "k").find("divided("), std::string::npos);
  add(quotient);
  for (const DType t : {DType::float32, DType::float64}) {
    const std::int64_t s = itemsize(t);
    for (Plan plan : {one_fold(Op::add, t, {1 << 20}, {s}, 1, somewhere(0), somewhere(1)),
                      one_fold(Op::add, t, {3000, 100}, {100 * s, s}, 1, somewhere(0), somewhere(1)),
                      one_fold(Op::add, t, {30, 40, 52}, {40 * 60 * s, 60 * s, s}, 5, somewhere(0), somewhere(1))}) {
      plan.reductions[0].about_mean = true;
      add(plan);
    }
  }
  for (const int capability : kCapabilities) compile_all(capability);
}

TEST_F(CudaCompile, ErrorsNameTheKernel) {
  try {
    compile("int f() { return x; }", "broken", 90);
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("broken"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("\"x\" is undefined"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace galop::cuda::test
