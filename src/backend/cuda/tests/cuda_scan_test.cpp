// Running folds on the GPU: the CPU's bits where the order cannot show or is kept, a bound elsewhere.
#include <algorithm>
#include <cmath>

#include "galop/error.hpp"
#include "library.hpp"

namespace galop::cuda::test {
namespace {

struct Layout {
  Dims shape, in_strides, out_strides;  // strides in items
};

class CudaScan : public CudaLibrary {
 protected:
  static bool in_tree(Op op, DType t) {
    return is_inexact(t) && t != DType::float16 &&
           (op == Op::add || op == Op::multiply || op == Op::logaddexp || op == Op::logaddexp2 || op == Op::hypot);
  }

  // The operation on both; `room` items on each side.
  void both(Op op, DType t, const Layout& l, const std::vector<char>& in, std::vector<char>& cpu,
            std::vector<char>& gpu, std::int64_t shift = 0) {
    const std::int64_t item = itemsize(t);
    Dims from = l.in_strides, to = l.out_strides;
    std::int64_t last = 0;
    for (int k = 0; k < from.size(); ++k) {
      from[k] *= item;
      to[k] *= item;
      last += (l.shape[k] - 1) * l.out_strides[k];
    }
    cpu.assign(static_cast<std::size_t>((last + 1) * item), 0);
    cpu_backend().scan(op, t, l.shape, in.data(), from, cpu.data(), to);
    char* x = put(in, shift);
    char* y = put(std::vector<char>(cpu.size(), 0));
    scan(*gpu_, op, t, l.shape, x, from, y, to);
    gpu = get(y, static_cast<std::int64_t>(cpu.size()));
    std::vector<char> again(cpu.size());
    gpu_->fill_bytes(y, 0, static_cast<std::int64_t>(cpu.size()));
    scan(*gpu_, op, t, l.shape, x, from, y, to);
    again = get(y, static_cast<std::int64_t>(cpu.size()));
    EXPECT_EQ(std::memcmp(gpu.data(), again.data(), gpu.size()), 0)
        << "not the same bits twice: " << info(op).name << " " << name(t) << " " << to_string(l.shape);
  }

  static Layout dense(const Dims& shape) {
    const Dims s = c_strides(shape, 1);
    return {shape, s, s};
  }
  static std::int64_t room(const Layout& l) {
    std::int64_t n = 1;
    for (int k = 0; k < l.shape.size(); ++k) n += (l.shape[k] - 1) * l.in_strides[k];
    return n;
  }
  std::mt19937_64 random_{42};
};

TEST_F(CudaScan, EveryRowHasTheCpusBits) {
  for (int o = 0; o < kTableOps; ++o) {
    const Op op = static_cast<Op>(o);
    const OpInfo& row = info(op);
    if (row.nin != 2 || row.nout != 1 || row.int_second || row.ulp > 0) continue;
    for (const char c : row.types) {
      if (c == '!') continue;
      const DType t = of_code(c);
      if (result_dtype(op, 0, t) != t || in_tree(op, t)) continue;
      // Few kernels, since each is compiled: 8 threads a line, or one; tiles have tests of their own.
      for (const Dims& shape : {Dims{20, 5}, Dims{1}, Dims{1000}}) {
        if (shape[0] == 1000 && row.identity != Identity::ORDERED) continue;
        const Layout l = dense(shape);
        std::vector<char> cpu, gpu;
        both(op, t, l, values(t, room(l), random_), cpu, gpu);
        expect_same(t, cpu, gpu, std::string(row.name) + " " + std::string(name(t)) + " " + to_string(shape));
      }
    }
  }
}

TEST_F(CudaScan, TilesOfEveryItemSize) {
  for (const auto& [op, t] : {std::pair{Op::add, DType::uint8},
                              {Op::maximum, DType::int16},
                              {Op::add, DType::int32},
                              {Op::add, DType::int64},
                              {Op::minimum, DType::float32},
                              {Op::fmax, DType::float64},
                              {Op::maximum, DType::complex128},
                              {Op::logical_xor, DType::bool_},
                              {Op::maximum, DType::float16},
                              {Op::fmin, DType::complex64}}) {
    for (const std::int64_t n : {1025, 2047, 2048, 2049, 4096, 4097, 8191, 8192, 8193, 20000}) {
      const Layout l = dense({n});
      std::vector<char> cpu, gpu;
      both(op, t, l, values(t, n, random_), cpu, gpu);
      expect_same(t, cpu, gpu, std::string(info(op).name) + " " + std::string(name(t)) + " " + std::to_string(n));
    }
  }
}

TEST_F(CudaScan, GroupsOfTiles) {
  // 128 tiles make a group, 32 groups a section; several tiles a block.
  for (const std::int64_t n : {128 * 4096 - 1, 128 * 4096, 128 * 4096 + 1, 300 * 4096 + 77, 3000 * 4096 + 5,
                               32 * 128 * 4096, 67 * 128 * 4096 + 9}) {
    const Layout l = dense({n});
    std::vector<char> cpu, gpu;
    both(Op::add, DType::int64, l, values(DType::int64, n, random_), cpu, gpu);
    expect_same(DType::int64, cpu, gpu, "add int64 " + std::to_string(n));
  }
  for (const Layout& l : {dense({2, 128 * 4096 + 9}), dense({5, 300 * 4096 + 1})}) {
    std::vector<char> cpu, gpu;
    both(Op::add, DType::uint64, l, values(DType::uint64, room(l), random_), cpu, gpu);
    expect_same(DType::uint64, cpu, gpu, "add uint64, long lines " + to_string(l.shape));
  }
}

// The tree of a float64 line's sums, as scan.cuh says it.
std::vector<double> sums_by_tree(const std::vector<double>& in) {
  constexpr std::int64_t kRow = 64, kWarp = 8 * kRow, kTile = 8 * kWarp;
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<double> out(in.size()), folds, groups;  // of the tiles of a group, of the groups of a section
  double sections = 0;
  bool has_sections = false;
  const auto of_lanes = [](std::vector<double> part) {
    for (std::size_t d = 1; d < 32; d *= 2)
      for (std::size_t l = 0; l + d < part.size(); ++l) part[l] += part[l + d];
    return part[0];
  };
  for (std::int64_t first = 0; first < n; first += kTile) {
    const auto at = [&](std::int64_t i) { return i < n ? in[static_cast<std::size_t>(i)] : 0.0; };
    double left[64][32], total[64], warps[8];
    for (int row = 0; row < 64; ++row) {
      double lanes[32];
      for (int l = 0; l < 32; ++l) lanes[l] = at(first + row * kRow + 2 * l) + at(first + row * kRow + 2 * l + 1);
      for (int d = 1; d < 32; d *= 2)
        for (int l = 31; l >= d; --l) lanes[l] = lanes[l - d] + lanes[l];
      total[row] = lanes[31];
      for (int l = 1; l < 32; ++l) left[row][l] = lanes[l - 1];
      warps[row / 8] = row % 8 == 0 ? total[row] : warps[row / 8] + total[row];
    }
    double own = warps[0];
    for (int w = 1; w < 8; ++w) own += warps[w];
    // The tiles before it in the group, 32 at a time.
    double x = 0;
    bool has = false;
    for (std::size_t w = 0; w < folds.size(); w += 32) {
      const double part = of_lanes({folds.begin() + static_cast<std::ptrdiff_t>(w),
                                    folds.begin() + static_cast<std::ptrdiff_t>(std::min(folds.size(), w + 32))});
      x = has ? x + part : part;
      has = true;
    }
    const double group = x + own;
    if (!groups.empty()) {
      x = has ? of_lanes(groups) + x : of_lanes(groups);
      has = true;
    }
    if (has_sections) {
      x = has ? sections + x : sections;
      has = true;
    }
    folds.push_back(own);
    if (folds.size() == 128) {
      groups.push_back(group);
      folds.clear();
    }
    if (groups.size() == 32) {
      sections = x + own;
      has_sections = true;
      groups.clear();
    }
    for (int w = 0; w < 8; ++w) {
      double y = x;
      bool any = has;
      for (int k = 0; k < w; ++k) y = any ? y + warps[k] : warps[k], any = true;
      for (int row = 8 * w; row < 8 * w + 8; ++row) {
        for (int l = 0; l < 32; ++l) {
          const std::int64_t i = first + row * kRow + 2 * l;
          double one = at(i), two = at(i) + at(i + 1);
          if (any || l > 0) {
            const double before = !any ? left[row][l] : l > 0 ? y + left[row][l] : y;
            one = before + one;
            two = before + two;
          }
          if (i < n) out[static_cast<std::size_t>(i)] = one;
          if (i + 1 < n) out[static_cast<std::size_t>(i + 1)] = two;
        }
        y = any ? y + total[row] : total[row];
        any = true;
      }
    }
  }
  return out;
}

TEST_F(CudaScan, TheTreeDependsOnTheSizeAlone) {
  for (const std::int64_t n : {1500, 4096, 4097, 40 * 4096, 129 * 4096 + 1, 1300 * 4096 + 33, 8300 * 4096 + 3}) {
    std::vector<double> in(static_cast<std::size_t>(n)), got(in.size());
    for (double& x : in) x = std::ldexp(static_cast<double>(random_() >> 11), -53);
    const std::vector<double> expected = sums_by_tree(in);
    char* p = put(in);
    for (int run = 0; run < 3; ++run) {
      char* out = take(8 * n);
      scan(*gpu_, Op::add, DType::float64, {n}, p, {8}, out, {8});
      got = get<double>(out, n);
      for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(got[i], expected[i]) << "element " << i << " of " << n << ", run " << run;
    }
  }
}

TEST_F(CudaScan, LayoutsOfLines) {
  // Few kernels, since each is compiled; other item sizes have tests of their own.
  const std::vector<Layout> layouts = {
      {{5000}, {3}, {1}},                             // strided, several tiles
      {{40, 700}, {1, 40}, {1, 40}},                  // side by side: in pieces
      {{100, 30}, {1, 100}, {1, 100}},                // side by side, short
      {{9, 6000}, {1, 9}, {6000, 1}},                 // side by side into rows
      {{4, 5, 600}, {3000, 600, 1}, {3000, 600, 1}},  // warps
      {{300, 17}, {17, 1}, {17, 1}},
      {{6, 7, 50}, {50, 300, 1}, {350, 50, 1}},    // lines in another order
      {{3, 5, 1100}, {5500, 1, 5}, {5500, 1, 5}},  // a middle axis
      {{2, 2, 2, 2, 2, 40}, {2000, 900, 400, 180, 80, 1}, {1280, 640, 320, 160, 80, 2}},
  };
  for (const Layout& l : layouts)
    for (const auto& [op, t] : {std::pair{Op::add, DType::int64}, {Op::subtract, DType::float64}}) {
      std::vector<char> cpu, gpu;
      both(op, t, l, values(t, room(l), random_), cpu, gpu);
      expect_same(t, cpu, gpu,
                  std::string(info(op).name) + " " + std::string(name(t)) + " " + to_string(l.shape) + " strides " +
                      to_string(l.in_strides));
    }
}

TEST_F(CudaScan, UnalignedMemory) {
  for (const std::int64_t n : {50, 3000}) {
    const Layout l = dense({n});
    std::vector<char> cpu, gpu;
    both(Op::add, DType::int32, l, values(DType::int32, n, random_), cpu, gpu, 1);
    expect_same(DType::int32, cpu, gpu, "one byte off, " + std::to_string(n));
    both(Op::add, DType::int32, l, values(DType::int32, n, random_), cpu, gpu, 4);
    expect_same(DType::int32, cpu, gpu, "one item off, " + std::to_string(n));
  }
}

TEST_F(CudaScan, SumsOfFloatsWithinABound) {
  for (const DType t : {DType::float32, DType::float64})
    for (const Layout& l : {dense({7}), dense({1000}), dense({5000}), dense({600000}), dense({70, 900}),
                            Layout{{50, 400}, {1, 50}, {1, 50}}, Layout{{6000}, {2}, {1}}}) {
      const std::vector<char> in = values(t, room(l), random_, true);
      std::vector<char> cpu, gpu;
      both(Op::add, t, l, in, cpu, gpu);
      const int last = l.shape.size() - 1;
      const std::int64_t lines = last ? l.shape[0] : 1, item = itemsize(t);
      const long double unit = std::ldexp(1.0L, t == DType::float32 ? -24 : -53);
      bool good = true;
      for (std::int64_t line = 0; line < lines && good; ++line) {
        long double sum = 0, size = 0;
        for (std::int64_t i = 0; i < l.shape[last] && good; ++i) {
          const std::int64_t from = (last ? line * l.in_strides[0] : 0) + i * l.in_strides[last];
          const std::int64_t to = (last ? line * l.out_strides[0] : 0) + i * l.out_strides[last];
          const long double x = to_real(t, in.data() + from * item), y = to_real(t, gpu.data() + to * item);
          sum += x;
          size += std::fabs(x);
          good = std::fabs(y - sum) <= 64 * unit * size;
          EXPECT_TRUE(good) << name(t) << " " << to_string(l.shape) << " line " << line << " element " << i << " is "
                            << static_cast<double>(y) << ", expected " << static_cast<double>(sum);
        }
      }
    }
}

TEST_F(CudaScan, OtherTreesNearTheCpu) {
  for (const Op op : {Op::add, Op::multiply, Op::logaddexp, Op::logaddexp2, Op::hypot})
    for (const DType t : {DType::float32, DType::float64, DType::complex64, DType::complex128}) {
      if (info(op).types.find(typecode(t)) == std::string_view::npos) continue;
      for (const std::int64_t n : {40, 3000, 9000}) {
        std::vector<char> in = values(t, n, random_, true);
        if (op == Op::multiply) {  // near 1, so that nothing overflows
          for (std::int64_t i = 0; i < n * (is_complex(t) ? 2 : 1); ++i) {
            const double v = is_complex(t) && i % 2 ? 1e-4 : 1 + 1e-4 * static_cast<double>(i % 7 - 3);
            const auto f = static_cast<float>(v);
            if (itemsize(real_dtype(t)) == 4)
              std::memcpy(in.data() + i * 4, &f, 4);
            else
              std::memcpy(in.data() + i * 8, &v, 8);
          }
        }
        std::vector<char> cpu, gpu;
        both(op, t, dense({n}), in, cpu, gpu);
        const DType part = is_complex(t) ? real_dtype(t) : t;
        const std::int64_t item = itemsize(part);
        const long double unit = std::ldexp(1.0L, item == 4 ? -23 : -52);
        for (std::int64_t i = 0; i * item < static_cast<std::int64_t>(cpu.size()); ++i) {
          const long double a = to_real(part, cpu.data() + i * item), b = to_real(part, gpu.data() + i * item);
          // The CPU's own error grows with the length.
          ASSERT_LE(std::fabs(a - b), unit * static_cast<long double>(4 * n) * std::max(3.0L, std::fabs(a)))
              << info(op).name << " " << name(t) << " element " << i;
        }
      }
    }
}

TEST_F(CudaScan, NothingToDoAndNoSuchFold) {
  char* p = take(64);
  scan(*gpu_, Op::add, DType::float64, {0}, p, {8}, p, {8});
  scan(*gpu_, Op::add, DType::float64, {0, 3}, p, {24, 8}, p, {24, 8});
  EXPECT_THROW(scan(*gpu_, Op::less, DType::float64, {3}, p, {8}, p, {8}), Error);
  EXPECT_THROW(scan(*gpu_, Op::bitwise_and, DType::float64, {3}, p, {8}, p, {8}), Error);
}

TEST_F(CudaScan, MoreThan2To31Elements) {
  const std::int64_t n = (std::int64_t{1} << 31) + 12345;
  char *in = nullptr, *out = nullptr;
  try {
    in = take(n);
    out = take(n);
  } catch (const MemoryError& e) {
    GTEST_SKIP() << e.what();
  }
  gpu_->fill_bytes(in, 1, n);
  scan(*gpu_, Op::add, DType::uint8, {n}, in, {1}, out, {1});
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1} << 20, (std::int64_t{1} << 31) + 7, n - 300}) {
    const std::vector<unsigned char> v = get<unsigned char>(out + i, 300);
    for (std::int64_t k = 0; k < 300; ++k)
      ASSERT_EQ(v[static_cast<std::size_t>(k)], static_cast<unsigned char>(i + k + 1)) << "element " << i + k;
  }
}

}  // namespace
}  // namespace galop::cuda::test
