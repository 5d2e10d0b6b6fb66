// Reads ops.def into the information table.
#include "core/op.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "galop/error.hpp"

namespace galop {
namespace {

using enum Result;
using enum Identity;

// A leading ! in the table's column: no bool operands.
constexpr bool refuses(std::string_view types) { return types.starts_with('!'); }
constexpr std::string_view loops(std::string_view types) { return types.substr(refuses(types)); }

constexpr OpInfo kInfo[] = {
#define UNARY(name, types, result, ulp, summary, ...) \
  {#name, 1, 1, loops(types), {result, SAME}, ORDERED, ulp, false, refuses(types), summary, #__VA_ARGS__},
#define BINARY(name, types, result, identity, ulp, summary, ...) \
  {#name, 2, 1, loops(types), {result, SAME}, identity, ulp, false, refuses(types), summary, #__VA_ARGS__},
#define TERNARY(name, types, result, ulp, summary, ...) \
  {#name, 3, 1, loops(types), {result, SAME}, ORDERED, ulp, false, refuses(types), summary, #__VA_ARGS__},
#define UNARY2(name, types, result, second, ulp, summary, ...) \
  {#name, 1, 2, loops(types), {result, second}, ORDERED, ulp, false, refuses(types), summary, #__VA_ARGS__},
#define BINARY2(name, types, result, second, ulp, summary, ...) \
  {#name, 2, 2, loops(types), {result, second}, ORDERED, ulp, false, refuses(types), summary, #__VA_ARGS__},
#define BINARY_INT(name, types, result, ulp, summary, ...) \
  {#name, 2, 1, loops(types), {result, SAME}, ORDERED, ulp, true, refuses(types), summary, #__VA_ARGS__},
#include "galop/ops.def"
    {"where", 3, 1, "?bhilBHILefdFD", {SAME, SAME}, ORDERED, 0, false, false, "", "select(x, y, z)"},
    {"cast", 1, 1, "?bhilBHILefdFD", {SAME, SAME}, ORDERED, 0, false, false, "", "x"},
};
static_assert(std::size(kInfo) == kOps);

constexpr OpAlias kAliases[] = {
#define ALIAS(alias, name) {#alias, #name},
#include "galop/ops.def"
};

}  // namespace

const OpInfo& info(Op op) { return kInfo[static_cast<int>(op)]; }

std::span<const OpAlias> op_aliases() { return kAliases; }

DType result_dtype(Op op, int k, DType loop) {
  switch (info(op).result[k]) {
    case SAME:
      return loop;
    case BOOL:
      return DType::bool_;
    case REAL:
      return real_dtype(loop);
    case UINT8:
      return DType::uint8;
    case INT32:
      return DType::int32;
  }
  return loop;
}

DType find_loop(Op op, std::span<const DType> operands) {
  const OpInfo& row = info(op);
  DType common = operands[0];
  for (DType t : operands) common = promote_types(common, t);
  if (row.types.find(typecode(common)) != std::string_view::npos) return common;
  constexpr std::string_view codes = "?bhilBHILefdFD";
  for (char code : row.types) {
    if (common == DType::bool_ && row.refuses_bool) break;
    const auto loop = static_cast<DType>(codes.find(code));
    if (std::all_of(operands.begin(), operands.end(), [&](DType t) { return can_cast_safely(t, loop); })) return loop;
  }
  throw TypeError("[" + std::string(row.name) + "] no loop for this dtype; got " + std::string(name(common)) +
                  ", loops are " + std::string(row.types));
}

int cost(Op op) {
  switch (op) {
    case Op::divide:
    case Op::sqrt:
    case Op::reciprocal:
      return 4;
    case Op::floor_divide:
    case Op::remainder:
    case Op::fmod:
    case Op::divmod:
    case Op::gcd:
    case Op::lcm:
      return 8;
    default:
      return info(op).ulp >= 4 ? 20 : 1;
  }
}

}  // namespace galop
