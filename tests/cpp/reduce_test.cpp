// Reductions and running folds of hand-made plans against plain loops, over shapes, threads and block sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "backend/cpu/evaluator.hpp"
#include "backend/cpu/reduce_order.hpp"
#include "backend/cpu/scan.hpp"
#include "backend/cpu/threads.hpp"
#include "galop/engine.hpp"

namespace galop::cpu {
namespace {

// Pairwise summation as NumPy documents it: eight accumulators up to 128 elements, halves of a multiple of eight above.
template <class T>
T pairwise(const T* p, std::int64_t n) {
  if (n < 8) {
    T sum = T(-0.0);
    for (std::int64_t i = 0; i < n; ++i) sum += p[i];
    return sum;
  }
  if (n <= 128) {
    T r[8];
    for (int k = 0; k < 8; ++k) r[k] = p[k];
    std::int64_t i = 8;
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; ++k) r[k] += p[i + k];
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) sum += p[i];
    return sum;
  }
  const std::int64_t first = n / 2 - n / 2 % 8;
  return pairwise(p, first) + pairwise(p + first, n - first);
}

template <class T>
std::vector<T> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937 g(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) {
    if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(g());
    else
      x = static_cast<T>(std::normal_distribution<double>()(g));
  }
  return v;
}

Dims c_order(const Dims& shape, std::int64_t size) {
  Dims strides(shape.size(), 0);
  for (int k = shape.size() - 1; k >= 0; --k) {
    strides[k] = size;
    size *= shape[k];
  }
  return strides;
}

struct Fold {
  Op op;
  Dims shape;
  std::uint64_t reduced;
  bool squared = false;  // fold x * x instead of x
};

// Runs the fold of a C-ordered array, result in C order.
template <class T>
std::vector<T> run(const Fold& f, const std::vector<T>& data, const T* initial = nullptr) {
  constexpr DType t = dtype_of<T>;
  Plan plan;
  plan.shape = f.shape;
  Operand in{Operand::Kind::memory, t};
  in.data = data.data();
  in.strides = c_order(f.shape, sizeof(T));
  plan.operands.push_back(in);
  plan.registers = {t};
  std::uint16_t reg = 0;
  if (f.squared) {
    Instruction step{Op::multiply, t};
    step.out[0] = 1;
    plan.tape.push_back(step);
    plan.registers.push_back(t);
    reg = 1;
  }
  Dims strides(f.shape.size(), 0);
  std::int64_t size = sizeof(T);
  for (int k = f.shape.size() - 1; k >= 0; --k) {
    if (f.reduced >> k & 1) continue;
    strides[k] = size;
    size *= f.shape[k];
  }
  std::vector<T> out(static_cast<std::size_t>(size) / sizeof(T), T(77));
  Reduction r{f.op, t, reg, f.reduced, t, out.data(), strides};
  r.input_strides = in.strides;
  if (initial) {
    r.has_initial = true;
    std::memcpy(r.initial, initial, sizeof(T));
  }
  plan.reductions.push_back(r);
  run_reduce(plan);
  return out;
}

// x * x, which wraps around for integers.
template <class T>
T squared(T x) {
  if constexpr (std::is_integral_v<T>) {
    const auto u = static_cast<std::uint64_t>(x);
    return static_cast<T>(u * u);
  } else {
    return x * x;
  }
}

// The same by f(acc, element) over the elements in C order; `first` starts a result.
template <class T, class F>
std::vector<T> by_loop(const Fold& f, const std::vector<T>& data, F&& combine, const T* start) {
  std::int64_t results = 1;
  for (int k = 0; k < f.shape.size(); ++k)
    if (!(f.reduced >> k & 1)) results *= f.shape[k];
  std::vector<T> out(static_cast<std::size_t>(results));
  std::vector<bool> begun(out.size(), start != nullptr);
  if (start) std::fill(out.begin(), out.end(), *start);
  for (std::size_t i = 0; i < data.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t o = 0, step = 1;
    for (int k = f.shape.size() - 1; k >= 0; --k) {
      if (!(f.reduced >> k & 1)) {
        o += rest % f.shape[k] * step;
        step *= f.shape[k];
      }
      rest /= f.shape[k];
    }
    const auto at = static_cast<std::size_t>(o);
    const T x = f.squared ? squared(data[i]) : data[i];
    out[at] = begun[at] ? static_cast<T>(combine(out[at], x)) : x;
    begun[at] = true;
  }
  return out;
}

const std::vector<Dims>& shapes() {
  static const std::vector<Dims> all{{1},          {7},           {100003},       {300, 3},      {3, 300},
                                     {200, 70, 2}, {2, 3, 50000}, {5000, 2, 2},   {17, 5, 3, 2}, {3, 70000},
                                     {40000, 3},   {1200, 130},   {2, 200, 3, 5}, {6000, 16}};
  return all;
}

template <class T, class F>
void check_all(Op op, F&& combine, const T* start) {
  unsigned seed = 1;
  for (const Dims& shape : shapes()) {
    const auto data =
        random_numbers<T>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()), ++seed);
    for (std::uint64_t reduced = 0; reduced < std::uint64_t{1} << shape.size(); ++reduced) {
      for (bool squared : {false, true}) {
        const Fold f{op, shape, reduced, squared};
        ASSERT_EQ(run(f, data), by_loop(f, data, combine, start))
            << to_string(shape) << " axes " << reduced << " squared " << squared;
      }
    }
  }
}

class Reduce : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(allowed_cores()); }
};
INSTANTIATE_TEST_SUITE_P(Threads, Reduce, ::testing::Values(1, 2, 5));

TEST_P(Reduce, SumsOfIntegers) {
  const std::int64_t zero = 0;
  check_all<std::int64_t>(
      Op::add,
      [](std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      },
      &zero);
}

TEST_P(Reduce, GreatestWithoutIdentity) {
  check_all<float>(
      Op::maximum, [](float a, float b) { return std::max(a, b); }, nullptr);
  check_all<std::int8_t>(
      Op::minimum, [](std::int8_t a, std::int8_t b) { return std::min(a, b); }, nullptr);
}

TEST_P(Reduce, DifferencesStayInOrder) {
  unsigned seed = 1;
  for (const Dims& shape : shapes()) {
    const auto data = random_numbers<double>(
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()), ++seed);
    for (int k = 0; k < shape.size(); ++k) {
      const Fold f{Op::subtract, shape, std::uint64_t{1} << k, true};
      ASSERT_EQ(run(f, data), by_loop(f, data, std::minus<double>(), static_cast<double*>(nullptr)))
          << to_string(shape) << " axis " << k;
    }
  }
}

TEST_P(Reduce, SumsOfFloatsArePairwise) {
  for (std::int64_t n : {1, 2, 7, 8, 9, 127, 128, 129, 1000, 8191, 8192, 8193, 100003, 1 << 18, 1234567}) {
    const auto d = random_numbers<double>(n, 3);
    EXPECT_EQ(run(Fold{Op::add, {n}, 1}, d)[0], 0.0 + pairwise(d.data(), n)) << n;
    const auto f = random_numbers<float>(n, 4);
    EXPECT_EQ(run(Fold{Op::add, {n}, 1}, f)[0], 0.0F + pairwise(f.data(), n)) << n;
    std::vector<double> squares(d);
    for (double& x : squares) x *= x;
    EXPECT_EQ(run(Fold{Op::add, {n}, 1, true}, d)[0], 0.0 + pairwise(squares.data(), n)) << n;
  }
}

TEST_P(Reduce, RowsArePairwiseAndColumnsInOrder) {
  for (const Dims& shape : {Dims{50, 3}, Dims{3, 50}, Dims{500, 1000}, Dims{2, 40000}, Dims{20000, 5}, Dims{300, 33}}) {
    const std::int64_t rows = shape[0], columns = shape[1];
    const auto x = random_numbers<float>(rows * columns, 5);
    std::vector<float> want;
    for (std::int64_t i = 0; i < rows; ++i) want.push_back(0.0F + pairwise(x.data() + i * columns, columns));
    EXPECT_EQ(run(Fold{Op::add, shape, 2}, x), want) << to_string(shape);
    const float zero = 0;
    const Fold down{Op::add, shape, 1};
    EXPECT_EQ(run(down, x), by_loop(down, x, std::plus<float>(), &zero)) << to_string(shape);
  }
}

TEST_P(Reduce, UnitsAddUpInOrder) {
  // Axes 0 and 2 of three: a pairwise sum for each row, added to its result one after the other.
  for (const Dims& shape : {Dims{40, 30, 3}, Dims{7, 5, 1000}, Dims{300, 7, 20}, Dims{3, 2, 20000}}) {
    const auto x = random_numbers<double>(shape[0] * shape[1] * shape[2], 6);
    std::vector<double> want(static_cast<std::size_t>(shape[1]), 0.0);
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j)
        want[static_cast<std::size_t>(j)] += pairwise(x.data() + (i * shape[1] + j) * shape[2], shape[2]);
    EXPECT_EQ(run(Fold{Op::add, shape, 5}, x), want) << to_string(shape);
  }
}

TEST_P(Reduce, BlocksDoNotShow) {
  const Settings before = settings();
  const auto x = random_numbers<double>(300000, 7);
  const Fold all{Op::add, {300000}, 1, true}, some{Op::add, {100, 30, 100}, 5, true},
      product{Op::multiply, {3, 100000}, 2, true};
  const auto a = run(all, x), b = run(some, x), c = run(product, x);
  for (std::int64_t block : {1, 7, 100, 5000}) {
    Settings s = before;
    s.block = block;
    set_settings(s);
    set_thread_count(GetParam());
    EXPECT_EQ(run(all, x), a) << block;
    EXPECT_EQ(run(some, x), b) << block;
    EXPECT_EQ(run(product, x), c) << block;
  }
  set_settings(before);
}

TEST_P(Reduce, StartsFromInitial) {
  const double initial = -100;
  const auto x = random_numbers<double>(5000, 8);
  EXPECT_EQ(run(Fold{Op::add, {5000}, 1}, x, &initial)[0], -100 + pairwise(x.data(), 5000));
  EXPECT_EQ(run(Fold{Op::maximum, {5000}, 1}, std::vector<double>(5000, -200.0), &initial)[0], -100);
  EXPECT_EQ(run(Fold{Op::maximum, {1000, 5}, 1}, std::vector<double>(5000, -200.0), &initial),
            std::vector<double>(5, -100.0));
  EXPECT_EQ(run(Fold{Op::add, {0}, 1}, std::vector<double>{}, &initial)[0], -100);
}

TEST(ReduceScalars, OneElement) {
  EXPECT_EQ(run(Fold{Op::add, {}, 0}, std::vector<double>{-0.0})[0], 0.0);
  EXPECT_FALSE(std::signbit(run(Fold{Op::add, {}, 0}, std::vector<double>{-0.0})[0]));
  EXPECT_EQ(run(Fold{Op::maximum, {}, 0}, std::vector<float>{3.0F})[0], 3.0F);
  EXPECT_EQ(run(Fold{Op::bitwise_and, {0}, 1}, std::vector<std::uint16_t>{})[0], 0xFFFF);
  EXPECT_EQ(run(Fold{Op::logaddexp, {0}, 1}, std::vector<double>{})[0], -std::numeric_limits<double>::infinity());
}

TEST(RunOrder, FollowsTheBufferedIterator) {
  const auto cut = [](const Dims& shape, const Dims& strides, std::uint64_t folded, bool buffered) {
    const RunOrder r = run_order(shape, strides, folded, buffered);
    return std::pair(r.unit, r.run);
  };
  using P = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(cut({}, {}, 0, false), P(1, 1));
  EXPECT_EQ(cut({100000}, {8}, 1, false), P(100000, 100000));  // one walk: no buffer
  EXPECT_EQ(cut({100000}, {8}, 1, true), P(100000, 8192));     // a cast: buffers of 8192
  EXPECT_EQ(cut({10, 10}, {80, 8}, 3, false), P(100, 100));
  EXPECT_EQ(cut({1000, 100}, {1600, 8}, 3, false), P(100000, 8100));  // whole rows into a buffer
  EXPECT_EQ(cut({1000, 5000}, {80000, 8}, 3, false), P(5000, 5000));  // copying would gain too little
  EXPECT_EQ(cut({50, 100}, {800, 8}, 2, false), P(100, 100));         // a row a result
  EXPECT_EQ(cut({50, 20000}, {160000, 8}, 2, true), P(20000, 8192));
}

TEST(Scan, RunsAlongLines) {
  for (const Dims& shape : {Dims{1}, Dims{5000}, Dims{3, 4000}, Dims{40, 30, 20}}) {
    const auto x =
        random_numbers<double>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()), 9);
    std::vector<double> got(x.size()), want(x);
    const Dims strides = c_order(shape, 8);
    run_scan(Op::add, DType::float64, shape, x.data(), strides, got.data(), strides);
    const auto n = static_cast<std::size_t>(shape.back());
    for (std::size_t i = 0; i < want.size(); ++i)
      if (i % n != 0) want[i] += want[i - 1];
    EXPECT_EQ(got, want) << to_string(shape);
  }
}

TEST(Scan, RunsAcrossNeighbouringLines) {
  const std::int64_t rows = 200, columns = 1500;
  const auto x = random_numbers<float>(rows * columns, 10);
  std::vector<float> got(x.size()), want(x);
  const Dims shape{columns, rows}, strides{4, 4 * columns};
  run_scan(Op::subtract, DType::float32, shape, x.data(), strides, got.data(), strides);
  for (std::size_t i = static_cast<std::size_t>(columns); i < want.size(); ++i)
    want[i] = want[i - static_cast<std::size_t>(columns)] - want[i];
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace galop::cpu
