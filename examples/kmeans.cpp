// Lloyd's k-means: points in the unit square fall into groups around eight centres. Run: kmeans [N] [STEPS]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
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
    distance = gp::square(points(gp::all, gp::newaxis) - centres).sum({.axis = 2});
    gp::array nearest = distance.argmin(1);
    for (std::int64_t k = 0; k < centres.shape()[0]; ++k) centres(k) = points(nearest == k).mean({.axis = 0});
  }
  std::cout << centres << "\nmean squared distance " << distance.min({.axis = 1}).mean() << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
