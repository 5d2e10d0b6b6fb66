// NumPy's functions in `galop calc` that are no rows of the table.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calc_functions.hpp"

namespace galop::cli {

using Table = std::map<std::string, Function, std::less<>>;

/// A function with the parameters of a text such as "a, axis=, dtype="; = marks what may be left out, "*" any number.
Function make(std::string_view signature, std::function<Value(Arguments&)> run);
/// A tuple of arrays.
Value sequence(std::vector<array> arrays);

/// Adds reductions, creation, rearrangement, products and what is made of them.
void add_library(Table& table);

}  // namespace galop::cli
