// Without a GPU: keys say what a kernel depends on and no more; the disk cache survives whatever happens to its files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/jit_cache.hpp"
#include "plans.hpp"

namespace galop::cuda::test {
namespace {

namespace fs = std::filesystem;

Plan add_plan(std::int64_t n, const void* a, std::int64_t step = 8) {
  return one_operation(Op::add, DType::float64, {n}, {a, somewhere(1)}, {{step}, {8}}, {somewhere(2)});
}

TEST(CudaKey, LeavesOutSizesAddressesAndValues) {
  const std::string key = lower(add_plan(1000, somewhere(0))).key;
  EXPECT_EQ(key, lower(add_plan(77, somewhere(5))).key);
  EXPECT_EQ(lower(add_plan(1000, somewhere(0), 24)).key, lower(add_plan(999, somewhere(3), 40)).key);
  EXPECT_NE(key, lower(add_plan(1000, somewhere(0), 24)).key);
  EXPECT_NE(key, lower(add_plan(1000, static_cast<char*>(somewhere(0)) + 8)).key);  // no whole vectors
  Plan with_two = add_plan(1000, somewhere(0)), with_three = with_two;
  with_two.operands[1] = constant(2.0, 1);
  with_three.operands[1] = constant(3.0, 1);
  EXPECT_EQ(lower(with_two).key, lower(with_three).key);
  EXPECT_NE(lower(with_two).words, lower(with_three).words);
  Plan subtract = add_plan(1000, somewhere(0));
  subtract.tape[0].op = Op::subtract;
  EXPECT_NE(key, lower(subtract).key);
}

TEST(CudaKey, SourceDependsOnTheKeyAlone) {
  const auto both = [](const Plan& a, const Plan& b) {
    const Lowered la = lower(a), lb = lower(b);
    EXPECT_EQ(la.key, lb.key);
    EXPECT_EQ(source(a, la), source(b, lb));
  };
  both(add_plan(1000, somewhere(0)), add_plan(5, somewhere(7)));
  both(one_fold(Op::add, DType::float32, {1 << 20}, {4}, 1, somewhere(0), somewhere(1)),
       one_fold(Op::add, DType::float32, {3 << 20}, {4}, 1, somewhere(2), somewhere(3)));
}

TEST(CudaKey, MergesAxesThatRunOn) {
  const Plan flat =
      one_operation(Op::add, DType::float32, {24}, {somewhere(0), somewhere(1)}, {{4}, {4}}, {somewhere(2)});
  const Plan boxed = one_operation(Op::add, DType::float32, {2, 1, 3, 4}, {somewhere(0), somewhere(1)},
                                   {{48, 0, 16, 4}, {48, 7, 16, 4}}, {somewhere(2)});
  EXPECT_EQ(lower(flat).key, lower(boxed).key);
  EXPECT_EQ(lower(flat).words, lower(boxed).words);
}

TEST(CudaKey, EmptyMapsLaunchNothingAndEmptyFoldsOneBlock) {
  EXPECT_EQ(lower(add_plan(0, somewhere(0))).blocks, 0u);
  EXPECT_EQ(lower(one_fold(Op::add, DType::float64, {0}, {8}, 1, somewhere(0), somewhere(1))).blocks, 1u);
  EXPECT_EQ(lower(one_fold(Op::add, DType::float64, {0, 5}, {40, 8}, 2, somewhere(0), somewhere(1))).blocks, 0u);
}

TEST(CudaKey, FoldsSplitAlikeWhateverTheAlignment) {
  for (const DType t : {DType::int8, DType::float32, DType::float64, DType::complex128}) {
    const std::int64_t s = itemsize(t);
    for (const std::int64_t n : {std::int64_t{5}, std::int64_t{1000}, std::int64_t{100003}, std::int64_t{1} << 28}) {
      const Lowered whole = lower(one_fold(Op::add, t, {n}, {s}, 1, somewhere(0), somewhere(1)));
      for (const std::int64_t shift : {s, 2 * s, 3 * s}) {
        const Lowered other =
            lower(one_fold(Op::add, t, {n}, {s}, 1, static_cast<char*>(somewhere(0)) + shift, somewhere(1)));
        EXPECT_EQ(whole.width, other.width) << n << " " << shift;
        EXPECT_EQ(whole.blocks, other.blocks) << n << " " << shift;
        EXPECT_EQ(whole.threads_x, other.threads_x) << n << " " << shift;
        for (const std::size_t word : {0, 1, 2, 3})
          EXPECT_EQ(whole.words[word], other.words[word]) << n << " " << shift;
      }
    }
  }
}

class CudaCache : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("galop-cache-test-" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  // What a fresh process gets for the key; `fallback` is what it would compile.
  std::string ask(const std::string& key, const std::string& fallback, int capability = 90) {
    JitCache cache(root_);
    return cache.get(key, capability, [&] { return fallback; });
  }
  fs::path file(const std::string& key) { return JitCache(root_).file(key, 90); }
  static void overwrite(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }

  fs::path root_;
};

TEST_F(CudaCache, KeepsAcrossProcessesByKeyAndArchitecture) {
  EXPECT_EQ(ask("one", "cubin 1"), "cubin 1");
  EXPECT_EQ(ask("one", "other"), "cubin 1");
  EXPECT_EQ(ask("two", "cubin 2"), "cubin 2");
  EXPECT_EQ(ask("one", "cubin 75", 75), "cubin 75");
  EXPECT_EQ(fs::status(file("one").parent_path()).permissions() & (fs::perms::group_all | fs::perms::others_all),
            fs::perms::none);
}

TEST_F(CudaCache, RebuildsWhatCannotBeRead) {
  const std::string binary("a\0b\xff cubin", 11);
  ask("key", binary);
  const std::string good = contents(file("key"));
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  int n = 0;
  for (const std::string& bad :
       {std::string(), std::string("x"), good.substr(0, good.size() - 1), good.substr(0, 20), flipped, good + "y"}) {
    overwrite(file("key"), bad);
    const std::string again = "again " + std::to_string(n++);
    EXPECT_EQ(ask("key", again), again);
    EXPECT_EQ(ask("key", "not asked"), again);
  }
  ask("other", "cubin");
  fs::copy_file(file("other"), file("key"), fs::copy_options::overwrite_existing);  // a whole file of another key
  EXPECT_EQ(ask("key", "mine"), "mine");
}

TEST_F(CudaCache, WorksWithoutADisk) {
  overwrite(root_, "a file where the folder should be");
  EXPECT_EQ(ask("key", "cubin"), "cubin");
  JitCache memory_only{fs::path()};
  EXPECT_EQ(memory_only.get("key", 90, [] { return "a"; }), "a");
  EXPECT_EQ(memory_only.get("key", 90, [] { return "b"; }), "a");
  EXPECT_EQ(memory_only.counts().memory, 1);
}

TEST_F(CudaCache, StaysBelowItsCap) {
  constexpr std::int64_t cap = 10000;
  for (int i = 0; i < 40; ++i) {
    JitCache cache(root_, cap);
    cache.get("key " + std::to_string(i), 90, [] { return std::string(1000, 'c'); });
    std::uintmax_t total = 0;
    for (const auto& e : fs::directory_iterator(root_ / "sm_90")) total += e.file_size();
    EXPECT_LE(total, static_cast<std::uintmax_t>(cap));
  }
  EXPECT_TRUE(fs::exists(file("key 39")));
  EXPECT_FALSE(fs::exists(file("key 0")));
}

}  // namespace
}  // namespace galop::cuda::test
