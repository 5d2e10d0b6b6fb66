// On a GPU: arrays above 2**31 elements, and the bandwidth of each kind of kernel.
#include <algorithm>
#include <cstdio>

#include "device.hpp"
#include "stopwatch.hpp"

namespace galop::cuda::test {
namespace {

class CudaLarge : public CudaDevice {
 protected:
  struct Buffer {
    CudaExecutor& gpu;
    void* p;
    ~Buffer() { gpu.release(p); }
  };
  // Other processes of the tests need room too.
  void TearDown() override {
    if (gpu_ && gpu_->alive()) gpu_->memory().trim();
  }
  Buffer buffer(std::int64_t bytes) { return {*gpu_, gpu_->allocate(bytes)}; }
};

TEST_F(CudaLarge, MapsAndFoldsAboveTwoToThe31) {
  const Dims shapes[] = {{(std::int64_t{1} << 31) + 4099}, {65537, 32771}, {3, (std::int64_t{1} << 30) + 17}};
  for (const Dims& shape : shapes) {
    const bool padded = shape.size() == 2 && shape[0] > 3;  // rows with gaps: not one run
    const std::int64_t row = shape.back() + (padded ? 5 : 0);
    const Dims strides = shape.size() == 1 ? Dims{1} : Dims{row, 1};
    const Dims counts = shape.size() == 1 ? Dims{1} : Dims{shape[1], 1};
    std::int64_t n = 1, bytes = row;
    for (const std::int64_t d : shape) n *= d;
    if (shape.size() == 2) bytes *= shape[0];
    ASSERT_GT(n, std::int64_t{1} << 31);
    const Buffer data = buffer(bytes);
    Plan fill;  // data[c] = int8(flat index · 3)
    fill.shape = shape;
    fill.operands = {iota(0, counts), constant(std::int64_t{3}, shape.size())};
    fill.registers = {DType::int64, DType::int64, DType::int64, DType::int8};
    fill.tape = {{Op::multiply, DType::int64, {0, 1}, {2}}, {Op::cast, DType::int64, {2}, {3}}};
    fill.outputs = {{3, DType::int8, data.p, strides, true, false}};
    gpu_->run(fill);

    // The sum in int64, and whether every element is what its index says.
    const Buffer result = buffer(16);
    Plan sum = one_fold(Op::add, DType::int64, shape, strides, (1u << shape.size()) - 1, data.p, result.p);
    sum.operands[0].dtype = DType::int8;
    sum.registers = {DType::int8, DType::int64};
    sum.tape = {{Op::cast, DType::int8, {0}, {1}}};
    sum.reductions[0].reg = 1;
    gpu_->run(sum);
    std::int64_t total = 0, expected = 0;
    gpu_->download(&total, result.p, 8);
    for (std::int64_t i = n / 256 * 256; i < n; ++i) expected += static_cast<std::int8_t>(i * 3);
    expected += n / 256 * -128;  // 3 is odd: a cycle of 256 meets every value
    EXPECT_EQ(total, expected);

    Plan check = fill;
    check.outputs.clear();
    check.operands.push_back(memory(DType::int8, data.p, strides));
    check.operands[2].strides = strides;
    check.registers = {DType::int64, DType::int64, DType::int8, DType::int64, DType::int8, DType::bool_};
    check.tape = {{Op::multiply, DType::int64, {0, 1}, {3}},
                  {Op::cast, DType::int64, {3}, {4}},
                  {Op::equal, DType::int8, {4, 2}, {5}}};
    Reduction all{};
    all.op = Op::logical_and;
    all.dtype = all.result = DType::bool_;
    all.reg = 5;
    all.reduced = (1u << shape.size()) - 1;
    all.data = result.p;
    all.strides = Dims(shape.size(), 0);
    check.reductions = {all};
    bool good = false;
    gpu_->run(check);
    gpu_->download(&good, result.p, 1);
    EXPECT_TRUE(good);
    gpu_->fill_bytes(static_cast<char*>(data.p) + bytes - 1 - (padded ? 5 : 0), 0x55, 1);  // the last element
    gpu_->run(check);
    gpu_->download(&good, result.p, 1);
    EXPECT_FALSE(good);
  }
}

TEST_F(CudaLarge, Bandwidth) {
  std::printf("%-34s %10s %10s %8s\n", "kernel", "ms", "TB/s", "of 4.2");
  const auto measure = [&](const char* what, double bytes, const Plan& plan) {
    const double ms = median_ms(*gpu_, 15, [&] { gpu_->run(plan); });
    const double rate = bytes / ms / 1e9;
    std::printf("%-34s %10.4f %10.3f %7.0f%%\n", what, ms, rate, rate / 4.2 * 100);
    EXPECT_GT(rate, 0);
  };
  constexpr std::int64_t bytes = std::int64_t{1} << 30, side = 11584;
  const Buffer a = buffer(bytes), b = buffer(bytes), c = buffer(bytes), d = buffer(bytes);
  // Numbers that are not zero: some of the counters, as floats.
  for (const Buffer* x : {&a, &b}) {
    Plan fill;
    fill.shape = {bytes / 8};
    fill.operands = {iota(1, {1}), constant(std::int64_t{1000003}, 1)};
    fill.registers = {DType::int64, DType::int64, DType::int64, DType::float64};
    fill.tape = {{Op::remainder, DType::int64, {0, 1}, {2}}, {Op::cast, DType::int64, {2}, {3}}};
    fill.outputs = {{3, DType::float64, x->p, {8}, true, false}};
    gpu_->run(fill);
  }
  constexpr double gib = static_cast<double>(bytes);
  for (const DType t : {DType::float64, DType::float32, DType::float16, DType::int8}) {
    const std::int64_t s = itemsize(t);
    const std::string label = std::string(name(t));
    measure(("a + b, " + label).c_str(), 3 * gib,
            one_operation(Op::add, t, {bytes / s}, {a.p, b.p}, {{s}, {s}}, {c.p}));
  }
  for (const DType t : {DType::float64, DType::float32}) {
    const std::int64_t s = itemsize(t);
    const std::string label = std::string(name(t));
    Plan polar;  // radius and angle of (x, y)
    polar.shape = {bytes / s};
    polar.operands = {memory(t, a.p, {s}), memory(t, b.p, {s})};
    polar.registers = {t, t, t, t, t, t, t};
    polar.tape = {{Op::square, t, {0}, {2}},
                  {Op::square, t, {1}, {3}},
                  {Op::add, t, {2, 3}, {4}},
                  {Op::sqrt, t, {4}, {5}},
                  {Op::arctan2, t, {1, 0}, {6}}};
    polar.outputs = {{5, t, c.p, {s}, true, false}, {6, t, d.p, {s}, true, false}};
    measure(("polar, two results, " + label).c_str(), 4 * gib, polar);
    const std::int64_t n = side * (8 / s);  // rows of a square array
    measure(("rows of a slice + b, " + label).c_str(), 3.0 * static_cast<double>(11500 * (n - 16) * s),
            one_operation(Op::add, t, {11500, n - 16}, {a.p, b.p}, {{n * s, s}, {n * s, s}}, {c.p}));
    measure(("a + row, " + label).c_str(), 2.0 * static_cast<double>(side * n * s),
            one_operation(Op::add, t, {side, n}, {a.p, b.p}, {{n * s, s}, {0, s}}, {c.p}));
    measure(("a + column, " + label).c_str(), 2.0 * static_cast<double>(side * n * s),
            one_operation(Op::add, t, {side, n}, {a.p, b.p}, {{n * s, s}, {s, 0}}, {c.p}));
    Plan transpose;
    transpose.shape = {n, side};
    transpose.operands = {memory(t, a.p, {s, n * s})};
    transpose.registers = {t};
    transpose.outputs = {{0, t, c.p, {side * s, s}, true, false}};
    measure(("transpose, " + label).c_str(), 2.0 * static_cast<double>(side * n * s), transpose);
    measure(("sum, " + label).c_str(), gib, one_fold(Op::add, t, {bytes / s}, {s}, 1, a.p, c.p));
    measure(("maximum, " + label).c_str(), gib, one_fold(Op::maximum, t, {bytes / s}, {s}, 1, a.p, c.p));
    measure(("sum of rows, " + label).c_str(), static_cast<double>(side * n * s),
            one_fold(Op::add, t, {side, n}, {n * s, s}, 2, a.p, c.p));
    measure(("sum of columns, " + label).c_str(), static_cast<double>(side * n * s),
            one_fold(Op::add, t, {side, n}, {n * s, s}, 1, a.p, c.p));
    measure(("sum of rows of 100, " + label).c_str(), gib / 100 * 100,
            one_fold(Op::add, t, {bytes / s / 100, 100}, {100 * s, s}, 2, a.p, c.p));
  }
  Plan small = one_operation(Op::add, DType::float32, {1000}, {a.p, b.p}, {{4}, {4}}, {c.p});
  measure("a + b of 1000, float32", 12000, small);
  measure("sum of 100000, float64", 800000, one_fold(Op::add, DType::float64, {100000}, {8}, 1, a.p, c.p));
}

}  // namespace
}  // namespace galop::cuda::test
