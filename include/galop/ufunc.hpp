// The element-wise operations of ops.def as function objects: gp::add(x, y), gp::add.reduce(x), gp::add.outer(x, y), …
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "galop/array.hpp"
#include "galop/op.hpp"

namespace galop {

/// Optional arguments of an element-wise call. All are as NumPy's.
struct ufunc_options {
  const array* out[2] = {nullptr, nullptr};  ///< results are written here; their shape must be the broadcast one
  const array* where = nullptr;     ///< bool, broadcast: elements where it is false keep `out`'s (or undefined) values
  std::optional<DType> dtype = {};  ///< the dtype of the loop
  Casting casting = Casting::same_kind;
};

/// Axes of a reduction: one, `0`; several, `{0, 1}`; `none`: all of them. Negative ones count from the end; empty Dims
/// name no axis.
class axes : public std::optional<Dims> {
 public:
  axes() = default;
  axes(std::nullopt_t) {}
  template <std::integral T>
  axes(T axis) : optional(Dims{static_cast<std::int64_t>(axis)}) {}
  axes(std::initializer_list<std::int64_t> list) : optional(Dims(list)) {}
  axes(const Dims& list) : optional(list) {}
  axes(const std::optional<Dims>& list) : optional(list) {}
};

/// Optional arguments of a reduction, named at the call: `gp::sum(a, {.axis = 0, .keepdims = true})`.
struct reduce_options {
  axes axis = {};                   ///< unset: every axis
  std::optional<DType> dtype = {};  ///< of the accumulation
  const array* out = nullptr;
  bool keepdims = false;
  std::optional<scalar> initial = {};  ///< the value that the fold starts from
  const array* where = nullptr;        ///< bool, broadcast: elements that take part
};

class ufunc {
 public:
  constexpr explicit ufunc(Op op) : op_(op) {}
  constexpr Op op() const { return op_; }
  std::string_view name() const;
  int nin() const;
  int nout() const;

  /// All results of one call. Throws TypeError when no loop takes the dtypes, ValueError when shapes do not broadcast.
  std::vector<array> call(std::span<const arg> operands, const ufunc_options& options = {}) const;

  /// The first result of such a call.
  array one(std::span<const arg> operands, const ufunc_options& options = {}) const;
  /// The same of arrays alone, without options.
  array one(const array& x) const;
  array one(const array& x, const array& y) const;
  /// The call with an array to write the one result to.
  void into(const array& out, std::span<const arg> operands) const;

  // Binary operations with one result only; others throw ValueError.
  /// Folds along axes; default axis of NumPy's ufunc.reduce is 0, which the caller passes.
  array reduce(const array& a, const reduce_options& options = {}) const;
  /// Running folds along one axis, of the shape of `a`.
  array accumulate(const array& a, int axis = 0, std::optional<DType> dtype = {}, const array* out = nullptr) const;
  /// Folds of a[i:j] along the axis for each pair of neighbouring indices, the last to the end; a[i] alone where j is
  /// not above i. Throws IndexError for an index outside the axis.
  array reduceat(const array& a, const array& indices, int axis = 0, std::optional<DType> dtype = {},
                 const array* out = nullptr) const;
  /// The operation for every pair: shape x.shape + y.shape.
  array outer(const arg& x, const arg& y, const ufunc_options& options = {}) const;
  /// a[indices] = op(a[indices], values), once for every index in order, repeated ones too. Unary operations take no
  /// values.
  void at(const array& a, std::span<const index> indices, const arg* values = nullptr) const;

 private:
  Op op_;
};

struct unary_ufunc : ufunc {
  using ufunc::ufunc;
  array operator()(const arg& x, const ufunc_options& options = {}) const { return one({&x, 1}, options); }
  template <std::same_as<array> A>  // no number becomes one
  array operator()(const A& x) const {
    return one(x);
  }
};
struct binary_ufunc : ufunc {
  using ufunc::ufunc;
  array operator()(const arg& x, const arg& y, const ufunc_options& options = {}) const {
    const arg in[] = {x, y};
    return one(in, options);
  }
  template <std::same_as<array> A>
  array operator()(const A& x, const A& y) const {
    return one(x, y);
  }
};
struct ternary_ufunc : ufunc {
  using ufunc::ufunc;
  array operator()(const arg& x, const arg& y, const arg& z, const ufunc_options& options = {}) const {
    const arg in[] = {x, y, z};
    return call(in, options)[0];
  }
};
struct unary2_ufunc : ufunc {
  using ufunc::ufunc;
  std::pair<array, array> operator()(const arg& x, const ufunc_options& options = {}) const {
    auto r = call({&x, 1}, options);
    return {std::move(r[0]), std::move(r[1])};
  }
};
struct binary2_ufunc : ufunc {
  using ufunc::ufunc;
  std::pair<array, array> operator()(const arg& x, const arg& y, const ufunc_options& options = {}) const {
    const arg in[] = {x, y};
    auto r = call(in, options);
    return {std::move(r[0]), std::move(r[1])};
  }
};

#define UNARY(name, types, result, ulp, summary, ...) inline constexpr unary_ufunc name{Op::name};
#define BINARY(name, types, result, identity, ulp, summary, ...) inline constexpr binary_ufunc name{Op::name};
#define TERNARY(name, types, result, ulp, summary, ...) inline constexpr ternary_ufunc name{Op::name};
#define UNARY2(name, types, result, second, ulp, summary, ...) inline constexpr unary2_ufunc name{Op::name};
#define BINARY2(name, types, result, second, ulp, summary, ...) inline constexpr binary2_ufunc name{Op::name};
#define BINARY_INT(name, types, result, ulp, summary, ...) inline constexpr binary_ufunc name{Op::name};
#define ALIAS(alias, name) inline constexpr auto alias = name;
#include "galop/ops.def"

/// x where the condition is true, else y; the condition is taken as bool. One pass, broadcast, dtype promoted.
array where(const arg& condition, const arg& x, const arg& y);

}  // namespace galop
