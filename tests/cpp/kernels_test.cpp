// Every row of ops.def × dtype × instruction set against references written out, and what all kernels promise: tails,
// work in place, unaligned memory.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/shards.hpp"
#include "kernels_reference.hpp"

namespace galop::cpu {
namespace {

using reference::is_complex_v;
using reference::Real;

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

bool has_loop(Op op, DType t) { return info(op).types.find(typecode(t)) != std::string_view::npos; }

// Ordinary values, edges of the type, and values where formulas change.
template <class T>
std::vector<T> samples(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> r;
  if constexpr (std::is_same_v<T, bool>) {
    for (std::size_t i = 0; i < n; ++i) r.push_back(random() % 2 != 0);
  } else if constexpr (is_complex_v<T>) {
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < n; ++i) {
      r.emplace_back(static_cast<typename T::value_type>(normal(random)),
                     static_cast<typename T::value_type>(normal(random)));
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    for (T v : {T(0),
                T(1),
                T(2),
                T(0.5),
                T(1.5),
                T(2.5),
                T(3),
                T(10),
                T(100),
                T(1e10),
                T(1e-10),
                Limits::max(),
                Limits::min(),
                Limits::denorm_min(),
                Limits::min() / 3,
                Limits::epsilon(),
                Limits::infinity(),
                Limits::quiet_NaN(),
                T(88.5),
                T(709.5),
                T(104),
                T(745),
                T(3.14159265358979),
                T(1) - Limits::epsilon() / 2,
                T(1) + Limits::epsilon()}) {
      r.push_back(v);
      r.push_back(-v);
    }
    std::normal_distribution<T> normal;
    while (r.size() < n) {
      const T g = normal(random);
      switch (r.size() % 4) {
        case 0:
          r.push_back(g);
          break;
        case 1:
          r.push_back(g * 100);
          break;
        case 2:
          r.push_back(std::ldexp(g, static_cast<int>(random() % (Limits::max_exponent * 2)) - Limits::max_exponent));
          break;
        default:
          r.push_back(std::nearbyint(g * 10));
      }
    }
  } else {
    using Limits = std::numeric_limits<T>;
    for (int v : {0, 1, 2, 3, 7, 8, 31, 63, 100}) r.push_back(static_cast<T>(v));
    for (int v : {1, 2, 3, 8, 100}) r.push_back(static_cast<T>(-v));
    for (T v : {Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1), static_cast<T>(Limits::min() + 1)})
      r.push_back(v);
    while (r.size() < n) r.push_back(static_cast<T>(static_cast<std::int64_t>(random()) >> (random() % 64)));
  }
  r.resize(n);
  return r;
}

// Plain memory: std::vector<bool> has none.
template <class T>
struct Buffer {
  explicit Buffer(std::size_t n) : bytes(n * sizeof(T), std::byte{0x5a}) {}
  explicit Buffer(const std::vector<T>& values) : bytes(values.size() * sizeof(T)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T v = values[i];
      std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
    }
  }
  T operator[](std::size_t i) const {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    return v;
  }
  std::vector<std::byte> bytes;
};

// clang-format off
Real element(const std::byte* p, DType t, std::size_t i) {
  const auto read = [&]<class T>(T v) {
    std::memcpy(&v, p + i * sizeof(T), sizeof(T));
    return static_cast<Real>(v);
  };
  switch (t) {
    case DType::bool_: case DType::uint8: return read(std::uint8_t{});
    case DType::int8: return read(std::int8_t{});
    case DType::int16: return read(std::int16_t{});
    case DType::uint16: return read(std::uint16_t{});
    case DType::int32: return read(std::int32_t{});
    case DType::uint32: return read(std::uint32_t{});
    case DType::int64: return read(std::int64_t{});
    case DType::uint64: return read(std::uint64_t{});
    case DType::float32: return read(float{});
    default: return read(double{});
  }
}

// clang-format on

// Distance of `got` from `want` in units of the last place of a float dtype; a wrong special value is infinitely
// far.
Real distance(Real got, Real want, DType t) {
  const Real inf = std::numeric_limits<Real>::infinity();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : inf;
  const int digits = t == DType::float32 ? 24 : 53;
  const int least = t == DType::float32 ? -149 : -1074;
  const int top = t == DType::float32 ? 128 : 1024;
  if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : inf;
  if (std::fabs(want) >= std::ldexp(1 - std::ldexp(Real(1), -digits - 1), top))
    want = std::copysign(inf, want);  // rounds to infinity
  if (std::isinf(got) && std::isinf(want)) return got == want ? 0 : inf;
  if (std::isinf(want)) want = std::copysign(std::ldexp(Real(1), top), want);
  if (std::isinf(got)) got = std::copysign(std::ldexp(Real(1), top), got);
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::fabs(got - want) / std::ldexp(Real(1), std::max(std::min(exponent, top) - digits, least));
}

struct Call {
  std::vector<std::vector<std::byte>> out;
  std::vector<const void*> in;
  std::size_t n;
  Call(Op op, DType t, std::vector<const void*> operands, std::size_t count) : in(std::move(operands)), n(count) {
    for (int k = 0; k < info(op).nout; ++k)
      out.emplace_back(n * static_cast<std::size_t>(itemsize(result_dtype(op, k, t))));
  }
  void run(Kernel kernel) {
    void* results[2] = {};
    for (std::size_t k = 0; k < out.size(); ++k) results[k] = out[k].data();
    kernel(results, in.data(), static_cast<std::int64_t>(n));
  }
};

template <class T>
Real expected(Op op, T x, T y, T z, int k) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto a = static_cast<std::uint8_t>(x), b = static_cast<std::uint8_t>(y), c = static_cast<std::uint8_t>(z);
    if (op == Op::add) return a | b;
    if (op == Op::multiply) return a & b;
    if (op == Op::invert) return a ^ 1;
    return reference::integer(op, a, b, c, k);
  } else if constexpr (std::is_integral_v<T>) {
    return reference::integer(op, x, y, z, k);
  } else {
    return reference::floating(op, x, y, z, k);
  }
}

template <class T>
void check_real(Op op, const Kernels& table) {
  constexpr DType t = dtype_of<T>;
  const std::size_t n = 3000;
  auto xs = samples<T>(n, 1), ys = samples<T>(n, 2), zs = samples<T>(n, 3);
  std::shuffle(ys.begin(), ys.end(), std::mt19937(4));
  std::shuffle(zs.begin(), zs.end(), std::mt19937(5));
  if (op == Op::power && std::is_integral_v<T>) {
    for (std::size_t i = 0; i < n; ++i) ys[i] = static_cast<T>(i % 70);
  }
  const Buffer<T> x(xs), y(ys), z(zs);
  Call call(op, t, {x.bytes.data(), y.bytes.data(), z.bytes.data()}, n);
  call.run(table.op[static_cast<int>(op)][static_cast<int>(t)]);
  int failures = 0;
  for (int k = 0; k < info(op).nout; ++k) {
    const DType result = result_dtype(op, k, t);
    for (std::size_t i = 0; i < n && failures < 3; ++i) {
      const Real got = element(call.out[static_cast<std::size_t>(k)].data(), result, i);
      Real want = expected<T>(op, x[i], y[i], z[i], k);
      const bool sum = op == Op::logaddexp || op == Op::logaddexp2;
      Real error = kind(result) == 'f' ? distance(got, want, result)
                   : got == want       ? 0
                                       : std::numeric_limits<Real>::infinity();
      // A logarithm of a sum near 1 keeps the error of its operands.
      if (sum && std::fabs(want) < 1 && want != 0) error *= std::min<Real>(1, std::fabs(want) / 2);
      if (error <= std::max(info(op).ulp, 0) + (info(op).ulp ? Real(0.01) : 0)) continue;
      ++failures;
      ADD_FAILURE() << info(op).name << "[" << k << "] " << name(t) << " " << table.isa << ": " << +x[i] << ", "
                    << +y[i] << ", " << +z[i] << " gives " << static_cast<double>(got) << ", not "
                    << static_cast<double>(want) << " (" << static_cast<double>(error) << " ulp)";
    }
  }
}

template <class Z>
void check_complex(Op op, const Kernels& table) {
  using T = typename Z::value_type;
  constexpr DType t = dtype_of<Z>;
  const std::size_t n = 1000;
  const Buffer<Z> x(samples<Z>(n, 1)), y(samples<Z>(n, 2)), z(samples<Z>(n, 3));
  Call call(op, t, {x.bytes.data(), y.bytes.data(), z.bytes.data()}, n);
  call.run(table.op[static_cast<int>(op)][static_cast<int>(t)]);
  const std::byte* out = call.out[0].data();
  const DType result = result_dtype(op, 0, t);
  int failures = 0;
  for (std::size_t i = 0; i < n && failures < 3; ++i) {
    const Z a = x[i], b = y[i], c = z[i];
    bool right = false;
    if (result == DType::bool_) {
      const bool ta = a != Z(0), tb = b != Z(0);
      const bool want = op == Op::equal           ? a == b
                        : op == Op::not_equal     ? a != b
                        : op == Op::less          ? reference::before(a, b)
                        : op == Op::less_equal    ? !reference::before(b, a)
                        : op == Op::greater       ? reference::before(b, a)
                        : op == Op::greater_equal ? !reference::before(a, b)
                        : op == Op::logical_and   ? ta && tb
                        : op == Op::logical_or    ? ta || tb
                        : op == Op::logical_xor   ? ta != tb
                        : op == Op::logical_not   ? !ta
                                                  : op == Op::isfinite;
      right = element(out, result, i) == want;
    } else if (result != t) {
      right = distance(element(out, result, i), std::hypot(Real(a.real()), Real(a.imag())), result) <= 2;
    } else {
      const std::complex<Real> got(element(out, real_dtype(t), 2 * i), element(out, real_dtype(t), 2 * i + 1));
      const Z high = reference::before(a, b) ? b : a, low = reference::before(b, a) ? b : a;
      const Z held = reference::before(c, high) ? c : high;
      const std::complex<Real> want = op == Op::maximum || op == Op::fmax   ? std::complex<Real>(high)
                                      : op == Op::minimum || op == Op::fmin ? std::complex<Real>(low)
                                      : op == Op::clip                      ? std::complex<Real>(held)
                                                                            : reference::complex(op, a, b);
      // The error of the number, not of its parts: a part near zero keeps what its formula cancels.
      right = std::abs(got - want) <= 16 * std::abs(want) * Real(std::numeric_limits<T>::epsilon());
      if (op == Op::log || op == Op::log2 || op == Op::log10 || op == Op::log1p) {
        right = std::abs(got - want) <= 16 * (1 + std::abs(want)) * Real(std::numeric_limits<T>::epsilon());
      }
    }
    if (right) continue;
    ++failures;
    ADD_FAILURE() << info(op).name << " " << name(t) << " " << table.isa << " at " << a << ", " << b << ", " << c;
  }
}

template <class F>
void for_each_dtype(F f) {
  f(bool{}), f(std::int8_t{}), f(std::int16_t{}), f(std::int32_t{}), f(std::int64_t{});
  f(std::uint8_t{}), f(std::uint16_t{}), f(std::uint32_t{}), f(std::uint64_t{});
  f(float{}), f(double{}), f(std::complex<float>{}), f(std::complex<double>{});
}

TEST(Kernels, ThereIsOneForEveryLoop) {
  for (const Kernels& table : tables()) {
    for (int o = 0; o < kOps; ++o) {
      const Op op = static_cast<Op>(o);
      if (op == Op::cast) continue;
      for_each_dtype([&]<class T>(T) {
        const int t = static_cast<int>(dtype_of<T>);
        EXPECT_EQ(table.op[o][t] != nullptr, has_loop(op, dtype_of<T>))
            << table.isa << " " << info(op).name << " " << name(dtype_of<T>);
      });
    }
    for (const auto& row : table.cast) {
      for (Kernel cast : row) EXPECT_NE(cast, nullptr) << table.isa;
    }
  }
}

TEST(Kernels, ValuesOfEveryRow) {
  for (const Kernels& table : tables()) {
    for (int o = 0; o < kTableOps; ++o) {
      const Op op = static_cast<Op>(o);
      if (op == Op::ldexp) continue;  // its second operand is of another dtype: below
      for_each_dtype([&]<class T>(T) {
        if (!has_loop(op, dtype_of<T>)) return;
        if constexpr (is_complex_v<T>)
          check_complex<T>(op, table);
        else
          check_real<T>(op, table);
      });
    }
  }
}

// The C library's functions on random bits: every exponent, every sign, NaN.
template <class T>
void check_whole_range(Op op, const Kernels& table) {
  constexpr std::size_t n = 1 << 15;
  std::mt19937_64 random(9);
  std::vector<T> x(n);
  for (T& e : x) {
    const std::uint64_t bits = random();
    std::memcpy(&e, &bits, sizeof(T));
    if (std::isnan(e)) e = std::numeric_limits<T>::quiet_NaN();
  }
  Call call(op, dtype_of<T>, {x.data(), x.data(), x.data()}, n);
  call.run(table.op[static_cast<int>(op)][static_cast<int>(dtype_of<T>)]);
  Real worst = 0;
  T at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Real got = element(call.out[0].data(), dtype_of<T>, i);
    const Real error = distance(got, reference::floating(op, x[i], x[i], x[i], 0), dtype_of<T>);
    if (error > worst) worst = error, at = x[i];
  }
  EXPECT_LE(static_cast<double>(worst), info(op).ulp)
      << info(op).name << " " << name(dtype_of<T>) << " " << table.isa << " at " << at;
}
TEST(Kernels, FunctionsOverTheWholeRange) {
  for (const Kernels& table : tables()) {
    for (int o = 0; o < kTableOps; ++o) {
      const Op op = static_cast<Op>(o);
      if (info(op).nin != 1 || info(op).ulp != 4) continue;
      if (has_loop(op, DType::float32)) check_whole_range<float>(op, table);
      if (has_loop(op, DType::float64)) check_whole_range<double>(op, table);
    }
  }
}

template <class T>
void check_ldexp(const Kernels& table) {
  const std::vector<T> x = samples<T>(600, 1);
  std::vector<std::int64_t> y(x.size());
  std::mt19937 random(2);
  for (auto& e : y) e = static_cast<std::int64_t>(random() % 2400) - 1200;
  y[0] = std::numeric_limits<std::int64_t>::min(), y[2] = std::numeric_limits<std::int64_t>::max(), y[4] = 1LL << 32,
  y[6] = -(1LL << 40);
  Call call(Op::ldexp, dtype_of<T>, {x.data(), y.data()}, x.size());
  call.run(table.op[static_cast<int>(Op::ldexp)][static_cast<int>(dtype_of<T>)]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T want = std::ldexp(x[i], static_cast<int>(std::clamp<std::int64_t>(y[i], -100000, 100000)));
    EXPECT_EQ(distance(element(call.out[0].data(), dtype_of<T>, i), want, dtype_of<T>), 0)
        << table.isa << " " << x[i] << " " << y[i];
  }
}
TEST(Kernels, LdexpClampsItsExponent) {
  for (const Kernels& table : tables()) check_ldexp<float>(table), check_ldexp<double>(table);
}

TEST(Kernels, WherePicksByMask) {
  for (const Kernels& table : tables()) {
    for_each_dtype([&]<class T>(T) {
      const Buffer<bool> mask(samples<bool>(300, 1));
      const Buffer<T> y(samples<T>(300, 2)), z(samples<T>(300, 3));
      Call call(Op::where, dtype_of<T>, {mask.bytes.data(), y.bytes.data(), z.bytes.data()}, 300);
      call.run(table.op[static_cast<int>(Op::where)][static_cast<int>(dtype_of<T>)]);
      for (std::size_t i = 0; i < 300; ++i) {
        const auto* want = (mask[i] ? y : z).bytes.data() + i * sizeof(T);
        EXPECT_EQ(std::memcmp(call.out[0].data() + i * sizeof(T), want, sizeof(T)), 0)
            << table.isa << " " << name(dtype_of<T>);
      }
    });
  }
}

// A block of any length at any address gives the bits of the same elements in a long block, and touches nothing behind
// its end.
template <class T>
void check_blocks(Op op, const Kernels& table) {
  constexpr DType t = dtype_of<T>;
  constexpr std::size_t n = 132;
  Kernel kernel = table.op[static_cast<int>(op)][static_cast<int>(t)];
  Buffer<T> operands[3] = {Buffer<T>(samples<T>(n, 1)), Buffer<T>(samples<T>(n, 2)), Buffer<T>(samples<T>(n, 3))};
  const std::vector<std::int64_t> integers(n, 3);
  const Buffer<bool> mask(samples<bool>(n, 4));
  if (op == Op::power && std::is_integral_v<T>) operands[1] = Buffer<T>(std::vector<T>(n, T(5)));
  std::size_t items[3] = {sizeof(T), sizeof(T), sizeof(T)};
  const std::byte* base[3];
  for (int k = 0; k < 3; ++k) base[k] = operands[k].bytes.data();
  if (op == Op::ldexp) base[1] = reinterpret_cast<const std::byte*>(integers.data()), items[1] = 8;
  if (op == Op::where) base[0] = mask.bytes.data(), items[0] = 1;
  Call whole(op, t, {base[0], base[1], base[2]}, n);
  whole.run(kernel);
  for (std::size_t length = 0; length <= 130; ++length) {
    const std::size_t start = length % 3;
    std::vector<std::byte> out[2];
    void* results[2] = {};
    std::size_t item[2] = {};
    for (int k = 0; k < info(op).nout; ++k) {
      item[k] = static_cast<std::size_t>(itemsize(result_dtype(op, k, t)));
      out[k].assign((length + 2) * item[k], std::byte{0x5a});
      results[k] = out[k].data() + item[k];
    }
    const void* in[3];
    for (int k = 0; k < 3; ++k) in[k] = base[k] + start * items[k];
    kernel(results, in, static_cast<std::int64_t>(length));
    for (int k = 0; k < info(op).nout; ++k) {
      const std::byte* want = whole.out[static_cast<std::size_t>(k)].data() + start * item[k];
      EXPECT_EQ(std::memcmp(results[k], want, length * item[k]), 0)
          << info(op).name << " " << name(t) << " " << table.isa << " n=" << length;
      const std::vector<std::byte> guard(item[k], std::byte{0x5a});
      EXPECT_EQ(std::memcmp(out[k].data(), guard.data(), item[k]), 0)
          << info(op).name << " " << name(t) << " " << table.isa;
      EXPECT_EQ(std::memcmp(out[k].data() + (length + 1) * item[k], guard.data(), item[k]), 0)
          << info(op).name << " " << name(t);
    }
  }
  for (int k = 0; k < info(op).nin; ++k) {  // in place of each operand of the result's size
    const std::size_t item = static_cast<std::size_t>(itemsize(result_dtype(op, 0, t)));
    if (item != items[k]) continue;
    std::vector<std::byte> shared(base[k], base[k] + n * item);
    std::vector<std::byte> second(n * 16);
    void* results[2] = {shared.data(), second.data()};
    const void* in[3] = {base[0], base[1], base[2]};
    in[k] = shared.data();
    kernel(results, in, static_cast<std::int64_t>(n));
    EXPECT_EQ(std::memcmp(shared.data(), whole.out[0].data(), n * item), 0)
        << info(op).name << " " << name(t) << " in place of " << k;
  }
}

TEST(Kernels, BlocksOfAnyLengthAndPlace) {
  for (const Kernels& table : tables()) {
    for (int o = 0; o < kOps; ++o) {
      const Op op = static_cast<Op>(o);
      if (op == Op::cast) continue;
      for_each_dtype([&]<class T>(T) {
        if (has_loop(op, dtype_of<T>)) check_blocks<T>(op, table);
      });
    }
  }
}

TEST(Kernels, TheProcessorHasOne) {
  const std::string isa = kernels().isa;
  bool known = false;
  for (const Isa& i : isas()) known |= isa == i.name && supported(i);
  EXPECT_TRUE(known) << isa;
}

}  // namespace
}  // namespace galop::cpu
