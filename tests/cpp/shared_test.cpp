// Threads of the user on shared arrays: whole writes are seen as a whole, no addition is lost, nothing is freed too
// soon.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "galop/galop.hpp"

namespace gp = galop;

namespace {

void on_threads(int count, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&f, t] { f(t); });
  for (std::thread& t : threads) t.join();
}

gp::ufunc_options into(const gp::array& out) {
  gp::ufunc_options o;
  o.out[0] = &out;
  return o;
}

class Shared : public testing::TestWithParam<std::int64_t> {};

TEST_P(Shared, AWholeWriteIsSeenAsAWhole) {
  const gp::array a = gp::zeros({GetParam()});
  std::atomic<bool> done{false};
  on_threads(3, [&](int t) {
    if (t == 0) {
      for (int k = 1; k <= 100; ++k) a.assign(gp::full({GetParam()}, static_cast<double>(k)));
      done = true;
      return;
    }
    while (!done) {
      const gp::array now = a + 0.0;
      EXPECT_EQ(gp::min(now).item<double>(), gp::max(now).item<double>());
    }
  });
  EXPECT_EQ(gp::min(a).item<double>(), 100);
}

TEST_P(Shared, NoAdditionIsLost) {
  const gp::array a = gp::zeros({GetParam()}, gp::DType::int64);
  on_threads(4, [&](int) {
    for (int k = 0; k < 25; ++k) gp::add(a, 1, into(a));
  });
  EXPECT_EQ(gp::min(a).item<std::int64_t>(), 100);
  EXPECT_EQ(gp::max(a).item<std::int64_t>(), 100);
}

TEST_P(Shared, RandomPrograms) {
  const std::int64_t n = GetParam();
  std::vector<gp::array> xs;
  for (int i = 0; i < 4; ++i) xs.push_back(gp::random::default_rng(static_cast<std::uint64_t>(i)).random({n}));
  on_threads(4, [&](int t) {
    std::minstd_rand draw(static_cast<unsigned>(t + 1));
    gp::array kept = xs[0] + 1;
    for (int step = 0; step < 100; ++step) {
      const gp::array& x = xs[draw() % 4];
      const gp::array& y = xs[draw() % 4];
      switch (draw() % 8) {
        case 0:
          kept = gp::sin(x) + y;  // what was kept goes here, perhaps while another thread computes
          break;
        case 1:
          x.assign(y * 0.5);
          break;
        case 2:
          x(gp::slice(1, {})) = y(gp::slice(-1));
          break;
        case 3:
          gp::multiply(x, 0.5, into(x));
          break;
        case 4:
          gp::sum(x * y).item<double>();
          break;
        case 5:
          kept = kept(gp::slice({}, {}, -1)) + gp::cos(y);
          break;
        case 6:
          gp::eval(kept);
          break;
        default:
          kept = gp::where(gp::greater(x, y), x, y);
      }
    }
    EXPECT_TRUE(gp::all(gp::isfinite(kept)).item<bool>());
  });
  for (const gp::array& x : xs) EXPECT_TRUE(gp::all(gp::isfinite(x)).item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Shared, testing::Values(12, 3000, 100'000));

}  // namespace
