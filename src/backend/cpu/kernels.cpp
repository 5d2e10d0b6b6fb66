// Chooses the kernels for the processor and completes the table with the entries that share a kernel.
#include "backend/cpu/kernels.hpp"

#include <cstdlib>
#include <memory>
#include <string>

#include "backend/cpu/rows.hpp"
#include "backend/cpu/shards.hpp"
#include "backend/cpu/targets.hpp"
#include "galop/error.hpp"

#include <hwy/targets.h>

namespace galop::cpu {
namespace {

#if defined(__x86_64__)
constexpr Isa kIsas[] = {{"avx3", HWY_AVX3}, {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}};
constexpr std::int64_t kBaseline = HWY_SSE4;
#else
constexpr Isa kIsas[] = {{"neon", HWY_NEON}};
constexpr std::int64_t kBaseline = HWY_NEON;
#endif

void fill(std::int64_t target, Kernels& kernels) {
  for (FillShard shard : {fill_int8, fill_int16, fill_int32, fill_int64, fill_rare, fill_float32, fill_float64,
                          fill_complex64, fill_complex128, fill_cast_integers, fill_cast_floats, fill_search, fill_stream}) {
    shard(target, kernels);
  }
}

void share(Kernels& k) {
  for (int t = 0; t < kDTypes; ++t) {
    const auto dtype = static_cast<DType>(t);
    for (int o = 0; o < kOps; ++o) {
      const Op op = static_cast<Op>(o);
      if (op == Op::cast || dtype == DType::float16 || !has_loop(info(op).types, dtype)) continue;
      const Loop own = canonical(op, dtype);
      const int from = static_cast<int>(own.op);
      const int as = static_cast<int>(own.dtype);
      k.op[o][t] = k.op[from][as];
      if (o >= kTableOps || info(op).nout != 1) continue;
      if (info(op).result[0] == Result::SAME) {
        k.fold[o][t] = k.fold[from][as];
        k.scan[o][t] = k.scan[from][as];
      }
    }
    for (int to = 0; to < kDTypes; ++to) {
      const Conversion own = canonical_cast(dtype, static_cast<DType>(to));
      k.cast[t][to] = k.cast[static_cast<int>(own.from)][static_cast<int>(own.to)];
    }
  }
  // Over bool the logical rows are the bitwise ones of 0 and 1.
  constexpr int boolean = static_cast<int>(DType::bool_);
  constexpr Op logical[][2] = {
      {Op::logical_and, Op::bitwise_and}, {Op::logical_or, Op::bitwise_or}, {Op::logical_xor, Op::bitwise_xor}};
  for (const auto& [op, bitwise] : logical) {
    k.fold[static_cast<int>(op)][boolean] = k.fold[static_cast<int>(bitwise)][boolean];
    k.scan[static_cast<int>(op)][boolean] = k.scan[static_cast<int>(bitwise)][boolean];
  }
}

const Isa& resolve() {
  const std::int64_t supported = hwy::SupportedTargets();
  const char* forced = std::getenv("GALOP_FORCE_ISA");
  std::string names;
  for (const Isa& isa : kIsas) {
    if ((isa.target & supported) == 0) continue;
    if (forced == nullptr || *forced == '\0' || std::string_view(forced) == isa.name) return isa;
    names += names.empty() ? isa.name : std::string(", ") + isa.name;
  }
  if (names.empty()) throw ValueError("[kernels] the processor lacks SSE4; galop has no kernels for it");
  throw ValueError("[GALOP_FORCE_ISA] not an instruction set of this processor; got '" + std::string(forced) +
                   "', there are " + names);
}

}  // namespace

std::span<const Isa> isas() { return kIsas; }

bool supported(const Isa& isa) { return (isa.target & hwy::SupportedTargets()) != 0; }

Kernels make_kernels(const Isa& isa) {
  Kernels k{};
  k.isa = isa.name;
  fill(kBaseline, k);
  if (isa.target != kBaseline) fill(isa.target, k);
  share(k);
  return k;
}

const Kernels& kernels() {
  static const Kernels table = make_kernels(resolve());
  return table;
}

}  // namespace galop::cpu
