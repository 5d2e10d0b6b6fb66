// Lloyd's k-means: points in the unit square fall into groups around eight centres. Run: kmeans [N] [STEPS]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace gp = galop;

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 1e6);
  const int steps = argc > 2 ? std::atoi(argv[2]) : 10;
  gp::random::seed(0);
  gp::array points = gp::random::uniform(0, 1, {n, 2});
  const auto start = std::chrono::steady_clock::now();

  gp::array centres = points(gp::slice(8)).copy();
  gp::array distance;
  for (int i = 0; i < steps; ++i) {
    distance = gp::sum(gp::square(points(gp::all_of, gp::newaxis) - centres), {.axis = gp::Dims{2}});
    gp::array nearest = gp::argmin(distance, 1);
    for (std::int64_t k = 0; k < centres.shape()[0]; ++k)
      centres(k) = gp::mean(points(nearest == k), {.axis = gp::Dims{0}});
  }
  std::cout << std::setprecision(8);
  for (std::int64_t k = 0; k < centres.shape()[0]; ++k)
    std::cout << centres(k, 0).item<double>() << " " << centres(k, 1).item<double>() << "\n";
  std::cout << "mean squared distance " << std::setprecision(17)
            << gp::mean(gp::min(distance, {.axis = gp::Dims{1}})).item<double>() << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
