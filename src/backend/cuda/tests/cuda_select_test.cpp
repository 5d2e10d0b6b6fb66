// Masks, indices and scattered places on the GPU, against the CPU.
#include <algorithm>
#include <numeric>

#include "galop/error.hpp"
#include "library.hpp"

namespace galop::cuda::test {
namespace {

class CudaSelect : public CudaLibrary {
 protected:
  std::vector<char> mask(std::int64_t n, int per_thousand) {
    std::vector<char> m(static_cast<std::size_t>(n));
    // True is any byte but 0, as memory from outside has it.
    for (char& x : m) x = static_cast<char>(static_cast<int>(random_() % 1000) < per_thousand ? 1 + random_() % 3 : 0);
    return m;
  }
  std::mt19937_64 random_{7};
};

TEST_F(CudaSelect, CountsPositionsAndElements) {
  for (const std::int64_t n : {1, 3, 127, 128, 129, 1024, 8191, 8192, 8193, 50001})
    for (const int share : {0, 3, 500, 1000})
      for (const std::int64_t shift : {0, 1}) {
        const std::vector<char> m = mask(n, share);
        const std::string what =
            std::to_string(n) + " bools, " + std::to_string(share) + "/1000, shift " + std::to_string(shift);
        char* bits = put(m, shift);
        const std::int64_t count = count_true(*gpu_, bits, n);
        ASSERT_EQ(count, cpu_backend().count_true(m.data(), n)) << what;
        std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
        cpu_backend().positions(m.data(), n, expected.data());
        char* out = take(count * 8);
        positions(*gpu_, bits, n, reinterpret_cast<std::int64_t*>(out));
        ASSERT_EQ(get<std::int64_t>(out, count), expected) << what;
        for (const int item : {1, 2, 4, 8, 16}) {
          if (n > 9000 && item != 8) continue;
          std::vector<char> x(static_cast<std::size_t>(n * item));
          for (char& c : x) c = static_cast<char>(random_());
          std::vector<char> packed(static_cast<std::size_t>(count * item));
          cpu_backend().compress(m.data(), n, item, x.data(), packed.data());
          char* to = take(count * item);
          compress(*gpu_, bits, n, item, put(x, shift), to);
          ASSERT_EQ(get(to, count * item), packed) << what << ", items of " << item;
        }
      }
  EXPECT_EQ(count_true(*gpu_, nullptr, 0), 0);
}

TEST_F(CudaSelect, CountsAreKeptForOneThatPacksNext) {
  constexpr std::int64_t n = 3'000'017;
  const std::vector<char> one = mask(n, 500), two = mask(n, 300);
  char *m = put(one), *other = put(two);
  char* out = take(n * 8);
  const auto packs = [&](const std::vector<char>& as, const char* when) {
    std::vector<std::int64_t> expected(static_cast<std::size_t>(cpu_backend().count_true(as.data(), n)));
    cpu_backend().positions(as.data(), n, expected.data());
    positions(*gpu_, m, n, reinterpret_cast<std::int64_t*>(out));
    EXPECT_EQ(get<std::int64_t>(out, static_cast<std::int64_t>(expected.size())), expected) << when;
  };
  const auto count = [&](char* bits) { return count_true(*gpu_, bits, n); };
  EXPECT_EQ(count(m), cpu_backend().count_true(one.data(), n));
  packs(one, "after counting");
  packs(one, "once more");
  count(m);
  count(other);
  packs(one, "after counting another");
  count(m);
  gpu_->upload(m, two.data(), n);
  packs(two, "after an upload");
  count(m);
  gpu_->copy(m, put(one), n);
  packs(one, "after a copy");
  count(m);
  gpu_->fill_bytes(m, 1, n);
  packs(std::vector<char>(static_cast<std::size_t>(n), 1), "after a fill");
  count(m);
  EXPECT_EQ(count_true(*gpu_, m, 8192), 8192);
  packs(std::vector<char>(static_cast<std::size_t>(n), 1), "after counting a part");
}

TEST_F(CudaSelect, MoreThan2To31Bools) {
  const std::int64_t n = (std::int64_t{1} << 31) + 99999;
  char *m = nullptr, *x = nullptr, *out = nullptr;
  try {
    m = take(n);
    x = take(n);
    out = take(1000);
  } catch (const MemoryError& e) {
    GTEST_SKIP() << e.what();
  }
  gpu_->fill_bytes(m, 0, n);
  gpu_->fill_bytes(x, 7, n);
  gpu_->fill_bytes(m + n - 5, 1, 3);
  gpu_->fill_bytes(x + n - 4, 9, 1);
  EXPECT_EQ(count_true(*gpu_, m, n), 3);
  positions(*gpu_, m, n, reinterpret_cast<std::int64_t*>(out));
  EXPECT_EQ(get<std::int64_t>(out, 3), (std::vector<std::int64_t>{n - 5, n - 4, n - 3}));
  compress(*gpu_, m, n, 1, x, out);
  EXPECT_EQ(get(out, 3), (std::vector<char>{7, 9, 7}));
}

TEST_F(CudaSelect, LocatesAndRefuses) {
  for (const std::int64_t n : {1, 255, 256, 257, 5000}) {
    std::vector<std::int64_t> a, b;
    for (std::int64_t i = 0; i < n; ++i) {
      a.push_back(static_cast<std::int64_t>(random_() % 40) - 20);
      b.push_back(static_cast<std::int64_t>(random_() % 14) - 7);
    }
    const std::vector<IndexedAxis> host = {{a.data(), 20, 56}, {b.data(), 7, -8}};
    std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
    ASSERT_TRUE(cpu_backend().locate(host, n, expected.data()));
    const auto index = [](char* p) { return reinterpret_cast<const std::int64_t*>(p); };
    const std::vector<IndexedAxis> there = {{index(put(a)), 20, 56}, {index(put(b)), 7, -8}};
    char* out = take(n * 8);
    ASSERT_TRUE(locate(*gpu_, there, n, reinterpret_cast<std::int64_t*>(out)));
    ASSERT_EQ(get<std::int64_t>(out, n), expected);
    for (const std::int64_t wrong : {std::int64_t{20}, std::int64_t{-21}, std::numeric_limits<std::int64_t>::min()}) {
      a[static_cast<std::size_t>(n - 1)] = wrong;
      const std::vector<IndexedAxis> bad = {{index(put(a)), 20, 56}, {index(put(b)), 7, -8}};
      ASSERT_FALSE(locate(*gpu_, bad, n, reinterpret_cast<std::int64_t*>(out))) << wrong;
    }
  }
  EXPECT_TRUE(locate(*gpu_, {}, 0, nullptr));
}

struct Case {
  std::string what;
  std::int64_t count, places;  // blocks, and how many places there are to choose from
  Dims shape, place_strides, packed_strides;
  std::int64_t place_step, packed_step;  // all in items
};

class CudaBlocks : public CudaSelect {
 protected:
  static std::int64_t room(const Dims& shape, const Dims& strides, std::int64_t more) {
    std::int64_t n = 1 + more;
    for (int k = 0; k < shape.size(); ++k) n += (shape[k] - 1) * strides[k];
    return n;
  }
  void check(const Case& c, int item, bool scatters) {
    const std::int64_t place_items = room(c.shape, c.place_strides, (c.places - 1) * c.place_step);
    const std::int64_t packed_items = room(c.shape, c.packed_strides, (c.count - 1) * c.packed_step);
    std::vector<char> places(static_cast<std::size_t>(place_items * item));
    std::vector<char> packed(static_cast<std::size_t>(packed_items * item));
    for (char& x : places) x = static_cast<char>(random_());
    for (char& x : packed) x = static_cast<char>(random_());
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < c.count; ++i)
      offsets.push_back(static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(c.places)) * c.place_step *
                        item);
    Blocks b{};
    b.itemsize = item;
    b.count = c.count;
    b.shape = c.shape;
    b.packed_step = c.packed_step * item;
    for (int k = 0; k < c.shape.size(); ++k) {
      b.place_strides.push_back(c.place_strides[k] * item);
      b.packed_strides.push_back(c.packed_strides[k] * item);
    }
    Blocks device = b;
    device.offsets = reinterpret_cast<const std::int64_t*>(put(offsets));
    device.places = put(places);
    device.packed = put(packed);
    b.offsets = offsets.data();
    b.places = places.data();
    b.packed = packed.data();
    const std::string what = c.what + ", items of " + std::to_string(item);
    if (scatters) {
      cpu_backend().scatter(b);
      scatter(*gpu_, device);
      ASSERT_EQ(get(device.places, place_items * item), places) << "scatter, " << what;
    } else {
      cpu_backend().gather(b);
      gather(*gpu_, device);
      ASSERT_EQ(get(device.packed, packed_items * item), packed) << "gather, " << what;
    }
  }
};

TEST_F(CudaBlocks, GatherAndScatter) {
  const std::vector<Case> cases = {
      {"elements", 1000, 3000, {}, {}, {}, 1, 1},
      {"elements, many for one place", 5000, 7, {}, {}, {}, 1, 1},
      {"one place", 1000, 1, {}, {}, {}, 1, 1},
      {"one block", 1, 9, {20}, {1}, {1}, 20, 20},
      {"rows", 300, 50, {33}, {1}, {1}, 40, 33},
      {"rows of 16", 300, 50, {16}, {1}, {1}, 16, 16},
      {"rows of 16, not aligned", 300, 50, {16}, {1}, {1}, 17, 16},
      {"columns", 30, 20, {100}, {20}, {1}, 1, 100},
      {"columns, packed the other way", 30, 20, {100}, {20}, {30}, 1, 1},
      {"planes", 20, 9, {6, 5}, {10, 1}, {5, 1}, 100, 30},
      {"three axes", 20, 9, {3, 1, 4, 5}, {200, 7, 10, 2}, {20, 9, 5, 1}, 1000, 60},
      {"none", 0, 9, {5}, {1}, {1}, 5, 5},
  };
  for (const Case& c : cases)
    for (const int item : {1, 2, 4, 8, 16})
      for (const bool scatters : {false, true}) check(c, item, scatters);
}

TEST_F(CudaBlocks, ABlockThatOverlapsItselfIsWrittenInOrder) {
  check({"stride 0", 5, 3, {4, 3}, {0, 1}, {3, 1}, 3, 12}, 4, true);
}

TEST_F(CudaBlocks, NegativeOffsets) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < 2000; ++i) offsets.push_back(-static_cast<std::int64_t>(random_() % 100));
  std::vector<char> places(100), packed(2000);
  for (char& x : packed) x = static_cast<char>(random_());
  Blocks b{1, 2000, offsets.data(), places.data() + 99, packed.data(), 1};
  char* there = put(places);
  Blocks device{1, 2000, reinterpret_cast<const std::int64_t*>(put(offsets)), there + 99, put(packed), 1};
  cpu_backend().scatter(b);
  scatter(*gpu_, device);
  EXPECT_EQ(get(there, 100), places);
}

class CudaAt : public CudaSelect {
 protected:
  void check(Op op, DType t, std::int64_t n, std::int64_t places, std::int64_t shift, bool backwards = false) {
    const std::int64_t item = itemsize(t);
    std::vector<char> base = values(t, places, random_), v = values(t, n, random_);
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(places));
      offsets.push_back((backwards ? -k : k) * item);
    }
    const std::int64_t start = backwards ? (places - 1) * item : 0;
    const bool binary = info(op).nin == 2;
    char* there = put(base, shift);
    const char* to_add = binary ? put(v) : nullptr;
    const auto* at_device = reinterpret_cast<const std::int64_t*>(put(offsets));
    cpu_backend().at(op, t, base.data() + start, offsets.data(), n, binary ? v.data() : nullptr);
    at(*gpu_, op, t, there + start, at_device, n, to_add);
    expect_same(t, base, get(there, places * item),
                std::string(info(op).name) + ".at " + std::string(name(t)) + ", " + std::to_string(n) + " into " +
                    std::to_string(places));
  }
};

TEST_F(CudaAt, EveryRow) {
  for (int o = 0; o < kTableOps; ++o) {
    const Op op = static_cast<Op>(o);
    const OpInfo& row = info(op);
    if (row.nin > 2 || row.nout != 1 || row.int_second || row.ulp > 0) continue;
    for (const char c : row.types) {
      if (c == '!') continue;
      const DType t = of_code(c);
      if (t == DType::float16 || result_dtype(op, 0, t) != t) continue;  // the caller never asks for these
      if (op == Op::sqrt && is_complex(t)) continue;  // an ulp apart: complex64 is computed in float64 here
      check(op, t, 700, 52, 0);  // whole words: those around small elements are read
    }
  }
}

TEST_F(CudaAt, SizesOfSorts) {
  for (const std::int64_t n : {1, 255, 4095, 4096, 4097, 9000})
    for (const std::int64_t places : {1, 3, 300, 70000}) check(Op::add, DType::float64, n, places, 0);
  check(Op::subtract, DType::float32, 3000, 100, 0, true);
  check(Op::add, DType::int32, 3000, 100, 0, true);
  check(Op::add, DType::complex128, 3000, 10, 0);
}

TEST_F(CudaAt, UnalignedPlaces) {
  check(Op::add, DType::int32, 2000, 100, 1);
  check(Op::add, DType::float64, 2000, 100, 4);
}

TEST_F(CudaAt, Nothing) { at(*gpu_, Op::add, DType::int32, nullptr, nullptr, 0, this); }

}  // namespace
}  // namespace galop::cuda::test
