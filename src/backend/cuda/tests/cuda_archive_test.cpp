// Without a GPU: kernels compiled ahead are found by key and architecture, are used in place of the compiler, and a
// file that is damaged holds nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backend/cuda/ahead/idle_driver.hpp"
#include "backend/cuda/archive.hpp"
#include "backend/cuda/jit_cache.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "galop/galop.hpp"

namespace galop::cuda::test {
namespace {

namespace fs = std::filesystem;

class CudaArchive : public testing::Test {
 protected:
  void SetUp() override {
    const char* parents = std::getenv("GALOP_TEST_ARCHIVE");  // of a process that a test below has started
    folder_ = parents ? parents : fs::temp_directory_path() / ("galop-archive-test-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& bytes) const {
    const fs::path file = folder_ / "kernels.bin";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  fs::path folder_;
};

const std::string kBinary(
    "\x7f"
    "ELF\0\xff and more",
    14);

TEST_F(CudaArchive, FindsByKeyAndArchitecture) {
  const Archive a(
      write(Archive::pack({{"one", 90, "of 90"}, {"one", 80, "of 80"}, {"two", 90, kBinary}, {"empty", 90, ""}})));
  EXPECT_EQ(a.size(), 4u);
  EXPECT_EQ(a.find("one", 90), "of 90");
  EXPECT_EQ(a.find("two", 90), kBinary);
  EXPECT_EQ(a.find("one", 89), "of 80");  // cubins run on later minor versions
  EXPECT_EQ(a.find("one", 80), "of 80");
  for (const int other : {75, 100, 120}) EXPECT_EQ(a.find("one", other), "") << other;
  EXPECT_EQ(a.find("three", 90), "");
  EXPECT_EQ(a.find("two", 80), "");
}

TEST_F(CudaArchive, HoldsNothingWhenItIsDamaged) {
  const std::string cubin(5000, 'c'), good = Archive::pack({{"one", 90, cubin}});
  EXPECT_EQ(Archive(write(good)).find("one", 90), cubin);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_EQ(Archive(write(good.substr(0, length))).find("one", 90), "") << length;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    const std::string found = Archive(write(flipped)).find("one", 90);
    EXPECT_TRUE(found.empty() || found == cubin) << i;
  }
  EXPECT_EQ(Archive(folder_ / "absent").find("one", 90), "");
  EXPECT_EQ(Archive(fs::path()).find("one", 90), "");
}

// What a process on a GPU would compile for `work`: in a process of its own, since a driver is for good.
void work_with(const fs::path& cache, const fs::path& archive, void (*work)()) {
  setenv("GALOP_CUDA_PLUGIN", (Archive::default_file().parent_path() / "libgalop_cuda.so").c_str(), 1);
  setenv("GALOP_DEVICE", "cuda", 1);
  setenv("GALOP_CACHE_DIR", cache.c_str(), 1);
  setenv("GALOP_CUDA_KERNELS", archive.c_str(), 1);
  const Driver idle = idle_driver(90);
  replace_driver(&idle);
  work();
}

TEST_F(CudaArchive, StandsInForTheCompiler) {
  std::string reason;
  if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
  // Each a process from the start, which has opened no driver yet; it comes by here too.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("GALOP_TEST_ARCHIVE", folder_.c_str(), 1);
  const auto add_one = [] { eval(empty({1 << 20}) + 1); };
  const auto fold = [] { eval(sum(empty({1 << 20}))); };
  const auto in = [&](const char* cache, void (*work)()) {
    EXPECT_EXIT(
        {
          work_with(folder_ / cache, folder_ / "kernels.bin", work);
          _exit(0);
        },
        testing::ExitedWithCode(0), "");
    return JitCache(folder_ / cache).used_since(fs::file_time_type::min(), 90);
  };
  const std::vector<JitCache::Kept> first = in("first", add_one);
  ASSERT_EQ(first.size(), 1u);
  const std::string key = first[0].key.substr(first[0].key.find('\n') + 1);
  EXPECT_EQ(key.find("nvrtc"), std::string::npos);
  std::ofstream(folder_ / "kernels.bin", std::ios::binary) << Archive::pack({{key, 90, first[0].cubin}});
  EXPECT_TRUE(in("second", add_one).empty());
  EXPECT_EQ(in("second", fold).size(), 1u);  // another kernel: compiled
  unsetenv("GALOP_TEST_ARCHIVE");
}

}  // namespace
}  // namespace galop::cuda::test
