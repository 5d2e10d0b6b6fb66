// The floating-point flags of a variance in one pass, by what one of its groups holds.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "flagged_plans.hpp"
#include "library.hpp"
#include "plans.hpp"

namespace galop::cuda::test {
namespace {

class CudaMoments : public CudaLibrary {};

TEST_F(CudaMoments, FlagsByWhatAGroupHolds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMax = std::numeric_limits<double>::max();
  struct Case {
    double first, second;
    std::map<std::string, int> flags;
  };
  const Case cases[] = {
      {1, 2, {}},
      {std::nan(""), kInfinity, {}},
      {kInfinity, 1, {{"subtract", faults::kInvalid}}},
      {1, -kInfinity, {{"subtract", faults::kInvalid}}},
      {kInfinity, -kInfinity, {{"reduce", faults::kInvalid}}},
      {kMax, kMax, {{"reduce", faults::kOverflow}}},
      {1e200, 1, {{"square", faults::kOverflow}}},
      {1.3e154, -1.3e154, {{"reduce", faults::kOverflow}}},  // each square is a number
  };
  for (const Dims& shape : {Dims{600, 40}, Dims{40, 600}, Dims{1, 70'000}, Dims{3, 5, 7}})
    for (std::uint64_t reduced = 1; reduced < std::uint64_t{1} << shape.size(); ++reduced)
      for (const Case& c : cases) {
        std::int64_t n = 1, neighbour = 1;
        for (const std::int64_t extent : shape) n *= extent;
        // The next element of the same group along its last folded axis of more than one.
        std::int64_t stride = 1;
        bool found = false;
        for (int k = shape.size(); k-- > 0; stride *= shape[k])
          if (!found && (reduced >> k & 1) && shape[k] > 1) found = true, neighbour = stride;
        if (!found) continue;
        std::vector<double> x(static_cast<std::size_t>(n), 0.5);
        x[0] = c.first;
        x[static_cast<std::size_t>(neighbour)] = c.second;
        char* const in = put(x);
        char* const out = take(n * 8);
        Plan plan = one_fold(Op::add, DType::float64, shape, c_strides(shape, 8), reduced, in, out);
        plan.reductions[0].about_mean = true;
        plan.reductions[0].policy = kWarnDefault;
        gpu_->run(plan);
        watch_moments(*gpu_, plan);
        gpu_->synchronize();
        std::map<std::string, int> got;
        for (const faults::Fault& f : gpu_->faults().heard()) got[std::string(f.where)] |= f.flags;
        EXPECT_EQ(got, c.flags) << to_string(shape) << " axes " << reduced << ": " << c.first << ", " << c.second;
      }
}

}  // namespace
}  // namespace galop::cuda::test
