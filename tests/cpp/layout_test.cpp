// Memory orders and options of copies: strides as NumPy gives them.
#include <gtest/gtest.h>

#include "galop/galop.hpp"

namespace {

namespace gp = galop;
using gp::Dims;
using gp::Order;

std::vector<double> values(const gp::array& a) { return a.to_vector<double>(); }

TEST(Layout, NewArrays) {
  // np.zeros((2, 3), order="F").strides
  EXPECT_EQ(gp::zeros({2, 3}, gp::float64, Order::F).strides(), (Dims{8, 16}));
  EXPECT_EQ(gp::empty({2, 3, 4}, gp::int8, Order::F).strides(), (Dims{1, 2, 6}));
  EXPECT_THROW(gp::ones({2, 3}, gp::float64, Order::A), gp::ValueError);
  EXPECT_EQ(values(gp::full({2, 3}, gp::arange(3), {}, Order::F)), (std::vector<double>{0, 1, 2, 0, 1, 2}));

  const gp::array f = gp::arange(24).reshape({2, 3, 4}).transpose({1, 2, 0});  // strides (32, 8, 96)
  EXPECT_EQ(gp::empty_like(f).strides(), (Dims{32, 8, 96}));
  EXPECT_EQ(gp::zeros_like(f, gp::int8).strides(), (Dims{4, 1, 12}));
  EXPECT_EQ(gp::ones_like(f, {}, Order::C).strides(), (Dims{64, 16, 8}));
  EXPECT_EQ(gp::full_like(f, 2.9, {}, Order::F).strides(), (Dims{8, 24, 96}));
  EXPECT_EQ(values(gp::full_like(f, 2.9, {}, Order::K, Dims{2})), (std::vector<double>{2, 2}));
  EXPECT_EQ(gp::empty_like(f(gp::all, gp::slice(gp::none, gp::none, -1))).strides(), (Dims{32, 8, 96}));
  EXPECT_THROW(gp::zeros({-1}, gp::float64, Order::F), gp::ValueError);
}

TEST(Layout, Copies) {
  const gp::array a = gp::arange(6).reshape({2, 3}), f = a.T();
  EXPECT_EQ(f.copy(Order::C).strides(), (Dims{16, 8}));
  EXPECT_EQ(f.copy(Order::K).strides(), (Dims{8, 24}));
  EXPECT_EQ(f.copy(Order::A).strides(), (Dims{8, 24}));
  EXPECT_EQ(a.copy(Order::F).strides(), (Dims{8, 16}));
  EXPECT_EQ(values(a.copy(Order::F)), values(a));
  EXPECT_NE(a.copy(Order::C).cell(), a.cell());

  EXPECT_EQ(a.ravel(Order::F).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(f.ravel(Order::K).cell(), a.cell());
  EXPECT_NE(f.flatten(Order::A).cell(), a.cell());
  EXPECT_EQ(f.flatten(Order::A).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(a.reshape({3, 2}, Order::F)), (std::vector<double>{0, 4, 3, 2, 1, 5}));
}

TEST(Layout, Astype) {
  const gp::array a = gp::arange(6).reshape({2, 3});
  EXPECT_EQ(a.astype(gp::float32, {.order = Order::F}).strides(), (Dims{4, 8}));
  EXPECT_EQ(a.astype(gp::int64, {.copy = false}).cell(), a.cell());
  EXPECT_NE(a.astype(gp::int64, {.order = Order::F, .copy = false}).cell(), a.cell());
  EXPECT_NE(a.astype(gp::int64, {}).cell(), a.cell());
  EXPECT_THROW(a.astype(gp::int32, {.casting = gp::Casting::safe}), gp::TypeError);
  EXPECT_NO_THROW(a.astype(gp::int32, {.casting = gp::Casting::same_kind}));
  EXPECT_TRUE(gp::can_cast(gp::int8, gp::float16));
  EXPECT_FALSE(gp::can_cast(gp::int32, gp::int64, gp::Casting::equiv));
}

}  // namespace
