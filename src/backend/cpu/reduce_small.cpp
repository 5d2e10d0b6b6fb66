// Folds of one short row.
#include "backend/cpu/reduce_small.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backend/cpu/fp_flags.hpp"
#include "backend/cpu/reducer.hpp"

namespace galop::cpu {

bool fold_start(Op op, DType t, void* bits) {
  const Identity identity = info(op).identity;
  if (identity == Identity::NONE || identity == Identity::ORDERED) return false;
  if (identity == Identity::MINUS_ONE) {
    std::memset(bits, t == DType::bool_ ? 1 : 0xFF, static_cast<std::size_t>(itemsize(t)));
    return true;
  }
  if (identity == Identity::ZERO || identity == Identity::FALSE_) {
    std::memset(bits, 0, static_cast<std::size_t>(itemsize(t)));
    return true;
  }
  double value = 1;
  if (identity == Identity::MINUS_INF) value = -std::numeric_limits<double>::infinity();
  convert(DType::float64, t, &value, bits, 1);
  return true;
}

namespace {

constexpr std::int64_t kMostBytes = 1 << 20;  // of operands that are folded at once, by one thread
constexpr std::int64_t kRun = 8192;           // elements that NumPy converts, and adds up, at a time

}  // namespace

bool fold_small(Op op, DType loop, DType from, const void* in, std::int64_t n, void* out, std::uint8_t& flags) {
  const Fold fold =
      static_cast<int>(op) < kTableOps ? kernels().fold[static_cast<int>(op)][static_cast<int>(loop)] : nullptr;
  const std::int64_t size = itemsize(loop), from_size = itemsize(from);
  // Sums of floats are cut as NumPy cuts them; other folds whose order shows are one run while they are short.
  const bool sums = op == Op::add && is_inexact(loop);
  const bool free = joins_freely(op, loop);
  if (!fold || from == DType::float16 || n * std::max(size, from_size) > (sums || free ? kMostBytes : kPieceBytes))
    return false;
  const bool converts = from != loop;
  // A cast that loses something may raise flags of its own.
  if (converts && loop != DType::bool_ && promote_types(from, loop) != loop) return false;
  const bool watched = fold_flag_test(op, loop) == FlagTest::hardware;
  if (watched) take_hardware_flags();
  const std::int64_t piece = converts ? std::min(n, sums ? kRun : kPieceBytes / size) : n;
  alignas(64) char near[kPieceBytes];
  Bytes far;
  char* wide = near;
  if (converts && piece * size > kPieceBytes) {
    far = bytes(piece * size);
    wide = far.get();
  }
  const bool has_start = fold_start(op, loop, out);
  for (std::int64_t at = 0; at < n; at += piece) {
    const std::int64_t here = std::min(piece, n - at);
    const char* p = static_cast<const char*>(in) + at * from_size;
    if (converts) {
      convert(from, loop, p, wide, here);
      p = wide;
    }
    if (at == 0 && !has_start) {
      std::memcpy(out, p, static_cast<std::size_t>(size));
      if (here > 1) fold(out, p + size, here - 1);
    } else if (const ShortSum short_sum_ = here < 8 ? short_sum(op, loop, here) : nullptr; short_sum_ && here == n) {
      short_sum_(out, p, 1, here);
    } else {
      fold(out, p, here);
    }
  }
  flags = watched ? take_hardware_flags() : std::uint8_t{0};
  return true;
}

}  // namespace galop::cpu
