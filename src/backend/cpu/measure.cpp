// The loops are as plain as can be: a stream past the caches, a sum, and fused multiply-adds that never leave the
// registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/measure.cpp"
#include "backend/cpu/targets.hpp"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "backend/cpu/kernels.hpp"
#include "backend/cpu/measure.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/threads.hpp"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Reads whole groups of eight vectors; the sum keeps the compiler from dropping the loads.
std::uint64_t read(const char* data, std::int64_t bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto* p = reinterpret_cast<const std::uint64_t*>(data);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (std::int64_t i = 0; i + 8 * lanes <= bytes / 8; i += 8 * lanes) {
    s0 = hn::Add(s0, hn::Add(hn::LoadU(d, p + i), hn::LoadU(d, p + i + lanes)));
    s1 = hn::Add(s1, hn::Add(hn::LoadU(d, p + i + 2 * lanes), hn::LoadU(d, p + i + 3 * lanes)));
    s2 = hn::Add(s2, hn::Add(hn::LoadU(d, p + i + 4 * lanes), hn::LoadU(d, p + i + 5 * lanes)));
    s3 = hn::Add(s3, hn::Add(hn::LoadU(d, p + i + 6 * lanes), hn::LoadU(d, p + i + 7 * lanes)));
  }
  // The compilers' own headers add the lanes as signed numbers, so they must not overflow.
  const auto low = hn::And(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Set(d, 0xffff));
  return hn::GetLane(hn::SumOfLanes(d, low));
}

// Ten independent chains fill the pipelines of every processor in use; returns the operations done.
template <class T>
double multiply_add(std::int64_t steps, T* out) {
  const hn::ScalableTag<T> d;
  const auto x = hn::Set(d, T(0.999)), y = hn::Set(d, T(0.001));
  auto s0 = hn::Set(d, T(0)), s1 = hn::Set(d, T(1)), s2 = hn::Set(d, T(2)), s3 = hn::Set(d, T(3)),
       s4 = hn::Set(d, T(4));
  auto s5 = hn::Set(d, T(5)), s6 = hn::Set(d, T(6)), s7 = hn::Set(d, T(7)), s8 = hn::Set(d, T(8)),
       s9 = hn::Set(d, T(9));
  for (std::int64_t i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, x, y), s1 = hn::MulAdd(s1, x, y), s2 = hn::MulAdd(s2, x, y), s3 = hn::MulAdd(s3, x, y);
    s4 = hn::MulAdd(s4, x, y), s5 = hn::MulAdd(s5, x, y), s6 = hn::MulAdd(s6, x, y), s7 = hn::MulAdd(s7, x, y);
    s8 = hn::MulAdd(s8, x, y), s9 = hn::MulAdd(s9, x, y);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7))), hn::Add(s8, s9));
  *out = hn::GetLane(sum);
  return 20.0 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(steps);
}

double multiply_add_float(std::int64_t steps, float* out) { return multiply_add<float>(steps, out); }
double multiply_add_double(std::int64_t steps, double* out) { return multiply_add<double>(steps, out); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace galop::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::cpu {
namespace {

HWY_EXPORT(read);
HWY_EXPORT(multiply_add_float);
HWY_EXPORT(multiply_add_double);

double seconds(function_ref<void()> work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double fastest(int runs, function_ref<void()> work) {
  double best = seconds(work);
  for (int run = 1; run < runs; ++run) best = std::min(best, seconds(work));
  return best;
}

}  // namespace

Bandwidth measure_bandwidth(std::int64_t bytes, int runs) {
  const Block from = allocate(bytes);
  Block to;
  try {
    to = allocate(bytes);
  } catch (...) {
    release(from);
    throw;
  }
  auto* source = static_cast<char*>(from.data);
  auto* target = static_cast<char*>(to.data);
  const auto stream = kernels().stream;
  constexpr std::int64_t kGrain = 1 << 20, kPiece = 1 << 14;
  parallel_for(bytes, kGrain, [&](std::int64_t begin, std::int64_t end, int) {
    std::memset(source + begin, 1, static_cast<std::size_t>(end - begin));
  });
  Bandwidth result;
  const auto size = static_cast<double>(bytes);
  result.copy = 2 * size / fastest(runs, [&] {
                  parallel_for(bytes, kGrain, [&](std::int64_t begin, std::int64_t end, int) {
                    stream(target + begin, source + begin, end - begin);
                  });
                });
  result.fill = size / fastest(runs, [&] {
                  parallel_for(bytes, kGrain, [&](std::int64_t begin, std::int64_t end, int) {
                    for (std::int64_t at = begin; at < end; at += kPiece)
                      stream(target + at, source + begin, std::min(kPiece, end - at));
                  });
                });
  std::atomic<std::uint64_t> sum{0};
  result.read = size / fastest(runs, [&] {
                  parallel_for(bytes, kGrain, [&](std::int64_t begin, std::int64_t end, int) {
                    begin = (begin + 7) / 8 * 8;
                    sum += HWY_DYNAMIC_DISPATCH(read)(source + begin, end - begin);
                  });
                });
  release(from);
  release(to);
  return result;
}

double measure_peak(DType t, int runs) {
  constexpr std::int64_t kSteps = 4'000'000;
  std::atomic<double> done{0};
  const double best = fastest(runs, [&] {
    done = 0;
    parallel_for(thread_count(), 1, [&](std::int64_t, std::int64_t, int) {
      float f = 0;
      double d = 0;
      done += t == DType::float32 ? HWY_DYNAMIC_DISPATCH(multiply_add_float)(kSteps, &f)
                                  : HWY_DYNAMIC_DISPATCH(multiply_add_double)(kSteps, &d);
      // The results are finite, so this adds nothing; but it needs them.
      done += f + d > 1e30 ? 1.0 : 0.0;
    });
  });
  return done / best;
}

}  // namespace galop::cpu
#endif  // HWY_ONCE
