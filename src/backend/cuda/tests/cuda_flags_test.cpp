// Floating-point flags: kernels that are watched compile for every architecture, and on a GPU they raise the CPU's
// flags.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "device.hpp"
#include "flagged_plans.hpp"

namespace galop::cuda::test {
namespace {

std::uint8_t wanted[1];  // its address says that flags are wanted

Plan watched(Plan plan, faults::Policy policy) {
  watch_all(plan, policy);
  plan.faults = wanted;
  return plan;
}

class CudaFlags : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
    memory_.resize(8 << 20);
  }
  char* take(std::int64_t bytes) {
    used_ = (used_ + bytes + 255) / 256 * 256 > static_cast<std::int64_t>(memory_.size()) ? 0 : used_;
    char* p = memory_.data() + (256 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 256) % 256 + used_;
    used_ += (bytes + 255) / 256 * 256;
    return p;
  }
  void add(const Plan& plan) {
    const Lowered l = lower(plan);
    if (l.watched.empty() || !keys_.insert(l.key).second) return;
    kernels_ += kernel_source(plan, l, "kernel_" + std::to_string(keys_.size()));
  }
  void compile_all(int capability) {
    std::string cubin;
    ASSERT_NO_THROW(cubin = compile(prelude(true, true) + kernels_, "many", capability));
    EXPECT_EQ(cubin.substr(1, 3), "ELF");
  }

  std::vector<char> memory_;
  std::int64_t used_ = 0;
  std::set<std::string> keys_;
  std::string kernels_;
};

TEST_F(CudaFlags, EveryRowCompiles) {
  const auto memory = [&](std::int64_t bytes) { return take(bytes); };
  each_flagged_row(memory, [&](const Flagged& f) {
    // One program of all rows compiles for long: those of integers look alike, and few rows tell of underflow.
    const Instruction& i = f.plan.tape.back();
    if (is_inexact(i.loop) || i.loop == DType::int64) add(watched(f.plan, kWarnDefault));
    if (i.op == Op::multiply || i.op == Op::divide) add(watched(f.plan, kWarnAll));
  });
  EXPECT_GT(keys_.size(), 150u);
  compile_all(75);
}

TEST_F(CudaFlags, EveryCastAndFoldCompiles) {
  const auto memory = [&](std::int64_t bytes) { return take(bytes); };
  each_flagged_cast(memory, [&](const Flagged& f) { add(watched(f.plan, kWarnDefault)); });
  each_flagged_fold(memory, [&](const Flagged& f) {
    const Reduction& r = f.plan.reductions[0];
    if (r.dtype == DType::complex64 || (r.dtype == DType::float64 && !f.plan.tape.empty()))
      add(watched(f.plan, kWarnDefault));
  });
  const std::vector<const void*> in{somewhere(0), somewhere(1)};
  Plan turned = one_operation(Op::divide, DType::float64, {100, 64}, in, {{8, 800}, {512, 8}}, {somewhere(2)});
  EXPECT_EQ(lower(turned).kind, Lowered::Kind::tile);
  add(watched(turned, kWarnDefault));
  Plan ordered = one_operation(Op::divide, DType::float64, {10}, in, {{8}, {8}}, {somewhere(2)});
  ordered.outputs[0].ordered = true;
  add(watched(ordered, kWarnDefault));
  compile_all(90);
}

// One of each kind of kernel and of test; all rows would take minutes an architecture.
TEST_F(CudaFlags, EveryArchitecture) {
  const std::vector<const void*> in{somewhere(0), somewhere(1)};
  for (const DType t : {DType::int64, DType::float16, DType::float32, DType::float64, DType::complex128}) {
    const std::int64_t s = itemsize(t);
    for (const Op op : {Op::multiply, Op::floor_divide, Op::power, Op::log, Op::hypot}) {
      if ((op == Op::floor_divide && t == DType::complex128) || (op == Op::hypot && kind(t) != 'f') ||
          (op == Op::log && t == DType::int64))
        continue;
      const std::vector<Dims> strides(static_cast<std::size_t>(info(op).nin), Dims{s});
      add(watched(one_operation(op, t, {1000}, {in.begin(), in.begin() + info(op).nin}, strides, {somewhere(2)}),
                  kWarnAll));
    }
    if (t != DType::float16)  // accumulated in float32
      add(watched(one_fold(Op::add, t, {1 << 20}, {s}, 1, somewhere(0), somewhere(1)), kWarnDefault));
  }
  add(watched(one_operation(Op::divide, DType::float64, {100, 64}, in, {{8, 800}, {512, 8}}, {somewhere(2)}),
              kWarnDefault));
  for (const int architecture : {75, 80, 90, 120}) compile_all(architecture);
}

// What nobody watches costs nothing: the same kernel, under the same key, as without flags.
TEST_F(CudaFlags, OnlyWatchedStepsChangeTheKernel) {
  const std::vector<const void*> in{somewhere(0), somewhere(1)};
  const Plan plain = one_operation(Op::divide, DType::float64, {1000}, in, {{8}, {8}}, {somewhere(2)});
  const Plan quiet = watched(plain, 0), loud = watched(plain, kWarnDefault);
  EXPECT_EQ(lower(quiet).key, lower(plain).key);
  EXPECT_EQ(source(quiet, lower(quiet)), source(plain, lower(plain)));
  EXPECT_NE(lower(loud).key, lower(plain).key);
  EXPECT_NE(lower(loud).key, lower(watched(plain, kWarnAll)).key);
  EXPECT_EQ(lower(loud).words.size(), lower(plain).words.size() + 2);
  const Plan integers = watched(one_operation(Op::add, DType::int64, {1000}, in, {{8}, {8}}, {somewhere(2)}), kWarnAll);
  EXPECT_TRUE(lower(integers).watched.empty());
}

// Of a chain only the last step has to be looked at; what a comparison swallows is looked at before.
TEST_F(CudaFlags, ChainsAreLookedAtWhereTheyEnd) {
  const auto looks = [](const Plan& p) {
    const std::string text = kernel_source(p, lower(p), "k");
    std::size_t n = 0;
    for (std::size_t at = text.find("bad |= "); at != text.npos; at = text.find("wild(", at + 1)) ++n;
    return n - 1;
  };
  Plan chain =
      one_operation(Op::divide, DType::float32, {1000}, {somewhere(0), somewhere(1)}, {{4}, {4}}, {somewhere(2)});
  chain.registers.insert(chain.registers.end(), {DType::float32, DType::float32});
  chain.tape.push_back({Op::multiply, DType::float32, {2, 0}, {3}});
  chain.tape.push_back({Op::log, DType::float32, {3}, {4}});
  chain.outputs[0].reg = 4;
  EXPECT_EQ(looks(watched(chain, kWarnDefault)), 1u);
  chain.tape[2].op = Op::arctan;
  EXPECT_EQ(looks(watched(chain, kWarnDefault)), 2u);
  chain.tape[2] = {Op::less, DType::float32, {3, 0}, {4}};
  chain.registers[4] = chain.outputs[0].dtype = DType::bool_;
  chain.outputs[0].strides = {1};
  EXPECT_EQ(looks(watched(chain, kWarnDefault)), 1u);
}

/// On a GPU, beside the CPU.
class CudaFlagsDevice : public CudaDevice {
 protected:
  // Memory of one row lies beside that of no other.
  char* row_memory(std::int64_t bytes) {
    if (std::exchange(ran_, false)) used_ = 0;
    return take(bytes);
  }
  void compare(const Flagged& flagged, faults::Policy policy) {
    ran_ = true;
    Plan plan = flagged.plan;
    watch_all(plan, policy);
    std::vector<std::uint8_t> words(1 + plan.tape.size(), 0);
    plan.faults = words.data();
    std::map<std::string_view, int> want, got;
    if (!lower(plan).watched.empty()) {
      run_device(plan);
      for (const faults::Fault& f : gpu_->faults().heard()) got[f.where] |= f.flags & faults::watched(f.policy);
    }
    cpu_backend().run(plan);
    for (std::size_t w = 0; w < words.size(); ++w) {
      const int flags = words[w] & faults::watched(policy);
      if (flags != 0) want[fault_in(plan, w, 0).where] |= flags;
    }
    if (want != got && wrong_++ < 20)
      ADD_FAILURE() << flagged.what << ": " << (got.empty() ? 0 : got.begin()->second) << ", the CPU "
                    << (want.empty() ? 0 : want.begin()->second);
  }
  // Where the C library's own way shows, which another one need not take.
  static bool librarys_own(const Flagged& f) {
    const Instruction& i = f.plan.tape.back();
    if (!is_complex(i.loop)) return false;
    return i.op != Op::add && i.op != Op::subtract && i.op != Op::multiply && i.op != Op::square &&
           i.op != Op::reciprocal && i.op != Op::sqrt && i.op != Op::absolute && i.op != Op::cast;
  }

  bool ran_ = false;
  int wrong_ = 0;
};

class CudaFlagsRows : public CudaFlagsDevice, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Shares, CudaFlagsRows, testing::Range(0, 12));

TEST_P(CudaFlagsRows, All) {
  each_flagged_row([&](std::int64_t bytes) { return row_memory(bytes); },
                   [&](const Flagged& f) {
                     if (!librarys_own(f)) compare(f, kWarnDefault);
                   },
                   {GetParam(), 12});
  EXPECT_EQ(wrong_, 0);
}

TEST_F(CudaFlagsDevice, EveryCast) {
  each_flagged_cast([&](std::int64_t bytes) { return row_memory(bytes); },
                    [&](const Flagged& f) { compare(f, kWarnAll); });
  EXPECT_EQ(wrong_, 0);
}

TEST_F(CudaFlagsDevice, EveryFold) {
  each_flagged_fold([&](std::int64_t bytes) { return row_memory(bytes); },
                    [&](const Flagged& f) {
                      // An infinite complex product turns into NaN beside a one: the order shows.
                      const Reduction& r = f.plan.reductions[0];
                      if (r.op != Op::multiply || !is_complex(r.dtype)) compare(f, kWarnDefault);
                    });
  EXPECT_EQ(wrong_, 0);
}

// One element among many, at every place where blocks, vectors and rows end, in kernels of every kind, and in place.
TEST_F(CudaFlagsDevice, OneElementIsEnough) {
  const std::int64_t rows = 70, columns = 130;
  for (const DType t : {DType::float32, DType::float64}) {
    const std::int64_t s = itemsize(t), n = rows * columns;
    for (const bool turned : {false, true})
      for (const bool ordered : {false, true})
        for (const bool in_place : {false, true}) {
          if (ordered && (turned || in_place)) continue;
          used_ = 0;
          char* const x = take(n * s);
          char* const y = take(n * s);
          const Dims dense{columns * s, s}, other{s, rows * s};
          Plan plan = one_operation(Op::divide, t, {rows, columns}, {y, x}, {dense, turned ? other : dense},
                                    {in_place ? y : take(n * s)});
          plan.registers.push_back(t);
          plan.tape.push_back({Op::arctan, t, {2}, {3}});
          plan.outputs[0].reg = 3;
          plan.outputs[0].fresh = !in_place;
          plan.outputs[0].ordered = ordered;
          for (const std::int64_t at : {std::int64_t{-1}, std::int64_t{0}, columns - 1, columns, n / 2, n - 1}) {
            fill_with(t, x, n, 2, 0);
            fill_with(t, y, n, 1, 0);
            if (at >= 0) fill_with(t, x + at * s, 1, 0, 0);
            compare({"1 / x of " + std::string(name(t)) + " with a zero at " + std::to_string(at), plan}, kWarnDefault);
          }
        }
  }
  EXPECT_EQ(wrong_, 0);
}

// Launches without a wait between them: each keeps its own, also when all words are taken.
TEST_F(CudaFlagsDevice, ManyLaunchesBeforeAWait) {
  const std::int64_t n = 1000;
  char* const x = take(n * 8);
  fill_with(DType::float64, x, n, 0, 0);
  gpu_->upload(device_, base_, used_);
  const Plan divide =
      watched(one_operation(Op::reciprocal, DType::float64, {n}, {x}, {{8}}, {take(n * 8)}), kWarnDefault);
  const Plan fine = watched(one_operation(Op::exp, DType::float64, {n}, {x}, {{8}}, {take(n * 8)}), kWarnDefault);
  const Plan root = watched(one_operation(Op::sqrt, DType::float64, {n}, {x}, {{8}}, {take(n * 8)}), kWarnDefault);
  for (int round = 0; round < 2; ++round) {
    gpu_->run(translated(divide));
    for (int k = 0; k < 9000; ++k) gpu_->run(translated(k % 2 ? fine : root));
    gpu_->synchronize();
    const std::vector<faults::Fault> heard = gpu_->faults().heard();
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0].where, "reciprocal");
    EXPECT_EQ(heard[0].flags, faults::kDivide);
    gpu_->synchronize();
    EXPECT_TRUE(gpu_->faults().heard().empty());
  }
}

}  // namespace
}  // namespace galop::cuda::test
