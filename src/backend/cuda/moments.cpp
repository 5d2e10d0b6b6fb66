// The floating-point flags of variances in one pass.
#include <algorithm>
#include <vector>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"
#include "backend/cuda/writer.hpp"

namespace galop::cuda {
namespace {

struct Axis {
  std::int64_t extent, in, out;
};

// Drops what has one element, and takes neighbours together that are run through as one.
void add(std::vector<Axis>& axes, const Axis& x) {
  if (x.extent == 1) return;
  if (!axes.empty() && axes.back().in == x.extent * x.in && axes.back().out == x.extent * x.out)
    axes.back() = {axes.back().extent * x.extent, x.in, x.out};
  else
    axes.push_back(x);
}

}  // namespace

LibraryKernel moments_kernel(DType element, DType loop, std::int64_t kept, std::int64_t folded) {
  return {"moments.cuh",
          kMomentsText,
          "look",
          "using S = " + type(element) + "; using T = " + type(loop) + ";\ninline T value(S x) { return " +
              (element == DType::float16 ? "(T)to_float(x)" : "(T)x") + "; }\n" + define("KEPT", kept) +
              define("FOLDED", folded),
          false,
          true};
}

void watch_moments(CudaExecutor& gpu, const Plan& plan) {
  const Reduction& r = plan.reductions[0];
  const Operand& in = plan.operands[0];
  // Sums of integers stay far below what a double holds.
  if (!is_inexact(in.dtype) || (faults::watched(r.policy) & (faults::kOverflow | faults::kInvalid)) == 0) return;
  std::vector<Axis> kept, folded;
  std::int64_t groups = 1, each = 1;
  for (int k = 0; k < plan.shape.size(); ++k) {
    const bool folds = r.reduced >> k & 1;
    (folds ? each : groups) *= plan.shape[k];
    add(folds ? folded : kept, {plan.shape[k], in.strides[k], folds ? 0 : r.strides[k]});
  }
  if (groups == 0 || each == 0) return;
  for (auto* axes : {&kept, &folded})
    if (axes->empty()) axes->push_back({1, 0, 0});
  const LibraryKernel look = moments_kernel(in.dtype, r.dtype, static_cast<std::int64_t>(kept.size()),
                                            static_cast<std::int64_t>(folded.size()));
  kept.insert(kept.end(), folded.begin(), folded.end());
  const LateFaults::Place place =
      gpu.faults().take({{"reduce", 0, r.policy}, {"subtract", 0, r.policy}, {"square", 0, r.policy}});
  launch(gpu, look, blocks_for(groups, kLibraryThreads),
         {kept.data(), &groups, &each, &in.data, &r.data, &place.device, &place.host},
         "flags of a variance of " + std::string(name(in.dtype)) + " " + to_string(plan.shape));
}

}  // namespace galop::cuda
