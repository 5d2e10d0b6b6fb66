// Arrays as text. What stands here was printed by NumPy 2.4; test_calc.py compares many more with it.
#include "galop/print.hpp"

#include <gtest/gtest.h>

#include <iomanip>
#include <sstream>
#include <thread>

#include "galop/fmt.hpp"
#include "galop/galop.hpp"

namespace galop {
namespace {

template <class T>
std::string streamed(const T& v) {
  std::ostringstream s;
  s << v;
  return s.str();
}

TEST(Print, AsNumPy) {
  EXPECT_EQ(streamed(array({1, -20, 300})), "[  1 -20 300]");
  EXPECT_EQ(streamed(array({{1.5, 2.0}, {-3.0, 4.25}})), "[[ 1.5   2.  ]\n [-3.    4.25]]");
  EXPECT_EQ(streamed(arange(3) > 1), "[False False  True]");
  EXPECT_EQ(streamed(array(2.0) / 3), "0.6666666666666666");
  EXPECT_EQ(streamed(zeros({0, 3})), "[]");
  EXPECT_EQ(streamed(array({std::complex<double>(1, -2)})), "[1.-2.j]");
  EXPECT_EQ(streamed(arange(2000)), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(streamed(arange(6).reshape({2, 3})(all, 1)), "[1 4]");
}

TEST(Print, AStreamStillShiftsNumbers) {
  EXPECT_EQ(streamed(arange(3) << 2), "[0 4 8]");
  EXPECT_EQ(streamed(7), "7");
}

TEST(Print, Numbers) {
  EXPECT_EQ(to_string(scalar(1e16)), "1e+16");
  EXPECT_EQ(to_string(scalar(3.0)), "3.0");
  EXPECT_EQ(to_string(scalar(true)), "True");
  EXPECT_EQ(to_string(scalar(~std::uint64_t{0})), "18446744073709551615");
}

TEST(Print, Options) {
  const array a = array({1.0, 1e-5, 3.0}) / 7;
  EXPECT_EQ(to_string(a), "[1.42857143e-01 1.42857143e-06 4.28571429e-01]");
  EXPECT_EQ(to_string(a, {.precision = 3}), "[1.429e-01 1.429e-06 4.286e-01]");
  EXPECT_EQ(to_string(a, {.precision = 4, .suppress = true}), "[0.1429 0.     0.4286]");
  EXPECT_EQ(to_string(arange(10), {.threshold = 5, .edgeitems = 2}), "[0 1 ... 8 9]");
  EXPECT_EQ(to_string(arange(12), {.linewidth = 20}), "[ 0  1  2  3  4  5\n  6  7  8  9 10 11]");
  const print_options before = get_print_options();
  set_print_options({.precision = 2});
  EXPECT_EQ(streamed(array({0.123})), "[0.12]");
  std::thread([] { EXPECT_EQ(streamed(array({0.123})), "[0.123]"); }).join();
  set_print_options(before);
  EXPECT_EQ(streamed(array({0.123})), "[0.123]");
}

TEST(Print, WithFmt) {
  const array a = array({1.0, 2.0}) / 3;
  EXPECT_EQ(fmt::format("a = {}", a), "a = [0.33333333 0.66666667]");
  EXPECT_EQ(fmt::format("{:.2}", a), "[0.33 0.67]");
  EXPECT_EQ(fmt::format("{} {:>8}", a.shape(), a.dtype()), "(2,)  float64");
  EXPECT_THROW(static_cast<void>(fmt::format(fmt::runtime("{:x}"), a)), fmt::format_error);
}

#ifdef __cpp_lib_format
TEST(Print, WithStdFormat) {
  const array a = array({1.0, 2.0}) / 3;
  EXPECT_EQ(std::format("{} {:.2}", a, a), "[0.33333333 0.66666667] [0.33 0.67]");
}
#endif

}  // namespace
}  // namespace galop
