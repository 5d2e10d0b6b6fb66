// Folds of one short row.
#include "backend/cpu/reduce_small.hpp"

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

bool fold_small(Op op, DType loop, DType from, const void* in, std::int64_t n, void* out, std::uint8_t& flags) {
  const Fold fold =
      static_cast<int>(op) < kTableOps ? kernels().fold[static_cast<int>(op)][static_cast<int>(loop)] : nullptr;
  // Other products of inexact numbers than sums are not folded in runs when they are short.
  const bool in_runs = joins_freely(op, loop) || op == Op::add;
  const std::int64_t size = itemsize(loop);
  // A cast that loses something may raise flags of its own.
  const bool keeps = loop == DType::bool_ || promote_types(from, loop) == loop;
  if (!fold || !in_runs || !keeps || from == DType::float16 || n * size > kPieceBytes) return false;
  const bool watched = fold_flag_test(op, loop) == FlagTest::hardware;
  if (watched) take_hardware_flags();
  alignas(64) char wide[kPieceBytes];
  if (from != loop) {
    convert(from, loop, in, wide, n);
    in = wide;
  }
  const ShortSum short_sum_ = n < 8 ? short_sum(op, loop, n) : nullptr;
  if (fold_start(op, loop, out)) {
    if (short_sum_)
      short_sum_(out, in, 1, n);
    else
      fold(out, in, n);
  } else {
    std::memcpy(out, in, static_cast<std::size_t>(size));
    if (n > 1) fold(out, static_cast<const char*>(in) + size, n - 1);
  }
  flags = watched ? take_hardware_flags() : std::uint8_t{0};
  return true;
}

}  // namespace galop::cpu
