// Several rows a thread, sine with cosine, functions side by side, and sums of squares about the mean: what the kernels
// are without a GPU, and their results with one.
#include <algorithm>
#include <cmath>
#include <string>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/lower.hpp"
#include "device.hpp"

namespace galop::cuda::test {
namespace {

// sin and cos of operand 0, in this order or the other.
Plan sine_and_cosine(DType t, std::int64_t n, const void* in, void* sine, void* cosine, bool sine_first = true) {
  Plan plan;
  plan.shape = {n};
  plan.operands = {memory(t, in, {itemsize(t)})};
  plan.registers = {t, t, t};
  plan.tape = {{Op::sin, t, {0}, {1}}, {Op::cos, t, {0}, {2}}};
  if (!sine_first) std::swap(plan.tape[0], plan.tape[1]);
  plan.outputs = {{1, t, sine, {itemsize(t)}, true, false}, {2, t, cosine, {itemsize(t)}, true, false}};
  return plan;
}

// middle + (up + down + left + right), of the inner part of a matrix in a second one.
Plan stencil(DType t, std::int64_t rows, std::int64_t columns, const char* in, char* out) {
  const std::int64_t s = itemsize(t), row = columns * s;
  Plan plan;
  plan.shape = {rows - 2, columns - 2};
  for (const std::int64_t shift : {row + s, s, 2 * row + s, row, row + 2 * s}) {
    plan.operands.push_back(memory(t, in + shift, {row, s}));
    plan.registers.push_back(t);
  }
  std::uint16_t last = 0;
  for (std::uint16_t k = 1; k < 5; ++k) {
    const auto next = static_cast<std::uint16_t>(plan.registers.size());
    plan.registers.push_back(t);
    plan.tape.push_back({Op::add, t, {last, k}, {next}});
    last = next;
  }
  plan.outputs = {{last, t, out + row + s, {row, s}, true, false}};
  return plan;
}

Plan about_mean(DType t, const Dims& shape, const Dims& strides, std::uint64_t reduced, const void* in, void* out) {
  Plan plan = one_fold(Op::add, t, shape, strides, reduced, in, out);
  plan.reductions[0].about_mean = true;
  return plan;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(CudaStrips, SineAndCosineOfOneRegisterAreOneCall) {
  for (const bool sine_first : {true, false}) {
    Plan plan = sine_and_cosine(DType::float32, 1000, somewhere(0), somewhere(1), somewhere(2), sine_first);
    const auto calls = [&] { return count(kernel_source(plan, lower(plan), "angles"), "= sincos("); };
    EXPECT_EQ(calls(), 1u);
    // Of a second sine only one meets the cosine.
    plan.registers.push_back(DType::float32);
    plan.tape.push_back({Op::sin, DType::float32, {0}, {3}});
    plan.outputs.push_back({3, DType::float32, somewhere(3), {4}, true, false});
    EXPECT_EQ(calls(), 1u);
    plan.tape.pop_back();
    plan.outputs.pop_back();
    plan.registers.pop_back();
    plan.operands.push_back(memory(DType::float32, somewhere(4), {4}));
    plan.registers = {DType::float32, DType::float32, DType::float32, DType::float32};
    plan.tape = {{Op::sin, DType::float32, {0}, {2}}, {Op::cos, DType::float32, {1}, {3}}};
    plan.outputs[0].reg = 2;
    plan.outputs[1].reg = 3;
    EXPECT_EQ(calls(), 0u) << "of two registers";
  }
}

TEST(CudaStrips, RowsAreTakenInBands) {
  const char* in = static_cast<const char*>(somewhere(0));
  const Lowered shifted = lower(stencil(DType::float64, 8192, 8192, in, static_cast<char*>(somewhere(1))));
  EXPECT_EQ(shifted.kind, Lowered::Kind::rows);
  EXPECT_EQ(shifted.strips, 4);
  EXPECT_EQ(shifted.blocks, 128u * 512u);  // 64 columns by 16 rows
  EXPECT_EQ(shifted.key, lower(stencil(DType::float64, 100, 77, in, static_cast<char*>(somewhere(1)))).key);
  const Lowered flat = lower(one_operation(Op::add, DType::float64, {1000}, {in, in}, {{8}, {8}}, {somewhere(1)}));
  EXPECT_EQ(flat.strips, 1);
  const Lowered heavy = lower(one_operation(Op::exp, DType::float64, {1000}, {in}, {{8}}, {somewhere(1)}));
  EXPECT_EQ(heavy.strips * heavy.vec, 4);
  EXPECT_TRUE(heavy.heavy);
}

using CudaStripsDevice = CudaDevice;

TEST_F(CudaStripsDevice, SineAndCosineAtOnceHaveTheBitsOfEach) {
  std::mt19937_64 random(11);
  constexpr std::int64_t n = 200003;
  for (const DType t : {DType::float32, DType::float64}) {
    const std::int64_t s = itemsize(t);
    used_ = 0;
    std::vector<char> v = values(t, n, random);
    for (std::int64_t i = n / 2; i < n; ++i) {  // and small angles, multiples of a quarter turn among them
      const double x = static_cast<double>(i % 4001 - 2000) * (i % 3 == 0 ? 1.57079632679489661923 : 0.01);
      const float f = static_cast<float>(x);
      std::memcpy(v.data() + i * s, t == DType::float32 ? static_cast<const void*>(&f) : &x,
                  static_cast<std::size_t>(s));
    }
    const char* in = put(v);
    char* out[4];
    for (char*& o : out) o = take(n * s);
    gpu_->upload(device_, base_, used_);
    gpu_->run(translated(sine_and_cosine(t, n, in, out[0], out[1])));
    gpu_->run(translated(one_operation(Op::sin, t, {n}, {in}, {{s}}, {out[2]})));
    gpu_->run(translated(one_operation(Op::cos, t, {n}, {in}, {{s}}, {out[3]})));
    gpu_->download(back_.data(), device_, used_);
    int failures = 0;
    for (int k = 0; k < 2; ++k)
      for (std::int64_t i = 0; i < n && failures < 5; ++i) {
        const char *both = from_device(out[k] + i * s), *alone = from_device(out[k + 2] + i * s);
        if (distance(t, both, alone) == 0) continue;
        ++failures;
        ADD_FAILURE() << (k ? "cosine" : "sine") << " of " << show(t, in + i * s) << " in " << name(t) << ": "
                      << show(t, both) << " and alone " << show(t, alone);
      }
  }
}

TEST_F(CudaStripsDevice, BandsOfEverySize) {
  std::mt19937_64 random(12);
  for (const DType t : {DType::uint8, DType::float32, DType::float64}) {
    for (const std::int64_t rows : {5, 6, 7, 8, 9, 10, 18, 19, 67}) {
      for (const std::int64_t columns : {3, 4, 31, 66, 67, 130, 515}) {
        used_ = 0;
        const std::int64_t bytes = rows * columns * itemsize(t);
        const char* in = put(values(t, rows * columns, random, true));
        char* out = take(bytes);
        run_both(stencil(t, rows, columns, in, out));
        for (std::int64_t i = 0; i < bytes; i += itemsize(t))  // the border too, which nothing may write
          ASSERT_EQ(distance(t, out + i, from_device(out + i)), 0)
              << name(t) << " " << rows << " by " << columns << " at byte " << i;
      }
    }
  }
}

TEST_F(CudaStripsDevice, FunctionsSideBySideOfEverySize) {
  std::mt19937_64 random(13);
  for (const std::int64_t n : {1, 2, 3, 511, 512, 513, 514, 1023, 1024, 1025, 1026, 1537, 2047, 2048, 5001}) {
    for (const std::int64_t shift : {0, 8}) {
      used_ = 0;
      const char* in = put(values(DType::float64, n + 1, random, true)) + shift;
      char* out = take(8 * (n + 2));
      run_both(one_operation(Op::sqrt, DType::float64, {n}, {in}, {{8}}, {out}));
      for (std::int64_t i = 0; i < n + 2; ++i)
        ASSERT_EQ(distance(DType::float64, out + 8 * i, from_device(out + 8 * i)), 0) << n << " at " << i;
    }
  }
}

TEST_F(CudaStripsDevice, QuotientsByAConstantAreRoundedOnce) {
  std::mt19937_64 random(16);
  constexpr std::int64_t n = 100001;
  for (const double divisor : {std::sqrt(2.0), 3.0, -7.0, 1.0, 0x1.fffffffffffffp0, 0x1.0000000000001p0, 1e30, 1e31,
                               1e-300, 1e300, 5e-324, 0.0, -0.0, HUGE_VAL, std::nan("")}) {
    used_ = 0;
    std::vector<char> v = values(DType::float64, n, random);
    for (std::int64_t i = n / 2; i < n; ++i) {  // near products, where quotients are nearly halfway
      double x = divisor * (1 + static_cast<double>(random() >> 12) * 0x1p-52);
      if (std::isfinite(x)) x = std::nextafter(x, i % 2 ? -HUGE_VAL : HUGE_VAL);
      std::memcpy(v.data() + i * 8, &x, 8);
    }
    const char* in = put(v);
    char* out = take(8 * n);
    Plan plan = one_operation(Op::divide, DType::float64, {n}, {in, in}, {{8}, {8}}, {out});
    plan.operands[1] = constant(divisor, 1);
    run_both(plan);
    int failures = 0;
    for (std::int64_t i = 0; i < n && failures < 5; ++i) {
      if (distance(DType::float64, out + 8 * i, from_device(out + 8 * i)) == 0) continue;
      ++failures;
      ADD_FAILURE() << show(DType::float64, in + 8 * i) << " / " << divisor << ": cpu "
                    << show(DType::float64, out + 8 * i) << " gpu " << show(DType::float64, from_device(out + 8 * i));
    }
  }
}

TEST_F(CudaStripsDevice, FoldsClearTheirCounters) {
  std::mt19937_64 random(14);
  constexpr std::int64_t n = 3000001;
  const char* in = put(values(DType::float64, n, random, true));
  char* out = take(8);
  const Plan plan = one_fold(Op::add, DType::float64, {n}, {8}, 1, in, out);
  ASSERT_TRUE(lower(plan).many);
  std::string first;
  for (int run = 0; run < 3; ++run) {
    run_device(plan);  // the result is a pattern before each
    const std::string bits(from_device(out), 8);
    if (run == 0) first = bits;
    EXPECT_EQ(bits, first) << "run " << run;
  }
  EXPECT_NE(first, std::string(out, 8));
}

// As near to the truth as two passes, far from zero and with an outlier in front.
TEST_F(CudaStripsDevice, SquaresAboutTheMeanInOnePass) {
  std::mt19937_64 random(15);
  std::normal_distribution<double> normal;
  const Dims shapes[] = {{1}, {7}, {1000}, {100003}, {3000001}, {300, 1500}, {3000, 40}, {5, 700, 9}};
  for (const DType t : {DType::float32, DType::float64}) {
    const std::int64_t s = itemsize(t);
    for (const double middle : {0.0, 1e8})
      for (const bool outlier : {false, true})
        for (const Dims& shape : shapes)
          for (std::uint64_t reduced = 1; reduced < std::uint64_t{1} << shape.size(); ++reduced) {
            used_ = 0;
            std::int64_t n = 1;
            for (const std::int64_t d : shape) n *= d;
            std::vector<char> v(static_cast<std::size_t>(n * s));
            std::vector<double> x(static_cast<std::size_t>(n));
            for (std::size_t i = 0; i < x.size(); ++i) {
              x[i] = outlier && i == 0 ? -1e6 : middle + normal(random);
              const float f = static_cast<float>(x[i]);
              if (t == DType::float32) x[i] = f;
              std::memcpy(v.data() + static_cast<std::int64_t>(i) * s,
                          t == DType::float32 ? static_cast<const void*>(&f) : &x[i], static_cast<std::size_t>(s));
            }
            const char* in = put(v);
            char* out = take(n * s);
            const Plan plan = about_mean(t, shape, c_strides(shape, static_cast<int>(s)), reduced, in, out);
            run_device(plan);
            const std::string once(from_device(out), static_cast<std::size_t>(n * s));
            // The truth, a result at a time by its place.
            std::vector<long double> sum(x.size()), distances(x.size()), members(x.size());
            const auto place = [&](std::int64_t i) {
              std::int64_t at = 0;
              for (int k = shape.size() - 1; k >= 0; --k) {
                at += i % shape[k] * plan.reductions[0].strides[k];
                i /= shape[k];
              }
              return static_cast<std::size_t>(at / s);
            };
            for (std::size_t i = 0; i < x.size(); ++i) {
              sum[place(static_cast<std::int64_t>(i))] += x[i];
              members[place(static_cast<std::int64_t>(i))] += 1;
            }
            for (std::size_t i = 0; i < x.size(); ++i) {
              const std::size_t at = place(static_cast<std::int64_t>(i));
              const long double d = x[i] - sum[at] / members[at];
              distances[at] += d * d;
            }
            const long double bound = t == DType::float32 ? 1e-7L : 2e-14L;
            for (std::size_t at = 0; at < x.size() && members[at] > 0; ++at) {
              const long double got = to_real(t, once.data() + static_cast<std::int64_t>(at) * s);
              ASSERT_LE(std::fabs(got - distances[at]), bound * distances[at])
                  << name(t) << " " << to_string(shape) << " axes " << reduced << " about " << middle
                  << (outlier ? " with an outlier" : "") << " at " << at << ": " << static_cast<double>(got) << " for "
                  << static_cast<double>(distances[at]);
            }
            run_device(plan);
            ASSERT_EQ(once, std::string(from_device(out), static_cast<std::size_t>(n * s))) << "two runs differ";
          }
  }
}

}  // namespace
}  // namespace galop::cuda::test
