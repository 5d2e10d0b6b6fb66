// Bodies that attract one another, stepped by the leapfrog method; the energy shows how well it goes. Run: nbody [N]
// [STEPS]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace gp = galop;

constexpr double kSoftening = 0.01, kStep = 0.001;

gp::array acceleration(const gp::array& position, double mass) {
  gp::array away = position - position(gp::all, gp::newaxis);  // from body i to body j
  gp::array square = gp::sum(away * away, {.axis = 2}) + kSoftening;
  gp::array cube = (square * gp::sqrt(square))(gp::ellipsis, gp::newaxis);
  return mass * gp::sum(away / cube, {.axis = 1});
}

double energy(const gp::array& position, const gp::array& velocity, double mass) {
  gp::array away = position - position(gp::all, gp::newaxis);
  gp::array distance = gp::sqrt(gp::sum(away * away, {.axis = 2}) + kSoftening);
  return double(0.5 * mass * (velocity * velocity).sum() - 0.5 * mass * mass * (1 / distance).sum());
}

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 1000);
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20;
  const double mass = 1 / static_cast<double>(n);
  gp::random::seed(0);
  gp::array position = gp::random::uniform(-1, 1, {n, 3});
  gp::array velocity = gp::zeros({n, 3});
  const auto start = std::chrono::steady_clock::now();

  std::cout << std::fixed << std::setprecision(9) << "energy " << energy(position, velocity, mass) << "\n";
  velocity += 0.5 * kStep * acceleration(position, mass);
  for (int i = 0; i < steps; ++i) {
    position += kStep * velocity;
    velocity += kStep * acceleration(position, mass);
  }
  velocity -= 0.5 * kStep * acceleration(position, mass);
  std::cout << "energy " << energy(position, velocity, mass) << ", first body at " << position(0) << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
