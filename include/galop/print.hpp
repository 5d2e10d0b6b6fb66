// Arrays as text, as NumPy prints them: `std::cout << a`, `to_string(a)`, and std::format where the library has it;
// galop/fmt.hpp is the same for {fmt}.
#pragma once

#include <iosfwd>
#include <string>
#include <version>

#ifdef __cpp_lib_format
#include <format>
#endif

#include "galop/array.hpp"

namespace galop {

/// What numpy.set_printoptions sets.
struct print_options {
  int precision = 8;      ///< most digits behind the point
  int threshold = 1000;   ///< arrays of more elements show the ends of long axes only
  int edgeitems = 3;      ///< how many elements an end has
  int linewidth = 75;     ///< most characters in a line
  bool suppress = false;  ///< small numbers without exponents
};

/// The options that this thread prints with.
print_options get_print_options();
void set_print_options(const print_options& o);

/// What Python's print(a) writes for the NumPy array of the same values. Evaluates.
std::string to_string(const array& a, const print_options& o = get_print_options());
/// One number as Python prints it.
std::string to_string(const scalar& v);
std::ostream& operator<<(std::ostream& stream, const array& a);

namespace detail {

/// Reads `.3` of a format such as `{:.3}` into `precision`; where it ends.
template <class Iterator>
constexpr Iterator parse_print_format(Iterator at, Iterator end, int& precision) {
  if (at == end || *at != '.') return at;
  int digits = 0;
  for (++at; at != end && *at >= '0' && *at <= '9'; ++at) digits = 10 * digits + (*at - '0');
  precision = digits;
  return at;
}

inline std::string formatted(const array& a, int precision) {
  print_options o = get_print_options();
  if (precision >= 0) o.precision = precision;
  return to_string(a, o);
}

}  // namespace detail
}  // namespace galop

#ifdef __cpp_lib_format
/// `std::format("{}", a)`, and `{:.3}` for three digits behind the point.
template <>
struct std::formatter<galop::array> {
  constexpr auto parse(std::format_parse_context& c) {
    return galop::detail::parse_print_format(c.begin(), c.end(), precision);
  }
  auto format(const galop::array& a, auto& c) const {
    const std::string text = galop::detail::formatted(a, precision);
    auto out = c.out();
    for (const char letter : text) *out++ = letter;
    return out;
  }
  int precision = -1;
};
#endif
