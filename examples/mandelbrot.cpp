// The Mandelbrot set: how many steps each point of the plane takes to leave the circle of radius 2. Run: mandelbrot [N]
// [STEPS]
#include <galop/galop.hpp>

#include <chrono>
#include <complex>
#include <cstdlib>
#include <iostream>

namespace gp = galop;

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 1000);
  const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
  const auto start = std::chrono::steady_clock::now();

  gp::array x = gp::linspace(-2, 0.5, n);
  gp::array y = gp::linspace(-1.25, 1.25, n);
  gp::array c = x + std::complex<double>(0, 1) * y(gp::all, gp::newaxis);
  gp::array z = gp::zeros_like(c);
  gp::array count = gp::zeros(c.shape(), gp::int64);
  for (int i = 0; i < steps; ++i) {
    gp::array inside = gp::square(z.real()) + gp::square(z.imag()) <= 4;
    count += inside;
    z = gp::where(inside, z * z + c, z);
  }
  std::cout << "never left " << gp::count_nonzero(count == steps) << " steps in all " << count.sum() << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
