// A table: how fast the library's operations move their bytes. Bytes are the fewest that the operation can move.
#include <cstdio>
#include <functional>

#include "backend/cuda/matmul.hpp"
#include "galop/error.hpp"
#include "library.hpp"
#include "stopwatch.hpp"

namespace galop::cuda::test {
namespace {

TEST_F(CudaLibrary, Bandwidth) {
  constexpr std::int64_t n = 300'000'000, side = 17320, few = 10'000'000;
  char *x = nullptr, *y = nullptr, *mask = nullptr, *index = nullptr, *offsets = nullptr;
  try {
    x = take(n * 8);
    y = take(n * 8);
    mask = take(n);
    index = take(few * 8);
    offsets = take(few * 8);
  } catch (const MemoryError& e) {
    GTEST_SKIP() << e.what();
  }
  std::printf("%-52s %10s %10s %8s\n", "operation", "ms", "TB/s", "of 4.2");
  const auto measure = [&](const char* what, std::int64_t bytes, const std::function<void()>& f) {
    const double ms = median_ms(*gpu_, 7, f);
    const double rate = static_cast<double>(bytes) / ms / 1e9;
    std::printf("%-52s %10.4f %10.3f %7.0f%%\n", what, ms, rate, rate / 4.2 * 100);
    std::fflush(stdout);
    EXPECT_GT(ms, 0) << what;
  };

  // Numbers: hashes of the counter, as floats in [0, 1), and a mask of those above one half.
  Plan fill;
  fill.shape = {n};
  fill.operands = {iota(1, {1}), constant(std::int64_t{2654435761}, 1), constant(std::int64_t{0xfffff}, 1),
                   constant(0x1p-20, 1), constant(0.5, 1)};
  fill.registers = {DType::int64, DType::int64, DType::int64,   DType::float64, DType::float64,
                    DType::int64, DType::int64, DType::float64, DType::float64, DType::bool_};
  fill.tape = {{Op::multiply, DType::int64, {0, 1}, {5}},
               {Op::bitwise_and, DType::int64, {5, 2}, {6}},
               {Op::cast, DType::int64, {6}, {7}},
               {Op::multiply, DType::float64, {7, 3}, {8}},
               {Op::greater, DType::float64, {8, 4}, {9}}};
  fill.outputs = {{8, DType::float64, x, {8}, true, false}, {9, DType::bool_, mask, {1}, true, false}};
  gpu_->run(fill);
  // Indices all over x.
  Plan scattered;
  scattered.shape = {few};
  scattered.operands = {iota(1, {1}), constant(std::int64_t{2654435761}, 1), constant(n, 1)};
  scattered.registers = {DType::int64, DType::int64, DType::int64, DType::int64, DType::int64};
  scattered.tape = {{Op::multiply, DType::int64, {0, 1}, {3}}, {Op::remainder, DType::int64, {3, 2}, {4}}};
  scattered.outputs = {{4, DType::int64, index, {8}, true, false}};
  gpu_->run(scattered);

  const auto scans = [&](const char* what, DType t, const Dims& shape, const Dims& strides) {
    std::int64_t count = 1;
    for (const std::int64_t d : shape) count *= d;
    measure(what, 2 * count * itemsize(t), [&] { scan(*gpu_, Op::add, t, shape, x, strides, y, strides); });
  };
  scans("cumsum of 3e8 float64", DType::float64, {n}, {8});
  scans("cumsum of 3e8 float32", DType::float32, {n}, {4});
  scans("cumsum of 2.4e9 uint8", DType::uint8, {8 * n}, {1});
  scans("cumsum of (17320, 17320) float64, last axis", DType::float64, {side, side}, {8 * side, 8});
  scans("cumsum of (17320, 17320) float64, first axis", DType::float64, {side, side}, {8, 8 * side});
  scans("cumsum of (300000, 1000) float64, last axis", DType::float64, {n / 1000, 1000}, {8000, 8});
  scans("cumsum of (3e7, 10) float64, last axis", DType::float64, {n / 10, 10}, {80, 8});
  scans("cumsum of (3e6, 100) float64, first axis", DType::float64, {100, n / 100}, {8, 800});

  const std::int64_t count = count_true(*gpu_, mask, n);
  measure("count_true of 3e8", n, [&] { count_true(*gpu_, mask, n); });
  measure("compress of 3e8 float64, half", n + n * 8 + count * 8, [&] { compress(*gpu_, mask, n, 8, x, y); });
  measure("positions of 3e8, half", n + count * 8,
          [&] { positions(*gpu_, mask, n, reinterpret_cast<std::int64_t*>(y)); });

  auto* at_offsets = reinterpret_cast<std::int64_t*>(offsets);
  const std::vector<IndexedAxis> axes = {{reinterpret_cast<const std::int64_t*>(index), n, 8}};
  measure("locate of 1e7", few * 16, [&] { locate(*gpu_, axes, few, at_offsets); });
  Blocks b{8, few, at_offsets, x, y, 8};
  measure("gather of 1e7 float64 from 3e8", few * 24, [&] { gather(*gpu_, b); });
  measure("scatter of 1e7 float64 into 3e8", few * 24, [&] { scatter(*gpu_, b); });
  measure("add.at of 1e7 int64 into 3e8", few * 32, [&] { at(*gpu_, Op::add, DType::int64, x, at_offsets, few, y); });
  measure("add.at of 1e7 float64 into 3e8", few * 32,
          [&] { at(*gpu_, Op::add, DType::float64, x, at_offsets, few, y); });

  Blas blas;
  const auto multiply = [&](const char* what, DType t, std::int64_t m, bool turned) {
    const std::int64_t item = itemsize(t);
    Product p{t,
              {x, m, m, m * item, item},
              {x + m * m * item, m, m, turned ? item : m * item, turned ? m * item : item},
              {y, m, m, m * item, item}};
    gpu_->fill_bytes(x, 0, 2 * m * m * item);
    std::printf("(bytes are those of the three matrices; %.0f Gflop) ", 2e-9 * static_cast<double>(m * m * m));
    measure(what, 3 * m * m * item, [&] { matmul(*gpu_, blas, p); });
  };
  multiply("float32 10000", DType::float32, 10000, false);
  multiply("float32 10000, b transposed", DType::float32, 10000, true);
  multiply("float64 8192", DType::float64, 8192, false);
  multiply("int32 2048", DType::int32, 2048, false);
  multiply("float16 2048", DType::float16, 2048, false);
  gpu_->synchronize();
}

}  // namespace
}  // namespace galop::cuda::test
