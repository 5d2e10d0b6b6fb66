// The advice about GPUs, for machines described by folders: none, a card without a driver, a driver without its
// library.
#include "backend/gpu_probe.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace galop {
namespace {

namespace fs = std::filesystem;

class GpuProbe : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("galop-probe-" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  GpuReport probe(const char* library = "libgalop-no-such-driver.so.1") { return probe_gpus(root_.string(), library); }

  fs::path root_;
};

TEST_F(GpuProbe, NothingThere) {
  write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
  write("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
  const GpuReport report = probe();
  EXPECT_FALSE(report.usable);
  EXPECT_EQ(report.driver, "");
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_NE(report.advice[0].find("No NVIDIA GPU is visible"), std::string::npos);
}

TEST_F(GpuProbe, CardWithoutDriver) {
  write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  const GpuReport report = probe();
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_NE(report.advice[0].find("no driver for it: install driver 580"), std::string::npos);
}

TEST_F(GpuProbe, AudioOfACardIsNoGpu) {
  write("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");
  EXPECT_NE(probe().advice.at(0).find("No NVIDIA GPU is visible"), std::string::npos);
}

TEST_F(GpuProbe, DriverWithoutLibrary) {
  write("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: 12.2.0\n");
  write("dev/nvidia0", "");
  const GpuReport report = probe();
  EXPECT_EQ(report.driver, "580.65.06");
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_NE(report.advice[0].find("580.65.06 is loaded, but its library libcuda.so.1 is not found"), std::string::npos);
}

TEST_F(GpuProbe, LibraryThatIsNoDriver) {
  const GpuReport report = probe("libc.so.6");
  EXPECT_FALSE(report.usable);
  EXPECT_EQ(report.advice.size(), 1u);
}

TEST_F(GpuProbe, ThisMachineGetsAnAnswer) {
  const GpuReport report = probe_gpus();
  EXPECT_TRUE(report.usable || !report.advice.empty());
  EXPECT_TRUE(!report.usable || !report.gpus.empty());
}

}  // namespace
}  // namespace galop
