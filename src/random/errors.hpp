// The checks that NumPy makes on arguments of random functions, with Galop's wording.

#pragma once

#include <string>
#include <string_view>

#include "galop/error.hpp"

namespace galop::random {

// Throws ValueError: "[op] what".
[[noreturn]] void value_error(std::string_view op, const std::string& what);

// ValueError unless `value` is +0, positive or NaN, as NumPy asks of a scale: -0.0 is refused too.
void check_non_negative(std::string_view op, std::string_view name, double value);

// high - low. OverflowError where it is not finite; ValueError where it is negative, unless
// `any_order`.
double checked_range(std::string_view op, double low, double high, bool any_order);

}  // namespace galop::random
