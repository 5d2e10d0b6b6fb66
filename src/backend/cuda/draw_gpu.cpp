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
  void launch(draw::Kernel k, unsigned blocks, const draw::Args& a, const std::string& what) override {
    const std::string name = draw::kernel_name(k);
    const CUfunction f = gpu_.kernel(
        "draw " + name, [k] { return draw::source(k); }, name.c_str());
    void* parameters[] = {const_cast<draw::Args*>(&a)};
    gpu_.launch(f, {blocks}, {draw::kThreads}, 0, parameters, what);
  }

 private:
  CudaExecutor& gpu_;
};

}  // namespace

bool draw_numbers(CudaExecutor& gpu, Draw& d) {
  Gpu machine(gpu);
  return draw::run(machine, d);
}

}  // namespace galop::cuda
