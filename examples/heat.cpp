// Heat spreading over a plate from its hot upper edge: slices of one array, updated in place. Run: heat [N] [STEPS]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace gp = galop;

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 2000);
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  const auto start = std::chrono::steady_clock::now();

  gp::array u = gp::zeros({n, n});
  u(0, gp::all) = 100;
  const gp::slice inner(1, -1), before(gp::none, -2), after(2, gp::none);
  gp::array centre = u(inner, inner);
  for (int i = 0; i < steps; ++i)
    centre += 0.1 * (u(before, inner) + u(after, inner) + u(inner, before) + u(inner, after) - 4 * centre);
  std::cout << "second row " << u(1, n / 2) << " third row " << u(2, n / 2) << " mean " << u.mean() << "\n";

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
