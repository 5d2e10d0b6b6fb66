// Small arrays from C++: blocks of one piece of memory, threads that share them, writes in place, element reads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backend/cpu/memory.hpp"
#include "galop/galop.hpp"
#include "graph/small.hpp"

namespace galop {
namespace {

array numbers(int n) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(i);
  return array(v);
}

TEST(Small, BlocksAreGivenBackOnce) {
  const array a = numbers(10);
  static_cast<void>(a + a);  // this thread's caches are there now
  const std::int64_t before = cpu::memory_statistics().in_use;
  {
    array sum_of_both = a + a;
    array view = sum_of_both(slice(2, 5));
    sum_of_both = array(1.0);  // the view keeps the block
    EXPECT_EQ(view.to_vector<double>(), (std::vector<double>{4, 6, 8}));

    array x = a + 1.0;
    array wide = x + zeros({3000, 10});                // waits, and holds the Value
    x.assign(ones({3000, 10}).T().copy()(all_of, 0));  // the Cell points elsewhere, or waits for who reads it
    EXPECT_EQ(wide(7, 3).item<double>(), 4.0);
    EXPECT_EQ(x(3).item<double>(), 1.0);
  }
  EXPECT_EQ(cpu::memory_statistics().in_use, before);
}

TEST(Small, InPlaceWhereNobodyElseReads) {
  array a = numbers(20);
  const void* memory = a.data();
  a += a;
  a *= 2.0;
  EXPECT_EQ(a.data(), memory);
  EXPECT_EQ(a(3).item<double>(), 12.0);
  array later = a + zeros({1000, 20});
  a += 1.0;  // who waits keeps the old elements
  EXPECT_EQ(later(5, 3).item<double>(), 12.0);
  EXPECT_EQ(a(3).item<double>(), 13.0);
  array shifted = a(slice(1, none));
  shifted += a(slice(none, -1));  // overlaps otherwise than element by element
  EXPECT_EQ(a(1).item<double>(), 5.0 + 1.0);
  EXPECT_EQ(a(2).item<double>(), 9.0 + 5.0);
}

TEST(Small, ElementsOnlyWhereTheyAreReady) {
  double v = 0;
  const array a = numbers(4);
  EXPECT_TRUE(graph::read_element(a, 16, &v));
  EXPECT_EQ(v, 2.0);
  const array waiting = zeros({100, 100}) + 1.0;
  EXPECT_FALSE(graph::read_element(waiting, 0, &v));
  EXPECT_EQ(waiting(3, 4).item<double>(), 1.0);
  v = 7;
  EXPECT_TRUE(graph::write_element(a, 8, &v));
  EXPECT_EQ(a(1).item<double>(), 7.0);
  const array reads = a + zeros({3000, 4});
  EXPECT_FALSE(graph::write_element(a, 8, &v));  // somebody waits to read it
}

TEST(Small, ThreadsShareArrays) {
  const array shared = numbers(16);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      std::vector<array> kept;
      for (int i = 0; i < 3000; ++i) {
        array r = shared * 2.0 - shared;
        if (r(k).item<double>() != k) ++wrong;
        kept.push_back(r(slice(k, none)));
        if (i % 50 == 0) shared.assign(shared + 0.0);  // the same elements, perhaps in another Value
        if (i % 300 == 0 && (shared + zeros({500, 16})).at(std::vector<index>{1, 2}).item<double>() != 2) ++wrong;
        if (kept.size() > 20) kept.clear();
        if (sum(shared).item<double>() != 120) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace galop
