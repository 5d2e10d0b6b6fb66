// Reads ops.def into the information table.
#include "core/op.hpp"

#include <array>
#include <string>

#include "galop/error.hpp"

namespace galop {
namespace {

using enum Result;
using enum Identity;

constexpr OpInfo kInfo[] = {
#define UNARY(name, types, result, ulp, summary, ...) \
  {#name, 1, 1, types, {result, SAME}, ORDERED, ulp, false, summary, #__VA_ARGS__},
#define BINARY(name, types, result, identity, ulp, summary, ...) \
  {#name, 2, 1, types, {result, SAME}, identity, ulp, false, summary, #__VA_ARGS__},
#define TERNARY(name, types, result, ulp, summary, ...) \
  {#name, 3, 1, types, {result, SAME}, ORDERED, ulp, false, summary, #__VA_ARGS__},
#define UNARY2(name, types, result, second, ulp, summary, ...) \
  {#name, 1, 2, types, {result, second}, ORDERED, ulp, false, summary, #__VA_ARGS__},
#define BINARY2(name, types, result, second, ulp, summary, ...) \
  {#name, 2, 2, types, {result, second}, ORDERED, ulp, false, summary, #__VA_ARGS__},
#define BINARY_INT(name, types, result, ulp, summary, ...) \
  {#name, 2, 1, types, {result, SAME}, ORDERED, ulp, true, summary, #__VA_ARGS__},
#include "galop/ops.def"
    {"where", 3, 1, "?bhilBHILefdFD", {SAME, SAME}, ORDERED, 0, false, "", "select(x, y, z)"},
    {"cast", 1, 1, "?bhilBHILefdFD", {SAME, SAME}, ORDERED, 0, false, "", "x"},
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

DType find_loop(Op op, DType t) {
  constexpr std::string_view codes = "?bhilBHILefdFD";
  const bool refused = t == DType::bool_ && info(op).types.starts_with('!');
  if (info(op).types.find(typecode(t)) != std::string_view::npos) return t;
  for (char code : info(op).types) {
    if (refused || code == '!') continue;
    auto loop = static_cast<DType>(codes.find(code));
    if (can_cast_safely(t, loop)) return loop;
  }
  throw TypeError("[" + std::string(info(op).name) + "] no loop for this dtype; got " + std::string(name(t)) +
                  ", loops are " + std::string(info(op).types));
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
