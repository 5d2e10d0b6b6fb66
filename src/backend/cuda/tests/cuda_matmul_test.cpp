// Products on the GPU: integers, bool and float16 with the CPU's bits, the rest within the bound of their sums.
#include <algorithm>
#include <cmath>
#include <complex>

#include "backend/cuda/matmul.hpp"
#include "flagged_plans.hpp"
#include "library.hpp"

namespace galop::cuda::test {
namespace {

// Strides in items.
struct Place {
  std::int64_t row, col;
  Dims batch;
  std::int64_t shift = 0;  // bytes from an aligned address
};

class CudaMatmul : public CudaLibrary {
 protected:
  static Blas& blas() {
    static auto* b = new Blas;  // as the executor: never destroyed
    return *b;
  }

  static std::int64_t room(const Place& p, std::int64_t rows, std::int64_t cols, const Dims& batch) {
    std::int64_t n = 1 + std::max<std::int64_t>(rows - 1, 0) * p.row + std::max<std::int64_t>(cols - 1, 0) * p.col;
    for (int i = 0; i < batch.size(); ++i) n += (batch[i] - 1) * p.batch[i];
    return n;
  }
  static Dims in_bytes(Dims strides, std::int64_t item) {
    for (std::int64_t& s : strides) s *= item;
    return strides;
  }
  // Small numbers, so that float16 stays finite.
  std::vector<char> small(DType t, std::int64_t n) {
    if (t != DType::float16) return values(t, n, random_, true);
    std::vector<char> v(static_cast<std::size_t>(2 * n));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto h = static_cast<std::uint16_t>((random_() & 0x83ff) | (12 + random_() % 4) << 10);
      std::memcpy(v.data() + 2 * i, &h, 2);
    }
    return v;
  }

  void check(DType t, std::int64_t m, std::int64_t n, std::int64_t k, const Place& a, const Place& b, const Place& c,
             const Dims& batch = {}) {
    const std::int64_t item = itemsize(t);
    const std::vector<char> x = small(t, room(a, m, k, batch)), y = small(t, room(b, k, n, batch));
    std::vector<char> z(static_cast<std::size_t>(room(c, m, n, batch) * item), 7);
    const auto product = [&](const void* pa, const void* pb, void* pc) {
      Product p{t,
                {const_cast<void*>(pa), m, k, a.row * item, a.col * item},
                {const_cast<void*>(pb), k, n, b.row * item, b.col * item},
                {pc, m, n, c.row * item, c.col * item}};
      p.batch = batch;
      p.a_batch = in_bytes(a.batch, item);
      p.b_batch = in_bytes(b.batch, item);
      p.c_batch = in_bytes(c.batch, item);
      return p;
    };
    char* pz = put(z, c.shift);
    const Product there = product(put(x, a.shift), put(y, b.shift), pz);
    matmul(*gpu_, blas(), there);
    const std::vector<char> first = get(pz, static_cast<std::int64_t>(z.size()));
    matmul(*gpu_, blas(), there);
    const std::vector<char> second = get(pz, static_cast<std::int64_t>(z.size()));
    const std::string what = std::string(name(t)) + " " + to_string(Dims{m, k}) + " by " + to_string(Dims{k, n}) +
                             " in " + to_string(batch) + ", strides " + to_string(Dims{a.row, a.col}) + " " +
                             to_string(Dims{b.row, b.col}) + " " + to_string(Dims{c.row, c.col});
    EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size()), 0) << "not the same bits twice: " << what;
    cpu_backend().matmul(product(x.data(), y.data(), z.data()));
    if (!is_inexact(t) || t == DType::float16) return expect_same(t, z, first, what);
    const DType part = is_complex(t) ? real_dtype(t) : t;
    const std::int64_t size = itemsize(part);
    const long double bound =
        std::ldexp(1.0L, size == 4 ? -23 : -52) * 9 * static_cast<long double>(2 * k + 4);  // values up to 3
    for (std::int64_t i = 0; i * size < static_cast<std::int64_t>(z.size()); ++i) {
      const char *e = z.data() + i * size, *g = first.data() + i * size;
      if (std::memcmp(e, g, static_cast<std::size_t>(size)) == 0) continue;
      ASSERT_LE(std::fabs(to_real(part, e) - to_real(part, g)), bound)
          << what << ": part " << i << " is " << show(part, g) << ", expected " << show(part, e);
    }
  }
  static Place rows(std::int64_t cols, Dims batch = {}) { return {cols, 1, std::move(batch)}; }
  static Place columns(std::int64_t rows, Dims batch = {}) { return {1, rows, std::move(batch)}; }

  std::mt19937_64 random_{3};
};

constexpr DType kAll[] = {DType::bool_,   DType::int8,    DType::int16,     DType::int32,     DType::int64,
                          DType::uint8,   DType::uint16,  DType::uint32,    DType::uint64,    DType::float16,
                          DType::float32, DType::float64, DType::complex64, DType::complex128};

TEST_F(CudaMatmul, EveryDTypeAndOrder) {
  for (const DType t : kAll)
    for (const auto& [m, n, k] : {std::tuple{5, 7, 9}, {64, 64, 16}, {65, 3, 17}, {1, 70, 33}, {70, 1, 5}, {1, 1, 40}})
      for (int order = 0; order < 8; ++order)
        check(t, m, n, k, order & 1 ? columns(m) : rows(k), order & 2 ? columns(k) : rows(n),
              order & 4 ? columns(m) : rows(n));
}

TEST_F(CudaMatmul, StridedAndUnaligned) {
  for (const DType t : {DType::int16, DType::float16, DType::float32, DType::complex128}) {
    check(t, 20, 30, 10, {13, 1, {}}, {40, 1, {}}, {31, 1, {}});  // rows apart
    check(t, 20, 30, 10, {26, 2, {}}, {1, 12, {}}, {64, 2, {}});  // every second column
    check(t, 20, 30, 10, {0, 1, {}}, {1, 0, {}}, rows(30));       // repeated rows and columns
    Place shifted = rows(10), result = rows(30);
    shifted.shift = 1;
    result.shift = 1;
    check(t, 20, 30, 10, shifted, rows(30), result);
    shifted.shift = itemsize(t) == 16 ? 8 : itemsize(t);
    check(t, 20, 30, 10, shifted, rows(30), rows(30));
  }
}

TEST_F(CudaMatmul, Stacks) {
  for (const DType t : {DType::uint8, DType::float16, DType::float32, DType::float64, DType::complex64}) {
    check(t, 6, 8, 5, rows(5, {30}), rows(8, {40}), rows(8, {48}), {4});
    check(t, 6, 8, 5, rows(5, {30}), rows(8, {0}), rows(8, {48}), {4});     // one b for all
    check(t, 6, 8, 5, rows(5, {0}), columns(5, {40}), rows(8, {48}), {4});  // one a for all
    check(t, 6, 8, 5, rows(5, {0, 30}), rows(8, {40, 0}), rows(8, {144, 48}), {2, 3});
    check(t, 6, 8, 5, columns(6, {90, 30}), rows(8, {120, 40}), columns(6, {150, 50}), {2, 3});
    check(t, 3, 4, 2, rows(2, {400, 100, 50, 20, 7}), rows(4, {0, 16, 0, 8, 0}), rows(4, {960, 320, 80, 24, 12}),
          {2, 3, 4, 3, 2});
    check(t, 3, 4, 2, {20, 10, {1}}, rows(4, {8}), {20, 5, {1}}, {5});  // the stack innermost
  }
}

TEST_F(CudaMatmul, NoDepthGivesZerosAndNoSizeNothing) {
  for (const DType t : {DType::int32, DType::float32, DType::complex128}) {
    check(t, 5, 6, 0, {1, 1, {}}, {6, 1, {}}, rows(6));
    check(t, 5, 6, 0, {1, 1, {0}}, {6, 1, {0}}, {12, 2, {60}}, {3});
    check(t, 0, 6, 3, rows(3), rows(6), rows(6));
  }
}

TEST_F(CudaMatmul, LargerThanTiles) {
  check(DType::float32, 300, 200, 500, rows(500), columns(500), rows(200));
  check(DType::float64, 257, 129, 300, columns(257), rows(129), columns(257));
  check(DType::int64, 130, 70, 200, rows(200), columns(200), rows(70));
}

TEST_F(CudaMatmul, FullPrecisionUnlessTf32IsAsked) {
  // 1 + 2^-12 is not a number of TF32: its square there is 1.
  const std::int64_t n = 256;
  const std::vector<float> x(static_cast<std::size_t>(n * n), 1 + 0x1p-12F);
  char *a = put(x), *b = put(x), *c = take(n * n * 4);
  Product p{DType::float32, {a, n, n, n * 4, 4}, {b, n, n, n * 4, 4}, {c, n, n, n * 4, 4}};
  matmul(*gpu_, blas(), p);
  for (const float v : get<float>(c, n * n)) ASSERT_NEAR(v, 256 * (1 + 0x1p-12) * (1 + 0x1p-12), 1e-3);
  p.tf32 = true;
  matmul(*gpu_, blas(), p);
  for (const float v : get<float>(c, n * n)) ASSERT_NEAR(v, 256, 0.6);
}

TEST_F(CudaMatmul, FlagsAreTheCpus) {
  int flagged = 0;
  for (const DType t : {DType::float16, DType::float32, DType::float64, DType::complex64, DType::complex128})
    for (const double special : {0.0, std::nan(""), HUGE_VAL, -1.0})  // 0: none; -1: the largest number
      for (const bool left : {true, false})
        for (const auto& [m, n, k] : {std::tuple{5, 7, 9}, {130, 70, 33}, {1, 200, 3}})
          for (const std::int64_t stack : {1, 3})
            for (const bool turned : {false, true}) {
              const DType part = is_complex(t) ? real_dtype(t) : t;
              const std::int64_t item = itemsize(t), size = itemsize(part);
              std::vector<char> x = small(t, m * k * stack), y = small(t, k * n * stack);
              std::vector<char> z(static_cast<std::size_t>(m * n * stack * item));
              std::vector<char>& changed = left ? x : y;
              char* const at = changed.data() + static_cast<std::int64_t>(random_() % (changed.size() / item)) * item;
              const double number = special != -1.0 ? special
                                    : size == 2     ? 65504.0
                                    : size == 4     ? 3.4028234663852886e38
                                                    : 1.7976931348623157e308;
              if (special != 0.0) {
                if (size == 2) {
                  const std::uint16_t half = std::isnan(number) ? 0x7e00 : std::isinf(number) ? 0x7c00 : 0x7bff;
                  std::memcpy(at, &half, 2);
                } else if (size == 4) {
                  const auto single = static_cast<float>(number);
                  std::memcpy(at, &single, 4);
                } else {
                  std::memcpy(at, &number, 8);
                }
              }
              const auto product = [&](const void* a, const void* b, void* c) {
                Product p{t,
                          {const_cast<void*>(a), m, k, turned ? item : k * item, turned ? m * item : item},
                          {const_cast<void*>(b), k, n, turned ? item : n * item, turned ? k * item : item},
                          {c, m, n, n * item, item}};
                p.batch = {stack};
                p.a_batch = {m * k * item};
                p.b_batch = {k * n * item};
                p.c_batch = {m * n * item};
                p.where = "dot";
                p.policy = kWarnDefault;
                return p;
              };
              matmul(*gpu_, blas(), product(put(x), put(y), put(z)));
              gpu_->synchronize();
              int got = 0;
              for (const faults::Fault& f : gpu_->faults().heard()) {
                EXPECT_EQ(f.where, "dot");
                got |= f.flags;
              }
              static_cast<void>(cpu_backend().take_faults());
              cpu_backend().matmul(product(x.data(), y.data(), z.data()));
              const int want = cpu_backend().take_faults() & faults::watched(kWarnDefault);
              // Which parts of a complex infinity are NaN is the library's affair.
              const int told = is_complex(t) ? faults::kOverflow : faults::kOverflow | faults::kInvalid;
              EXPECT_EQ(got & told, want & told) << name(t) << " " << number << (left ? " left" : " right") << ", " << m
                                                 << " " << n << " " << k << ", " << stack << (turned ? ", turned" : "");
              flagged += want != 0;
            }
  EXPECT_GT(flagged, 50);
}

}  // namespace
}  // namespace galop::cuda::test
