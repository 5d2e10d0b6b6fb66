// The article's second program: the product of two 10,000 × 10,000 float32 matrices of random numbers, by NumPy's
// random numbers and by PyTorch's. Run: matmul [N] [--torch]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace gp = galop;

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 1e4);
  const auto start = std::chrono::steady_clock::now();

  gp::random::seed(0);
  gp::array A = gp::random::uniform(1, 100, {n, n}).astype(gp::float32);
  gp::array B = gp::random::uniform(1, 100, {n, n}).astype(gp::float32);
  gp::array C = gp::matmul(A, B);
  std::cout << C(gp::slice(5), gp::slice(5)) << "\n";
  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";

  if (argc > 2 && std::string_view(argv[2]) == "--torch") {
    // What torch.manual_seed(0) and two calls of torch.empty(n, n).uniform_(1, 100) give.
    gp::array both = gp::random::torch_uniform({2, n, n}, 1, 100, 0);
    std::cout << gp::matmul(both(0), both(1))(gp::slice(5), gp::slice(5)) << "\n";
  }
}
