// Packing by a mask that the same kernel computes, beside a loop on the host.
#include <random>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "library.hpp"
#include "plans.hpp"

namespace galop::cuda::test {
namespace {

// x[key > limit] in `t`; the key is float32.
Plan packing(DType t, std::int64_t n, const void* x, std::int64_t step, const void* key, float limit, void* out) {
  Plan plan;
  plan.shape = {n};
  plan.operands = {memory(t, x, {step}), memory(DType::float32, key, {4}), constant(limit, 1)};
  plan.registers = {t, DType::float32, DType::float32, DType::bool_};
  plan.tape = {{Op::greater, DType::float32, {1, 2}, {3}}};
  plan.outputs = {{3, DType::bool_, nullptr, {1}, true, false}, {0, t, out, {itemsize(t)}, true, false}};
  plan.packs = true;
  return plan;
}

constexpr DType kTypes[] = {DType::bool_,   DType::int8,    DType::uint16,    DType::float16,
                            DType::float32, DType::float64, DType::complex64, DType::complex128};

TEST(CudaPackCompile, EveryArchitecture) {
  std::string reason;
  if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
  for (const int capability : {75, 80, 90, 120})
    for (const DType t : kTypes) {
      if (capability != 90 && t != DType::float64) continue;  // each takes its time
      const Plan plan = packing(t, 1 << 20, somewhere(1), itemsize(t), somewhere(2), 0, somewhere(3));
      ASSERT_EQ(compile(pack_source(plan, lower(plan), "pack"), "pack", capability).substr(1, 3), "ELF") << name(t);
    }
}

class CudaPack : public CudaLibrary {
 protected:
  std::mt19937_64 random_{5};
};

TEST_F(CudaPack, SizesSharesAndRooms) {
  // Around tiles of 3584 and groups of 128 of them, and a section of 32 groups.
  for (const std::int64_t n : {1, 31, 3583, 3584, 3585, 300'001, 128 * 3584 + 1, 20'000'003}) {
    std::vector<double> x(static_cast<std::size_t>(n));
    std::vector<float> key(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<double>(i);
      key[i] = static_cast<float>(random_() >> 40) * 0x1p-24F;
    }
    char *const a = put(x), *const b = put(key), *const out = take(8 * n);
    for (const float limit : {-1.0F, 0.03F, 0.5F, 0.999F, 2.0F}) {
      std::vector<double> expected;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (key[i] > limit) expected.push_back(x[i]);
      const auto count = static_cast<std::int64_t>(expected.size());
      const Plan plan = packing(DType::float64, n, a, 8, b, limit, out);
      const std::int64_t estimate = estimate_kept(*gpu_, plan);
      EXPECT_GE(estimate, count) << limit << " of " << n;
      EXPECT_LE(static_cast<double>(estimate),
                std::max(131072.0, 1.02 * static_cast<double>(count) + 0.01 * static_cast<double>(n)));
      ASSERT_EQ(pack(*gpu_, plan, n), count) << limit << " of " << n;
      ASSERT_EQ(get<double>(out, count), expected) << limit << " of " << n;
      // Too little room: the rest is counted, and nothing behind the room is touched.
      gpu_->fill_bytes(out, 0x11, 8 * n);
      const std::int64_t room = count / 2;
      ASSERT_EQ(pack(*gpu_, plan, room), count);
      expected.resize(static_cast<std::size_t>(room));
      ASSERT_EQ(get<double>(out, room), expected);
      if (room < n) {
        ASSERT_EQ(get(out + 8 * room, 8), std::vector<char>(8, 0x11));
      }
    }
  }
}

TEST_F(CudaPack, EveryItemSizeAndStep) {
  constexpr std::int64_t n = 50'021;
  std::vector<float> key(n);
  for (float& k : key) k = static_cast<float>(random_() >> 40) * 0x1p-24F;
  char* const b = put(key);
  for (const DType t : kTypes)
    for (const int stride : {1, 3}) {
      const std::int64_t item = itemsize(t);
      std::vector<char> x(static_cast<std::size_t>(n * stride * item)), expected;
      for (char& c : x) c = static_cast<char>(t == DType::bool_ ? random_() & 1 : random_() & 0x3f);
      for (std::int64_t i = 0; i < n; ++i)
        if (key[static_cast<std::size_t>(i)] > 0.25F)
          expected.insert(expected.end(), x.begin() + i * stride * item, x.begin() + (i * stride + 1) * item);
      char *const a = put(x), *const out = take(n * item);
      const Plan plan = packing(t, n, a, stride * item, b, 0.25F, out);
      ASSERT_EQ(pack(*gpu_, plan, n) * item, static_cast<std::int64_t>(expected.size()));
      ASSERT_EQ(get(out, static_cast<std::int64_t>(expected.size())), expected) << name(t) << ", step " << stride;
    }
}

}  // namespace
}  // namespace galop::cuda::test
