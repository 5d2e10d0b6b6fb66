// The article's first program: `a += 1` on 3·10^8 float64 numbers. Run: add_one [N]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace gp = galop;

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 3e8);
  const auto start = std::chrono::steady_clock::now();

  gp::array a = gp::ones({n});
  a += 1;
  std::cout << "first " << a(0) << " last " << a(-1) << " sum " << a.sum() << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
