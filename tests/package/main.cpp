#include <galop/galop.hpp>
#include <iostream>
#include <numbers>

namespace gp = galop;

int main() {
  gp::array theta = gp::linspace(0.0, 2 * std::numbers::pi, 1'000'001);
  gp::array r = 1 + 0.75 * gp::sin(3 * theta);  // nothing is computed yet
  gp::array squares = gp::square(r(gp::slice(0, -1)));
  double step = 2 * std::numbers::pi / 1e6;
  double area = 0.5 * step * gp::sum(squares).item<double>();  // now, in one pass on all cores
  std::cout << "area " << area << "\n";
}
