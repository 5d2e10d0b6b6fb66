// Element-wise operations: checks, promotion, and the nodes they build.
#include "galop/ufunc.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "api/checks.hpp"
#include "api/promotion.hpp"
#include "api/quick.hpp"
#include "core/interrupt.hpp"
#include "core/op.hpp"
#include "core/view.hpp"
#include "graph/build.hpp"

namespace galop {
namespace {

using api::describe;
using api::require_cast;
using graph::MapOperand;

std::string tag(Op op) { return "[" + std::string(info(op).name) + "] "; }

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

// The dtype the loop computes in, before casting of the operands.
DType choose_loop(Op op, std::span<const arg> in, const ufunc_options& options) {
  const std::span<const arg> typed = info(op).int_second ? in.first(1) : in;
  const DType common = api::result_type(typed);
  if (options.dtype) {
    DType loop = *options.dtype;
    if (info(op).result[0] != Result::SAME && info(op).result[0] != Result::REAL) {  // dtype names the result
      if (result_dtype(op, 0, common) != loop)
        throw TypeError(tag(op) + "no loop with this result; got dtype " + std::string(name(loop)));
      return find_loop(op, common);
    }
    if (info(op).result[0] == Result::REAL && is_complex(common) && (loop == DType::float32 || loop == DType::float64))
      loop = promote_types(loop, DType::complex64);  // the loop whose result has this dtype
    else if (info(op).types.find(typecode(loop)) == std::string_view::npos || result_dtype(op, 0, loop) != loop ||
             info(op).result[1] == Result::INT32)  // frexp's results can not both have the dtype asked for
      throw TypeError(tag(op) + "no loop for the dtype asked for; got " + std::string(name(loop)));
    std::byte bits[16];
    for (const arg& a : typed)
      if (!a.is_array()) a.as_scalar().store(loop, bits);  // must fit
    // A row whose operands differ in dtype has its loop searched for, which takes safe casts only.
    const bool mixed = info(op).int_second;
    for (const arg& a : typed)
      if (a.is_array())
        require_cast(info(op).name, "operand", a.as_array().dtype(), loop, mixed ? Casting::safe : options.casting);
    return loop;
  }
  // NumPy resolves a lone integer beside ldexp's exponents to the first loop of all.
  if (info(op).int_second && !in[0].is_array() && in[1].is_array() && !is_inexact(common) &&
      (is_integer(in[1].as_array().dtype()) || common == DType::bool_))
    return DType::float16;
  // True division of integers is NumPy's one exception to its own search order.
  if (op == Op::divide && !is_inexact(common)) return DType::float64;
  try {
    std::vector<DType> strong;
    for (const arg& a : typed)
      if (a.is_array()) strong.push_back(a.as_array().dtype());
    DType of_arrays = strong.empty() ? common : strong[0];
    for (DType t : strong) of_arrays = promote_types(of_arrays, t);
    if (of_arrays != common) strong = {common};  // a number of a higher kind decides
    return find_loop(op, strong.empty() ? std::span(&common, 1) : std::span<const DType>(strong));
  } catch (const TypeError&) {
    throw TypeError(tag(op) + "no loop for these dtypes; got " + describe(in));
  }
}

// x < 300 for uint8 x and the like: an integer that the dtype cannot hold compares the same with every element.
std::optional<bool> settled_comparison(Op op, DType t, const scalar& v, bool scalar_first) {
  if (!is_comparison(op) || v.kind() != 'i' || !is_integer(t)) return std::nullopt;
  const bool is_signed = kind(t) == 'i';
  const std::uint64_t highest = ~std::uint64_t{0} >> (64 - 8 * itemsize(t) + is_signed);
  const std::int64_t lowest = is_signed ? -static_cast<std::int64_t>(highest) - 1 : 0;
  const bool above = (v.is_huge() || v.integer() > 0) && static_cast<std::uint64_t>(v.integer()) > highest;
  const bool under = !v.is_huge() && v.integer() < lowest;
  if (!above && !under) return std::nullopt;
  if (op == Op::equal) return false;
  if (op == Op::not_equal) return true;
  const bool less = op == Op::less || op == Op::less_equal;
  return less == (scalar_first ? under : above);
}

// Integers to negative powers have no integer result: found at the call, as in NumPy.
void check_exponent(Op op, DType loop, const arg& y) {
  if (op != Op::power || kind(loop) != 'i') return;
  bool negative = false;
  if (y.is_array()) {
    if (kind(y.as_array().dtype()) != 'i' || y.as_array().size() == 0) return;
    const array smallest = minimum.reduce(y.as_array());
    negative = smallest.item<std::int64_t>() < 0;
  } else {
    negative = !y.as_scalar().is_huge() && y.as_scalar().integer() < 0;
  }
  if (negative)
    throw ValueError(tag(op) + "integers to negative integer powers are not allowed; got a negative exponent");
}

bool is_logical(Op op) { return op >= Op::logical_and && op <= Op::logical_not; }

// The largest number that does not round to infinity.
MapOperand operand(Op op, const arg& a, DType loop) {
  MapOperand m{};
  if (a.is_array()) {
    m.a = &a.as_array();
    m.t = a.as_array().dtype();
  } else {
    m.a = nullptr;
    m.t = loop;
    if (op == Op::where && a.as_scalar().kind() == 'i' && is_integer(loop)) {
      const std::int64_t wrapped = a.as_scalar().integer();  // NumPy's where does not check the range
      std::memcpy(m.bits, &wrapped, static_cast<std::size_t>(itemsize(loop)));
      return m;
    }
    // Only its truth matters to logic, so a number need not fit the dtype there.
    (is_logical(op) ? scalar(a.as_scalar().number() != 0.0 ? 1 : 0) : a.as_scalar()).store(loop, m.bits);
    api::note_number(a.as_scalar(), loop);
  }
  return m;
}

Dims common_shape(std::string_view op, std::span<const arg> in) {
  std::vector<const Dims*> shapes;
  for (const arg& a : in)
    if (a.is_array()) shapes.push_back(&a.as_array().shape());
  return broadcast(op, shapes);
}

void check_out(Op op, const array& out, const Dims& shape) {
  const Dims* both[] = {&shape, &out.shape()};
  if (shape == out.shape()) return;
  bool fits = true;
  try {
    fits = broadcast(info(op).name, both) == out.shape();
  } catch (const ValueError&) {
    fits = false;
  }
  if (!fits)
    throw ValueError(tag(op) + "out has another shape than the operands broadcast to; got " + to_string(out.shape()) +
                     " for " + to_string(shape));
}

// int64 with uint64: their common float64 would round, so negatives are settled apart and the rest compares as uint64.
std::optional<array> compare_mixed_signs(Op op, std::span<const arg> in) {
  if (!is_comparison(op) || !in[0].is_array() || !in[1].is_array()) return std::nullopt;
  const array& x = in[0].as_array();
  const array& y = in[1].as_array();
  const auto is_signed = [](const array& a) { return kind(a.dtype()) == 'i'; };
  if (!((is_signed(x) && y.dtype() == DType::uint64) || (is_signed(y) && x.dtype() == DType::uint64)))
    return std::nullopt;
  const bool x_signed = is_signed(x);
  const array negative = less(x_signed ? x : y, 0);
  const array settled = ufunc(op).call(std::initializer_list<arg>{arg(x_signed ? 0 : 1), arg(x_signed ? 1 : 0)})[0];
  return where(negative, settled,
               ufunc(op).call(std::initializer_list<arg>{x.astype(DType::uint64), y.astype(DType::uint64)})[0]);
}

}  // namespace

std::string_view ufunc::name() const { return info(op_).name; }
int ufunc::nin() const { return info(op_).nin; }
int ufunc::nout() const { return info(op_).nout; }

std::vector<array> ufunc::call(std::span<const arg> in, const ufunc_options& options) const {
  graph::Lock lock;
  const OpInfo& row = info(op_);
  std::vector<array> results;
  if (row.nout == 2 && !options.out[0] && !options.out[1] && !options.where && !options.dtype &&
      api::quick_pair(op_, in, results))
    return results;
  if (static_cast<int>(in.size()) != row.nin)
    throw TypeError(tag(op_) + "takes " + std::to_string(row.nin) + " operands; got " + std::to_string(in.size()));
  for (const array* out : options.out)
    if (out) api::require_writeable(row.name, *out);
  const DType loop = choose_loop(op_, in, options);
  if (row.int_second && !in[1].is_array() && in[1].as_scalar().kind() != 'i' && in[1].as_scalar().kind() != 'b')
    throw TypeError(tag(op_) + "the second operand must be an integer; got " + describe(in.subspan(1)));
  if (row.int_second && in[1].is_array())
    require_cast(row.name, "second operand", in[1].as_array().dtype(), DType::int64, Casting::safe);

  // As in NumPy, a number that does not fit the loop is reported before a result that does not fit `out`.
  if ((options.out[0] || options.out[1]) && !is_comparison(op_))
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!in[i].is_array()) operand(op_, in[i], row.int_second && i == 1 ? DType::int64 : loop);
  for (int k = 0; k < row.nout; ++k)
    if (options.out[k])
      require_cast(row.name, "result", result_dtype(op_, k, loop), options.out[k]->dtype(), options.casting);
  Dims shape = common_shape(row.name, in);
  for (const array* out : options.out)
    if (out) {
      check_out(op_, *out, shape);
      shape = out->shape();
    }
  if (options.where) {
    const Dims* both[] = {&shape, &options.where->shape()};
    require_cast(row.name, "mask", options.where->dtype(), DType::bool_, Casting::safe);
    const Dims with_mask = broadcast(row.name, both);
    if (!(with_mask == shape) && (options.out[0] || options.out[1]))
      throw ValueError(tag(op_) + "where does not broadcast to out; got " + to_string(options.where->shape()) +
                       " for " + to_string(shape));
    shape = with_mask;
  }
  if (row.nin == 2 && std::find(shape.begin(), shape.end(), 0) == shape.end()) check_exponent(op_, loop, in[1]);

  std::optional<array> settled;
  if (row.nin == 2 && !options.dtype) {
    if (in[0].is_array() != in[1].is_array()) {
      const bool first = !in[0].is_array();
      if (auto v = settled_comparison(op_, loop, in[first ? 0 : 1].as_scalar(), first)) {
        const bool bits = *v;
        settled = graph::fill(shape, DType::bool_, &bits);
      }
    } else {
      settled = compare_mixed_signs(op_, in);
    }
  }
  Op op = op_;
  std::vector<MapOperand> operands;
  if (!settled) {
    for (std::size_t i = 0; i < in.size(); ++i)
      operands.push_back(operand(op, in[i], row.int_second && i == 1 ? DType::int64 : loop));
    // NumPy's own shortcut for the most common power.
    if (op == Op::power && is_inexact(loop) && !in[1].is_array() && in[1].as_scalar().number() == 2.0) {
      op = Op::square;
      operands.pop_back();
    }
  }
  // What the mask leaves out is not computed in NumPy, so it must raise no floating-point flag.
  std::vector<array> masked;
  const bool watched = !settled && faults::watched(faults::policy()) != 0;
  if (options.where && watched) {
    const bool harmless = op != Op::arctanh;  // as a bool, since an integer would widen operands of bools
    for (const MapOperand& m : operands)
      masked.push_back(galop::where(*options.where, m.a ? *m.a : graph::fill({}, m.t, m.bits), harmless));
  }
  // A dtype that was asked for may be too narrow: casting to it is an operation of its own, with flags.
  if (options.dtype && watched) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const array* a = options.where ? &masked[i] : operands[i].a;
      const bool narrow = a && is_inexact(loop) && !can_cast_safely(a->dtype(), loop);
      if (!options.where)
        masked.push_back(!a ? array() : narrow ? graph::cast(*a, loop) : *a);
      else if (narrow)
        masked[i] = graph::cast(*a, loop);
    }
  }
  if (!masked.empty())
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].a || options.where) operands[i] = {&masked[i], masked[i].dtype(), {}};
  for (int k = 0; k < row.nout; ++k) {
    const DType t = result_dtype(op_, k, loop);
    array r = settled ? *settled : graph::map(op, k, loop, t, operands, shape);
    if (!options.out[k] && options.where) {
      const array mask = *options.where;
      r = galop::where(mask, r, false);
    }
    results.push_back(std::move(r));
  }
  for (int k = 0; k < row.nout; ++k) {
    if (!options.out[k]) continue;
    graph::assign(*options.out[k], std::move(results[static_cast<std::size_t>(k)]), options.where);
    results[static_cast<std::size_t>(k)] = *options.out[k];
  }
  return results;
}

array ufunc::outer(const arg& x, const arg& y, const ufunc_options& options) const {
  graph::Lock lock;
  if (nin() != 2) throw ValueError(tag(op_) + "outer takes a binary operation; got one of " + std::to_string(nin()));
  const array a = api::as_array(x);
  const array b = api::as_array(y);
  View v = a.view();
  for (int k = 0; k < b.ndim(); ++k) {
    v.shape.push_back(1);
    v.strides.push_back(0);
  }
  const array wide = a.with_view(std::move(v));
  const arg in[] = {x.is_array() ? arg(wide) : x, y};
  return call(in, options)[0];
}

void ufunc::at(const array& a, std::span<const index> indices, const arg* values) const {
  graph::Lock lock;
  if (nout() != 1 || nin() > 2)
    throw ValueError(tag(op_) + "at takes operations of one result and at most two operands");
  if ((nin() == 2) != (values != nullptr))
    throw ValueError(tag(op_) + "at takes values for binary operations, and none for unary");
  api::require_writeable(name(), a);
  const arg pair[] = {a, values ? *values : arg(a)};
  const DType loop = choose_loop(op_, std::span(pair).first(static_cast<std::size_t>(nin())), {});
  require_cast(name(), "result", result_dtype(op_, 0, loop), a.dtype(), Casting::same_kind);
  if (loop != a.dtype() || loop == DType::float16 || info(op_).int_second || result_dtype(op_, 0, loop) != a.dtype()) {
    // Another dtype computes: each repetition must round to the dtype of `a`, so repetitions run one level after the
    // other.
    const array offsets = graph::iota(a.shape(), a.strides(), 0).at(indices).ravel();
    array flat_values = values ? array(api::stretched(name(), api::as_array(*values),
                                                      graph::iota(a.shape(), a.strides(), 0).at(indices).shape()))
                                     .reshape({-1})
                               : array();
    if (graph::may_overlap(flat_values, a)) flat_values = flat_values.copy();
    const std::vector<std::int64_t> where_to = offsets.to_vector<std::int64_t>();
    if (where_to.size() >= 1 << 12) graph::begin_long_work();
    for (std::size_t i = 0; i < where_to.size(); ++i) {
      interrupt::look();
      View one;
      one.offset = a.view().offset + where_to[i];
      const array element = a.with_view(one);
      const array v = values ? flat_values(static_cast<std::int64_t>(i)) : array();
      const arg in[] = {element, v};
      ufunc_options o;
      o.out[0] = &element;
      call(std::span(in).first(static_cast<std::size_t>(nin())), o);
    }
    return;
  }
  const array picked = graph::iota(a.shape(), a.strides(), 0).at(indices);
  array flat;
  if (values) {
    flat = api::c_order_copy(api::stretched(name(), api::as_array(*values).astype(loop), picked.shape()));
  }
  const array offsets = api::c_order_copy(picked);
  if (offsets.size() >= 1 << 15) graph::begin_long_work();
  graph::run_at(graph::place_call({&a, &offsets}), [&](Device anywhere) {
    const Device d = graph::writing_place(a, anywhere);
    void* base = graph::write_pointer(a, d);
    const auto* at = static_cast<const std::int64_t*>(graph::read_pointer(offsets, d));
    const void* with = values ? graph::read_pointer(flat, d) : nullptr;
    const interrupt::Scope scope(true);  // each element is written wholly
    backend_of(d).at(op_, loop, base, at, offsets.size(), with);
    graph::note_call_faults(name(), d);
  });
}

array where(const arg& condition, const arg& x, const arg& y) {
  graph::Lock lock;
  const arg values[] = {x, y};
  const DType t = api::result_type(values);
  const arg all[] = {condition, x, y};
  const Dims shape = common_shape("where", all);
  MapOperand c = condition.is_array() ? operand(Op::where, condition, DType::bool_) : MapOperand{};
  if (!condition.is_array()) {
    c.t = DType::bool_;
    const bool truth = condition.as_scalar().number() != 0.0;
    c.bits[0] = static_cast<std::byte>(truth);
  }
  const MapOperand in[] = {c, operand(Op::where, x, t), operand(Op::where, y, t)};
  return graph::map(Op::where, 0, t, t, in, shape);
}

}  // namespace galop
