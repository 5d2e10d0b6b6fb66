// Views against NumPy's layouts and against brute force.
#include "core/view.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "galop/error.hpp"

namespace galop {
namespace {

TEST(Shape, ReadsAsATuple) {
  EXPECT_EQ(to_string(Dims{}), "()");
  EXPECT_EQ(to_string(Dims{5}), "(5,)");
  EXPECT_EQ(to_string(Dims{3, -4}), "(3, -4)");
}

TEST(View, StridesAndContiguity) {
  EXPECT_EQ(c_strides({3, 4, 5}, 8), (Dims{160, 40, 8}));
  EXPECT_EQ(c_strides({0, 3}, 8), (Dims{0, 0}));
  EXPECT_EQ(c_strides({3, 0}, 8), (Dims{0, 0}));
  EXPECT_EQ(c_strides({}, 8), Dims{});
  EXPECT_TRUE(is_c_contiguous({{2, 1, 3}, {24, 999, 8}, 0}, 8));
  EXPECT_FALSE(is_c_contiguous({{2, 3}, {32, 8}, 0}, 8));
  EXPECT_TRUE(is_f_contiguous({{2, 1, 3}, {8, 999, 16}, 0}, 8));
  EXPECT_FALSE(is_f_contiguous({{2, 3}, {24, 8}, 0}, 8));
  EXPECT_TRUE(is_c_contiguous({{2, 0}, {1, 1}, 0}, 8));
}

template <class E, class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

TEST(View, SizesAreChecked) {
  EXPECT_EQ(checked_size("zeros", {3, 4}, 8), 12);
  EXPECT_EQ(checked_size("zeros", {3, 0}, 8), 0);
  EXPECT_EQ(error_of<ValueError>([] {
              checked_size("zeros", {-1, 3}, 8);
            }),
            "[zeros] negative extent; got shape (-1, 3)");
  const std::int64_t half = std::int64_t{1} << 62;
  EXPECT_EQ(checked_size("zeros", {half}, 1), half);
  for (const Dims& s : {Dims{half}, Dims{half, 2, 0}, Dims{1 << 20, 1 << 20, 1 << 20}})
    EXPECT_NE(error_of<ValueError>([&] { checked_size("zeros", s, 8); }).find("array is too big"), std::string::npos);
  EXPECT_NE(error_of<ValueError>([] { checked_size("zeros", Dims(65, 1), 1); }).find("64"), std::string::npos);
}

TEST(View, Broadcasts) {
  Dims a{3, 1}, b{4}, c{}, d{0, 4}, e{2};
  const Dims* abc[] = {&a, &b, &c};
  EXPECT_EQ(broadcast("add", abc), (Dims{3, 4}));
  const Dims* db[] = {&d, &b};
  EXPECT_EQ(broadcast("add", db), (Dims{0, 4}));
  const Dims* be[] = {&b, &e};
  EXPECT_EQ(error_of<ValueError>([&] { broadcast("add", be); }),
            "[add] shapes could not be broadcast together; got (4,) (2,)");
  View v = broadcast_view("f", {{3, 1}, {8, 8}, 16}, {2, 3, 4});
  EXPECT_EQ(v.strides, (Dims{0, 8, 0}));
  EXPECT_EQ(v.offset, 16);
  EXPECT_THROW(broadcast_view("f", {{3}, {8}, 0}, {4}), ValueError);
  EXPECT_THROW(broadcast_view("f", {{1, 4}, {8, 8}, 0}, {4}), ValueError);
}

TEST(View, ResultsFollowTheOperandsAsNumPys) {
  struct Case {
    Dims shape;
    std::vector<Dims> operands;
    Dims result;
  };
  // Strides of NumPy's results for operands of float64 with these strides.
  const Case cases[] = {
      {{3, 4, 5}, {{160, 40, 8}}, {160, 40, 8}},
      {{5, 4, 3}, {{8, 40, 160}}, {8, 40, 160}},
      {{4, 5, 3}, {{40, 8, 160}}, {40, 8, 160}},
      {{4, 3, 5}, {{-40, 160, 8}}, {40, 160, 8}},
      {{3, 4}, {{32, 8}, {8, 24}}, {32, 8}},
      {{3, 4}, {{8, 24}, {32, 8}}, {32, 8}},
      {{3, 4}, {{8, 24}, {8, 0}}, {8, 24}},
      {{3, 4}, {{8, 24}, {0, 8}}, {8, 24}},
      {{3, 4}, {{0, 8}, {8, 24}}, {8, 24}},
      {{3, 4, 5}, {{8, 120, 24}, {0, 8, 0}}, {8, 120, 24}},
      {{3, 4, 5}, {{8, 0, 24}, {160, 40, 8}}, {160, 40, 8}},
      {{3, 4, 5}, {{8, 24, 96}, {160, 8, 32}}, {160, 8, 32}},
      {{4, 2, 5, 3}, {{40, 480, 8, 160}, {0, 0, 8, 0}}, {40, 480, 8, 160}},
      {{}, {{}}, {}},
  };
  for (const Case& c : cases) {
    std::vector<View> views;
    for (const Dims& s : c.operands) views.push_back({c.shape, s, 0});
    std::vector<const View*> pointers;
    for (const View& v : views) pointers.push_back(&v);
    EXPECT_EQ(keep_order_strides(c.shape, 8, pointers), c.result) << to_string(c.operands[0]);
  }
}

TEST(View, CoversOnce) {
  EXPECT_TRUE(covers_once({{2, 3}, {24, 8}, 0}, 8, 48));
  EXPECT_TRUE(covers_once({{3, 2}, {8, 24}, 0}, 8, 48));
  EXPECT_TRUE(covers_once({{2, 3}, {-24, -8}, 40}, 8, 48));
  EXPECT_TRUE(covers_once({{}, {}, 0}, 8, 8));
  EXPECT_FALSE(covers_once({{2, 3}, {24, 8}, 0}, 8, 56));
  EXPECT_FALSE(covers_once({{2, 3}, {24, 8}, 8}, 8, 56));
  EXPECT_FALSE(covers_once({{2, 3}, {0, 8}, 0}, 8, 24));
  EXPECT_FALSE(covers_once({{3}, {16}, 0}, 8, 40));
}

TEST(View, SameMap) {
  View a{{3, 1}, {8, 24}, 0};
  EXPECT_TRUE(same_map(a, {{3, 1}, {8, 0}, 0}));
  EXPECT_FALSE(same_map(a, {{3, 1}, {8, 24}, 8}));
  EXPECT_FALSE(same_map(a, {{3, 1}, {16, 24}, 0}));
  EXPECT_FALSE(same_map(a, {{1, 3}, {24, 8}, 0}));
}

void collect(const View& v, std::int64_t itemsize, int axis, std::int64_t at, std::vector<std::int64_t>& bytes) {
  if (axis == v.ndim()) {
    for (std::int64_t k = 0; k < itemsize; ++k) bytes.push_back(at + k);
    return;
  }
  for (std::int64_t i = 0; i < v.shape[axis]; ++i) collect(v, itemsize, axis + 1, at + i * v.strides[axis], bytes);
}

TEST(View, OverlapIsExact) {
  std::mt19937 random(1);
  auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int found[2] = {};
  for (int round = 0; round < 5000; ++round) {
    View v[2];
    std::int64_t itemsize[2];
    std::vector<std::int64_t> bytes[2];
    std::int64_t spread = draw(0, 1) ? 7 : 1;
    for (int k = 0; k < 2; ++k) {
      itemsize[k] = spread == 7 ? 1 : 1 << draw(0, 3);
      v[k].offset = draw(0, 80);
      for (int i = draw(0, 3); i > 0; --i) {
        v[k].shape.push_back(draw(0, 9) ? draw(1, 4) : 0);
        v[k].strides.push_back(draw(-9, 9) * spread);
      }
      collect(v[k], itemsize[k], 0, v[k].offset, bytes[k]);
      std::set<std::int64_t> distinct(bytes[k].begin(), bytes[k].end());
      EXPECT_TRUE(distinct.size() == bytes[k].size() || has_internal_overlap(v[k], itemsize[k]));
      auto [first, last] = byte_bounds(v[k], itemsize[k]);
      if (!distinct.empty()) {
        EXPECT_EQ(first, *distinct.begin());
        EXPECT_EQ(last, *distinct.rbegin() + 1);
      } else {
        EXPECT_EQ(first, last);
      }
    }
    std::set<std::int64_t> first(bytes[0].begin(), bytes[0].end());
    bool meet = std::any_of(bytes[1].begin(), bytes[1].end(), [&](std::int64_t b) { return first.count(b) > 0; });
    ++found[meet];
    EXPECT_EQ(overlap(v[0], itemsize[0], v[1], itemsize[1], -1), meet ? Overlap::yes : Overlap::no);
    Overlap quick = overlap(v[0], itemsize[0], v[1], itemsize[1], 1);
    EXPECT_TRUE(quick == Overlap::maybe || quick == (meet ? Overlap::yes : Overlap::no));
  }
  EXPECT_GT(found[0], 500);
  EXPECT_GT(found[1], 500);
}

TEST(View, OverlapOfLargeExtents) {
  const std::int64_t big = std::int64_t{1} << 40;
  // Every second byte from 0 and from 1; every third meets every second.
  EXPECT_EQ(overlap({{big}, {2}, 0}, 1, {{big}, {2}, 1}, 1, -1), Overlap::no);
  EXPECT_EQ(overlap({{big}, {2}, 0}, 1, {{big}, {3}, 1}, 1, -1), Overlap::yes);
}

}  // namespace
}  // namespace galop
