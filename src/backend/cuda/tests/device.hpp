// On a GPU: the same plan on both backends, over memory that both have at the same offsets.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/cuda/executor.hpp"
#include "backend/cuda/lower.hpp"
#include "plans.hpp"

namespace galop::cuda::test {

/// The GPU of the tests; they skip where there is none.
class CudaDevice : public testing::Test {
 protected:
  static constexpr std::int64_t kArena = std::int64_t{96} << 20;

  void SetUp() override {
    std::string reason;
    if (find_driver(&reason) == nullptr) GTEST_SKIP() << reason;
    if (!gpu_) {
      gpu_ = std::make_unique<CudaExecutor>(0, std::filesystem::path());
      device_ = static_cast<char*>(gpu_->allocate(kArena));
      host_.resize(kArena + 256);
      back_.resize(kArena + 256);
    }
    base_ = host_.data() + (256 - reinterpret_cast<std::uintptr_t>(host_.data()) % 256) % 256;
    used_ = 0;
  }

  /// Host memory, filled with a pattern that no test expects.
  char* take(std::int64_t bytes) {
    const std::int64_t at = used_;
    used_ += (bytes + 255) / 256 * 256;
    EXPECT_LE(used_, kArena);
    std::memset(base_ + at, 0xA5, static_cast<std::size_t>(bytes));
    return base_ + at;
  }
  template <class T>
  char* put(const std::vector<T>& values) {
    char* p = take(static_cast<std::int64_t>(values.size() * sizeof(T)));
    std::memcpy(p, values.data(), values.size() * sizeof(T));
    return p;
  }
  void* on_device(const void* p) const { return device_ + (static_cast<const char*>(p) - base_); }
  const char* from_device(const void* p) const { return back_.data() + (static_cast<const char*>(p) - base_); }

  Plan translated(Plan plan) const {
    for (Operand& o : plan.operands)
      if (o.kind == Operand::Kind::memory) o.data = on_device(o.data);
    for (Output& o : plan.outputs) o.data = on_device(o.data);
    for (Reduction& r : plan.reductions) r.data = on_device(r.data);
    return plan;
  }
  void run_device(const Plan& plan) {
    gpu_->upload(device_, base_, used_);
    gpu_->run(translated(plan));
    gpu_->download(back_.data(), device_, used_);
  }
  /// Afterwards host memory has the CPU's results and from_device() the GPU's.
  void run_both(const Plan& plan) {
    run_device(plan);
    cpu_backend().run(plan);
  }

  static std::unique_ptr<CudaExecutor> gpu_;
  static char* device_;
  static std::vector<char> host_, back_;
  char* base_ = nullptr;
  std::int64_t used_ = 0;
};

inline long double to_real(DType t, const char* p) {
  switch (t) {
    case DType::float16: {
      std::uint16_t h = 0;
      std::memcpy(&h, p, 2);
      const int e = h >> 10 & 31, m = h & 1023;
      long double v = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
      if (e == 31) v = m ? std::numeric_limits<long double>::quiet_NaN() : std::numeric_limits<long double>::infinity();
      return h >> 15 ? -v : v;
    }
    case DType::float32: {
      float v = 0;
      std::memcpy(&v, p, 4);
      return v;
    }
    default: {
      double v = 0;
      std::memcpy(&v, p, 8);
      return v;
    }
  }
}

/// The distance of neighbouring numbers of a float dtype around v.
inline long double ulp_at(DType t, long double v) {
  const int digits = t == DType::float16 ? 11 : t == DType::float32 ? 24 : 53;
  const int lowest = t == DType::float16 ? -24 : t == DType::float32 ? -149 : -1074;
  int e = 0;
  std::frexp(v, &e);
  return std::ldexp(1.0L, v == 0 ? lowest : std::max(e - digits, lowest));
}

/// How far apart two elements are: 0 for equal bits (any two NaNs are equal), else in units in the last place; infinite
/// where they have nothing in common. Complex numbers by the larger part's unit, unless both parts agree.
inline double distance(DType t, const char* a, const char* b) {
  if (std::memcmp(a, b, static_cast<std::size_t>(itemsize(t))) == 0) return 0;
  if (!is_inexact(t)) return std::numeric_limits<double>::infinity();
  if (is_complex(t)) {
    const DType part = real_dtype(t);
    const int s = itemsize(part);
    const double re = distance(part, a, b), im = distance(part, a + s, b + s);
    if (std::isinf(re) || std::isinf(im)) return std::numeric_limits<double>::infinity();
    const long double x = to_real(part, a), y = to_real(part, a + s);
    const long double unit = ulp_at(part, std::max(std::fabs(x), std::fabs(y)));
    const long double d = std::max(std::fabs(x - to_real(part, b)), std::fabs(y - to_real(part, b + s)));
    return re == 0 && im == 0                     ? 0
           : std::isfinite(x) && std::isfinite(y) ? static_cast<double>(d / unit)
                                                  : std::max(re, im);
  }
  const long double x = to_real(t, a), y = to_real(t, b);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
  if (x == y) return 0.5;  // zeros of two signs
  return std::max(0.5, static_cast<double>(std::fabs(x - y) / ulp_at(t, std::max(std::fabs(x), std::fabs(y)))));
}

inline std::string show(DType t, const char* p) {
  if (is_complex(t)) return "(" + show(real_dtype(t), p) + "," + show(real_dtype(t), p + itemsize(t) / 2) + ")";
  char text[64];
  if (is_inexact(t)) {
    std::snprintf(text, sizeof text, "%.17Lg", to_real(t, p));
    return text;
  }
  std::int64_t v = 0;
  std::memcpy(&v, p, static_cast<std::size_t>(itemsize(t)));
  return std::to_string(v);
}

/// Values of a dtype: the special ones, then random ones of every size and some near 1.
inline std::vector<char> values(DType t, std::int64_t n, std::mt19937_64& random, bool tame = false) {
  std::vector<char> bytes(static_cast<std::size_t>(n * itemsize(t)));
  if (is_complex(t)) {
    const auto parts = values(real_dtype(t), 2 * n, random, tame);
    // Parts meet in all pairs of specials: the imaginary ones run on by one more each round.
    return parts;
  }
  constexpr double specials[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 1.5,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 2.5,
                                 10,
                                 -7,
                                 100,
                                 1e-3,
                                 65504,
                                 70000,
                                 1e10,
                                 -1e10,
                                 2147483648.0,
                                 -2147483648.0,
                                 4294967296.0,
                                 9.3e18,
                                 -9.3e18,
                                 1.9e19,
                                 1e30,
                                 1e-30,
                                 6e-8,
                                 1e-40,
                                 1e300,
                                 1e-310,
                                 INFINITY,
                                 -INFINITY,
                                 NAN};
  constexpr std::int64_t whole[] = {0,
                                    1,
                                    -1,
                                    2,
                                    -2,
                                    3,
                                    7,
                                    -7,
                                    8,
                                    31,
                                    32,
                                    63,
                                    64,
                                    100,
                                    127,
                                    -128,
                                    128,
                                    255,
                                    32767,
                                    -32768,
                                    65535,
                                    2147483647,
                                    -2147483648LL,
                                    4294967295LL,
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::min() + 1};
  for (std::int64_t i = 0; i < n; ++i) {
    char* p = bytes.data() + i * itemsize(t);
    const std::uint64_t r = random();
    if (t == DType::bool_) {
      *p = static_cast<char>(r & 1);
    } else if (!is_inexact(t)) {
      const std::int64_t v =
          r % 4 == 0 ? whole[(r >> 8) % std::size(whole)] : static_cast<std::int64_t>(random()) >> (r >> 8) % 64;
      std::memcpy(p, &v, static_cast<std::size_t>(itemsize(t)));
    } else {
      double v = 0;
      const bool any_bits = !tame && r % 4 == 1;
      if (tame || r % 4 >= 2)
        v = std::uniform_real_distribution<double>(tame ? -3 : -20, tame ? 3 : 20)(random);
      else
        v = specials[(r >> 8) % std::size(specials)];
      const std::uint64_t raw = random();
      const auto f = static_cast<float>(v);
      if (t == DType::float64) std::memcpy(p, any_bits ? static_cast<const void*>(&raw) : &v, 8);
      if (t == DType::float32) std::memcpy(p, any_bits ? static_cast<const void*>(&raw) : &f, 4);
      if (t == DType::float16) {
        const auto h = static_cast<std::uint16_t>(raw);
        std::memcpy(p, &h, 2);
      }
    }
  }
  return bytes;
}

}  // namespace galop::cuda::test
