// Elements that a mask keeps, computed and packed by one kernel.
#include <algorithm>
#include <cmath>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/library.hpp"
#include "backend/cuda/lower.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kSampleTiles = 256;                   // that an estimate looks at
constexpr std::int64_t kSmallBytes = std::int64_t{1} << 20;  // of a result that may as well be as large as its source

// Looks at every `every`-th tile; returns how many elements are kept in them.
std::int64_t run_pack(CudaExecutor& gpu, const Plan& plan, std::int64_t every, std::int64_t room) {
  Lowered l = lower(plan);
  const std::int64_t tile = kLibraryThreads * l.strips, tiles = blocks_for(plan.shape[0], tile);
  const std::int64_t groups = blocks_for(tiles, kTileGroup), sections = blocks_for(groups, kTileSection);
  const std::int64_t bytes = 8 * (2 + 2 * (tiles + groups + sections));
  const Scratch state(gpu, bytes);
  gpu.fill_bytes(state.data(), 0, bytes);
  l.words[0] = static_cast<std::uint64_t>(every);
  l.words[1] = static_cast<std::uint64_t>(room);
  l.words[2] = reinterpret_cast<std::uint64_t>(state.data());
  const CUfunction kernel = gpu.kernel(
      l.key, [&] { return pack_source(plan, l, kKernelName); }, kKernelName);
  void* parameters[] = {l.words.data()};
  gpu.launch(kernel, {static_cast<unsigned>(std::min(blocks_for(tiles, every), kTileBlocks))}, {kLibraryThreads},
             every == 1 ? static_cast<unsigned>(2 * tile * itemsize(plan.outputs[1].dtype)) : 0, parameters,
             "pack of " + describe(plan));
  std::int64_t count = 0;
  gpu.download(&count, state.data() + 8, 8);
  return count;
}

}  // namespace

std::int64_t estimate_kept(CudaExecutor& gpu, const Plan& plan) {
  const std::int64_t n = plan.shape[0];
  if (n * itemsize(plan.outputs[1].dtype) <= kSmallBytes) return n;
  const std::int64_t tile = kLibraryThreads * lower(plan).strips, tiles = blocks_for(n, tile);
  const std::int64_t every = std::max<std::int64_t>(2, tiles / kSampleTiles);
  const std::int64_t missing = (tiles - 1) % every == 0 ? tiles * tile - n : 0;  // of the last tile
  const auto looked = static_cast<double>(blocks_for(tiles, every) * tile - missing);
  const double share = std::min(1.0, static_cast<double>(run_pack(gpu, plan, every, 0)) / looked);
  // Six standard deviations of independent elements, and some for those that are not.
  const double margin = 6 * std::sqrt(share * (1 - share) / looked) + 1.0 / 256;
  return std::min(n, static_cast<std::int64_t>(static_cast<double>(n) * (share + margin)) + 1);
}

std::int64_t pack(CudaExecutor& gpu, const Plan& plan, std::int64_t room) { return run_pack(gpu, plan, 1, room); }

}  // namespace galop::cuda
