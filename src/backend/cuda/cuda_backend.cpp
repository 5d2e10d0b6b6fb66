// The plug-in's entry: GPUs behind the interface that the engine knows.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/cublas.hpp"
#include "backend/cuda/draw.hpp"
#include "backend/cuda/executor.hpp"
#include "backend/cuda/library.hpp"
#include "backend/cuda/matmul.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "galop/error.hpp"
#include "galop_interface_version.hpp"

namespace galop::cuda {
namespace {

// What a launch costs the host until the kernel runs, and the share of the memory's peak that kernels reach: measured
// on an H200, and much the same elsewhere. Pinned copies over PCI Express 5.
constexpr double kStart = 5.4e-6, kMemoryShare = 0.87, kTransfer = 50e9;
// A double precision function such as sin takes about so many operations.
constexpr double kOperationsOfSin = 50;

DeviceSpeed measure(const Context& c) {
  const auto of = [&](CUdevice_attribute a) { return static_cast<double>(c.attribute(a)); };
  DeviceSpeed s{kStart, 0, kTransfer, 0};
  // Clocks in kHz, two transfers a clock.
  s.bandwidth = of(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1e3 * 2 * of(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) /
                8 * kMemoryShare;
  const double single = of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * of(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e3 * 128;
  const double ratio = of(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
  s.math = single / (ratio > 0 ? ratio : 32) / kOperationsOfSin;
  // A driver that does not tell: a small GPU of the oldest kind.
  if (!(s.bandwidth > 0)) s.bandwidth = 250e9;
  if (!(s.math > 0)) s.math = 2e9;
  return s;
}

class CudaBackend final : public DeviceBackend {
 public:
  explicit CudaBackend(int ordinal) : gpu_(ordinal), speed_(measure(gpu_.context())) {}

  Device device() const override { return {DeviceKind::cuda, static_cast<std::int16_t>(gpu_.ordinal())}; }
  DeviceSpeed speed() const override { return speed_; }
  std::string name() const override { return gpu_.name(); }
  int capability() const override { return gpu_.capability(); }
  bool alive() const override { return gpu_.alive(); }
  void synchronize() override { gpu_.synchronize(); }

  Storage allocate(std::int64_t bytes) override { return {gpu_.allocate(bytes), bytes, MemoryPool::size_class(bytes)}; }
  void release(const Storage& s) noexcept override { gpu_.release(s.data); }
  std::int64_t capacity() const override {
    const std::int64_t all = gpu_.context().memory, limit = gpu_.memory().limit();
    return limit > 0 ? std::min(limit, all) : all;
  }
  DeviceMemory memory() const override { return gpu_.memory().statistics(); }
  void trim() override { gpu_.memory().trim(); }
  void set_limit(std::int64_t bytes) override { gpu_.memory().set_limit(bytes); }

  void upload(void* to, const void* from, std::int64_t bytes) override { gpu_.upload(to, from, bytes); }
  void download(void* to, const void* from, std::int64_t bytes) override { gpu_.download(to, from, bytes); }
  void copy(void* to, const void* from, std::int64_t bytes) override { gpu_.copy(to, from, bytes); }
  bool copy_peer(void* to, int from_ordinal, const void* from, std::int64_t bytes) override;
  void wait_for(std::uintptr_t stream) override { gpu_.wait_for(stream); }
  void make_wait(std::uintptr_t stream) override { gpu_.make_wait(stream); }

  void run(const Plan& plan) override {
    gpu_.run(plan);
    if (!plan.reductions.empty() && plan.reductions[0].about_mean) watch_moments(gpu_, plan);
  }
  void scan(Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
            const Dims& out_strides) override {
    cuda::scan(gpu_, op, t, shape, in, in_strides, out, out_strides);
  }
  void at(Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n, const void* values) override {
    cuda::at(gpu_, op, t, base, offsets, n, values);
  }
  bool locate(std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets) override {
    return cuda::locate(gpu_, axes, count, offsets);
  }
  void gather(const Blocks& b) override { cuda::gather(gpu_, b); }
  void scatter(const Blocks& b) override { cuda::scatter(gpu_, b); }
  std::int64_t count_true(const void* mask, std::int64_t n) override { return cuda::count_true(gpu_, mask, n); }
  void positions(const void* mask, std::int64_t n, std::int64_t* out) override { cuda::positions(gpu_, mask, n, out); }
  void compress(const void* mask, std::int64_t n, int itemsize, const void* in, void* out) override {
    cuda::compress(gpu_, mask, n, itemsize, in, out);
  }
  void matmul(const Product& p) override { cuda::matmul(gpu_, blas_, p); }
  std::vector<faults::Fault> take_late_faults() override { return gpu_.faults().heard(); }
  bool folds_about_mean() const override { return true; }
  std::int64_t estimate_kept(const Plan& plan) override { return cuda::estimate_kept(gpu_, plan); }
  std::int64_t pack(const Plan& plan, std::int64_t room) override { return cuda::pack(gpu_, plan, room); }
  bool draw(Draw& d) override { return draw_numbers(gpu_, d); }

 private:
  mutable CudaExecutor gpu_;
  Blas blas_;
  const DeviceSpeed speed_;
};

constexpr int kMostDevices = 64;
// Those opened so far, by ordinal.
std::array<std::atomic<CudaBackend*>, kMostDevices> opened_devices{};

bool CudaBackend::copy_peer(void* to, int from_ordinal, const void* from, std::int64_t bytes) {
  if (from_ordinal < 0 || from_ordinal >= kMostDevices) return false;
  CudaBackend* const other = opened_devices[static_cast<std::size_t>(from_ordinal)].load();
  if (other == nullptr) return false;
  if (other == this)
    gpu_.copy(to, from, bytes);
  else
    gpu_.copy_peer(to, other->gpu_, from, bytes);
  return true;
}

int count_devices() {
  const Driver& cuda = driver();
  int n = 0;
  cuda.check(cuda.cuDeviceGetCount(&n), "cuDeviceGetCount");
  return n < kMostDevices ? n : kMostDevices;
}

DeviceBackend* open_device(int ordinal) {
  if (ordinal < 0 || ordinal >= count_devices())
    throw DeviceError("[cuda] the driver shows " + std::to_string(count_devices()) +
                      " GPUs; got cuda:" + std::to_string(ordinal));
  auto* opened = new CudaBackend(ordinal);  // never destroyed: arrays may outlive main
  opened_devices[static_cast<std::size_t>(ordinal)] = opened;
  warm_nvrtc(opened->capability());
  return opened;
}

}  // namespace
}  // namespace galop::cuda

extern "C" const galop::DevicePlugin* galop_device_plugin() {
  static constexpr galop::DevicePlugin plugin{GALOP_INTERFACE_VERSION, &galop::cuda::count_devices,
                                              &galop::cuda::open_device};
  return &plugin;
}
