// Arrays as text, as NumPy prints them with its default options.
#pragma once

#include <string>

#include "galop/array.hpp"

namespace galop::cli {

/// What Python's print(a) writes for the NumPy array of the same values: 8 digits, lines of 75, the edges of more than
/// 1000 elements. Evaluates.
std::string numpy_text(const array& a);
/// One number as Python prints it.
std::string python_text(const scalar& v);
/// The shortest decimal text that reads back as the same float64 (nan, inf and -inf by those names).
std::string shortest_text(double v);

}  // namespace galop::cli
