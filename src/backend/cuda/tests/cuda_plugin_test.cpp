// Without a GPU: the plug-in's entry, where NVIDIA's libraries are looked for, the compiler's thread, and failures on
// demand.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/fault.hpp"
#include "backend/cuda/library_path.hpp"
#include "backend/cuda/memory.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "galop/error.hpp"
#include "galop_interface_version.hpp"

extern "C" const galop::DevicePlugin* galop_device_plugin();

namespace galop::cuda::test {
namespace {

namespace fs = std::filesystem;

TEST(CudaPlugin, TellsItsVersionAndItsDevices) {
  const DevicePlugin* plugin = galop_device_plugin();
  EXPECT_STREQ(plugin->version, GALOP_INTERFACE_VERSION);
  std::string reason;
  if (find_driver(&reason)) {
    EXPECT_GT(plugin->count(), 0);
    EXPECT_THROW(plugin->open(plugin->count()), DeviceError);
    return;
  }
  for (const bool opening : {false, true}) {
    try {
      opening ? static_cast<void>(plugin->open(0)) : static_cast<void>(plugin->count());
      FAIL() << "no driver, yet no error";
    } catch (const DeviceError& e) {
      EXPECT_EQ(e.what(), "[cuda] " + reason);
    }
  }
}

TEST(CudaPlugin, BlocksComeInClasses) {
  constexpr std::int64_t mib = 1 << 20;
  const std::int64_t pairs[][2] = {{0, 512},
                                   {1, 512},
                                   {512, 512},
                                   {513, 1024},
                                   {mib, mib},
                                   {mib + 1, 2 * mib},
                                   {2 * mib, 2 * mib},
                                   {2 * mib + 1, 4 * mib},
                                   {mib - 1, mib},
                                   {5 * mib, 6 * mib},
                                   {1000 * mib, 1000 * mib}};
  for (const auto& [bytes, size] : pairs) EXPECT_EQ(MemoryPool::size_class(bytes), size) << bytes;
}

TEST(CudaPlugin, FaultsHitOneCall) {
  inject(Fault::allocate, 3);
  for (const bool fails : {false, false, true, false, false}) EXPECT_EQ(is_injected(Fault::allocate), fails);
  EXPECT_EQ(galop_cuda_inject("launch", 1), 0);
  EXPECT_FALSE(is_injected(Fault::allocate));
  EXPECT_TRUE(is_injected(Fault::launch));
  EXPECT_FALSE(is_injected(Fault::launch));
  galop_cuda_inject("launch", 2);
  galop_cuda_inject("launch", 0);
  EXPECT_FALSE(is_injected(Fault::launch));
  EXPECT_EQ(galop_cuda_inject("nothing", 1), -1);
  EXPECT_EQ(galop_cuda_inject(nullptr, 1), -1);
}

class CudaLibraries : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("galop-wheels-test-" + std::to_string(getpid()));
    fs::create_directories(root_ / "nvidia" / "cu13" / "lib");
    fs::create_directories(root_ / "nvidia" / "galop_test" / "lib");
  }
  void TearDown() override {
    fs::remove_all(root_);
    unsetenv("GALOP_NVIDIA_WHEELS");
    unsetenv("GALOP_TEST_LIBRARY");
  }
  // Some library that can be opened under another name.
  static fs::path a_library() {
    Dl_info self{};
    dladdr(reinterpret_cast<const void*>(&galop_device_plugin), &self);
    return self.dli_fname;
  }
  fs::path root_;
  std::string reason_;
  const NvidiaLibrary library_{"libgalop_no_such.so.13", "GALOP_TEST_LIBRARY", "galop_test", "nvidia-galop-test"};
};

TEST_F(CudaLibraries, AMissingOneIsNamedWithTheCommand) {
  EXPECT_EQ(open_library(library_, reason_), nullptr);
  for (const char* part : {"libgalop_no_such.so.13 is not found", "pip install galop[cuda13]",
                           "pip install nvidia-galop-test", "GALOP_TEST_LIBRARY"})
    EXPECT_NE(reason_.find(part), std::string::npos) << reason_;
}

TEST_F(CudaLibraries, WheelsAndTheVariableAreLookedAt) {
  const fs::path own = root_ / "nvidia" / "galop_test" / "lib" / library_.file;
  fs::create_symlink(a_library(), own);
  EXPECT_EQ(open_library(library_, reason_), nullptr);
  setenv("GALOP_TEST_LIBRARY", own.c_str(), 1);
  EXPECT_NE(open_library(library_, reason_), nullptr) << reason_;
  unsetenv("GALOP_TEST_LIBRARY");
  setenv("GALOP_NVIDIA_WHEELS", ("/nowhere:" + root_.string()).c_str(), 1);
  EXPECT_NE(open_library(library_, reason_), nullptr) << reason_;
  EXPECT_EQ(reason_, "");
  fs::rename(own, root_ / "nvidia" / "cu13" / "lib" / library_.file);
  EXPECT_NE(open_library(library_, reason_), nullptr) << reason_;
}

TEST_F(CudaLibraries, ABrokenOneIsCalledBroken) {
  NvidiaLibrary broken = library_;
  broken.file = "libgalop_broken.so.13";  // a name that the loader has not seen
  std::ofstream(root_ / "nvidia" / "cu13" / "lib" / broken.file) << "not a library";
  setenv("GALOP_NVIDIA_WHEELS", root_.c_str(), 1);
  EXPECT_EQ(open_library(broken, reason_), nullptr);
  EXPECT_NE(reason_.find("cannot be opened"), std::string::npos) << reason_;
}

constexpr const char* kAnyKernel = "extern \"C\" __global__ void any(int* p) { *p = 1; }";

TEST(CudaWarming, AForkedChildHasACompilerThatWorks) {
  std::string reason;
  if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
  warm_nvrtc(90);
  const pid_t child = fork();
  if (child == 0) {
    int failed = 1;
    try {
      failed = compile(kAnyKernel, "any", 90).empty();
    } catch (const std::exception&) {
    }
    _exit(failed);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

TEST(CudaWarming, TheProcessMayEndAtOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a fresh process, in which nothing is warm
  EXPECT_EXIT(
      {
        warm_nvrtc(90);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace galop::cuda::test
