// The functions of `galop calc`: every row of the table, and NumPy's reductions, creation and rearrangement functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calc_values.hpp"

namespace galop::cli {

/// The arguments of one call, put in order of the function's parameters; a getter names what is wrong with one.
class Arguments {
 public:
  Arguments(std::string function, const std::vector<std::string>& parameters, std::vector<const Value*> values)
      : function_(std::move(function)), parameters_(parameters), values_(std::move(values)) {}

  /// Whether parameter `i` was given, and not as None.
  bool has(std::size_t i) const { return values_[i] != nullptr && !values_[i]->is_none(); }
  const Value& value(std::size_t i) const { return *values_[i]; }
  array as_array(std::size_t i) const;
  /// An array or a number; valid while these arguments live.
  arg operand(std::size_t i);
  scalar number(std::size_t i) const;
  double real(std::size_t i, double otherwise) const;
  /// An integer, also written as 1e8.
  std::int64_t integer(std::size_t i) const;
  std::int64_t integer(std::size_t i, std::int64_t otherwise) const { return has(i) ? integer(i) : otherwise; }
  bool flag(std::size_t i, bool otherwise) const;
  /// A shape or axes: an integer or a tuple of them.
  Dims dims(std::size_t i) const;
  std::optional<Dims> axes(std::size_t i) const;
  std::optional<int> axis(std::size_t i) const;
  std::optional<DType> dtype(std::size_t i) const;
  /// The arrays of a tuple or list.
  std::vector<array> arrays(std::size_t i) const;
  const std::string& function() const { return function_; }

 private:
  [[noreturn]] void wrong(std::size_t i, const std::string& needed) const;

  std::string function_;
  const std::vector<std::string>& parameters_;
  std::vector<const Value*> values_;
  std::vector<array> kept_;
};

struct Function {
  std::vector<std::string> parameters;
  std::size_t required = 0;  // parameters that must be given
  bool many = false;         // takes any number of arguments, and no keywords
  std::function<Value(Arguments&)> run;
};

/// The function of a name, or null.
const Function* find_function(std::string_view name);
/// The value of a constant or dtype name: pi, e, inf, nan, True, False, None, newaxis, float32, …; or null.
const Value* find_constant(std::string_view name);
/// All names of functions and constants.
std::vector<std::string> known_names();
/// Which of `names` was perhaps meant; "" when none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

/// Calls a function. Throws TypeError for arguments that it does not take.
Value call(const std::string& name, const Function& f, const std::vector<Value>& positional,
           const std::vector<std::pair<std::string, Value>>& keywords);

}  // namespace galop::cli
