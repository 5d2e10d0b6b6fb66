// Plans for tests: the smallest ones around an operation, and the layouts that kernels tell apart.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "core/op.hpp"
#include "core/view.hpp"

namespace galop::cuda::test {

constexpr std::string_view kCodes = "?bhilBHILefdFD";
inline DType of_code(char c) { return static_cast<DType>(kCodes.find(c)); }

inline Operand memory(DType t, const void* data, Dims strides) {
  Operand o{Operand::Kind::memory, t};
  o.data = data;
  o.strides = std::move(strides);
  return o;
}
inline Operand iota(std::int64_t start, Dims steps) {
  Operand o{Operand::Kind::iota, DType::int64};
  o.start = start;
  o.strides = std::move(steps);
  return o;
}
template <class T>
Operand constant(T v, int ndim) {
  Operand o{Operand::Kind::constant, dtype_of<T>};
  std::memcpy(o.bits, &v, sizeof v);
  o.strides = Dims(ndim, 0);
  return o;
}

/// Where an address is only looked at: so many bytes apart that all of them are aligned.
inline void* somewhere(int i) {
  return reinterpret_cast<void*>(std::uintptr_t{1} << 40 | static_cast<std::uintptr_t>(i) << 32);
}

/// The dtypes of the operands of one operation in one loop.
inline std::vector<DType> operand_types(Op op, DType loop) {
  std::vector<DType> types(static_cast<std::size_t>(info(op).nin), loop);
  if (op == Op::where) types[0] = DType::bool_;
  if (info(op).int_second) types[1] = DType::int64;
  return types;
}

/// An operation over operands in memory of one layout each, results dense; float16 loops go through float32.
inline Plan one_operation(Op op, DType loop, const Dims& shape, const std::vector<const void*>& in,
                          const std::vector<Dims>& strides, const std::vector<void*>& out) {
  Plan plan;
  plan.shape = shape;
  const DType compute = compute_dtype(op, loop);
  const std::vector<DType> types = operand_types(op, loop);
  Instruction run{op, compute};
  for (std::size_t k = 0; k < types.size(); ++k) {
    plan.operands.push_back(memory(types[k], in[k], strides[k]));
    plan.registers.push_back(types[k]);
  }
  for (std::size_t k = 0; k < types.size(); ++k) {
    run.in[k] = static_cast<std::uint16_t>(k);
    if (types[k] != DType::float16 || compute == DType::float16) continue;
    plan.tape.push_back({Op::cast,
                         DType::float16,
                         {static_cast<std::uint16_t>(k)},
                         {static_cast<std::uint16_t>(plan.registers.size())}});
    run.in[k] = static_cast<std::uint16_t>(plan.registers.size());
    plan.registers.push_back(compute);
  }
  std::vector<std::uint16_t> results;
  for (int k = 0; k < info(op).nout; ++k) {
    run.out[k] = static_cast<std::uint16_t>(plan.registers.size());
    results.push_back(run.out[k]);
    plan.registers.push_back(result_dtype(op, k, compute));
  }
  plan.tape.push_back(run);
  for (int k = 0; k < info(op).nout; ++k) {
    const DType to = result_dtype(op, k, loop);
    std::uint16_t reg = results[static_cast<std::size_t>(k)];
    if (plan.registers[reg] != to) {
      plan.tape.push_back({Op::cast, plan.registers[reg], {reg}, {static_cast<std::uint16_t>(plan.registers.size())}});
      reg = static_cast<std::uint16_t>(plan.registers.size());
      plan.registers.push_back(to);
    }
    plan.outputs.push_back({reg, to, out[static_cast<std::size_t>(k)], c_strides(shape, itemsize(to)), true, false});
  }
  return plan;
}

inline Plan one_cast(DType from, DType to, std::int64_t n, const void* in, void* out) {
  Plan plan;
  plan.shape = {n};
  plan.operands.push_back(memory(from, in, {itemsize(from)}));
  plan.registers = {from, to};
  plan.tape.push_back({Op::cast, from, {0}, {1}});
  plan.outputs.push_back({1, to, out, {itemsize(to)}, true, false});
  return plan;
}

/// A fold of one operand in memory over the axes of `reduced`; the result is dense over the others.
inline Plan one_fold(Op op, DType t, const Dims& shape, const Dims& strides, std::uint64_t reduced, const void* in,
                     void* out) {
  Plan plan;
  plan.shape = shape;
  plan.operands.push_back(memory(t, in, strides));
  plan.registers = {t};
  Reduction r{};
  r.op = op;
  r.dtype = t;
  r.reg = 0;
  r.reduced = reduced;
  r.result = t;
  r.data = out;
  r.strides = Dims(shape.size(), 0);
  std::int64_t step = itemsize(t);
  for (int k = shape.size() - 1; k >= 0; --k) {
    if (reduced >> k & 1) continue;
    r.strides[k] = step;
    step *= shape[k];
  }
  r.input_strides = strides;
  plan.reductions.push_back(r);
  return plan;
}

/// One operand copied, or several added, each with its axes the other way round than the result's.
inline Plan turned_sum(DType t, const Dims& shape, const std::vector<const void*>& in, void* out) {
  Plan plan;
  plan.shape = shape;
  Dims turned(shape.size(), 0);
  std::int64_t step = itemsize(t);
  for (int k = 0; k < shape.size(); ++k) {
    turned[k] = step;
    step *= shape[k];
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    plan.operands.push_back(memory(t, in[k], turned));
    plan.registers.push_back(t);
  }
  std::uint16_t last = 0;
  for (std::uint16_t k = 1; k < in.size(); ++k) {
    const auto next = static_cast<std::uint16_t>(plan.registers.size());
    plan.registers.push_back(t);
    plan.tape.push_back({Op::add, t, {last, k}, {next}});
    last = next;
  }
  plan.outputs.push_back({last, t, out, c_strides(shape, itemsize(t)), true, false});
  return plan;
}

/// Every (operation, loop) of the table, `where` included, that a kernel computes or goes through float32 for.
template <class F>
void each_loop(F&& f) {
  for (int o = 0; o < kOps; ++o) {
    const Op op = static_cast<Op>(o);
    if (op == Op::cast) continue;
    for (const char c : info(op).types) f(op, of_code(c));
  }
}

}  // namespace galop::cuda::test
