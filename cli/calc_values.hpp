// What an expression of `galop calc` can be worth, and Python's arithmetic on plain numbers.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "galop/array.hpp"

namespace galop::cli {

struct Value;

/// A tuple or a list.
struct Sequence {
  std::vector<Value> items;
  bool is_list = false;
};

/// None, a Python number, an array (NumPy's scalars are 0-d ones), a dtype, text, part of an index, a sequence.
struct Value : std::variant<std::monostate, scalar, array, DType, std::string, slice, ellipsis_t, Sequence> {
  using variant::variant;

  bool is_none() const { return std::holds_alternative<std::monostate>(*this); }
  const scalar* number() const { return std::get_if<scalar>(this); }
  const array* as_array() const { return std::get_if<array>(this); }
  const Sequence* sequence() const { return std::get_if<Sequence>(this); }
};

/// "an array of shape (3,)", "a number", … for messages.
std::string describe(const Value& v);
/// What print() writes. Evaluates.
std::string text_of(const Value& v);
/// The array that NumPy makes of a number, an array or nested sequences of them. Throws TypeError, ValueError.
array to_array(const Value& v);

/// `op` applied to one or two values: Python's arithmetic on two numbers, Galop's as soon as an array takes part.
/// Throws Galop's errors.
Value unary(const std::string& op, const Value& x);
Value binary(const std::string& op, const Value& x, const Value& y);
/// x[part], x[part, part]
Value subscript(const Value& x, const std::vector<Value>& parts);

}  // namespace galop::cli
