// The checks that NumPy makes on arguments of random functions.

#include "random/errors.hpp"

#include <cmath>

namespace galop::random {

void value_error(std::string_view op, const std::string& what) {
  throw ValueError("[" + std::string(op) + "] " + what);
}

void check_non_negative(std::string_view op, std::string_view name, double value) {
  if (!std::isnan(value) && std::signbit(value)) {
    value_error(op, std::string(name) + " must not be negative; got " + std::to_string(value));
  }
}

double checked_range(std::string_view op, double low, double high, bool any_order) {
  const double range = high - low;
  if (!std::isfinite(range)) {
    throw OverflowError("[" + std::string(op) + "] high - low must be finite; got low " + std::to_string(low) +
                        ", high " + std::to_string(high));
  }
  if (!any_order) check_non_negative(op, "high - low", range);
  return range;
}

}  // namespace galop::random
