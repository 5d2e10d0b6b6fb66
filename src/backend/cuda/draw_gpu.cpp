// A Draw on one of the machine's GPUs.
#include "backend/cuda/draw.hpp"
#include "backend/cuda/executor.hpp"

namespace galop::cuda {
namespace {

class Gpu final : public draw::Machine {
 public:
  explicit Gpu(CudaExecutor& gpu) : gpu_(gpu) { multiprocessors = gpu.context().multiprocessors; }
  void* allocate(std::int64_t bytes) override { return gpu_.allocate(bytes); }
  void release(void* p) noexcept override { gpu_.release(p); }
  void upload(void* to, const void* from, std::int64_t bytes) override { gpu_.upload(to, from, bytes); }
  void download(void* to, const void* from, std::int64_t bytes) override { gpu_.download(to, from, bytes); }
  void zero(void* to, std::int64_t bytes) override { gpu_.fill_bytes(to, 0, bytes); }
  std::unique_ptr<Arrival> send(const void* from, std::int64_t bytes) override {
    struct Sent final : Arrival {
      Sent(CudaExecutor& gpu, const void* from, std::int64_t bytes) : arrival(gpu.send(from, bytes)) {}
      void get(void* to) override { arrival.get(to); }
      Transfer::Arrival arrival;
    };
    return std::make_unique<Sent>(gpu_, from, bytes);
  }
  void prepare(draw::Kernel k) override { function(k); }
  void launch(draw::Kernel k, unsigned blocks, const draw::Args& a, const std::string& what) override {
    void* parameters[] = {const_cast<draw::Args*>(&a)};
    gpu_.launch(function(k), {blocks}, {draw::kThreads}, 0, parameters, what);
  }

 private:
  CUfunction function(draw::Kernel k) {
    const std::string name = draw::kernel_name(k);
    return gpu_.kernel(
        "draw " + name, [k] { return draw::source(k); }, name.c_str());
  }
  CudaExecutor& gpu_;
};

}  // namespace

bool draw_numbers(CudaExecutor& gpu, Draw& d) {
  Gpu machine(gpu);
  return draw::run(machine, d);
}

}  // namespace galop::cuda
