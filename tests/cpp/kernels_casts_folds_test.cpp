// Casts between all dtypes, folds and scans, and the copy past the caches, for every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/shards.hpp"

namespace galop::cpu {
namespace {

const std::vector<Kernels>& tables() {
  static const std::vector<Kernels> all = [] {
    std::vector<Kernels> r;
    for (const Isa& isa : isas()) {
      if (supported(isa)) r.push_back(make_kernels(isa));
    }
    return r;
  }();
  return all;
}

template <class To, class From>
std::vector<To> cast(const Kernels& table, const std::vector<From>& x) {
  std::vector<To> r(x.size());
  void* out[] = {r.data()};
  const void* in[] = {x.data()};
  table.cast[static_cast<int>(dtype_of<From>)][static_cast<int>(dtype_of<To>)](out, in,
                                                                               static_cast<std::int64_t>(x.size()));
  return r;
}

// The double that a half stands for.
double value(half h) {
  const int exponent = h.bits >> 10 & 31;
  const double sign = h.bits & 0x8000 ? -1 : 1;
  const double fraction = h.bits & 1023;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

std::vector<half> all_halves() {
  std::vector<half> r(65536);
  for (unsigned i = 0; i < 65536; ++i) r[i].bits = static_cast<std::uint16_t>(i);
  return r;
}

TEST(Casts, EveryHalfAndBack) {
  const auto halves = all_halves();
  for (const Kernels& table : tables()) {
    const auto floats = cast<float>(table, halves);
    const auto doubles = cast<double>(table, halves);
    const auto from_floats = cast<half>(table, floats);
    const auto from_doubles = cast<half>(table, doubles);
    const auto bytes = cast<std::uint8_t>(table, halves);
    for (unsigned i = 0; i < 65536; ++i) {
      const double want = value(halves[i]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(floats[i]) && std::isnan(doubles[i])) << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]) >> 13 & 0x1ff, i & 0x1ff) << "payload of " << i;
        ASSERT_EQ(from_floats[i].bits, i | 0x200u) << i;
        continue;
      }
      ASSERT_EQ(floats[i], want) << table.isa << " " << i;
      ASSERT_EQ(doubles[i], want) << table.isa << " " << i;
      ASSERT_EQ(from_floats[i].bits, i) << table.isa;
      ASSERT_EQ(from_doubles[i].bits, i) << table.isa;
      const int whole = std::fabs(want) < 1e5 ? static_cast<int>(want) : 0;
      ASSERT_EQ(bytes[i], static_cast<std::uint8_t>(whole)) << table.isa << " " << i;
    }
  }
}

// Nearest half, ties to even, by comparing with the neighbours.
std::uint16_t nearest_half(double x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(x);
  if (a >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  std::uint16_t low = 0;
  for (int bit = 14; bit >= 0; --bit) {
    const auto next = static_cast<std::uint16_t>(low | 1 << bit);
    if (next < 0x7c00 && value({next}) <= a) low = next;
  }
  const double below = value({low});
  const double above = low == 0x7bff ? 65536 : value({static_cast<std::uint16_t>(low + 1)});
  const bool up = a - below > above - a || (a - below == above - a && low % 2 == 1);
  return static_cast<std::uint16_t>(sign | (low + up));
}

TEST(Casts, HalvesRoundOnce) {
  std::vector<double> x = {
      0,     65504, 65519.999999999993, 65520, 0x1p-24, 0x1p-25, 0x1.0000000000001p-25, 0x1.8p-24, 1 + 0x1p-11,
      1e300, 1e-300};
  std::mt19937_64 random(1);
  for (int i = 0; i < 4000; ++i) {  // halfway between two halves, and a double's last place beside it
    const auto low = static_cast<std::uint16_t>(random() % 0x7bff);
    const double middle = (value({low}) + value({static_cast<std::uint16_t>(low + 1)})) / 2;
    for (double e : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)})
      x.push_back(random() % 2 ? e : -e);
  }
  const std::vector<float> y(x.begin(), x.end());
  for (const Kernels& table : tables()) {
    const auto from_double = cast<half>(table, x);
    const auto from_float = cast<half>(table, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(from_double[i].bits, nearest_half(x[i])) << table.isa << " " << x[i];
      ASSERT_EQ(from_float[i].bits, nearest_half(y[i])) << table.isa << " " << y[i];
    }
  }
}

// The rules that casts-inl.h names, an element at a time.
template <class To, class From>
To plain_cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const auto truncated = [&](double low, double high, std::int64_t otherwise) {
      return x > low && x < high ? static_cast<std::int64_t>(x) : otherwise;
    };
    const std::int64_t i32 = truncated(-2147483649.0, 2147483648.0, std::numeric_limits<std::int32_t>::min());
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    if constexpr (sizeof(To) < 4 || std::is_same_v<To, std::int32_t>) return static_cast<To>(i32);
    if constexpr (std::is_same_v<To, std::int64_t>)
      return truncated(-9223372036854777856.0, 9223372036854775808.0, least);
    if constexpr (std::is_same_v<To, std::uint32_t>) {
      if (!(x >= From(2147483648.0))) return static_cast<To>(i32);
      return x < From(4294967296.0) ? static_cast<To>(static_cast<std::int64_t>(x)) : 0;
    }
    if (!(x >= From(9223372036854775808.0)))
      return static_cast<To>(truncated(-9223372036854777856.0, 9223372036854775808.0, least));
    return x < From(18446744073709551616.0) ? static_cast<To>(x) : 0;
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
std::vector<T> values() {
  std::mt19937_64 random(3);
  std::vector<T> r;
  for (int i = 0; i < 403; ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      r.push_back(random() % 2 != 0);
    } else if constexpr (std::is_integral_v<T>) {
      r.push_back(static_cast<T>(static_cast<std::int64_t>(random()) >> (random() % 64)));
    } else {
      const T limits[] = {T(0.0), T(-0.0), T(HUGE_VAL), T(-HUGE_VAL), T(NAN),   T(-20.5),
                          T(3e9), T(-3e9), T(1e19),     T(1e30),      T(300.7), T(70000.2)};
      const double spread =
          std::ldexp(static_cast<double>(random() % 1000) - 500, static_cast<int>(random() % 64) - 12);
      r.push_back(i < 12 ? limits[i] : static_cast<T>(spread));
    }
  }
  return r;
}

#if defined(__x86_64__)
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;  // out of range, ARM saturates
#endif

template <class From, class To>
void check_cast(const Kernels& table) {
  const std::vector<From> plain = values<From>();
  const std::size_t n = plain.size();
  std::vector<std::byte> x(n * sizeof(From)), r(n * sizeof(To));
  for (std::size_t i = 0; i < n; ++i) {
    const From v = plain[i];
    std::memcpy(x.data() + i * sizeof(From), &v, sizeof(From));
  }
  void* out[] = {r.data()};
  const void* in[] = {x.data()};
  table.cast[static_cast<int>(dtype_of<From>)][static_cast<int>(dtype_of<To>)](out, in, static_cast<std::int64_t>(n));
  for (std::size_t i = 0; i < n; ++i) {
    if (!kX86 && std::is_floating_point_v<From> && !(std::fabs(static_cast<double>(plain[i])) < 100)) continue;
    const To want = plain_cast<To>(static_cast<From>(plain[i]));
    To got;
    std::memcpy(&got, r.data() + i * sizeof(To), sizeof(To));
    EXPECT_TRUE(got == want || (got != got && want != want))
        << table.isa << " " << name(dtype_of<From>) << " to " << name(dtype_of<To>) << ": " << +plain[i] << " gives "
        << +got << ", not " << +want;
  }
}

template <class From, class... To>
void check_casts_from(const Kernels& table) {
  (check_cast<From, To>(table), ...);
}
template <class... T>
void check_all_casts(const Kernels& table) {
  (check_casts_from<T, T...>(table), ...);
}

TEST(Casts, EveryPairOfRealDtypes) {
  for (const Kernels& table : tables()) {
    check_all_casts<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                    std::uint32_t, std::uint64_t, float, double>(table);
  }
}

TEST(Casts, ComplexDropsAndGainsImaginaryParts) {
  const std::vector<std::complex<double>> z = {{1.5, 2}, {-3, 0}, {0, 0}, {0, 1}, {NAN, 0}, {7, NAN}, {-20, 5}};
  for (const Kernels& table : tables()) {
    const auto reals = cast<float>(table, z);
    const auto ints = cast<std::int16_t>(table, z);
    const auto narrow = cast<std::complex<float>>(table, z);
    const auto wide = cast<std::complex<double>>(table, reals);
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (std::isnan(z[i].real())) continue;
      EXPECT_EQ(reals[i], static_cast<float>(z[i].real()));
      EXPECT_EQ(ints[i], static_cast<std::int16_t>(z[i].real()));
      EXPECT_EQ(narrow[i].real(), static_cast<float>(z[i].real()));
      EXPECT_TRUE(narrow[i].imag() == static_cast<float>(z[i].imag()) || std::isnan(z[i].imag()));
      EXPECT_EQ(wide[i], std::complex<double>(z[i].real(), 0));
    }
    std::uint8_t truth[7];
    void* out[] = {truth};
    const void* in[] = {z.data()};
    table.cast[static_cast<int>(DType::complex128)][static_cast<int>(DType::bool_)](out, in, 7);
    EXPECT_EQ((std::vector<std::uint8_t>(truth, truth + 7)), (std::vector<std::uint8_t>{1, 1, 0, 1, 1, 1, 1}));
  }
}

// Pairwise summation by its definition.
template <class T>
T pairwise(const T* x, std::size_t n,
           std::size_t parts) {  // parts: 1 for real numbers, 2 for every second of complex ones
  const std::size_t unit = 8 / parts;
  if (n < unit) {
    T r = T(-0.0);
    for (std::size_t i = 0; i < n; ++i) r += x[i * parts];
    return r;
  }
  if (n <= 128 / parts) {
    T a[8] = {};
    std::size_t i = 0;
    for (; i < unit; ++i) a[i] = x[i * parts];
    for (; i + unit <= n; i += unit) {
      for (std::size_t k = 0; k < unit; ++k) a[k] += x[(i + k) * parts];
    }
    T r =
        parts == 1 ? ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7])) : (a[0] + a[1]) + (a[2] + a[3]);
    for (; i < n; ++i) r += x[i * parts];
    return r;
  }
  const std::size_t half = n * parts / 2 / 8 * 8 / parts;
  return pairwise(x, half, parts) + pairwise(x + half * parts, n - half, parts);
}

const std::size_t kLengths[] = {0,   1,   7,   8,   9,   15,  16,  63,  64,  100,  127,  128,
                                129, 130, 135, 255, 256, 257, 263, 271, 512, 1000, 4097, 8192};

template <class T>
void check_sums(const Kernels& table) {
  std::mt19937 random(1);
  std::normal_distribution<T> normal;
  std::vector<T> x(2 * 8192);
  for (T& e : x) e = normal(random);
  for (std::size_t n : kLengths) {
    T acc = T(0.25);
    table.fold[static_cast<int>(Op::add)][static_cast<int>(dtype_of<T>)](&acc, x.data(), static_cast<std::int64_t>(n));
    EXPECT_EQ(acc, T(0.25) + pairwise(x.data(), n, 1)) << table.isa << " n=" << n;
    std::complex<T> z(T(0.25), T(-0.5));
    table.fold[static_cast<int>(Op::add)][static_cast<int>(dtype_of<std::complex<T>>)](&z, x.data(),
                                                                                       static_cast<std::int64_t>(n));
    EXPECT_EQ(z.real(), T(0.25) + pairwise(x.data(), n, 2)) << table.isa << " n=" << n;
    EXPECT_EQ(z.imag(), T(-0.5) + pairwise(x.data() + 1, n, 2)) << table.isa << " n=" << n;
  }
}
TEST(Folds, SumsArePairwise) {
  for (const Kernels& table : tables()) check_sums<float>(table), check_sums<double>(table);
}

bool foldable(Op op, DType t) {
  const OpInfo& row = info(op);
  const bool two_to_one = row.nin == 2 && row.nout == 1 && !row.int_second && t != DType::float16;
  return two_to_one && row.types.find(typecode(t)) != std::string_view::npos && result_dtype(op, 0, t) == t;
}

// Folds and scans agree with their kernel called an element at a time: to the bit where order cannot matter and for
// scans.
TEST(Folds, FollowTheirKernels) {
  for (const Kernels& table : tables()) {
    for (int o = 0; o < kTableOps; ++o) {
      const Op op = static_cast<Op>(o);
      for (int t = 0; t < kDTypes; ++t) {
        const auto dtype = static_cast<DType>(t);
        if (dtype == DType::float16) continue;  // folded in float32, save nextafter: below
        ASSERT_EQ(table.fold[o][t] != nullptr, foldable(op, dtype)) << info(op).name << " " << name(dtype);
        ASSERT_EQ(table.scan[o][t] != nullptr, foldable(op, dtype)) << info(op).name << " " << name(dtype);
        if (!foldable(op, dtype)) continue;
        const auto item = static_cast<std::size_t>(itemsize(dtype));
        constexpr std::size_t n = 300;
        std::vector<double> seeds(n);
        std::mt19937 random(7);
        for (double& e : seeds) {
          e = dtype == DType::bool_ ? static_cast<double>(random() % 2) : 1 + static_cast<double>(random() % 5) / 4;
        }
        std::vector<std::byte> x(n * item), scanned(n * item), step(item), fold(item), scan(item);
        void* out[] = {x.data()};
        const void* in[] = {seeds.data()};
        table.cast[static_cast<int>(DType::float64)][t](out, in, n);
        std::memcpy(step.data(), x.data(), item);
        fold = scan = step;
        table.fold[o][t](fold.data(), x.data() + item, n - 1);
        table.scan[o][t](scan.data(), x.data() + item, scanned.data(), n - 1);
        const bool inexact = is_inexact(dtype) && (info(op).ulp > 0 || op == Op::multiply || op == Op::add);
        for (std::size_t i = 1; i < n; ++i) {
          void* r[] = {step.data()};
          const void* operands[] = {step.data(), x.data() + i * item};
          table.op[o][t](r, operands, 1);
          if (inexact) continue;
          ASSERT_EQ(std::memcmp(step.data(), scanned.data() + (i - 1) * item, item), 0)
              << info(op).name << " " << name(dtype) << " " << table.isa << " " << i;
        }
        ASSERT_EQ(std::memcmp(scan.data(), scanned.data() + (n - 2) * item, item), 0)
            << info(op).name << " " << name(dtype);
        const bool same = std::memcmp(step.data(), fold.data(), item) == 0;
        ASSERT_TRUE(inexact || same) << info(op).name << " " << name(dtype) << " " << table.isa;
      }
    }
  }
}

TEST(Folds, ProductsAndRunningSums) {
  std::vector<double> x(1000);
  std::mt19937 random(2);
  for (double& e : x) e = 0.5 + static_cast<double>(random() % 1000) / 1000;
  for (const Kernels& table : tables()) {
    double product = 1, sum = 0.5;
    long double want = 1;
    std::vector<double> sums(x.size());
    table.fold[static_cast<int>(Op::multiply)][static_cast<int>(DType::float64)](&product, x.data(), 1000);
    table.scan[static_cast<int>(Op::add)][static_cast<int>(DType::float64)](&sum, x.data(), sums.data(), 1000);
    double running = 0.5;
    for (std::size_t i = 0; i < x.size(); ++i) {
      want *= x[i];
      EXPECT_EQ(sums[i], running += x[i]);
    }
    EXPECT_EQ(sum, running);
    EXPECT_NEAR(product / static_cast<double>(want), 1, 1e-13) << table.isa;
  }
}

// The rows that run on halves themselves.
TEST(Halves, NeighboursAndSpacing) {
  const auto x = all_halves();
  const std::vector<half> up(65536, half{0x7c00});
  for (const Kernels& table : tables()) {
    std::vector<half> next(65536), gap(65536);
    void* out[] = {next.data()};
    const void* in[] = {x.data(), up.data()};
    constexpr int t = static_cast<int>(DType::float16);
    table.op[static_cast<int>(Op::nextafter)][t](out, in, 65536);
    out[0] = gap.data();
    table.op[static_cast<int>(Op::spacing)][t](out, in, 65536);
    for (unsigned i = 0; i < 0x7c00; ++i) {
      ASSERT_EQ(next[i].bits, i + 1);
      ASSERT_EQ(next[0x8000 + i].bits, i == 0 ? 1 : 0x8000 + i - 1);
      const double want = i == 0x7bff ? HUGE_VAL : value({static_cast<std::uint16_t>(i + 1)}) - value(x[i]);
      ASSERT_EQ(value(gap[i]), want) << i;
    }
    half acc{0x3c00};  // folded: towards one neighbour after the other
    const half towards[] = {{0x4000}, {0x4000}, {0}};
    table.fold[static_cast<int>(Op::nextafter)][t](&acc, towards, 3);
    EXPECT_EQ(acc.bits, 0x3c01);
  }
}

TEST(Stream, CopiesAnyBytes) {
  std::vector<std::byte> from(5000);
  std::mt19937 random(1);
  for (std::byte& b : from) b = static_cast<std::byte>(random());
  for (const Kernels& table : tables()) {
    for (std::size_t offset : {0U, 1U, 8U, 63U, 64U, 70U}) {
      for (std::size_t n : {0U, 1U, 5U, 63U, 64U, 65U, 127U, 128U, 200U, 4000U}) {
        std::vector<std::byte> to(5000, std::byte{0x5a});
        const std::vector<std::byte> blank = to;
        table.stream(to.data() + offset, from.data() + offset / 2, static_cast<std::int64_t>(n));
        EXPECT_EQ(std::memcmp(to.data() + offset, from.data() + offset / 2, n), 0)
            << table.isa << " " << offset << " " << n;
        EXPECT_EQ(std::memcmp(to.data(), blank.data(), offset), 0);
        EXPECT_EQ(std::memcmp(to.data() + offset + n, blank.data(), 5000 - offset - n), 0);
      }
    }
  }
}

}  // namespace
}  // namespace galop::cpu
