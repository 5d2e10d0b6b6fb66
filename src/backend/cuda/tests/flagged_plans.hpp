// Plans that raise floating-point flags: every row and cast over special values, in kernels of every kind.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "plans.hpp"

namespace galop::cuda::test {

constexpr faults::Policy kWarnAll = 1 | 1 << 3 | 1 << 6 | 1 << 9;
constexpr faults::Policy kWarnDefault = 1 | 1 << 3 | 1 << 9;

inline std::uint16_t half_bits(double x) {
  std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7e00);
  x = std::fabs(x);
  if (x > 65504) return static_cast<std::uint16_t>(sign | 0x7c00);
  int e = 0;
  if (x == 0) return sign;
  std::frexp(x, &e);
  e = std::max(e, -13);
  const auto units = static_cast<int>(std::ldexp(x, 11 - e));  // of 2**(e - 11)
  return static_cast<std::uint16_t>(sign | (units >= 1024 ? ((e + 13) << 10) + units : units));
}

inline std::vector<double> special_reals(DType t) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::min(),
         smallest = std::numeric_limits<double>::denorm_min();
  if (real_dtype(t) == DType::float32) {
    most = std::numeric_limits<float>::max();
    least = std::numeric_limits<float>::min();
    smallest = std::numeric_limits<float>::denorm_min();
  } else if (t == DType::float16) {
    most = 65504, least = 0x1p-14, smallest = 0x1p-24;
  }
  return {0.0, -0.0, 1.0, -1.0, 2.5, -8.0, 0.5, 300.0, 1e10, -1e30, inf, -inf, nan, most, -most, least, smallest};
}

/// `n` elements of `t` with the real value x and the imaginary value y.
inline void fill_with(DType t, char* p, std::int64_t n, double x, double y) {
  const float re = static_cast<float>(x), im = static_cast<float>(y);
  const std::uint16_t half = half_bits(x);
  for (std::int64_t i = 0; i < n; ++i, p += itemsize(t)) {
    switch (t) {
      case DType::float16:
        std::memcpy(p, &half, 2);
        break;
      case DType::float32:
      case DType::complex64:
        std::memcpy(p, &re, 4);
        if (is_complex(t)) std::memcpy(p + 4, &im, 4);
        break;
      case DType::float64:
      case DType::complex128:
        std::memcpy(p, &x, 8);
        if (is_complex(t)) std::memcpy(p + 8, &y, 8);
        break;
      default: {
        const bool is_signed = typecode(t) >= 'a';
        const int bits = 8 * itemsize(t);
        std::uint64_t v = 0;
        if (t == DType::bool_)
          v = x != 0 && x == x;
        else if (x == std::numeric_limits<double>::infinity())
          v = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
        else if (x == -std::numeric_limits<double>::infinity())
          v = is_signed ? std::uint64_t{1} << (bits - 1) : 0;
        else if (std::fabs(x) < 128)
          v = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
        std::memcpy(p, &v, static_cast<std::size_t>(itemsize(t)));
      }
    }
  }
}

/// Pairs of values for an element: the real part, and the imaginary one of complex numbers.
inline std::vector<std::pair<double, double>> special_values(DType t) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<double, double>> v;
  if (is_complex(t)) {
    const double most = special_reals(t)[13];
    return {{0, 0}, {1, 0}, {-2, 1}, {0, inf}, {nan, 1}, {inf, inf}, {most, 1}, {0, 1}, {most, most}, {3, -4}};
  }
  if (!is_inexact(t)) {
    for (const double x : {0.0, 1.0, 3.0, inf, -inf, -1.0})
      if (x == x) v.emplace_back(x, 0);
    return v;
  }
  for (const double x : special_reals(t)) v.emplace_back(x, 0);
  return v;
}

struct Flagged {
  std::string what;
  Plan plan;
};

inline void watch_all(Plan& plan, faults::Policy policy) {
  for (Instruction& i : plan.tape) i.policy = policy;
  for (Reduction& r : plan.reductions) r.policy = policy;
}

constexpr std::int64_t kFew = 61;  // elements: vectors and a rest

/// One of several equal parts of a long test, so that they can be run at once.
struct Share {
  int index = 0, count = 1;
  bool takes(int k) const { return k % count == index; }
};

/// Calls f(what, plan) for every row over every loop and every combination of special values; `take` gives memory.
inline void each_flagged_row(const std::function<char*(std::int64_t)>& take,
                             const std::function<void(const Flagged&)>& f, Share share = {}) {
  int loops = 0;
  each_loop([&](Op op, DType t) {
    if (info(op).nin == 3 || !share.takes(loops++)) return;
    const std::vector<DType> types = operand_types(op, t);
    const auto first = special_values(types[0]);
    const auto second = types.size() > 1 ? special_values(types[1]) : std::vector<std::pair<double, double>>{{0, 0}};
    char* const x = take(64 * itemsize(types[0]));
    char* const y = types.size() > 1 ? take(64 * itemsize(types[1])) : nullptr;
    std::vector<void*> out;
    for (int k = 0; k < info(op).nout; ++k) out.push_back(take(64 * itemsize(result_dtype(op, k, t))));
    std::vector<const void*> in{x};
    std::vector<Dims> strides{{itemsize(types[0])}};
    if (y) in.push_back(y), strides.push_back({itemsize(types[1])});
    Plan plan = one_operation(op, t, {kFew}, in, strides, out);
    for (const auto& [a, ai] : first)
      for (const auto& [b, bi] : second) {
        fill_with(types[0], x, kFew, a, ai);
        if (y) fill_with(types[1], y, kFew, info(op).int_second ? 1000 * (b > 0) - 2000 * (b < 0) : b, bi);
        f({std::string(info(op).name) + " " + std::string(name(t)) + " of " + std::to_string(a) + "," +
               std::to_string(ai) + " and " + std::to_string(b) + "," + std::to_string(bi),
           plan});
      }
  });
}

inline void each_flagged_cast(const std::function<char*(std::int64_t)>& take,
                              const std::function<void(const Flagged&)>& f) {
  for (int from = 0; from < kDTypes; ++from)
    for (int to = 0; to < kDTypes; ++to) {
      const auto t = static_cast<DType>(from), u = static_cast<DType>(to);
      char* const x = take(64 * 16);
      char* const r = take(64 * 16);
      const Plan plan = one_cast(t, u, kFew, x, r);
      auto values = special_values(t);
      if (is_inexact(t))
        for (const double v : {70000.0, 2147483647.0, 2147483648.0, -2147483649.0, 4294967296.0, 9.3e18, 1.9e19, 1e-4,
                               1e-9, 1e-40, 1e39, 65519.0, 65520.0})
          values.emplace_back(v, 0.0);
      for (const auto& [a, ai] : values) {
        fill_with(t, x, kFew, a, ai);
        f({"cast " + std::string(name(t)) + " to " + std::string(name(u)) + " of " + std::to_string(a) + "," +
               std::to_string(ai),
           plan});
      }
    }
}

/// Folds of x, and of 1 / x, whose flags do not depend on the order of the elements.
inline void each_flagged_fold(const std::function<char*(std::int64_t)>& take,
                              const std::function<void(const Flagged&)>& f) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    const char* what;
    std::vector<double> values;  // among ones
  };
  struct Layout {
    Dims shape;
    std::uint64_t reduced;
    bool turned;
  };
  const std::vector<Layout> layouts{{{1000}, 1, false},       {{20'001}, 1, false}, {{7}, 1, false},
                                    {{30, 50}, 2, false},     {{30, 50}, 1, false}, {{9000, 3}, 1, false},
                                    {{20, 30, 10}, 5, false}, {{61, 67}, 2, true}};
  for (const DType t : {DType::float32, DType::float64, DType::complex64, DType::complex128, DType::int32})
    for (const Op op : {Op::add, Op::multiply, Op::subtract, Op::divide, Op::maximum, Op::logaddexp}) {
      if (info(op).types.find(typecode(t)) == std::string_view::npos) continue;
      const double most = is_inexact(t) ? special_reals(t)[13] : 0;
      const std::vector<Case> cases{{"ones", {}},
                                    {"NaN", {nan}},
                                    {"inf", {inf}},
                                    {"inf - inf", {inf, -inf}},
                                    {"overflow", {most, most}},
                                    {"inf and NaN", {nan, inf}},
                                    {"zero", {0}},
                                    {"inf and 0", {inf, 0}}};
      for (const Layout& l : layouts)
        for (const bool inverse : {false, true}) {
          if (inverse && !is_inexact(t)) continue;
          if (info(op).identity == Identity::ORDERED && (l.reduced & (l.reduced - 1)) != 0) continue;
          std::int64_t n = 1;
          for (const std::int64_t d : l.shape) n *= d;
          char* const x = take(n * itemsize(t));
          char* const r = take(n * itemsize(t));
          Dims strides = c_strides(l.shape, itemsize(t));
          if (l.turned)
            std::swap(strides[0], strides[1]), strides[1] = itemsize(t) * l.shape[0], strides[0] = itemsize(t);
          Plan plan = one_fold(op, t, l.shape, strides, l.reduced, x, r);
          if (inverse) {
            plan.registers.push_back(t);
            plan.tape.push_back({Op::reciprocal, t, {0}, {1}});
            plan.reductions[0].reg = 1;
          }
          for (const Case& c : cases) {
            fill_with(t, x, n, 1, 0);
            // Beside each other in one result.
            const std::int64_t along = l.reduced & 1 ? strides[0] : strides[1];
            for (std::size_t k = 0; k < c.values.size(); ++k)
              fill_with(t,
                        x + (n / 2 * itemsize(t)) / along * along * (l.shape.size() == 1) +
                            static_cast<std::int64_t>(k + 2) * along,
                        1, c.values[k], 0);
            f({std::string(info(op).name) + " of " + c.what + (inverse ? " inverted " : " ") + std::string(name(t)) +
                   " " + to_string(l.shape) + (l.turned ? " turned" : "") + " over " + std::to_string(l.reduced),
               plan});
          }
        }
    }
}

}  // namespace galop::cuda::test
