// Parts of unevaluated arrays, computed alone, against the same views of the whole.
#include "graph/part.hpp"

#include <gtest/gtest.h>

#include <random>

#include "galop/galop.hpp"
#include "graph/value.hpp"

namespace galop {
namespace {

bool is_pending(const array& a) { return !a.cell()->value->ready(); }

array expression(int kind, const array& x) {
  switch (kind) {
    case 0:
      return sqrt(x) * 2 - 1;
    case 1:
      return x.T() + arange(x.shape()[2]).reshape({-1, 1, 1});  // another order in memory
    case 2:
      return where(x > 0.5, x, 0).astype(float32);
    case 3:
      return x - x.mean({.axis = 1, .keepdims = true});  // a fold below, and broadcasting
    case 4:
      return linspace(0, 1, x.size()).reshape(x.shape()) + x(all, slice(none, none, -1));
    default:
      return std::get<1>(frexp(x * 9)) + 1;  // one of two results
  }
}

array view_of(array a, std::mt19937& r) {
  const auto below = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(r); };
  std::vector<index> parts;
  for (const std::int64_t n : a.shape()) {
    const std::int64_t step = below(7) - 3, from = below(n), to = below(n);
    if (step == 0)
      parts.emplace_back(below(n));
    else
      parts.emplace_back(step > 0 ? slice(std::min(from, to), std::max(from, to) + 1, step)
                                  : slice(std::max(from, to), none, step));
    if (below(4) == 0) parts.emplace_back(newaxis);
  }
  array v = a.at(parts);
  if (below(3) == 0) v = v.T();
  if (below(5) == 0) {
    Dims wide = v.shape();
    wide.insert(0, 2);
    v = broadcast_to(v, wide);
  }
  return v;
}

TEST(Part, IsTheSameViewOfTheWhole) {
  const array x = random::default_rng(1).random({31, 29, 23});
  for (int kind = 0; kind < 6; ++kind) {
    const array whole = expression(kind, x);
    eval(whole);
    std::mt19937 r(static_cast<unsigned>(kind));
    const array pending = expression(kind, x);
    for (int i = 0; i < 200; ++i) {
      std::mt19937 again = r;
      const array v = view_of(pending, r), want = view_of(whole, again);
      const auto part = graph::compute_part(v);
      ASSERT_TRUE(part) << "kind " << kind << ", view " << to_string(v.shape());
      ASSERT_TRUE(is_pending(pending));
      ASSERT_EQ(part->dtype(), v.dtype());
      ASSERT_TRUE(array_equal(*part, want)) << "kind " << kind << ", view " << to_string(v.shape());
    }
  }
}

TEST(Part, WhatHasNoPartsIsLeftAlone) {
  const array x = random::default_rng(1).random({100, 200});
  EXPECT_FALSE(graph::compute_part(x(slice(3))));                             // evaluated
  EXPECT_FALSE(graph::compute_part((x * 2).reshape({-1})(slice(150, 250))));  // from one row into the next
  EXPECT_TRUE(graph::compute_part((x * 2).reshape({-1})(slice(150, 190))));   // within a row
  EXPECT_FALSE(graph::compute_part(x.sum({.axis = 0})(slice(3))));            // a fold
  EXPECT_FALSE(graph::compute_part(x.astype(complex128).imag()(slice(3))));   // parts of elements
}

}  // namespace
}  // namespace galop
