// On a GPU: every row, cast, layout and fold against the CPU's kernels.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "backend/cuda/lower.hpp"
#include "device.hpp"
#include "kernels_reference.hpp"

namespace galop::cuda::test {

std::unique_ptr<CudaExecutor> CudaDevice::gpu_;
char* CudaDevice::device_ = nullptr;
std::vector<char> CudaDevice::host_, CudaDevice::back_;

namespace {

// The rows whose complex loops are the C library's functions here and formulas there; both are within a few units for
// tame operands.
bool by_formula(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::negative:
    case Op::positive:
    case Op::square:
    case Op::reciprocal:
    case Op::conjugate:
    case Op::rint:
    case Op::absolute:
    case Op::where:
    case Op::clip:
      return true;
    default:
      return info(op).result[0] == Result::BOOL || info(op).ulp == 0;
  }
}

template <class T>
long double truth(Op op, const std::vector<const char*>& x, int k) {
  T v[3] = {};
  for (std::size_t i = 0; i < x.size(); ++i) std::memcpy(&v[i], x[i], sizeof(T));
  return reference::floating<T>(op, v[0], v[1], v[2], k);
}

TEST_F(CudaDevice, EveryRow) {
  std::mt19937_64 random(1);
  constexpr std::int64_t n = 4099;
  std::map<std::string, double> worst;
  each_loop([&](Op op, DType loop) {
    used_ = 0;
    const std::string what = std::string(info(op).name) + " " + std::string(name(loop));
    const bool tame = is_complex(loop) && (!by_formula(op) || op == Op::sqrt);
    const std::vector<DType> types = operand_types(op, loop);
    std::vector<const void*> in;
    std::vector<Dims> strides;
    for (std::size_t k = 0; k < types.size(); ++k) {
      std::vector<char> v = values(types[k], n, random, tame);
      if ((op == Op::power || op == Op::float_power) && is_integer(loop) && k == 1)  // exponents that reach kernels
        for (std::int64_t i = 0; i < n; ++i) {
          std::int64_t e = 0;
          std::memcpy(&e, v.data() + i * itemsize(loop), static_cast<std::size_t>(itemsize(loop)));
          e &= 63;
          std::memcpy(v.data() + i * itemsize(loop), &e, static_cast<std::size_t>(itemsize(loop)));
        }
      in.push_back(put(v));
      strides.push_back({itemsize(types[k])});
    }
    std::vector<void*> out;
    for (int k = 0; k < info(op).nout; ++k) out.push_back(take(n * itemsize(result_dtype(op, k, loop))));
    ASSERT_NO_THROW(run_both(one_operation(op, loop, {n}, in, strides, out))) << what;
    for (int k = 0; k < info(op).nout; ++k) {
      const DType t = result_dtype(op, k, loop);
      const int s = itemsize(t);
      const bool exact = info(op).ulp == 0 && !(op == Op::sqrt && is_complex(loop));
      // Real rows with a bound are held to it against the truth, others against the CPU's result.
      const bool by_truth = !exact && (loop == DType::float32 || loop == DType::float64);
      // exp(y log x) multiplies the rounding of the logarithm, in glibc as here.
      const bool powers = op == Op::power || op == Op::float_power;
      const double bound = exact ? 0 : is_complex(loop) ? (powers ? 64 : 16) : t == DType::float16 ? 1 : 4;
      int failures = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const char* cpu = static_cast<const char*>(out[static_cast<std::size_t>(k)]) + i * s;
        const char* gpu = from_device(cpu);
        double d = distance(t, cpu, gpu);
        if (by_truth && d > 0) {
          std::vector<const char*> x;
          for (std::size_t j = 0; j < in.size(); ++j) x.push_back(static_cast<const char*>(in[j]) + i * itemsize(loop));
          const long double want = loop == DType::float32 ? truth<float>(op, x, k) : truth<double>(op, x, k);
          const long double got = to_real(t, gpu);
          // Where a logarithm of a sum nearly vanishes only the absolute error is small.
          if ((op == Op::logaddexp || op == Op::logaddexp2) && std::fabs(want) < 1) continue;
          d = std::isnan(want) && std::isnan(got) ? 0
              : got == want                       ? 0
              : std::isinf(got) || std::isinf(want)
                  ? (std::fabs(want) > (loop == DType::float32 ? 3.4e38L : 1.79e308L) &&
                             std::fabs(got) > (loop == DType::float32 ? 3.4e38L : 1.79e308L)
                         ? 0
                         : d)
                  : static_cast<double>(std::fabs(got - want) / ulp_at(t, want));
        }
        double& w = worst[what];
        if (!std::isinf(d)) w = std::max(w, d);
        if (d <= bound) continue;
        if (failures++ < 3) {
          std::string operands;
          for (std::size_t j = 0; j < in.size(); ++j)
            operands += " " + show(types[j], static_cast<const char*>(in[j]) + i * itemsize(types[j]));
          ADD_FAILURE() << what << " result " << k << " of" << operands << ": cpu " << show(t, cpu) << " gpu "
                        << show(t, gpu) << ", off by " << d << " of " << bound;
        }
      }
      if (failures > 3) ADD_FAILURE() << what << " result " << k << ": " << failures << " of " << n << " differ";
    }
  });
  std::printf("rows whose results differ from the CPU's or the truth, worst in ULP:");
  for (const auto& [what, d] : worst)
    if (d > 2) std::printf(" %s %.1f;", what.c_str(), d);
  std::printf("\n");
}

TEST_F(CudaDevice, EveryCast) {
  std::mt19937_64 random(2);
  constexpr std::int64_t n = 4099;
  for (int f = 0; f < kDTypes; ++f)
    for (int t = 0; t < kDTypes; ++t) {
      used_ = 0;
      const auto from = static_cast<DType>(f), to = static_cast<DType>(t);
      char* in = put(values(from, n, random));
      char* out = take(n * itemsize(to));
      run_both(one_cast(from, to, n, in, out));
      int failures = 0;
      for (std::int64_t i = 0; i < n && failures < 3; ++i) {
        const char* cpu = out + i * itemsize(to);
        if (distance(to, cpu, from_device(cpu)) == 0) continue;
        ++failures;
        ADD_FAILURE() << name(from) << " to " << name(to) << " of " << show(from, in + i * itemsize(from)) << ": cpu "
                      << show(to, cpu) << " gpu " << show(to, from_device(cpu));
      }
    }
}

// Random layouts and tapes.
class Random : public CudaDevice {
 protected:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

  // Strides over `shape`, and the bytes before and after the base that they reach.
  struct Layout {
    Dims strides;
    std::int64_t before = 0, bytes = 0;
  };
  Layout layout(const Dims& shape, int item, bool writes) {
    Layout l;
    const int n = shape.size();
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k) order[static_cast<std::size_t>(k)] = k;
    if (below(3) == 0) std::shuffle(order.begin(), order.end(), random_);
    l.strides = Dims(n, 0);
    std::int64_t step = item;
    if (below(4) == 0) step *= 1 + below(3);
    for (int k = n - 1; k >= 0; --k) {
      const int axis = order[static_cast<std::size_t>(k)];
      l.strides[axis] = !writes && below(6) == 0 ? 0 : below(8) == 0 ? -step : step;
      step *= shape[axis] + (below(4) == 0 ? below(3) : 0);
    }
    for (int k = 0; k < n; ++k)
      if (l.strides[k] < 0) l.before -= l.strides[k] * (shape[k] - 1);
    l.bytes = step + item;
    return l;
  }
  char* room(const Layout& l, DType t, bool random_values) {
    const std::int64_t shift = below(5) == 0 ? itemsize(t) * below(5) : 0;
    char* p = take(l.bytes + shift);
    if (random_values) {
      const auto v = values(t, (l.bytes + shift) / itemsize(t), random_);
      std::memcpy(p, v.data(), v.size());
    }
    return p + shift + l.before;
  }
  Dims shape(std::int64_t most) {
    Dims s;
    for (std::int64_t n = below(5); n > 0; --n) {
      const std::int64_t d = 1 + below(most > 64 && below(2) ? most : std::min<std::int64_t>(most, 9));
      s.push_back(d);
      most = std::max<std::int64_t>(1, most / d);
    }
    return s;
  }

  std::mt19937_64 random_{7};
};

TEST_F(Random, MapsEqualTheCpu) {
  constexpr Op ops[] = {Op::add,   Op::subtract, Op::multiply, Op::divide,       Op::maximum,   Op::minimum,
                        Op::sqrt,  Op::absolute, Op::negative, Op::floor_divide, Op::remainder, Op::less,
                        Op::equal, Op::where,    Op::clip,     Op::square,       Op::sign};
  for (int round = 0; round < 150; ++round) {
    used_ = 0;
    constexpr DType loops[] = {DType::float32, DType::float64, DType::int16, DType::int32, DType::int64, DType::uint8};
    const DType loop = loops[below(std::size(loops))];
    Plan plan;
    plan.shape = shape(60000);
    const auto inputs = 1 + below(3);
    for (std::int64_t i = 0; i < inputs; ++i) {
      if (loop == DType::int64 && below(4) == 0) {
        plan.operands.push_back(iota(below(100), Dims(plan.shape.size(), 3)));
      } else {
        const Layout l = layout(plan.shape, itemsize(loop), false);
        plan.operands.push_back(memory(loop, room(l, loop, true), l.strides));
      }
      plan.registers.push_back(loop);
    }
    std::vector<std::uint16_t> same = {}, masks = {};
    for (std::uint16_t r = 0; r < plan.registers.size(); ++r) same.push_back(r);
    const auto any = [&](const std::vector<std::uint16_t>& from) {
      return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
    };
    for (auto steps = below(7); steps > 0; --steps) {
      const Op op = ops[below(std::size(ops))];
      if (info(op).types.find(typecode(loop)) == std::string_view::npos || (op == Op::where && masks.empty())) continue;
      Instruction i{op, loop, {any(same), any(same), any(same)}, {static_cast<std::uint16_t>(plan.registers.size())}};
      if (op == Op::where) i.in[0] = any(masks);
      plan.registers.push_back(result_dtype(op, 0, loop));
      (plan.registers.back() == loop ? same : masks).push_back(i.out[0]);
      plan.tape.push_back(i);
    }
    std::vector<Layout> layouts;
    for (auto outputs = 1 + below(2); outputs > 0; --outputs) {
      const auto reg = outputs == 1 ? static_cast<std::uint16_t>(plan.registers.size() - 1) : any(same);
      const DType t = plan.registers[reg];
      layouts.push_back(layout(plan.shape, itemsize(t), true));
      plan.outputs.push_back({reg, t, room(layouts.back(), t, false), layouts.back().strides, true, false});
    }
    ASSERT_NO_THROW(run_both(plan)) << describe(plan);
    for (std::size_t k = 0; k < plan.outputs.size(); ++k) {  // the gaps between elements too
      const Output& o = plan.outputs[k];
      const char* first = static_cast<const char*>(o.data) - layouts[k].before;
      for (std::int64_t at = 0; at + itemsize(o.dtype) <= layouts[k].bytes; at += itemsize(o.dtype))
        ASSERT_EQ(distance(o.dtype, first + at, from_device(first + at)), 0)
            << round << ": " << describe(plan) << " at byte " << at << ": cpu " << show(o.dtype, first + at) << " gpu "
            << show(o.dtype, from_device(first + at)) << "\n"
            << lower(translated(plan)).key;
    }
  }
}

TEST_F(Random, FoldsEqualTheCpu) {
  constexpr Op ops[] = {Op::add,         Op::multiply,   Op::maximum,     Op::minimum,     Op::fmax,
                        Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor, Op::logical_and, Op::logical_or,
                        Op::gcd,         Op::subtract,   Op::logaddexp,   Op::hypot};
  constexpr DType loops[] = {DType::bool_,  DType::int8,    DType::int32,   DType::int64,
                             DType::uint16, DType::float32, DType::float64, DType::complex64};
  int done = 0;
  for (int round = 0; round < 400; ++round) {
    used_ = 0;
    const Op op = ops[below(std::size(ops))];
    const DType t = loops[below(std::size(loops))];
    if (info(op).types.find(typecode(t)) == std::string_view::npos || result_dtype(op, 0, t) != t) continue;
    const Dims s = shape(below(4) == 0 ? 1000000 : 3000);
    if (s.size() == 0) continue;
    std::uint64_t reduced = 1 + random_() % ((1ull << s.size()) - 1);
    if (info(op).identity == Identity::ORDERED) reduced = 1ull << below(s.size());
    Layout l = layout(s, itemsize(t), false);
    char* in = room(l, t, false);
    {  // values for which the order of a sum shows little
      char* first = in - l.before;
      const std::int64_t n = l.bytes / itemsize(t);
      std::vector<char> v = values(t, n, random_);
      if (is_inexact(t)) {
        std::uniform_real_distribution<double> near(op == Op::multiply ? 0.999 : 0.1, op == Op::multiply ? 1.001 : 2.0);
        const DType part = real_dtype(t);
        for (std::int64_t i = 0; i < n * itemsize(t) / itemsize(part); ++i) {
          const double d = is_complex(t) && op == Op::multiply ? near(random_) * 0.7071 : near(random_);
          const auto f = static_cast<float>(d);
          std::memcpy(v.data() + i * itemsize(part), part == DType::float32 ? static_cast<const void*>(&f) : &d,
                      static_cast<std::size_t>(itemsize(part)));
        }
      }
      std::memcpy(first, v.data(), v.size());
    }
    std::int64_t results = 1, folded = 1;
    for (int k = 0; k < s.size(); ++k) (reduced >> k & 1 ? folded : results) *= s[k];
    char* out = take(results * itemsize(t));
    Plan plan = one_fold(op, t, s, l.strides, reduced, in, out);
    // A producer: the square root of the square for floats, else a copy.
    if (below(2) == 0 && kind(t) == 'f') {
      plan.tape = {{Op::square, t, {0}, {1}}, {Op::sqrt, t, {1}, {2}}};
      plan.registers = {t, t, t};
      plan.reductions[0].reg = 2;
    }
    ASSERT_NO_THROW(run_both(plan)) << describe(plan);
    ++done;
    const std::vector<char> once(from_device(out), from_device(out) + results * itemsize(t));
    run_device(plan);
    EXPECT_EQ(std::memcmp(once.data(), from_device(out), once.size()), 0) << "two runs differ: " << describe(plan);
    // Sums and products of floats differ by their trees; the bound grows with the chain of the CPU's, which may be all
    // elements.
    const bool exact = !is_inexact(t) || op == Op::maximum || op == Op::minimum || op == Op::fmax;
    const double bound = exact ? 0 : 16 + 2 * std::sqrt(static_cast<double>(folded)) * (is_complex(t) ? 4 : 1);
    for (std::int64_t i = 0; i < results; ++i) {
      const char* cpu = out + i * itemsize(t);
      ASSERT_LE(distance(t, cpu, from_device(cpu)), bound)
          << describe(plan) << " " << name(t) << " axes " << reduced << " at " << i << ": cpu " << show(t, cpu)
          << " gpu " << show(t, from_device(cpu)) << "\n"
          << lower(translated(plan)).key;
    }
  }
  EXPECT_GT(done, 100);
}

TEST_F(CudaDevice, FoldsStartFromTheirIdentityOrInitial) {
  const auto value = [&](Plan plan, double initial, bool has) {
    plan.reductions[0].has_initial = has;
    std::memcpy(plan.reductions[0].initial, &initial, 8);
    plan.reductions[0].data = take(8);
    const void* at = plan.reductions[0].data;
    run_both(plan);
    EXPECT_EQ(std::memcmp(at, from_device(at), 8), 0);
    return static_cast<double>(to_real(DType::float64, from_device(at)));
  };
  const void* in = put(std::vector<double>{3, 4, 5});
  const auto fold = [&](Op op, std::int64_t n) { return one_fold(op, DType::float64, {n}, {8}, 1, in, nullptr); };
  EXPECT_EQ(value(fold(Op::add, 3), 0, false), 12);
  EXPECT_EQ(value(fold(Op::add, 0), 0, false), 0);
  EXPECT_EQ(value(fold(Op::multiply, 0), 0, false), 1);
  EXPECT_EQ(value(fold(Op::logaddexp, 0), 0, false), -INFINITY);
  EXPECT_EQ(value(fold(Op::add, 3), 100, true), 112);
  EXPECT_EQ(value(fold(Op::maximum, 3), 100, true), 100);
  EXPECT_EQ(value(fold(Op::subtract, 3), 100, true), 88);
  EXPECT_EQ(value(fold(Op::subtract, 3), 0, false), -6);
}

TEST_F(CudaDevice, TurnedOperandsOfEverySize) {
  std::mt19937_64 random(7);
  const Dims shapes[] = {{32, 32}, {64, 64}, {63, 65}, {65, 130}, {200, 100}, {3, 70, 90}, {129, 8}, {1000, 1003}};
  for (const DType t : {DType::uint8, DType::int16, DType::float32, DType::float64, DType::complex128}) {
    for (const Dims& shape : shapes) {
      for (const std::size_t operands : {1, 3, 4}) {
        used_ = 0;
        std::int64_t n = 1;
        for (const std::int64_t d : shape) n *= d;
        std::vector<const void*> in;
        for (std::size_t k = 0; k < operands; ++k) in.push_back(put(values(t, n, random, true)));
        char* const out = take(n * itemsize(t));
        run_both(turned_sum(t, shape, in, out));
        EXPECT_EQ(std::memcmp(out, from_device(out), static_cast<std::size_t>(n * itemsize(t))), 0)
            << name(t) << " " << to_string(shape) << " of " << operands;
      }
    }
  }
}

TEST_F(CudaDevice, SumsAreTheSameWhateverTheAlignment) {
  std::mt19937_64 random(8);
  for (const DType t : {DType::float32, DType::float64, DType::complex64}) {
    const std::int64_t s = itemsize(t);
    for (const std::int64_t n : {3, 100, 1000, 4097, 100003, 1000001}) {
      std::string first;
      for (const std::int64_t shift : {0, 1, 2, 3}) {
        used_ = 0;
        random.seed(8);
        const std::vector<char> v = values(t, n, random, true);
        char* const in = take((n + 4) * s) + shift * s;
        std::memcpy(in, v.data(), v.size());
        char* const out = take(s);
        run_device(one_fold(Op::add, t, {n}, {s}, 1, in, out));
        const std::string bits(from_device(out), static_cast<std::size_t>(s));
        if (shift == 0) first = bits;
        EXPECT_EQ(bits, first) << name(t) << " of " << n << " moved by " << shift << ": " << show(t, bits.data())
                               << " and " << show(t, first.data());
      }
    }
  }
}

TEST_F(CudaDevice, WritesOverItsOperandAndInOrder) {
  char* a = put(std::vector<float>{1, 2, 3, 4, 5, 6, 7});
  Plan in_place = one_operation(Op::multiply, DType::float32, {7}, {a, a}, {{4}, {4}}, {a});
  in_place.outputs[0].fresh = false;
  run_both(in_place);
  EXPECT_EQ(std::memcmp(a, from_device(a), 28), 0);
  // All elements to one place: the last stays.
  char* one = take(4);
  Plan ordered = one_operation(Op::add, DType::float32, {7}, {a, a}, {{4}, {4}}, {one});
  ordered.outputs[0].strides = {0};
  ordered.outputs[0].ordered = true;
  run_both(ordered);
  EXPECT_EQ(std::memcmp(one, from_device(one), 4), 0);
}

TEST_F(CudaDevice, ASecondProcessTakesKernelsFromTheDisk) {
  const auto root = std::filesystem::temp_directory_path() / ("galop-kernels-" + std::to_string(getpid()));
  // Every other element: a kernel that is not compiled with the plug-in.
  const Plan plan =
      one_operation(Op::hypot, DType::float64, {500},
                    {put(std::vector<double>(1000, 3)), put(std::vector<double>(1000, 4))}, {{16}, {16}}, {take(4000)});
  gpu_->upload(device_, base_, used_);
  double milliseconds[2] = {};
  for (const int round : {0, 1}) {
    CudaExecutor fresh(0, root);
    const auto start = std::chrono::steady_clock::now();
    fresh.run(translated(plan));
    fresh.synchronize();
    milliseconds[round] = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(fresh.cache_counts().compiled, round == 0);
    EXPECT_EQ(fresh.cache_counts().disk, round == 1);
  }
  std::filesystem::remove_all(root);
  gpu_->download(back_.data(), device_, used_);
  EXPECT_EQ(to_real(DType::float64, from_device(plan.outputs[0].data)), 5);
  std::printf("first call %.1f ms compiled, %.2f ms from the disk\n", milliseconds[0], milliseconds[1]);
}

TEST_F(CudaDevice, ErrorsAreNamed) {
  EXPECT_THROW(
      {
        try {
          gpu_->allocate(std::int64_t{1} << 50);
        } catch (const std::exception& e) {
          EXPECT_NE(std::string(e.what()).find("1125899906842624 bytes"), std::string::npos) << e.what();
          throw;
        }
      },
      std::exception);
  Plan half = one_cast(DType::float16, DType::float16, 4, take(8), take(8));
  half.tape = {{Op::sqrt, DType::float16, {0}, {1}}};
  EXPECT_THROW(gpu_->run(translated(half)), std::exception);
}

}  // namespace
}  // namespace galop::cuda::test
