// Which element-wise calls take the short way. What is no error on it is none on the general way, with the same result.
#include "api/quick.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "galop/error.hpp"
#include "galop/ufunc.hpp"
#include "graph/build.hpp"
#include "graph/small.hpp"

namespace galop {
namespace api {
namespace {

using graph::MapOperand;

/// What the short way knows of an operation on operands of one dtype.
struct Row {
  bool computes = false;  // in that dtype as they are, by a rule without exceptions
  std::uint8_t nin = 0, nout = 0;
  DType result{};
};

const Row& row_of(Op op, DType t) {
  using Rows = std::array<std::array<Row, kDTypes>, kOps>;
  static const auto table = [] {
    Rows rows{};
    for (int k = 0; k < kOps; ++k) {
      const Op o = static_cast<Op>(k);
      const OpInfo& about = info(o);
      if (about.nin > 2 || about.int_second || o == Op::cast) continue;
      for (int d = 0; d < kDTypes; ++d) {
        const auto loop = static_cast<DType>(d);
        const DType both[] = {loop, loop};
        if (o == Op::power && !is_inexact(loop)) continue;  // exponents may be negative
        if (loop == DType::float16 || about.types.find(typecode(loop)) == std::string_view::npos) continue;
        try {
          rows[static_cast<std::size_t>(k)][static_cast<std::size_t>(d)] = {
              find_loop(o, std::span(both).first(static_cast<std::size_t>(about.nin))) == loop,
              static_cast<std::uint8_t>(about.nin), static_cast<std::uint8_t>(about.nout), result_dtype(o, 0, loop)};
        } catch (const TypeError&) {
        }
      }
    }
    return rows;
  }();
  return table[static_cast<std::size_t>(op)][static_cast<std::size_t>(t)];
}

/// Whether a number is one of dtype t as it is: no error, no warning and no other dtype come of it.
bool holds(DType t, const scalar& v) {
  switch (v.kind()) {
    case 'b':
      return true;
    case 'i': {
      if (v.is_huge() || t == DType::bool_) return false;
      if (!is_integer(t)) return true;
      const std::int64_t x = v.integer();
      if (kind(t) == 'u') return x >= 0 && (itemsize(t) == 8 || x >> (8 * itemsize(t)) == 0);
      return itemsize(t) == 8 || (x >> (8 * itemsize(t) - 1)) == (x < 0 ? -1 : 0);
    }
    case 'f':
      if (t == DType::float32) return !(std::fabs(v.number().real()) > std::numeric_limits<float>::max());
      return t == DType::float64 || t == DType::complex128;
    default:
      return t == DType::complex128;
  }
}

/// The operands of the short way, all of the dtype of `like`, which has the most axes.
struct Operands {
  MapOperand in[2];
  const array* like = nullptr;
};

bool take(Op op, std::span<const arg> in, Operands& to, int nout = 1) {
  for (const arg& v : in)
    if (v.is_array() && (!to.like || to.like->ndim() < v.as_array().ndim())) to.like = &v.as_array();
  if (!to.like) return false;
  const DType t = to.like->dtype();
  if (const Row& row = row_of(op, t); !row.computes || row.nin != in.size() || row.nout != nout) return false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    MapOperand& m = to.in[i];
    m.t = t;
    if (in[i].is_array()) {
      m.a = &in[i].as_array();
      if (m.a->dtype() != t) return false;
    } else {
      m.a = nullptr;
      // Of a number beside logic only the truth matters, which a narrower dtype may lose; a power may be a square.
      if (!holds(t, in[i].as_scalar()) || (op >= Op::logical_and && op <= Op::logical_not) || op == Op::power)
        return false;
      in[i].as_scalar().store(t, m.bits);
    }
  }
  return true;
}

}  // namespace

Quick quick(Op op, const array& x, const array* y) {
  const DType t = x.dtype();
  const Row& row = row_of(op, t);
  if (!row.computes || row.nout != 1 || row.nin != (y ? 2 : 1) || (y && y->dtype() != t)) return {};
  std::unique_ptr<graph::Cell, void (*)(graph::Cell*)> r(nullptr, &graph::release);
  {
    graph::Lock lock;  // which may throw when it goes
    r.reset(graph::map_small(op, t, row.result, x, y));
  }
  return {r.release(), &x.shape(), row.result};
}

Quick quick(Op op, std::span<const arg> in) {
  if (in.empty()) return {};
  const bool two = in.size() == 2;
  if (in[0].is_array() && (in.size() == 1 || (two && in[1].is_array())))
    return quick(op, in[0].as_array(), two ? &in[1].as_array() : nullptr);
  Operands operands;
  if (!take(op, in, operands)) return {};
  const DType t = operands.like->dtype(), result = result_dtype(op, 0, t);
  const Dims& shape = operands.like->shape();
  std::unique_ptr<graph::Cell, void (*)(graph::Cell*)> r(nullptr, &graph::release);
  {
    graph::Lock lock;  // which may throw when it goes
    r.reset(graph::map_small(op, t, result, std::span(operands.in).first(in.size()), shape));
  }
  return {r.release(), &shape, result};
}

std::optional<array> quick_later(Op op, std::span<const arg> in, const array* out) {
  Operands operands;
  if (!take(op, in, operands)) return std::nullopt;
  const DType t = operands.like->dtype(), result = result_dtype(op, 0, t);
  const Dims& shape = operands.like->shape();
  if (out && (out->dtype() != result || !(out->shape() == shape))) return std::nullopt;
  const auto taken = std::span(operands.in).first(in.size());
  bool alike = true;
  for (const MapOperand& m : taken) alike = alike && (!m.a || m.a->shape() == shape);
  if (alike) return out ? graph::map_later(op, 0, t, result, taken, shape) : graph::map(op, 0, t, result, taken, shape);
  if (out) return std::nullopt;
  graph::Lock lock;
  graph::Cell* const r = graph::map_small(op, t, result, taken, shape);
  return r ? std::optional<array>(array(r, shape, result)) : std::nullopt;
}

bool quick_pair(Op op, std::span<const arg> in, std::vector<array>& results) {
  Operands operands;
  if (!take(op, in, operands, 2)) return false;
  const DType t = operands.like->dtype();
  const Dims& shape = operands.like->shape();
  graph::Lock lock;
  graph::Cell* both[2];
  if (!graph::map_pair(op, t, std::span(operands.in).first(in.size()), shape, both)) return false;
  results.reserve(2);
  for (int k = 0; k < 2; ++k) results.emplace_back(both[k], shape, result_dtype(op, k, t));
  return true;
}

bool quick_into(Op op, std::span<const arg> in, const array& out) {
  if (!out.writeable() || in.empty()) return false;
  if (in[0].is_array() && (in.size() == 1 || (in.size() == 2 && in[1].is_array()))) {
    const DType t = out.dtype();
    const Row& row = row_of(op, t);
    const array& x = in[0].as_array();
    const array* y = in.size() == 2 ? &in[1].as_array() : nullptr;
    const bool apart = x.cell() != out.cell() && (!y || y->cell() != out.cell());
    if (apart && row.computes && row.nout == 1 && row.nin == in.size() && row.result == t && x.dtype() == t &&
        (!y || y->dtype() == t)) {
      graph::Lock lock;
      if (graph::map_small_into(op, t, x, y, out)) return true;
    }
  }
  Operands operands;
  if (!take(op, in, operands)) return false;
  const DType t = operands.like->dtype();
  if (out.dtype() != t || result_dtype(op, 0, t) != t) return false;
  graph::Lock lock;
  return graph::map_small_into(op, t, std::span(operands.in).first(in.size()), out);
}

}  // namespace api

namespace {
// A call without options that is too large for quick(), or otherwise not for it.
array general(const ufunc& u, std::span<const arg> in) {
  if (std::optional<array> r = api::quick_later(u.op(), in)) return *std::move(r);
  return u.call(in)[0];
}
}  // namespace

array ufunc::one(std::span<const arg> in, const ufunc_options& o) const {
  if (o.out[0] || o.where || o.dtype) return call(in, o)[0];
  if (const api::Quick r = api::quick(op_, in)) return r;
  return general(*this, in);
}

array ufunc::one(const array& x) const {
  if (const api::Quick r = api::quick(op_, x, nullptr)) return r;
  const arg in[] = {x};
  return general(*this, in);
}

array ufunc::one(const array& x, const array& y) const {
  if (const api::Quick r = api::quick(op_, x, &y)) return r;
  const arg in[] = {x, y};
  return general(*this, in);
}

void ufunc::into(const array& out, std::span<const arg> in) const {
  if (api::quick_into(op_, in, out)) return;
  if (out.writeable()) {
    graph::Lock lock;  // over both: a policy that stops the program does so after the write
    if (std::optional<array> r = api::quick_later(op_, in, &out)) return graph::assign(out, *std::move(r));
  }
  ufunc_options o;
  o.out[0] = &out;
  call(in, o);
}

#define BINARY_OPERATOR(symbol, name) \
  array operator symbol(const arg& x, const arg& y) { return name(x, y); }
BINARY_OPERATOR(+, add)
BINARY_OPERATOR(-, subtract)
BINARY_OPERATOR(*, multiply)
BINARY_OPERATOR(/, divide)
BINARY_OPERATOR(%, remainder)
BINARY_OPERATOR(&, bitwise_and)
BINARY_OPERATOR(|, bitwise_or)
BINARY_OPERATOR(^, bitwise_xor)
BINARY_OPERATOR(<<, left_shift)
BINARY_OPERATOR(>>, right_shift)
BINARY_OPERATOR(==, equal)
BINARY_OPERATOR(!=, not_equal)
BINARY_OPERATOR(<, less)
BINARY_OPERATOR(<=, less_equal)
BINARY_OPERATOR(>, greater)
BINARY_OPERATOR(>=, greater_equal)
#undef BINARY_OPERATOR
array operator-(const array& x) { return negative(x); }
array operator+(const array& x) { return positive(x); }
array operator~(const array& x) { return invert(x); }

#define IN_PLACE(symbol, name)                  \
  array& array::operator symbol(const arg& v) { \
    const arg in[] = {*this, v};                \
    name.into(*this, in);                       \
    return *this;                               \
  }
IN_PLACE(+=, add)
IN_PLACE(-=, subtract)
IN_PLACE(*=, multiply)
IN_PLACE(/=, divide)
IN_PLACE(%=, remainder)
IN_PLACE(&=, bitwise_and)
IN_PLACE(|=, bitwise_or)
IN_PLACE(^=, bitwise_xor)
IN_PLACE(<<=, left_shift)
IN_PLACE(>>=, right_shift)
#undef IN_PLACE

}  // namespace galop
