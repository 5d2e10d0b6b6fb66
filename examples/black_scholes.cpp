// Prices of European options by the formula of Black and Scholes, 5·10^7 of them. Run: black_scholes [N]
#include <galop/galop.hpp>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numbers>
#include <utility>

namespace gp = galop;

constexpr double kRate = 0.02, kVolatility = 0.3;

gp::array normal_cdf(const gp::array& x) { return 0.5 * (1 + gp::erf(x / std::numbers::sqrt2)); }

std::pair<gp::array, gp::array> prices(const gp::array& spot, const gp::array& strike, const gp::array& years) {
  gp::array deviation = kVolatility * gp::sqrt(years);
  gp::array d1 = (gp::log(spot / strike) + (kRate + kVolatility * kVolatility / 2) * years) / deviation;
  gp::array d2 = d1 - deviation;
  gp::array discounted = strike * gp::exp(-kRate * years);
  gp::array call = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
  return {call, call - spot + discounted};
}

void print(const char* name, const gp::array& price) {
  std::cout << std::fixed << std::setprecision(9) << name << " " << double(price(0)) << " … " << double(price(-1))
            << ", mean " << double(price.mean()) << "\n";
}

int main(int argc, char** argv) {
  const auto n = static_cast<std::int64_t>(argc > 1 ? std::atof(argv[1]) : 5e7);
  gp::random::seed(0);
  gp::array spot = gp::random::uniform(10, 50, {n});
  gp::array strike = gp::random::uniform(10, 50, {n});
  gp::array years = gp::random::uniform(1, 2, {n});
  const auto start = std::chrono::steady_clock::now();

  auto [call, put] = prices(spot, strike, years);
  print("call", call);
  print("put", put);

  std::cerr << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
}
