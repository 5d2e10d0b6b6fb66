// Reductions: a plan's last register folded over axes, in NumPy's order where the order shows, on all threads.
#include <string>

#include "backend/cpu/reduce_small.hpp"
#include "backend/cpu/reducer.hpp"
#include "galop/error.hpp"

namespace galop::cpu {
namespace {

bool selects(Op op) { return op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin; }

}  // namespace

bool joins_freely(Op op, DType t) {
  switch (op) {
    case Op::add:
    case Op::multiply:
      return !is_inexact(t);
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
      return !is_complex(t);  // which of two NaNs wins shows in the other part
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
    case Op::gcd:
    case Op::lcm:
      return true;
    default:
      return false;
  }
}

Reducer::Reducer(const Plan& plan)
    : plan_(plan),
      r_(plan.reductions[0]),
      program_(plan),
      sink_(plan),
      kernel_(kernels().op[static_cast<int>(r_.op)][static_cast<int>(r_.dtype)]),
      fold_(kernels().fold[static_cast<int>(r_.op)][static_cast<int>(r_.dtype)]),
      size_(itemsize(r_.dtype)),
      piece_(kPieceBytes / size_),
      sums_floats_(r_.op == Op::add && is_inexact(r_.dtype)),
      associative_(joins_freely(r_.op, r_.dtype) || r_.op == Op::add || r_.op == Op::multiply || selects(r_.op)),
      any_order_(joins_freely(r_.op, r_.dtype)) {
  if (!kernel_ || !fold_)
    throw Error("[" + std::string(info(r_.op).name) + "] no fold for this dtype; got " + std::string(name(r_.dtype)));
  if (r_.round_to_half && !selects(r_.op)) {
    // NumPy's loops of these four keep a float32 inside a run.
    const bool in_float = r_.op == Op::add || r_.op == Op::subtract || r_.op == Op::multiply || r_.op == Op::divide;
    rounding_ = in_float ? Rounding::after_runs : Rounding::always;
  }
  if (rounding_ == Rounding::never) row_fold_ = row_fold(r_.op, r_.dtype);
  find_start();
}

void Reducer::find_start() {
  has_start_ = fold_start(r_.op, r_.dtype, start_bits_);
  // Only sums and free folds are cut: -0.0 + x = x for every x, 0.0 + x is not.
  has_unit_ = has_start_ && associative_;
  std::memcpy(unit_bits_, start_bits_, sizeof unit_bits_);
  if (sums_floats_ && r_.dtype != DType::float64 && r_.dtype != DType::complex128) {
    const float zeros[2] = {-0.0F, -0.0F};
    std::memcpy(unit_bits_, zeros, static_cast<std::size_t>(size_));
  } else if (sums_floats_) {
    const double zeros[2] = {-0.0, -0.0};
    std::memcpy(unit_bits_, zeros, static_cast<std::size_t>(size_));
  }
  if (r_.has_initial) {
    has_start_ = true;
    if (r_.round_to_half)
      convert(DType::float16, DType::float32, r_.initial, start_bits_, 1);
    else
      std::memcpy(start_bits_, r_.initial, static_cast<std::size_t>(size_));
  }
}

void Reducer::run() {
  if (program_.size() == 0) {
    const std::int64_t n = sink_.size();
    const Bytes acc = bytes(n * size_);
    start(acc.get(), n);
    sink_.store(acc.get(), 0, n);
    return;
  }
  const int last = plan_.shape.size() - 1;
  if (last < 0 || (r_.reduced >> last & 1))
    fold_inner();
  else
    fold_outer();
}

void run_reduce(const Plan& plan) {
  const Reduction& r = plan.reductions[0];
  const bool watched = plan.faults && fold_flag_test(r.op, r.dtype) == FlagTest::hardware;
  Reducer reducer(plan);
  {
    const HardwareFlags hardware(watched ? plan.faults : nullptr);
    reducer.run();
  }
  if (plan.faults && !watched) plan.faults[0] = 0;  // the fold's kernel goes other ways than the operation
}

}  // namespace galop::cpu
