// Long work that is ended before it is done: what it leaves behind, and that other work goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "galop/galop.hpp"

namespace gp = galop;

namespace {

// Ends the work of this thread at the n-th look.
class Ends {
 public:
  explicit Ends(int after)
      : left_(after), before_(gp::set_interrupt_check([this] { return left_.fetch_sub(1) <= 0; })) {}
  ~Ends() { gp::set_interrupt_check(before_); }
  int left() const { return left_; }

 private:
  std::atomic<int> left_;
  std::function<bool()> before_;
};

constexpr std::int64_t kMany = 3'000'000;

gp::reduce_options over(std::int64_t axis) {
  gp::reduce_options o;
  o.axis = gp::Dims{axis};
  return o;
}

TEST(Interrupt, APendingArrayStaysPending) {
  const gp::array y = gp::sin(gp::arange(kMany) * 0.5) + 1;
  const double sum = gp::sum(gp::sin(gp::arange(kMany) * 0.5) + 1).item<double>();
  for (int after : {0, 1, 5, 50}) {
    const Ends ends(after);
    EXPECT_THROW(gp::eval(y), gp::Interrupted);
  }
  EXPECT_EQ(gp::sum(y).item<double>(), sum);
}

TEST(Interrupt, FoldsOfEveryKindAreTakenUpAgain) {
  const gp::array x = gp::arange(kMany).reshape({1000, kMany / 1000}) * 1.0;
  const std::vector<std::function<gp::array()>> folds = {[&] { return gp::sum(gp::sin(x)); },
                                                         [&] { return gp::sum(gp::sin(x), over(0)); },
                                                         [&] { return gp::sum(gp::sin(x), over(1)); },
                                                         [&] { return gp::max(gp::cos(x), over(0)); },
                                                         [&] { return gp::std_(gp::sin(x)); },
                                                         [&] { return gp::add.accumulate(gp::sin(x), 1); },
                                                         [&] { return gp::add.accumulate(gp::sin(x), 0); }};
  for (const auto& fold : folds) {
    const gp::array wanted = fold();
    gp::eval(wanted);
    gp::array got;
    const auto run = [&] {
      got = fold();
      gp::eval(got);
    };
    {
      const Ends ends(1);
      EXPECT_THROW(run(), gp::Interrupted);
    }
    run();
    EXPECT_TRUE(gp::all(gp::equal(got, wanted)).item<bool>());
  }
}

TEST(Interrupt, ProductsAndGathers) {
  const gp::array a = gp::remainder(gp::arange(1'000'000), 17).reshape({1000, 1000});
  const gp::array f = a.astype(gp::DType::float64);
  const gp::array row = f(0) + 0;
  const gp::array places = gp::remainder(gp::arange(kMany), 1000);
  const gp::array mask = gp::equal(gp::remainder(gp::arange(kMany), 3), 0);
  const std::vector<std::function<void()>> works = {
      [&] { gp::eval(gp::matmul(f, f + 1)); }, [&] { gp::eval(gp::matmul(a, a + 1)); },
      [&] { gp::eval(gp::array(row(places))); }, [&] { gp::eval(gp::nonzero(mask)[0]); }};
  for (const auto& work : works) {
    {
      const Ends ends(0);
      EXPECT_THROW(work(), gp::Interrupted);
    }
    EXPECT_NO_THROW(work());
  }
}

TEST(Interrupt, AStreamOfRandomNumbersIsWhereItWas) {
  const gp::array p({0.25, 0.25, 0.5});
  const auto draws = [&p](gp::random::Generator& g, int kind) {
    const gp::Dims size{2'000'000};
    switch (kind) {
      case 0:
        return g.random(size);
      case 1:
        return g.standard_normal(size);
      case 2:
        return g.integers(0, 1000, size);
      case 3:
        return g.exponential(1.0, size);
      case 4:
        return g.integers(0, 200, size, gp::DType::uint8);
      case 5:
        return g.integers(0, 2, size, gp::DType::bool_);
      case 6:
        return g.permutation(size[0]);
      case 7:
        return g.choice(1000, size);
      case 8:
        return g.choice(3, size, {.p = &p});
      case 9:
        return g.choice(3'000'000, size, {.replace = false});
      default:
        return g.bit_generator().random_raw(size);
    }
  };
  for (int kind = 0; kind <= 10; ++kind) {
    auto one = gp::random::default_rng(7), other = gp::random::default_rng(7);
    {
      const Ends ends(2);
      EXPECT_THROW(draws(one, kind), gp::Interrupted);
    }
    EXPECT_TRUE(gp::all(gp::equal(draws(one, kind), draws(other, kind))).item<bool>()) << kind;
  }
}

TEST(Interrupt, WhatWritesOverMemoryGoesOnToItsEnd) {
  gp::array a = gp::ones({kMany});
  gp::eval(a);
  gp::array tail = a(gp::slice(1, {}));
  const Ends ends(0);
  EXPECT_NO_THROW(tail += 1);
  gp::set_interrupt_check({});
  EXPECT_EQ(gp::sum(a).item<double>(), 2.0 * kMany - 1);
}

// What writes one element after the other may stop between two: each is the old one or the new one.
TEST(Interrupt, ElementsAreWrittenWhollyOrNotAtAll) {
  constexpr std::int64_t kFew = 5'000;
  const gp::array places = gp::remainder(gp::arange(kMany) * 7, kMany);  // each once
  const gp::array some = gp::arange(kFew) * 2, ones = gp::ones({kFew}), old = gp::arange(kMany) * 1.0;
  const gp::array values = (old + 1)(places), narrow = old(gp::slice(0, 2 * kFew)).astype(gp::DType::float32);
  const std::vector<gp::index> at{places}, few{some};
  const gp::arg one = 1.0, wide = ones;
  gp::array a;
  struct Work {
    gp::array before, after;
    std::function<void()> run;
  };
  const std::vector<Work> works = {
      {old, old + 1, [&] { a.set(at, values); }},
      {old, old + 1, [&] { gp::add.at(a, at, &one); }},
      {narrow, narrow + gp::equal(gp::remainder(narrow, 2), 0),
       [&] { gp::add.at(a, few, &wide); }},  // computed in another dtype
      {gp::zeros({kFew}), gp::add.reduceat(old, some), [&] { gp::add.reduceat(old, some, 0, {}, &a); }}};
  for (const Work& w : works) {
    gp::eval({w.before, w.after, values, places, some, ones});
    const auto run = [&](int looks) {
      a = w.before.copy();
      gp::eval(a);
      const Ends ends(looks);
      w.run();
      return looks - ends.left();
    };
    run(1 << 30);
    const int looks = run(1 << 30);  // nothing is pending any more
    EXPECT_TRUE(gp::all(gp::equal(a, w.after)).item<bool>());
    EXPECT_THROW(run(looks - 4), gp::Interrupted);  // what is written is written last
    const gp::array is_old = gp::equal(a, w.before), is_new = gp::equal(a, w.after);
    EXPECT_TRUE(gp::all(is_old | is_new).item<bool>());
    EXPECT_TRUE(gp::any(~is_old).item<bool>() && gp::any(~is_new).item<bool>());
  }
}

TEST(Interrupt, AShuffleThatWasEndedHasLostNothing) {
  gp::array a = gp::arange(kMany);
  gp::eval(a);
  auto stream = gp::random::default_rng(5), other = gp::random::default_rng(5);
  {
    const Ends ends(4);
    EXPECT_THROW(stream.shuffle(a), gp::Interrupted);
  }
  EXPECT_TRUE(gp::any(gp::not_equal(a, gp::arange(kMany))).item<bool>());
  gp::array seen = gp::zeros({kMany}, gp::DType::bool_);
  seen.set(std::vector<gp::index>{a}, true);
  EXPECT_TRUE(gp::all(seen).item<bool>());
  EXPECT_NE(stream.random().item<double>(), other.random().item<double>());  // it is behind the swaps that were made
}

TEST(Interrupt, AFullWriteThatWasEndedIsStillToCome) {
  gp::array a = gp::zeros({kMany});
  const gp::array old = a.copy();
  a.assign(gp::sin(gp::arange(kMany) * 1.0));
  {
    const Ends ends(0);
    EXPECT_THROW(gp::eval(a), gp::Interrupted);
  }
  EXPECT_EQ(gp::sum(old).item<double>(), 0);
  EXPECT_TRUE(gp::all(gp::equal(a, gp::sin(gp::arange(kMany) * 1.0))).item<bool>());
}

TEST(Interrupt, AHeavyKernelDoesNotWriteOverItsOperand) {
  gp::array x = gp::random::default_rng(1).random({kMany});
  for (int i = 0; i < 30; ++i) x = gp::sin(x);
  gp::array z = gp::random::default_rng(1).random({kMany * 4});  // nobody else holds it
  for (int i = 0; i < 30; ++i) z = gp::sin(z);
  {
    const Ends ends(10);
    EXPECT_THROW(gp::eval(z), gp::Interrupted);
  }
  EXPECT_TRUE(gp::all(gp::equal(z(gp::slice(kMany)), x)).item<bool>());
}

TEST(Interrupt, OnlyTheThreadWithTheCheckIsEnded) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) EXPECT_EQ(gp::sum(gp::arange(kMany) * 2).item<std::int64_t>(), kMany * (kMany - 1));
  });
  for (int i = 0; i < 20; ++i) {
    const Ends ends(3);
    EXPECT_THROW(gp::eval(gp::sin(gp::arange(kMany) * 0.5)), gp::Interrupted);
  }
  stop = true;
  other.join();
}

}  // namespace
