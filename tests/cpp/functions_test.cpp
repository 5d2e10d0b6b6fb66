// The parts of the C++ interface that Python spells otherwise: axes, methods, lists of arrays, functions of indices;
// and what the made functions refuse. test_calc.py compares their values with NumPy's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "galop/galop.hpp"

namespace gp = galop;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<double> values(const gp::array& a) { return a.to_vector<double>(); }

TEST(Axes, AreNamedShortly) {
  const gp::array a = gp::arange(6).reshape({1, 2, 3});
  EXPECT_THAT(values(gp::sum(a, {.axis = 2})), ElementsAre(3, 12));
  EXPECT_THAT(values(gp::sum(a, {.axis = {0, -1}})), ElementsAre(3, 12));
  EXPECT_THAT(values(gp::sum(a, {.axis = gp::Dims{1}})), ElementsAre(3, 5, 7));
  EXPECT_THAT(values(gp::sum(a, {.axis = gp::none})), ElementsAre(15));
  EXPECT_EQ(gp::sum(a, {.axis = gp::Dims{}}).shape(), a.shape());
  EXPECT_THROW(gp::sum(a, {.axis = 3}), gp::AxisError);
}

TEST(Index, AllIsAPartAndAReduction) {
  const gp::array a = gp::arange(6).reshape({2, 3});
  EXPECT_THAT(values(a(gp::all, 1)), ElementsAre(1, 4));
  EXPECT_THAT(values(a(gp::slice(1, gp::none), gp::all)), ElementsAre(3, 4, 5));
  EXPECT_FALSE(bool(gp::all(a)));
  EXPECT_THAT(values(gp::all(a, {.axis = 0})), ElementsAre(0, 1, 1));
}

TEST(Index, WritesThroughArraysOfPlaces) {
  gp::array a = gp::arange(6);
  a(a % 2 == 0) *= 10;
  a(gp::array({1, 3})) |= 8;
  a(a == 5) <<= 1;
  EXPECT_THAT(values(a), ElementsAre(0, 9, 20, 11, 40, 10));
  a(gp::slice(0, 2)) += 1;
  a(2) %= 7;
  EXPECT_THAT(values(a), ElementsAre(1, 10, 6, 11, 40, 10));
}

TEST(Methods, AreTheFunctions) {
  const gp::array a = gp::array({{3.0, 1.0}, {2.0, 4.0}});
  EXPECT_EQ(double(a.sum()), 10);
  EXPECT_THAT(values(a.sum({.axis = 0})), ElementsAre(5, 5));
  EXPECT_THAT(values(a.prod({.axis = 1})), ElementsAre(3, 8));
  EXPECT_EQ(double(a.prod()), 24);
  EXPECT_EQ(double(a.min()), 1);
  EXPECT_THAT(values(a.min({.axis = 1})), ElementsAre(1, 2));
  EXPECT_EQ(double(a.max()), 4);
  EXPECT_THAT(values(a.max({.axis = 1})), ElementsAre(3, 4));
  EXPECT_TRUE(bool((a > 3).any()) && !bool((a > 3).all()));
  EXPECT_THAT(values((a > 2).any({.axis = 0})), ElementsAre(1, 1));
  EXPECT_THAT(values((a > 2).all({.axis = 0})), ElementsAre(0, 0));
  EXPECT_EQ(double(a.mean()), 2.5);
  EXPECT_THAT(values(a.mean({.axis = 0})), ElementsAre(2.5, 2.5));
  EXPECT_EQ(double(a.var()), 1.25);
  EXPECT_THAT(values(a.var({.axis = 1})), ElementsAre(1, 1));
  EXPECT_EQ(double(a.std()), std::sqrt(1.25));
  EXPECT_THAT(values(a.std({.axis = 1})), ElementsAre(1, 1));
  EXPECT_EQ(int(a.argmin()), 1);
  EXPECT_THAT(values(a.argmax(1)), ElementsAre(0, 1));
  EXPECT_THAT(values(a.cumsum()), ElementsAre(3, 4, 6, 10));
  EXPECT_THAT(values(a.cumprod(0)), ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(values(a.dot(gp::array({1.0, 1.0}))), ElementsAre(4, 6));
  EXPECT_THAT(values(a.clip(2, 3)), ElementsAre(3, 2, 2, 3));
  EXPECT_THAT(values((a / 3).round(1)), ElementsAre(1, 0.3, 0.7, 1.3));
  EXPECT_THAT(values(a.swapaxes(0, 1)), ElementsAre(3, 2, 1, 4));
  EXPECT_THAT(values(a.diagonal()), ElementsAre(3, 4));
  EXPECT_THAT(values(a.take(gp::array({3, 0}))), ElementsAre(4, 3));
  EXPECT_THAT(values(a.repeat(2, 0)), ElementsAre(3, 1, 3, 1, 2, 4, 2, 4));
  EXPECT_EQ(a(gp::newaxis).squeeze().shape(), a.shape());
  EXPECT_EQ((a * std::complex<double>(0, 1)).conj()(0, 0).item<std::complex<double>>(), std::complex<double>(0, -3));
  const gp::array flat = a.T().flatten();
  EXPECT_THAT(values(flat), ElementsAre(3, 2, 1, 4));
  EXPECT_FALSE(gp::shares_memory(flat, a));
  a.fill(7);
  EXPECT_THAT(values(a), ElementsAre(7, 7, 7, 7));
}

TEST(Methods, ViewAs) {
  gp::array a = gp::array({{1.0f, 2.0f}, {3.0f, 4.0f}});
  const gp::array bits = a.view_as(gp::uint32);
  EXPECT_EQ(bits(0, 0).item<std::uint32_t>(), 0x3f800000U);
  bits(0, 0) = 0x40000000;
  EXPECT_EQ(a(0, 0).item<float>(), 2);
  EXPECT_EQ(a.view_as(gp::uint8).shape(), (gp::Dims{2, 8}));
  EXPECT_EQ(a.view_as(gp::complex64)(1, 0).item<std::complex<float>>(), std::complex<float>(3, 4));
  EXPECT_EQ((a + 1).view_as(gp::complex64)(1, 0).item<std::complex<float>>(), std::complex<float>(4, 5));
  EXPECT_THROW(a.T().view_as(gp::uint8), gp::ValueError);
  EXPECT_THROW(a.view_as(gp::complex128), gp::ValueError);
  EXPECT_THROW(gp::array(1.0).view_as(gp::uint8), gp::ValueError);
}

TEST(Lists, OfArrays) {
  const gp::array a = gp::arange(2), b = gp::arange(3);
  EXPECT_THAT(values(gp::concatenate({a, b})), ElementsAre(0, 1, 0, 1, 2));
  EXPECT_THAT(values(gp::concatenate(std::vector{a, a})), ElementsAre(0, 1, 0, 1));
  const gp::array list[] = {a, a};
  EXPECT_EQ(gp::stack(list, 1).shape(), (gp::Dims{2, 2}));
  const auto [x, y] = gp::meshgrid(a, b);
  EXPECT_EQ(x.shape(), (gp::Dims{3, 2}));
  EXPECT_THAT(values(y), ElementsAre(0, 0, 1, 1, 2, 2));
  gp::eval({x, y});
  EXPECT_EQ(gp::meshgrid({a, b}, true)[0].shape(), (gp::Dims{2, 3}));
  gp::array grid = gp::zeros({3, 3});
  grid(gp::array({0, 2}).reshape({2, 1}), gp::array({0, 2})) = 1;
  const auto cross = gp::ix_({gp::array({true, false, true}), gp::array({1})});
  grid(cross[0], cross[1]) = 5;
  EXPECT_THAT(values(grid), ElementsAre(1, 5, 1, 0, 0, 0, 1, 5, 1));
  EXPECT_EQ(gp::where(a).size(), 1U);
}

TEST(Functions, OfIndices) {
  EXPECT_THAT(values(gp::fromfunction([](const gp::array& i, const gp::array& j) { return 10 * i + j; }, {2, 3})),
              ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_EQ(gp::fromfunction([](const gp::array& i) { return i; }, {3}, gp::int64).dtype(), gp::int64);
  EXPECT_THROW(gp::fromfunction([](const gp::array& i) { return i; }, {3, 3}), gp::ValueError);
  EXPECT_EQ(gp::indices({}).shape(), gp::Dims{0});
}

TEST(Functions, Reduceat) {
  const gp::array a = gp::arange(8);
  EXPECT_THAT(values(gp::add.reduceat(a, gp::array({0, 4, 1, 5}))), ElementsAre(6, 4, 10, 18));
  EXPECT_THAT(values(gp::maximum.reduceat(a.reshape({2, 4}), gp::array({0, 2}), 1)), ElementsAre(1, 3, 5, 7));
  EXPECT_THROW(gp::add.reduceat(a, gp::array({8})), gp::IndexError);
  EXPECT_THROW(gp::add.reduceat(a, gp::array({1}), 1), gp::AxisError);
}

TEST(Functions, TwoResultsIntoOut) {
  gp::array fraction = gp::zeros({2}), whole = gp::zeros({2});
  gp::modf(gp::array({1.25, -2.5}), {.out = {&fraction, &whole}});
  EXPECT_THAT(values(fraction), ElementsAre(0.25, -0.5));
  EXPECT_THAT(values(whole), ElementsAre(1, -2));
}

TEST(Functions, NanReductionsTakeOptions) {
  const double nan = std::nan("");
  const gp::array a = gp::array({{1.0, nan}, {3.0, 5.0}}), mask = gp::array({{true, true}, {true, false}});
  gp::array out = gp::zeros({2});
  EXPECT_THAT(values(gp::nanmean(a, {.axis = 1, .out = &out, .where = &mask})), ElementsAre(1, 3));
  EXPECT_THAT(values(out), ElementsAre(1, 3));
  EXPECT_THAT(values(gp::nanvar(a, {.axis = 1, .keepdims = true})), ElementsAre(0, 1));
  EXPECT_EQ(gp::nanstd(a, {.keepdims = true}).shape(), (gp::Dims{1, 1}));
  EXPECT_TRUE(std::isnan(double(gp::nanmean(gp::array({nan})))));
}

TEST(Functions, RollAndSplitAlongAxes) {
  const gp::array a = gp::arange(6).reshape({2, 3});
  EXPECT_THAT(values(gp::roll(a, gp::Dims{1, 1}, gp::Dims{0, 1})), ElementsAre(5, 3, 4, 2, 0, 1));
  EXPECT_THAT(values(gp::roll(a, gp::Dims{1, 1}, gp::Dims{1})), ElementsAre(1, 2, 0, 4, 5, 3));
  EXPECT_THAT(values(gp::roll(a, gp::Dims{-1}, gp::Dims{0, 1})), ElementsAre(4, 5, 3, 1, 2, 0));
  EXPECT_TRUE(gp::roll(a.T(), gp::Dims{}, gp::Dims{0}).is_f_contiguous());
  const gp::array cube = gp::arange(8).reshape({2, 2, 2});
  EXPECT_THAT(values(gp::hsplit(a, 3)[1]), ElementsAre(1, 4));
  EXPECT_THAT(values(gp::hsplit(gp::arange(4), gp::Dims{1})[1]), ElementsAre(1, 2, 3));
  EXPECT_THAT(values(gp::vsplit(a, 2)[1]), ElementsAre(3, 4, 5));
  EXPECT_THAT(values(gp::vsplit(a, gp::Dims{1})[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(values(gp::dsplit(cube, 2)[1]), ElementsAre(1, 3, 5, 7));
  EXPECT_TRUE(gp::shares_memory(gp::dsplit(cube, gp::Dims{1})[0], cube));
  const gp::array windows = gp::sliding_window_view(a, {2}, gp::Dims{-1});
  EXPECT_EQ(windows.shape(), (gp::Dims{2, 2, 2}));
  EXPECT_THAT(values(windows), ElementsAre(0, 1, 1, 2, 3, 4, 4, 5));
  EXPECT_TRUE(gp::shares_memory(windows, a) && !windows.writeable());
  EXPECT_EQ(gp::sliding_window_view(a, {2, 3}).shape(), (gp::Dims{1, 1, 2, 3}));
  EXPECT_THROW(gp::sliding_window_view(a, {2}), gp::ValueError);
  EXPECT_THROW(gp::sliding_window_view(a, {3, 3}), gp::ValueError);
}

TEST(Functions, JoinsTakeOptions) {
  const gp::array a = gp::array({1.5, 2.5});
  gp::array out = gp::zeros({4});
  gp::concatenate({a, a}, 0, {.out = &out});
  EXPECT_THAT(values(out), ElementsAre(1.5, 2.5, 1.5, 2.5));
  EXPECT_EQ(gp::stack({a, a}, 1, {.dtype = gp::float32}).dtype(), gp::float32);
  EXPECT_THAT(values(gp::hstack({a, a}, {.dtype = gp::int64, .casting = gp::Casting::unsafe})),
              ElementsAre(1, 2, 1, 2));
  EXPECT_EQ(gp::vstack({a, a}, {.dtype = gp::complex64}).dtype(), gp::complex64);
  EXPECT_THROW(gp::concatenate({a, a}, 0, {.dtype = gp::int64}), gp::TypeError);
  EXPECT_THROW(gp::concatenate({a, a}, 0, {.dtype = gp::float64, .out = &out}), gp::TypeError);
  EXPECT_THROW(gp::concatenate({a}, 0, {.out = &out}), gp::ValueError);
}

TEST(Functions, PicksOutsideAnAxis) {
  const gp::array a = gp::arange(6).reshape({2, 3}), at = gp::array({4, -4});
  EXPECT_THROW(gp::take(a, at, 1), gp::IndexError);
  EXPECT_THAT(values(gp::take(a, at, 1, gp::TakeMode::wrap)), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(values(gp::take(a, at, 1, gp::TakeMode::clip)), ElementsAre(2, 0, 5, 3));
  EXPECT_THAT(values(gp::take(a, gp::array({true, false}))), ElementsAre(1, 0));
  EXPECT_THROW(gp::take(a, 1.0), gp::TypeError);
  EXPECT_THROW(gp::take(gp::zeros({0}), 0, 0, gp::TakeMode::wrap), gp::IndexError);
  gp::array out = gp::zeros({2}, gp::float32), small = gp::zeros({2}, gp::int8);
  EXPECT_THAT(values(gp::take(a, gp::array({5, 0}), gp::none, gp::TakeMode::raise, &out)), ElementsAre(5, 0));
  EXPECT_THAT(values(out), ElementsAre(5, 0));
  EXPECT_THROW(gp::take(a * 0.5, gp::array({5, 0}), gp::none, gp::TakeMode::raise, &small), gp::TypeError);
  gp::compress(gp::array({false, true}), a(gp::all, 0), 0, nullptr);
  EXPECT_THAT(values(gp::delete_(a, gp::slice(0, gp::none, 2), 1)), ElementsAre(1, 4));
  EXPECT_THAT(values(gp::delete_(a, gp::slice(-1, gp::none))), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THROW(gp::delete_(a, 1.5), gp::IndexError);
  EXPECT_THAT(values(gp::take_along_axis(a, gp::array({5, 1}), gp::none)), ElementsAre(5, 1));
}

TEST(Functions, DifferencesAndIntegrals) {
  const gp::array a = gp::array({1, 4, 9}), zero = 0, more = gp::array({16, 25});
  EXPECT_THAT(values(gp::diff(a, 1, -1, &zero, &more)), ElementsAre(1, 3, 5, 7, 9));
  EXPECT_THAT(values(gp::diff(a, 0, -1, &zero)), ElementsAre(1, 4, 9));
  EXPECT_EQ(double(gp::trapezoid_over(a, gp::array({1, 2}))), 15.5);
  EXPECT_EQ(double(gp::trapezoid(a, 2.0)), 18);
  const gp::array x = gp::array({{1, 2}, {0, 1}, {0, 0}}), y = gp::array({{0, 0}, {1, 0}, {0, 1}});
  EXPECT_THAT(values(gp::cross(x, y, 0, 0)), ElementsAre(0, 0, 1, 1, -2, 0));
  EXPECT_THAT(values(gp::cross(x, y, 0, 0, 0)), ElementsAre(0, 1, 0, -2, 1, 0));
  EXPECT_THAT(values(gp::isclose(a, a + 1, 0.0, gp::array({0.5, 1.0, 2.0}))), ElementsAre(0, 1, 1));
  const double inf = std::numeric_limits<double>::infinity();
  gp::array bad = gp::array({inf, 1.0, std::nan("")});
  EXPECT_THAT(values(gp::nan_to_num(bad, gp::array({7.0, 8.0, 9.0}), gp::arg(5.0))), ElementsAre(5, 1, 9));
  gp::nan_to_num(bad, 0.0, gp::arg(2.0), {}, false);
  EXPECT_THAT(values(bad), ElementsAre(2, 1, 0));
}

TEST(Functions, StatisticsIntoOut) {
  const gp::array a = gp::array({{1.0, 2.0}, {3.0, 7.0}}), w = gp::array({1.0, 3.0});
  gp::array out = gp::zeros({2}), line = gp::zeros({4}), wrong = gp::zeros({3});
  gp::ptp(a, 1, false, &out);
  EXPECT_THAT(values(out), ElementsAre(1, 4));
  gp::cumsum(a, {}, {}, &line);
  EXPECT_THAT(values(line), ElementsAre(1, 3, 6, 13));
  gp::cumulative_prod(gp::array({2, 3, 4}), {}, {}, true, &line);
  EXPECT_THAT(values(line), ElementsAre(1, 2, 6, 24));
  EXPECT_THROW(gp::cumulative_sum(w, {}, {}, true, &out), gp::ValueError);
  EXPECT_THROW(gp::nanmean(a, {.axis = 0, .out = &wrong}), gp::ValueError);
  const auto [mean, weight] = gp::average_and_sum(a, &w, 0);
  EXPECT_THAT(values(mean), ElementsAre(2.5, 5.75));
  EXPECT_THAT(values(weight), ElementsAre(4, 4));
  EXPECT_THAT(values(gp::average_and_sum(a, nullptr, 1).second), ElementsAre(2, 2));
  const gp::array bytes = gp::array({200}).astype(gp::uint8);
  EXPECT_EQ(double(gp::average(bytes, gp::array({2}).astype(gp::uint8))), 200);  // no product of bytes
  EXPECT_THROW(gp::average(a, w * 0, 0), gp::ZeroDivisionError);
  gp::array all = gp::zeros({2, 2});
  gp::outer(w, w, &all);
  gp::round(all / 3, 1, &all);
  EXPECT_THAT(values(all), ElementsAre(0.3, 1, 1, 3));
}

TEST(Functions, GridsOfOptions) {
  EXPECT_EQ(gp::linspace(0, gp::array({1, 2}), 5, true, {}, 1).shape(), (gp::Dims{2, 5}));
  EXPECT_EQ(gp::logspace(gp::array({0, 1}), gp::array({1, 2}), 3, true, gp::array({{2.0}, {4.0}})).shape(),
            (gp::Dims{3, 2, 2}));
  EXPECT_THAT(values(gp::logspace(0, 2, 3, true, gp::array({2.0, 3.0}), {}, -1)), ElementsAre(1, 2, 4, 1, 3, 9));
  EXPECT_EQ(gp::geomspace(gp::array({1, 2}), 8, 4, true, {}, 1).shape(), (gp::Dims{2, 4}));
  EXPECT_TRUE(gp::eye(2, 3, 0, gp::float64, gp::Order::F).is_f_contiguous());
  EXPECT_EQ(gp::indices({2, 2}, gp::float32).dtype(), gp::float32);
  const gp::array x = gp::arange(3), y = gp::arange(2);
  const std::vector<gp::array> views = gp::meshgrid({x, y}, false, false, false);
  EXPECT_TRUE(gp::shares_memory(views[0], x) && !views[0].writeable());
  EXPECT_EQ(gp::ix_({gp::zeros({0}), x})[0].dtype(), gp::int64);
}

TEST(Functions, RefuseWhatDoesNotFit) {
  const gp::array a = gp::arange(6).reshape({2, 3});
  const auto says = [](auto f, const char* text) { EXPECT_THAT(f, ThrowsMessage<gp::Error>(HasSubstr(text))); };
  says([&] { gp::split(a, 4, 1); }, "[split] sections must divide an axis of 3 equally; got 4");
  says([&] { gp::array_split(a, 0); }, "[array_split] number of sections must be larger than 0; got 0");
  says([&] { gp::split(a, 0, 1); }, "[split] number of sections must not be zero");
  says(
      [&] {
        gp::roll(a, {1, 2, 3}, {0, 1});
      },
      "[roll] needs a shift for each axis; got shifts (1, 2, 3), axes (0, 1)");
  says([&] { gp::vsplit(gp::arange(3), 3); }, "[vsplit] needs an array of 2 or more dimensions; got 1");
  says([&] { gp::delete_(a, 3, 1); }, "[delete] index out of bounds for axis with size 3; got 3");
  says([&] { gp::repeat(a, gp::array({1, 2}), 1); }, "[repeat] one number of repeats for each of 3 places");
  says([&] { gp::repeat(a, -1); }, "[repeat] repeats may not be negative");
  says([&] { gp::repeat(a, 1.5); }, "[repeat] repeats must be integers; got float64");
  says([&] { gp::diagonal(gp::arange(3)); }, "[diagonal] needs an array of at least two axes");
  says([&] { gp::diagonal(a, 0, 1, -1); }, "[diagonal] axis1 and axis2 must differ");
  says([&] { gp::diag(gp::zeros({1, 1, 1})); }, "[diag]");
  says([&] { gp::tril(1.0); }, "[tril]");
  says([&] { gp::geomspace(0, 1); }, "[geomspace] a geometric sequence cannot include zero");
  says([&] { gp::average(a, gp::ones({3})); }, "[average] axis must be given when shapes differ");
  says([&] { gp::average(a, gp::ones({3}), 0); }, "[average] weights must have the shape of the axes");
  says([&] { gp::average(a, gp::zeros({2, 3})); }, "[average] weights must not sum to zero");
  says([&] { gp::cumulative_sum(a); }, "[cumulative] axis must be given");
  says([&] { gp::take_along_axis(a, gp::arange(3), 0); }, "[take_along_axis]");
  says([&] { gp::compress(a, a); }, "[compress] condition must be 1-dimensional");
  says([&] { gp::cross(a, gp::arange(2)); }, "[cross] vectors must have 3 elements");
  says([&] { gp::diff(a, -1); }, "[diff] order must be non-negative");
  says([&] { gp::as_strided(a, {2}, {8, 8}); }, "[as_strided]");
  says([&] { gp::matrix_transpose(gp::arange(2)); }, "[matrix_transpose]");
}

}  // namespace
