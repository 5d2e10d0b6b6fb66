// Arrays, shapes and dtypes for {fmt}, which the program must have: `fmt::print("{:.3}\n", a)`. Not part of
// galop/galop.hpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "galop/print.hpp"

namespace fmt {

/// `{}` as NumPy prints; `{:.3}` for three digits behind the point.
template <>
struct formatter<galop::array> {
  constexpr auto parse(format_parse_context& c) {
    return galop::detail::parse_print_format(c.begin(), c.end(), precision);
  }
  template <class Context>
  auto format(const galop::array& a, Context& c) const {
    const std::string text = galop::detail::formatted(a, precision);
    return std::copy(text.begin(), text.end(), c.out());
  }
  int precision = -1;
};

/// As Python writes a tuple.
template <>
struct formatter<galop::Dims> : formatter<std::string_view> {
  template <class Context>
  auto format(const galop::Dims& d, Context& c) const {
    return formatter<std::string_view>::format(galop::to_string(d), c);
  }
};

/// NumPy's name.
template <>
struct formatter<galop::DType> : formatter<std::string_view> {
  template <class Context>
  auto format(galop::DType t, Context& c) const {
    return formatter<std::string_view>::format(galop::name(t), c);
  }
};

}  // namespace fmt
