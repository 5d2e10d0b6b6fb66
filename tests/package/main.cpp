#include <galop/galop.hpp>
#include <iostream>
#include <numbers>

namespace gp = galop;

int main() {
  gp::array theta = gp::linspace(0.0, 2 * std::numbers::pi, 1'000'001);
  gp::array r = 1 + 0.75 * gp::sin(3 * theta);  // nothing is computed yet
  double step = 2 * std::numbers::pi / 1e6;
  gp::array area = 0.5 * step * gp::square(r(gp::slice(0, -1))).sum();
  std::cout << "area " << double(area) << "\n";  // now, in one pass on all cores

  gp::array heat = gp::zeros({5, 5});
  heat(2, gp::slice(1, 4)) += 100;  // a view, written in place
  std::cout << heat.sum({.axis = 0}) << "\n";
}
