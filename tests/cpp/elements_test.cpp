// Typed access to elements, ranges, and arrays from and to the containers of C++.
#include "galop/elements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <numeric>
#include <ranges>
#include <set>
#include <vector>

#include "galop/galop.hpp"

namespace galop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(std::ranges::random_access_range<strided_span<double>>);
static_assert(std::ranges::random_access_range<strided_span<const float, 3>>);
static_assert(std::ranges::random_access_range<const array>);
static_assert(std::is_convertible_v<strided_span<double, 2>, strided_span<const double, 2>>);
static_assert(!std::is_convertible_v<strided_span<const double, 2>, strided_span<double, 2>>);
static_assert(!std::is_copy_constructible_v<elements<double>>);

array ints(const Dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return arange(n).reshape(shape);
}

TEST(Elements, AreThoseOfTheArray) {
  const array a = ints({3, 4});
  {
    elements<std::int64_t, 2> e(a);
    EXPECT_EQ(e.rank(), 2);
    EXPECT_EQ(e.extent(0), 3);
    EXPECT_EQ(e.extent(1), 4);
    EXPECT_EQ(e.size(), 12);
    EXPECT_EQ(e(2, 1), 9);
    e(2, 1) = -9;
    EXPECT_EQ(a(2, 1).item<int>(), -9);
    EXPECT_EQ(e.at(2, 1), -9);
    EXPECT_THAT([&] { e.at(3, 0); }, ThrowsMessage<IndexError>(HasSubstr("axis 0 with size 3; got 3")));
    EXPECT_THROW(e.at(0, -1), IndexError);
    std::ranges::sort(e.flat());
  }
  EXPECT_THAT(a(0).to_vector<int>(), ElementsAre(-9, 0, 1, 2));
}

TEST(Elements, FollowStrides) {
  const array a = ints({4, 6});
  const array view = a(slice(none, none, -2), slice(1, none, 3));
  elements<const std::int64_t, 2> e(view);
  EXPECT_EQ(e.stride(0), -12);
  EXPECT_EQ(e.stride(1), 3);
  for (std::int64_t i = 0; i < e.extent(0); ++i)
    for (std::int64_t j = 0; j < e.extent(1); ++j) EXPECT_EQ(e(i, j), view(i, j).item<std::int64_t>());
  EXPECT_FALSE(e.contiguous());
  EXPECT_THROW(e.flat(), ValueError);
  EXPECT_TRUE((elements<const std::int64_t, 2>(a).contiguous()));
  elements<const std::int64_t, 2> turned(a.T());
  EXPECT_EQ(turned(5, 3), 23);
  const array z = arange(4).astype(DType::complex128);
  elements<double> imaginary(z.imag());
  imaginary[3] = 7;
  EXPECT_EQ(z(3).item<std::complex<double>>(), (std::complex<double>(3, 7)));
}

TEST(Elements, AreRanges) {
  const array a = ints({3, 2});
  std::vector<std::int64_t> sums;
  for (const auto row : elements<const std::int64_t, 2>(a)) sums.push_back(std::accumulate(row.begin(), row.end(), 0L));
  EXPECT_THAT(sums, ElementsAre(1, 5, 9));
  for (auto row : elements<std::int64_t, 2>(a)) std::ranges::reverse(row);
  EXPECT_THAT(a.to_vector<int>(), ElementsAre(1, 0, 3, 2, 5, 4));
  const array column = a(all, 0);
  elements<std::int64_t> c(column);
  std::ranges::sort(c, std::greater<>());
  EXPECT_THAT(a.to_vector<int>(), ElementsAre(5, 0, 3, 2, 1, 4));
  EXPECT_EQ(*std::ranges::max_element(c), 5);
  EXPECT_EQ(c.end() - c.begin(), 3);
  EXPECT_EQ(c.begin()[2], 1);
  elements<const std::int64_t, 3> three(ints({2, 3, 4}));
  EXPECT_EQ(three[1][2][3], 23);
}

TEST(Elements, SeeWritesAndAreSeen) {
  array a = zeros({4});
  const array pending = a + 1;
  elements<double> e(a);
  const array view = a(slice(2, none));
  e[3] = 5;
  EXPECT_EQ(view(1).item<double>(), 5);
  const array doubled = a * 2;  // reads now
  a += 1;                       // writes in place
  EXPECT_EQ(e[3], 6);
  e[0] = 100;
  EXPECT_THAT(doubled.to_vector<double>(), ElementsAre(0, 0, 0, 10));
  EXPECT_THAT(pending.to_vector<double>(), ElementsAre(1, 1, 1, 1));
}

TEST(Elements, KeepTheArrayAndLetItGo) {
  std::optional<elements<double>> e(std::in_place, ones({100000}) * 3);
  EXPECT_EQ((*e)[99999], 3);
  elements<double> moved(std::move(*e));
  e.reset();
  EXPECT_EQ(moved[0], 3);
  array a = arange(5.0);
  moved = elements<double>(a);
  EXPECT_EQ(moved[4], 4);
  { const elements<double> gone = std::move(moved); }
  // Nobody looks any more: a full write is lazy again.
  a = arange(100000.0);
  { const elements<double> brief(a); }
  a += 1;
  EXPECT_THAT(explain(a), HasSubstr("kernel"));
  EXPECT_EQ(a(4).item<double>(), 5);
}

TEST(Elements, OfReadOnlyAndEmptyArrays) {
  const array shown = broadcast_to(arange(3), {2, 3});
  EXPECT_EQ((elements<const std::int64_t, 2>(shown)(1, 2)), 2);
  const auto writing = [&] { elements<std::int64_t, 2> e(shown); };
  EXPECT_THAT(writing, ThrowsMessage<ValueError>(HasSubstr("read-only")));
  elements<double, 2> none_at_all(zeros({0, 3}));
  EXPECT_TRUE(none_at_all.empty());
  EXPECT_EQ(none_at_all.begin(), none_at_all.end());
  EXPECT_EQ(none_at_all.flat().size(), 0U);
}

TEST(Elements, RefuseWhatDoesNotFit) {
  const array a = ints({2, 3});
  const auto other = [&] { elements<double, 2> e(a); };
  EXPECT_THAT(other, ThrowsMessage<TypeError>(HasSubstr("float64; got int64")));
  EXPECT_THAT([&] { elements<std::int64_t> e(a); }, ThrowsMessage<ValueError>(HasSubstr("1 axes; got shape (2, 3)")));
  EXPECT_THROW((elements<std::int64_t, 3>(a)), ValueError);
  char bytes[32] = {};
  const array odd = from_memory(bytes, DType::int32, {3}, {6}, true, nullptr);
  EXPECT_THAT([&] { elements<std::int32_t> e(odd); }, ThrowsMessage<ValueError>(HasSubstr("strides (6,)")));
}

TEST(Ranges, OfAnArrayAreItsRows) {
  const array a = ints({3, 2});
  std::vector<int> sums;
  for (const array& row : a) sums.push_back(sum(row).item<int>());
  EXPECT_THAT(sums, ElementsAre(1, 5, 9));
  for (array row : a) row += 10;
  EXPECT_THAT(a.to_vector<int>(), ElementsAre(10, 11, 12, 13, 14, 15));
  const std::vector<array> rows(a.begin(), a.end());
  EXPECT_EQ(rows.size(), 3U);
  double total = 0;
  for (const array& v : arange(4)) total += double(v);
  EXPECT_EQ(total, 6);
  EXPECT_EQ((*(a.end() - 1))(0).item<int>(), 14);
  EXPECT_EQ(a.begin()[1](1).item<int>(), 13);
  EXPECT_THROW(array(3.0).begin(), TypeError);
}

TEST(Construction, FromWhatCppHas) {
  EXPECT_EQ(array({1, 2, 3}).dtype(), DType::int64);
  EXPECT_THAT(array({1, 2, 3}).to_vector<int>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(array({1.0, 2.0}).dtype(), DType::float64);
  EXPECT_EQ(array({1.0f}).dtype(), DType::float32);
  EXPECT_THAT(array({true, false, true}).to_vector<bool>(), ElementsAre(true, false, true));
  EXPECT_EQ(array({std::complex<double>(1, 2)}).dtype(), DType::complex128);
  const array matrix = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  EXPECT_EQ(matrix.shape(), (Dims{2, 3}));
  EXPECT_EQ(matrix(1, 2).item<double>(), 6);
  EXPECT_THAT([] { array({{1, 2}, {3}}); }, ThrowsMessage<ValueError>(HasSubstr("one length; got 2 and 1")));

  const std::vector<float> v{1, 2};
  EXPECT_EQ(array(v).dtype(), DType::float32);
  EXPECT_EQ(array(v).to_vector<float>(), v);
  EXPECT_EQ(array(std::span(v)).to_vector<float>(), v);
  EXPECT_EQ(array(std::vector<int>{1}).dtype(), DType::int32);  // a type of C++ stays what it is
  const std::vector<bool> bits{true, false};
  EXPECT_EQ(array(bits).to_vector<bool>(), bits);
  EXPECT_EQ(array(std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}}).shape(), (Dims{3, 2}));
  EXPECT_EQ(array(std::vector<std::vector<double>>{}).shape(), (Dims{0, 0}));
  EXPECT_THAT(from_range(std::list<int>{3, 1}).to_vector<int>(), ElementsAre(3, 1));
  EXPECT_THAT(from_range(std::set<double>{2, 1, 2}).to_vector<double>(), ElementsAre(1, 2));
}

TEST(Construction, AnArrayInBracesIsThatArray) {
  const array a = arange(3);
  const array b{a};
  EXPECT_EQ(b.shape(), Dims{3});
  EXPECT_TRUE(shares_memory(a, b));
}

TEST(Conversion, ToOneNumber) {
  EXPECT_EQ(double(sum(arange(4))), 6);
  EXPECT_EQ(static_cast<std::int64_t>(array(2.75)), 2);
  EXPECT_EQ(static_cast<std::complex<double>>(array(2.5)), 2.5);
  EXPECT_TRUE(any(arange(3) > 1) ? true : false);
  EXPECT_FALSE(bool(array({0.0})));
  EXPECT_THAT([] { return bool(arange(3) > 1); }, ThrowsMessage<ValueError>(HasSubstr("got shape (3,)")));
  EXPECT_THROW(static_cast<void>(double(arange(0))), ValueError);
}

}  // namespace
}  // namespace galop
