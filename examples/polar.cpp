// The article's third program: the curve r = 1 + ¾ sin 3θ at 10^8 points. Run: polar [N]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numbers>

namespace gp = galop;

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 1e8);
  const auto start = std::chrono::steady_clock::now();

  gp::array theta = gp::linspace(0, 2 * std::numbers::pi, n);
  gp::array r = 1 + 0.75 * gp::sin(3 * theta);
  gp::array x = r * gp::cos(theta);
  gp::array y = r * gp::sin(theta);
  std::cout << std::fixed << std::setprecision(6) << "x from " << double(x.min()) << " to " << double(x.max())
            << ", y from " << double(y.min()) << " to " << double(y.max()) << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
