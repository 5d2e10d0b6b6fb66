// On a GPU: memory, copies of every kind, streams, and what happens after errors and forks.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "backend/cpu/memory.hpp"
#include "backend/cuda/fault.hpp"
#include "backend/cuda/pins.hpp"
#include "device.hpp"
#include "galop/error.hpp"

namespace galop::cuda::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

class CudaRuntime : public CudaDevice {
 protected:
  // What the call throws, or "nothing".
  template <class E>
  static std::string message(const std::function<void()>& f) {
    try {
      f();
    } catch (const E& e) {
      return e.what();
    } catch (const std::exception& e) {
      return std::string("another kind: ") + e.what();
    }
    return "nothing";
  }
  static void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
  Plan good_plan() {
    const std::vector<double> x = {1, 2, 3, 4};
    const char* in = put(x);
    return one_operation(Op::add, DType::float64, {4}, {in, in}, {{8}, {8}}, {take(32)});
  }
  static void said(const std::string& text, std::initializer_list<const char*> parts) {
    expect_parts(text, parts);
    if (HasFailure()) std::fprintf(stderr, "said: %s\n", text.c_str());
  }
  // Reads the second page, which nobody maps; far addresses may lie in what the driver has reserved.
  Plan bad_plan() {
    Plan p = one_operation(Op::add, DType::float64, {4}, {take(32), take(32)}, {{8}, {8}}, {take(32)});
    p = translated(p);
    p.operands[0].data = reinterpret_cast<void*>(std::uintptr_t{4096});
    return p;
  }
};

TEST_F(CudaRuntime, BlocksAreReusedAndCounted) {
  MemoryPool& pool = gpu_->memory();
  pool.trim();
  const DeviceMemory before = pool.statistics();
  EXPECT_GT(before.total, 0);
  EXPECT_LE(before.free, before.total);
  void* a = gpu_->allocate(3 * kMiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
  EXPECT_EQ(pool.statistics().in_use, before.in_use + 4 * kMiB);
  gpu_->release(a);
  EXPECT_EQ(pool.statistics().in_use, before.in_use);
  EXPECT_GE(pool.statistics().cached, 4 * kMiB);
  EXPECT_EQ(gpu_->allocate(4 * kMiB), a);  // the same class
  void* b = gpu_->allocate(4 * kMiB);
  EXPECT_NE(a, b);
  gpu_->release(a);
  gpu_->release(b);
  gpu_->release(nullptr);
  void* none = gpu_->allocate(0);
  EXPECT_NE(none, nullptr);
  gpu_->release(none);
  pool.trim();
  EXPECT_LT(pool.statistics().cached, before.cached + 4 * kMiB + 64 * kMiB);
}

TEST_F(CudaRuntime, TheLimitHolds) {
  MemoryPool& pool = gpu_->memory();
  const std::int64_t used = pool.statistics().in_use;
  pool.set_limit(used + 10 * kMiB);
  EXPECT_EQ(pool.statistics().limit, used + 10 * kMiB);
  void* a = gpu_->allocate(6 * kMiB);
  expect_parts(message<MemoryError>([&] { gpu_->allocate(6 * kMiB); }), {"[cuda] ", "limit", "; got 6291456 bytes"});
  void* b = gpu_->allocate(4 * kMiB);
  gpu_->release(a);
  gpu_->release(b);
  void* c = gpu_->allocate(10 * kMiB);  // what was cached makes room
  gpu_->release(c);
  pool.set_limit(0);
  c = gpu_->allocate(20 * kMiB);
  gpu_->release(c);
}

TEST_F(CudaRuntime, TooMuchMemoryIsNamed) {
  const std::int64_t total = gpu_->memory().statistics().total;
  for (const std::int64_t bytes : {std::int64_t{1} << 50, total - kMiB}) {
    const std::string text = message<MemoryError>([&] { gpu_->release(gpu_->allocate(bytes)); });
    expect_parts(text, {"[cuda] ", "CUDA_ERROR_OUT_OF_MEMORY", "cuda:0", "bytes free"});
    expect_parts(text, {(std::to_string(bytes) + " bytes").c_str()});
  }
  EXPECT_TRUE(gpu_->alive());
}

TEST_F(CudaRuntime, CopiesOfEverySizeAndKindOfMemory) {
  const std::int64_t sizes[] = {1,       4095,     4096,         65536,          65537,
                                1 << 20, kMiB + 1, 5 * kMiB + 3, 50 * kMiB + 77, 130 * kMiB + 1};
  for (const bool own : {false, true}) {
    for (const std::int64_t n : sizes) {
      SCOPED_TRACE(std::to_string(n) + (own ? " bytes of Galop's memory" : " bytes of foreign memory"));
      std::vector<char> foreign(own ? 0 : static_cast<std::size_t>(2 * n));
      Storage s{};
      if (own) s = cpu_backend().allocate(2 * n);
      char* const x = own ? static_cast<char*>(s.data) : foreign.data();
      char* const y = x + n;
      void* const d = gpu_->allocate(n);
      for (int round = 0; round < 3; ++round) {
        for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<char>(i * 7 + (i >> 13) + round);
        gpu_->upload(d, x, n);
        std::memset(x, 0, static_cast<std::size_t>(n));  // the source is free again
        std::memset(y, 0x5A, static_cast<std::size_t>(n));
        gpu_->download(y, d, n);
        std::int64_t wrong = 0, first = -1;
        for (std::int64_t i = 0; i < n; ++i)
          if (y[i] != static_cast<char>(i * 7 + (i >> 13) + round) && wrong++ == 0) first = i;
        EXPECT_EQ(wrong, 0) << "round " << round << ", first at " << first;
      }
      gpu_->release(d);
      if (own) cpu_backend().release(s);
    }
  }
}

TEST_F(CudaRuntime, SmallUploadsKeepTheirOrder) {
  constexpr std::int64_t piece = 8000, pieces = 2000;  // several times round the ring
  char* const d = static_cast<char*>(gpu_->allocate(piece * pieces));
  std::vector<char> x(piece), back(static_cast<std::size_t>(piece * pieces));
  for (std::int64_t i = 0; i < pieces; ++i) {
    std::memset(x.data(), static_cast<int>(i % 251), piece);
    gpu_->upload(d + i * piece, x.data(), piece);
  }
  gpu_->download(back.data(), d, piece * pieces);
  for (std::int64_t i = 0; i < pieces; ++i)
    for (std::int64_t k = 0; k < piece; k += 7)
      ASSERT_EQ(back[static_cast<std::size_t>(i * piece + k)], static_cast<char>(i % 251)) << i << " " << k;
  gpu_->copy(d, d + piece, piece);
  gpu_->download(back.data(), d, 1);
  EXPECT_EQ(back[0], 1);
  gpu_->release(d);
}

TEST_F(CudaRuntime, RegionsArePinnedUntilTheyGo) {
  constexpr std::int64_t n = 64 * kMiB;
  cpu::trim();  // regions that other tests have had pinned
  void* const d = gpu_->allocate(n);
  const Storage s = cpu_backend().allocate(n);
  const Storage region = cpu_backend().region(s.data);
  ASSERT_NE(region.data, nullptr);
  ASSERT_LT(4 * region.bytes, cpu_backend().capacity()) << "the test needs more memory";
  const std::int64_t before = Pins::instance().bytes();
  gpu_->upload(d, s.data, n);
  EXPECT_EQ(Pins::instance().bytes(), before + region.bytes);
  gpu_->download(s.data, d, n);
  EXPECT_EQ(Pins::instance().bytes(), before + region.bytes);
  cpu_backend().release(s);
  cpu::trim();
  EXPECT_EQ(Pins::instance().bytes(), 0);
  gpu_->release(d);
}

TEST_F(CudaRuntime, SpeedOfCopies) {
  const auto seconds = [](const std::function<void()>& f) {
    double best = 1e9;
    for (int i = 0; i < 4; ++i) {
      const auto from = std::chrono::steady_clock::now();
      f();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    }
    return best;
  };
  std::printf("%-28s %12s %12s\n", "copies", "up", "down");
  for (const bool own : {false, true}) {
    for (const std::int64_t n : {std::int64_t{8}, std::int64_t{4096}, kMiB, 16 * kMiB, 1024 * kMiB}) {
      std::vector<char> foreign(own ? 0 : static_cast<std::size_t>(n), 1);
      Storage s{};
      if (own) s = cpu_backend().allocate(n);
      char* const x = own ? static_cast<char*>(s.data) : foreign.data();
      std::memset(x, 1, static_cast<std::size_t>(n));
      void* const d = gpu_->allocate(n);
      const double up = seconds([&] { gpu_->upload(d, x, n); });
      gpu_->synchronize();
      const double waited = seconds([&] {
        gpu_->upload(d, x, n);
        gpu_->synchronize();
      });
      const double down = seconds([&] { gpu_->download(x, d, n); });
      const double bytes = static_cast<double>(n);
      if (n >= kMiB)
        std::printf("%5lld MiB, %-16s %7.2f GB/s %7.2f GB/s\n", static_cast<long long>(n / kMiB),
                    own ? "Galop's" : "foreign", bytes / waited / 1e9, bytes / down / 1e9);
      else
        std::printf("%5lld B, %-18s %7.2f us   %7.2f us\n", static_cast<long long>(n), own ? "Galop's" : "foreign",
                    up * 1e6, down * 1e6);
      EXPECT_LT(waited, 10) << n;
      gpu_->release(d);
      if (own) cpu_backend().release(s);
    }
  }
}

TEST_F(CudaRuntime, OtherStreamsWaitAndAreWaitedFor) {
  const Driver& cuda = driver();
  const auto here = gpu_->enter();
  CUstream other = nullptr;
  cuda.check(cuda.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  const auto handle = reinterpret_cast<std::uintptr_t>(other);
  constexpr std::int64_t n = 512 * kMiB;
  void* const a = gpu_->allocate(n);
  void* const b = gpu_->allocate(n);
  gpu_->synchronize();
  const auto at = [](void* p) { return reinterpret_cast<CUdeviceptr>(p); };
  char last = 0;
  for (int round = 1; round <= 4; ++round) {
    for (int i = 0; i < 8; ++i)
      cuda.check(cuda.cuMemsetD8Async(at(a), static_cast<unsigned char>(i == 7 ? round : 99), n, other), "cuMemsetD8");
    gpu_->wait_for(handle);
    gpu_->copy(b, a, n);
    gpu_->download(&last, static_cast<char*>(b) + n - 1, 1);
    EXPECT_EQ(last, round);
    for (int i = 0; i < 8; ++i) gpu_->fill_bytes(b, static_cast<unsigned char>(i == 7 ? 10 + round : 98), n);
    gpu_->make_wait(handle);
    cuda.check(cuda.cuMemcpyDtoDAsync(at(a), at(b), n, other), "cuMemcpyDtoDAsync");
    cuda.check(cuda.cuStreamSynchronize(other), "cuStreamSynchronize");
    gpu_->download(&last, static_cast<char*>(a) + n - 1, 1);
    EXPECT_EQ(last, 10 + round);
  }
  for (const std::uintptr_t standard : {1, 2}) {
    EXPECT_NO_THROW(gpu_->wait_for(standard));
    EXPECT_NO_THROW(gpu_->make_wait(standard));
  }
  EXPECT_THROW(gpu_->wait_for(0), ValueError);
  EXPECT_THROW(gpu_->make_wait(0), ValueError);
  gpu_->release(a);
  gpu_->release(b);
  gpu_->synchronize();
  cuda.check(cuda.cuStreamDestroy(other), "cuStreamDestroy");
}

TEST_F(CudaRuntime, CopiesBetweenDevices) {
  int count = 0;
  driver().cuDeviceGetCount(&count);
  if (count < 2) GTEST_SKIP() << "there is one GPU only";
  CudaExecutor second(1, std::filesystem::path());
  constexpr std::int64_t n = 64 * kMiB + 3;
  void* const a = gpu_->allocate(n);
  void* const b = second.allocate(n);
  std::vector<char> back(n);
  for (int round = 1; round < 4; ++round) {
    gpu_->fill_bytes(a, static_cast<unsigned char>(round), n);
    second.copy_peer(b, *gpu_, a, n);
    gpu_->fill_bytes(a, 77, n);  // after the copy
    second.download(back.data(), b, n);
    EXPECT_EQ(std::count(back.begin(), back.end(), static_cast<char>(round)), n) << round;
  }
  gpu_->release(a);
  second.release(b);
}

TEST_F(CudaRuntime, ContextsOfOthersArePutBack) {
  const Driver& cuda = driver();
  cuda.check(cuda.cuCtxSetCurrent(nullptr), "cuCtxSetCurrent");
  gpu_->synchronize();
  CUcontext now = nullptr;
  cuda.cuCtxGetCurrent(&now);
  EXPECT_TRUE(now == nullptr || now == gpu_->context().context);
  int count = 0;
  cuda.cuDeviceGetCount(&count);
  if (count < 2) return;
  CUcontext other = nullptr;
  CUdevice device = 0;
  cuda.check(cuda.cuDeviceGet(&device, 1), "cuDeviceGet");
  cuda.check(cuda.cuDevicePrimaryCtxRetain(&other, device), "cuDevicePrimaryCtxRetain");
  cuda.check(cuda.cuCtxSetCurrent(other), "cuCtxSetCurrent");
  gpu_->release(gpu_->allocate(100));
  cuda.cuCtxGetCurrent(&now);
  EXPECT_EQ(now, other);
  cuda.cuCtxSetCurrent(nullptr);
  cuda.cuDevicePrimaryCtxRelease(device);
}

TEST_F(CudaRuntime, InjectedFailuresLeaveNothingBehind) {
  const std::int64_t used = gpu_->memory().statistics().in_use;
  inject(Fault::allocate, 1);
  expect_parts(message<MemoryError>([&] { gpu_->allocate(1000); }),
               {"[cuda] ", "CUDA_ERROR_OUT_OF_MEMORY", "got 1000 bytes on cuda:0"});
  EXPECT_EQ(gpu_->memory().statistics().in_use, used);
  const Plan plan = good_plan();
  gpu_->upload(device_, base_, used_);
  inject(Fault::launch, 1);
  expect_parts(message<DeviceError>([&] { gpu_->run(translated(plan)); }),
               {"[cuda] cuLaunchKernel failed", "; got add over (4,)", "cuda:0"});
  EXPECT_TRUE(gpu_->alive());
  gpu_->run(translated(plan));
  gpu_->download(back_.data(), device_, used_);
  EXPECT_EQ(to_real(DType::float64, from_device(plan.outputs[0].data)), 2);
  // A fold's scratch goes back when its launch fails.
  const std::int64_t n = 1 << 22;
  Plan fold = one_fold(Op::add, DType::float64, {n}, {8}, 1, take(n * 8), take(8));
  inject(Fault::launch, 1);
  EXPECT_THROW(gpu_->run(translated(fold)), DeviceError);
  inject(Fault::allocate, 1);
  EXPECT_THROW(gpu_->run(translated(fold)), MemoryError);
  EXPECT_EQ(gpu_->memory().statistics().in_use, used);
  gpu_->run(translated(fold));
  gpu_->synchronize();
}

// Losing the device is for a process of its own, whose failures nobody prints: what it says goes to standard error.
TEST_F(CudaRuntime, AnIllegalAddressLosesTheDevice) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto story = [&] {
    const Plan good = translated(good_plan()), bad = bad_plan();
    gpu_->run(good);
    gpu_->run(bad);
    std::string text = message<DeviceError>([&] { gpu_->synchronize(); });
    said(text, {"[cuda] cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS", "device is lost", "; got cuda:0",
                "last launched: ", "add over (4,)"});
    EXPECT_FALSE(gpu_->alive());
    char byte = 0;
    for (const std::function<void()>& f : std::initializer_list<std::function<void()>>{
             [&] { gpu_->synchronize(); }, [&] { gpu_->allocate(1); }, [&] { gpu_->run(good); },
             [&] { gpu_->upload(device_, &byte, 1); }, [&] { gpu_->download(&byte, device_, 1); },
             [&] { gpu_->memory().statistics(); }, [&] { gpu_->memory().trim(); }, [&] { gpu_->wait_for(1); }}) {
      text = message<DeviceError>(f);
      said(text, {"[cuda] cuda:0", "is lost", "CUDA_ERROR_ILLEGAL_ADDRESS"});
    }
    gpu_->release(device_);
    gpu_.reset();  // the destructors are silent
    std::fprintf(stderr, HasFailure() ? "failed\n" : "as expected\n");
    std::exit(HasFailure());
  };
  EXPECT_EXIT(story(), testing::ExitedWithCode(0), "as expected");
}

TEST_F(CudaRuntime, GalopSyncShowsTheErrorAtTheCall) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto story = [&] {
    setenv("GALOP_SYNC", "1", 1);
    const Plan bad = bad_plan();
    const std::string text = message<DeviceError>([&] { gpu_->run(bad); });
    said(text, {"CUDA_ERROR_ILLEGAL_ADDRESS", "add over (4,)"});
    std::fprintf(stderr, HasFailure() ? "failed\n" : "as expected\n");
    _exit(HasFailure());
  };
  EXPECT_EXIT(story(), testing::ExitedWithCode(0), "as expected");
}

TEST_F(CudaRuntime, AForkedChildIsToldSo) {
  gpu_->synchronize();
  const pid_t child = fork();
  if (child == 0) {
    int failed = 0;
    for (const std::function<void()>& f : std::initializer_list<std::function<void()>>{
             [&] { gpu_->synchronize(); }, [&] { gpu_->allocate(1); }, [&] { gpu_->run(translated(good_plan())); },
             [] { CudaExecutor again(0, std::filesystem::path()); }}) {
      const std::string text = message<DeviceError>(f);
      failed += text.find("fork") == std::string::npos || text.find("spawn") == std::string::npos;
    }
    failed += gpu_->alive();
    gpu_->release(device_);
    std::string reason;
    failed += find_driver(&reason) != nullptr || reason.find("spawn") == std::string::npos;
    _exit(failed);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "this many answers were wrong";
  EXPECT_TRUE(gpu_->alive());
  gpu_->synchronize();
}

TEST(CudaFork, AChildOfAProcessWithoutCudaMayUseIt) {
  constexpr const char* variable = "GALOP_TEST_FRESH_PROCESS";
  if (!std::getenv(variable)) {  // the fresh process must not look
    std::string reason;
    if (find_driver(&reason) == nullptr) GTEST_SKIP() << reason;
    setenv(variable, "1", 1);
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto story = [] {
    const pid_t child = fork();
    if (child == 0) {
      int failed = 1;
      try {
        CudaExecutor gpu(0, std::filesystem::path());
        char byte = 5, back = 0;
        void* p = gpu.allocate(1);
        gpu.upload(p, &byte, 1);
        gpu.download(&back, p, 1);
        failed = back != 5;
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      _exit(failed);
    }
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  };
  EXPECT_EXIT(story(), testing::ExitedWithCode(0), "");
  unsetenv(variable);
}

}  // namespace
}  // namespace galop::cuda::test
