// What ops.def says about each operation, as an information table.
#pragma once

#include <span>
#include <string_view>

#include "galop/dtype.hpp"
#include "galop/op.hpp"

namespace galop {

inline constexpr int kTableOps = static_cast<int>(Op::table_end);
inline constexpr int kOps = static_cast<int>(Op::end);

enum class Result : std::uint8_t { SAME, BOOL, REAL, UINT8, INT32 };
enum class Identity : std::uint8_t { ORDERED, NONE, ZERO, ONE, MINUS_ONE, MINUS_INF, TRUE_, FALSE_ };

struct OpInfo {
  std::string_view name;
  int nin;
  int nout;
  std::string_view types;  // typecodes of the loops in order of search
  Result result[2];
  Identity identity;
  int ulp;
  bool int_second;  // the second operand is int64 whatever the first is
  bool refuses_bool;
  std::string_view summary;
  std::string_view body;
};

/// The row of an operation; `where` and `cast` have rows without summary.
const OpInfo& info(Op op);

struct OpAlias {
  std::string_view alias;
  std::string_view name;
};
std::span<const OpAlias> op_aliases();

/// The dtype of result `k` when the loop runs in dtype `loop`.
DType result_dtype(Op op, int k, DType loop);

/// The loop for operands of these dtypes: their common dtype when the row has it, else the first that each is cast to
/// safely. Throws TypeError when there is none.
DType find_loop(Op op, std::span<const DType> operands);
inline DType find_loop(Op op, DType t) { return find_loop(op, std::span(&t, 1)); }

/// The dtype that a loop is computed in: float32 for float16, except where neighbours in float16 are the result.
constexpr DType compute_dtype(Op op, DType loop) {
  return loop == DType::float16 && op != Op::nextafter && op != Op::spacing ? DType::float32 : loop;
}

/// Whether an operation costs so much that recomputing it is never cheap (transcendentals, division, power).
int cost(Op op);

}  // namespace galop
