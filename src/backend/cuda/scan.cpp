// Running folds: which kernel serves which shape.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"
#include "core/flag_test.hpp"
#include "core/op.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kMostTiles = 0x7fffffff;
constexpr std::int64_t kManyLines = std::int64_t{1} << 17;  // threads that fill a GPU
constexpr std::int64_t kShort = 64;                         // a line that one thread scans at once
constexpr std::int64_t kWarpLine = 1024;                    // the longest line of one warp
constexpr std::int64_t kFewLines = 256;                     // lines that are better cut into tiles

struct Axis {
  std::int64_t extent, in, out;
};

struct Problem {
  Op op;
  DType t;
  std::vector<Axis> axes;  // of the lines, the last is counted fastest
  std::int64_t lines = 1, n = 0;
  const void* in;
  void* out;
  std::int64_t in_step, out_step;
  bool pieces_allowed = true;
  std::string what;

  std::string head() const {
    const std::int64_t item = alignment_of(t);
    Dims in_all{in_step}, out_all{out_step};
    for (const Axis& a : axes) {
      in_all.push_back(a.in);
      out_all.push_back(a.out);
    }
    return join_function(op, t) + define("AXES", static_cast<std::int64_t>(axes.size())) +
           define("IN_BYTES", !aligned_to(item, in, in_all)) + define("OUT_BYTES", !aligned_to(item, out, out_all));
  }
  bool vectors(std::int64_t bytes) const {
    Dims in_all, out_all;
    for (const Axis& a : axes) {
      in_all.push_back(a.in);
      out_all.push_back(a.out);
    }
    return in_step == itemsize(t) && out_step == itemsize(t) && aligned_to(bytes, in, in_all) &&
           aligned_to(bytes, out, out_all);
  }
  LibraryKernel kernel(const char* entry, const std::string& more) const {
    return {"scan.cuh", kScanText, entry, head() + more, is_complex(t)};
  }
};

// Whether the fold depends on the order, or on a rounding at every step.
bool in_order(Op op, DType t) {
  const bool extreme = op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin;
  return info(op).identity == Identity::ORDERED || (t == DType::float16 && !extreme);
}

// Axes of extent 1 dropped, the nearest neighbours last, neighbours merged where both arrays allow it.
void order_lines(Problem& p) {
  std::erase_if(p.axes, [](const Axis& a) { return a.extent == 1; });
  std::stable_sort(p.axes.begin(), p.axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.in) > std::abs(b.in); });
  std::vector<Axis> merged;
  for (const Axis& a : p.axes) {
    if (!merged.empty() && merged.back().in == a.extent * a.in && merged.back().out == a.extent * a.out)
      merged.back() = {merged.back().extent * a.extent, a.in, a.out};
    else
      merged.push_back(a);
  }
  if (merged.empty()) merged.push_back({1, 0, 0});
  p.axes = std::move(merged);
}

void run(CudaExecutor& gpu, const Problem& p);

void by_lines(CudaExecutor& gpu, const Problem& p, std::int64_t lanes) {
  launch(gpu, p.kernel("scan_lines", define("LANES", lanes)), blocks_for(p.lines, kLibraryThreads / lanes),
         {p.axes.data(), &p.lines, &p.n, &p.in, &p.in_step, &p.out, &p.out_step}, p.what);
}

void by_tiles(CudaExecutor& gpu, const Problem& p) {
  const std::int64_t item = itemsize(p.t);
  const std::int64_t vec = p.vectors(16) ? 16 / item : 1;
  const std::int64_t rows = item == 16 ? 4 : std::min<std::int64_t>(8, 32 / vec);
  const std::int64_t tile = 8 * 32 * vec * rows;
  const std::int64_t tiles = blocks_for(p.n, tile), groups = blocks_for(tiles, kTileGroup),
                     sections = blocks_for(groups, kTileSection);
  const LibraryKernel k = p.kernel("scan_tiles", define("VEC", vec) + define("ROWS", rows) + define("MANY", tiles > 1));
  const std::int64_t all = p.lines * tiles;
  if (all > kMostTiles) throw Error("[cuda] " + p.what + " is too large for one launch");
  // A ticket and the folds of tiles, groups and sections, a flag beside every four bytes; all zero.
  const std::int64_t fold = (item + 3) / 4 * 8;
  const std::int64_t bytes = tiles > 1 ? 8 + (all + p.lines * (groups + sections)) * fold : 0;
  Scratch scratch(gpu, bytes);
  if (bytes > 0) gpu.fill_bytes(scratch.data(), 0, bytes);
  const char* const ticket = scratch.data();
  const char* const tile_folds = ticket + 8;
  const char* const group_folds = tile_folds + all * fold;
  const char* const section_folds = group_folds + p.lines * groups * fold;
  launch(gpu, k, tiles > 1 ? std::min(all, kTileBlocks) : all,
         {p.axes.data(), &p.lines, &p.n, &tiles, &p.in, &p.in_step, &p.out, &p.out_step, &ticket, &tile_folds,
          &group_folds, &section_folds},
         p.what, tiles > 1 ? kLibraryThreads * rows * (vec + 1) * item : 0);
}

void by_pieces(CudaExecutor& gpu, const Problem& p, std::int64_t length) {
  const std::int64_t item = itemsize(p.t), pieces = blocks_for(p.n, length);
  const std::int64_t line_blocks = blocks_for(p.lines, kLibraryThreads);
  const Scratch scratch(gpu, pieces * p.lines * item);
  char* const folds = scratch.data();
  const auto phase = [&](int number) {
    launch(gpu, p.kernel("scan_pieces", define("PHASE", number)), pieces * line_blocks,
           {p.axes.data(), &p.lines, &p.n, &length, &line_blocks, &p.in, &p.in_step, &p.out, &p.out_step, &folds},
           p.what);
  };
  phase(0);
  Problem over = p;
  over.axes = {{p.lines, item, item}};
  over.n = pieces;
  over.in = over.out = folds;
  over.in_step = over.out_step = p.lines * item;
  over.pieces_allowed = false;
  run(gpu, over);
  phase(1);
}

void run(CudaExecutor& gpu, const Problem& p) {
  if (in_order(p.op, p.t) || p.n == 1) return by_lines(gpu, p, 1);
  const Axis& inner = p.axes.back();
  const bool side_by_side = std::abs(inner.in) < std::abs(p.in_step) && p.lines * itemsize(p.t) >= 64;
  if (side_by_side) {
    if (p.n <= kShort || p.lines >= kManyLines) return by_lines(gpu, p, 1);
    const std::int64_t length =
        std::max<std::int64_t>(16, blocks_for(p.n, std::max<std::int64_t>(1, 2 * kManyLines / p.lines)));
    if (p.pieces_allowed && length < p.n) return by_pieces(gpu, p, length);
    return by_tiles(gpu, p);
  }
  if (p.n <= 4) return by_lines(gpu, p, 1);
  if (p.n > kWarpLine || (p.n > kShort && p.lines < kFewLines)) return by_tiles(gpu, p);
  by_lines(gpu, p,
           std::min<std::int64_t>(32, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(p.n)))));
}

// What the scan raised, for the policy of this call.
void watch(CudaExecutor& gpu, const Problem& p) {
  const faults::Policy policy = faults::policy();
  const std::uint8_t wanted = faults::watched(policy);
  if (wanted == 0 || p.n < 2 || fold_flag_test(p.op, p.t) == FlagTest::none) return;
  const bool underflow = (wanted & faults::kUnderflow) != 0;
  const bool all = underflow || (p.op != Op::add && p.op != Op::subtract && p.op != Op::multiply);
  LibraryKernel k = p.kernel("scan_flags", flags_function(p.op, p.t, underflow) + define("ALL", all));
  k.with_flags = true;
  const LateFaults::Place place = gpu.faults().take({{"accumulate", 0, policy}});
  const std::int64_t pieces = blocks_for(p.n, 64), tasks = p.lines * pieces;
  launch(gpu, k, blocks_for(tasks, kLibraryThreads),
         {p.axes.data(), &tasks, &pieces, &p.n, &p.in, &p.in_step, &p.out, &p.out_step, &place.device, &place.host},
         p.what);
}

}  // namespace

void scan(CudaExecutor& gpu, Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
          const Dims& out_strides) {
  const OpInfo& row = info(op);
  if (row.nin != 2 || row.nout != 1 || row.int_second || row.types.find(typecode(t)) == std::string_view::npos ||
      result_dtype(op, 0, t) != t)
    throw Error("[" + std::string(row.name) + "] no running fold for this dtype; got " + std::string(name(t)));
  const int last = shape.size() - 1;
  Problem p{op, t, {}, 1, shape[last], in, out, in_strides[last], out_strides[last], true, {}};
  p.what = "scan of " + std::string(row.name) + " over " + std::string(name(t)) + " " + to_string(shape);
  for (int a = 0; a < last; ++a) {
    p.lines *= shape[a];
    p.axes.push_back({shape[a], in_strides[a], out_strides[a]});
  }
  if (p.lines == 0 || p.n == 0) return;
  order_lines(p);
  run(gpu, p);
  watch(gpu, p);
}

}  // namespace galop::cuda
