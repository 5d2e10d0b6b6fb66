// Reductions and running folds: axes, dtypes, empty and masked cases, and the statistics made of them.
#include "galop/reduce.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "api/checks.hpp"
#include "api/promotion.hpp"
#include "core/interrupt.hpp"
#include "core/op.hpp"
#include "core/view.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "graph/build.hpp"
#include "graph/small.hpp"

namespace galop {
namespace {

using api::require_cast;
using graph::MapOperand;

std::string tag(std::string_view op) { return "[" + std::string(op) + "] "; }

bool is_logical(Op op) { return op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor; }

// NumPy's accumulation dtype: sums and products of bool and narrow integers run in 64 bits.
DType accumulation_dtype(Op op, DType t, std::optional<DType> asked, const array* out) {
  if (is_logical(op)) return DType::bool_;
  if (out && !asked) return find_loop(op, promote_types(t, out->dtype()));
  if (asked) {
    if (info(op).types.find(typecode(*asked)) == std::string_view::npos)
      throw TypeError(tag(info(op).name) + "no loop for the dtype asked for; got " + std::string(name(*asked)));
    return *asked;
  }
  if (op == Op::add || op == Op::multiply) {
    if (t == DType::bool_ || kind(t) == 'i') return DType::int64;
    if (kind(t) == 'u') return DType::uint64;
  }
  if (op == Op::divide && !is_inexact(t)) return DType::float64;
  return find_loop(op, t);
}

void require_reduction(Op op, DType t) {
  const OpInfo& row = info(op);
  if (row.int_second)
    throw TypeError(tag(row.name) + "no loop folds operands of two dtypes; got " + std::string(name(t)));
  if (row.nin != 2 || row.nout != 1)
    throw ValueError(tag(row.name) + "reductions need a binary operation with one result; got " +
                     std::to_string(row.nin) + " operands and " + std::to_string(row.nout) + " results");
  if (row.result[0] == Result::BOOL && !is_logical(op) && t != DType::bool_)
    throw TypeError(tag(row.name) + "the result of a comparison cannot be folded; got " + std::string(row.name) +
                    ".reduce");
}

// All elements but the first along an axis are exponents in a folded power.
void check_exponents(Op op, DType loop, const array& a, std::uint64_t mask) {
  if (op != Op::power || kind(loop) != 'i' || kind(a.dtype()) != 'i' || a.size() == 0) return;
  for (int k = 0; k < a.ndim(); ++k) {
    if (!(mask >> k & 1) || a.shape()[k] < 2) continue;
    View v = a.view();
    v.shape[k] -= 1;
    v.offset += v.strides[k];
    if (min(a.with_view(std::move(v))).item<std::int64_t>() < 0)
      throw ValueError("[power] integers to negative integer powers are not allowed; got a negative exponent");
  }
}

// The identity of a row as a number; none for rows that have none.
std::optional<scalar> identity_of(Op op, DType t) {
  switch (info(op).identity) {
    case Identity::ZERO:
    case Identity::FALSE_:
      return scalar(0);
    case Identity::ONE:
    case Identity::TRUE_:
      return scalar(1);
    case Identity::MINUS_ONE:
      return kind(t) == 'i'      ? scalar(-1)
             : t == DType::bool_ ? scalar(true)
                                 : scalar(std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * itemsize(t)));
    case Identity::MINUS_INF:
      return scalar(-std::numeric_limits<double>::infinity());
    default:
      return std::nullopt;
  }
}

MapOperand number(const scalar& v, DType t) {
  MapOperand m{nullptr, t, {}};
  if (t == DType::bool_) {
    const bool truth = v.number() != 0.0;
    std::memcpy(m.bits, &truth, 1);
  } else {
    v.store(t, m.bits);
  }
  return m;
}

std::uint64_t axis_mask(std::string_view op, const array& a, const std::optional<Dims>& axis, bool of_ufunc = false) {
  std::uint64_t mask = 0;
  if (!axis) return a.ndim() == 0 ? 0 : ~std::uint64_t{0} >> (64 - a.ndim());
  if (a.ndim() == 0 && of_ufunc) {  // NumPy's ufunc.reduce takes axis 0 and -1 of a 0-d array, its mean does not
    api::normalize_axes(op, *axis, 1);
    return 0;
  }
  for (std::int64_t k : api::normalize_axes(op, *axis, a.ndim())) mask |= std::uint64_t{1} << k;
  return mask;
}

// The result of a reduction with axes of extent 1 where axes were folded.
array keep_axes(const array& r, const array& a, std::uint64_t mask) {
  View v;
  v.offset = r.view().offset;
  for (int k = 0, j = 0; k < a.ndim(); ++k) {
    const bool folded = mask >> k & 1;
    v.shape.push_back(folded ? 1 : r.shape()[j]);
    v.strides.push_back(folded ? 0 : r.strides()[j]);
    if (!folded) ++j;
  }
  return r.with_view(std::move(v));
}

array into_out(std::string_view op, array r, const reduce_options& o) {
  if (!o.out) return r;
  api::require_writeable(op, *o.out);
  if (!(o.out->shape() == r.shape()))
    throw ValueError(tag(op) + "out has the wrong shape; got " + to_string(o.out->shape()) + " for " +
                     to_string(r.shape()));
  graph::assign(*o.out, std::move(r));  // NumPy's reductions cast unsafely into out
  return *o.out;
}

std::int64_t folded_count(const array& a, std::uint64_t mask) {
  std::int64_t n = 1;
  for (int k = 0; k < a.ndim(); ++k)
    if (mask >> k & 1) n *= a.shape()[k];
  return n;
}

// op folded over the axes in `mask`, accumulated in `loop`, stored as `result`.
array fold(Op op, const array& a, std::uint64_t mask, DType loop, DType result, const reduce_options& o) {
  const std::string_view op_name = info(op).name;
  const auto identity = identity_of(op, loop);
  array x = a;
  if (o.where) {
    if (!identity && !o.initial)
      throw ValueError(tag(op_name) + "a masked reduction without identity needs initial; got where of shape " +
                       to_string(o.where->shape()));
    require_cast(op_name, "mask", o.where->dtype(), DType::bool_, Casting::safe);
    const array m = api::stretched(op_name, *o.where, a.shape());
    // Elements that do not take part become the identity (or the start, for minima and maxima).
    const MapOperand in[] = {
        {&m, DType::bool_, {}}, {&x, x.dtype(), {}}, number(o.initial && !identity ? *o.initial : *identity, loop)};
    x = graph::map(Op::where, 0, loop, loop, in, a.shape());
  }
  std::optional<MapOperand> initial;
  if (o.initial) initial = number(*o.initial, loop);
  if (folded_count(a, mask) == 0) {
    if (!identity && !o.initial)
      throw ValueError(tag(op_name) + "a reduction of no elements has no identity; got shape " + to_string(a.shape()));
    Dims kept;
    for (int k = 0; k < a.ndim(); ++k)
      if (!(mask >> k & 1)) kept.push_back(a.shape()[k]);
    const MapOperand v = initial ? *initial : number(*identity, loop);
    array r = graph::fill(kept, loop, v.bits);
    return loop == result ? r : graph::cast(r, result);
  }
  return graph::reduce(op, loop, result, x, mask, initial ? &*initial : nullptr);
}

// A fold of numbers of any dtype in one of its own, about which nothing else is to be checked.
bool folds_plainly(Op op) {
  return op == Op::add || op == Op::multiply || op == Op::minimum || op == Op::maximum || op == Op::logical_or ||
         op == Op::logical_and;
}

array reduce_with(Op op, std::string_view op_name, const array& a, const reduce_options& o,
                  std::optional<DType> loop_dtype, std::optional<DType> result_dtype_) {
  graph::Lock lock;
  const bool plain = !o.axis && (!o.dtype || o.dtype == loop_dtype) && !o.out && !o.keepdims && !o.initial && !o.where;
  if (plain && folds_plainly(op) && (!result_dtype_ || result_dtype_ == loop_dtype)) {
    const DType loop = loop_dtype ? *loop_dtype : accumulation_dtype(op, a.dtype(), {}, nullptr);
    graph::Cell* r = graph::truth_at_once(op, a);
    if (!r) r = graph::reduce_small(op, loop, a);
    if (r) return array(r, Dims(), loop);
  }
  const std::uint64_t mask = axis_mask(op_name, a, o.axis, true);
  require_reduction(op, a.dtype());
  const DType loop = loop_dtype ? *loop_dtype : accumulation_dtype(op, a.dtype(), o.dtype, o.out);
  if (info(op).identity == Identity::ORDERED && (mask & (mask - 1)) != 0)
    throw ValueError(tag(op_name) +
                     "the operation is not reorderable, so only one axis can be folded at a time; got shape " +
                     to_string(a.shape()));
  check_exponents(op, loop, a, mask);
  // A dtype that was asked for may be too narrow: casting to it is an operation of its own, with flags.
  const bool narrow = is_inexact(loop) && !can_cast_safely(a.dtype(), loop) && faults::watched(faults::policy()) != 0;
  array r = fold(op, narrow ? graph::cast(a, loop) : a, mask, loop, result_dtype_ ? *result_dtype_ : loop, o);
  if (o.keepdims) r = keep_axes(r, a, mask);
  return into_out(op_name, std::move(r), o);
}

// Every axis but the last stays; the wanted one is moved to the end.
array axis_last(const array& a, int axis) {
  View v = a.view();
  const std::int64_t extent = v.shape[axis], stride = v.strides[axis];
  v.shape.erase(axis);
  v.strides.erase(axis);
  v.shape.push_back(extent);
  v.strides.push_back(stride);
  return a.with_view(std::move(v));
}

array arg_extreme(std::string_view op, const array& a, std::optional<int> axis, bool keepdims, bool greatest);

// Position of the first extreme element along axis k, by the host's processors; nothing where a device or the reading
// of a file that may be larger than memory does better.
std::optional<array> arg_extreme_on_host(const array& a, int k, bool greatest) {
  if (!a.cell()->value->ready() && a.cell()->value->streams) return std::nullopt;
  graph::force(a);
  const graph::Place place = graph::place_call({&a});
  if (!place.device.is_cpu()) return std::nullopt;
  const array lines = axis_last(a, k);
  Dims kept = lines.shape();
  kept.erase(a.ndim() - 1);
  const array r = graph::make_empty(kept, DType::int64, {kCpu, place.wish});
  if (r.size() == 0) return r;
  if (a.size() >= 1 << 18) graph::begin_long_work();
  const interrupt::Scope scope(true);
  auto* at = static_cast<std::int64_t*>(graph::write_pointer(r));
  cpu_backend().find_extremes(a.dtype(), lines.shape(), graph::read_pointer(a), lines.strides(), at, greatest);
  return r;
}

constexpr std::int64_t kArgPiece = 4096;

// Position in a long 1-d array, in one pass: the extremes of pieces first, then the piece that holds the first of them.
array arg_extreme_of_long(std::string_view op, const array& a, bool greatest) {
  const std::int64_t pieces = a.size() / kArgPiece, rest = a.size() - pieces * kArgPiece;
  const std::int64_t step = a.strides()[0];
  reduce_options rows;
  rows.axis = Dims{1};
  const array body = a.with_view({{pieces, kArgPiece}, {step * kArgPiece, step}, a.view().offset});
  array extremes = greatest ? max(body, rows) : min(body, rows);
  if (rest > 0) {
    const array tail = a.with_view({{1, rest}, {0, step}, a.view().offset + pieces * kArgPiece * step});
    const array both[] = {extremes, greatest ? max(tail, rows) : min(tail, rows)};
    extremes = concatenate(both, 0);
  }
  const std::int64_t piece = arg_extreme(op, extremes, 0, false, greatest).item<std::int64_t>();
  const array part =
      a.with_view({{piece < pieces ? kArgPiece : rest}, {step}, a.view().offset + piece * kArgPiece * step});
  return arg_extreme(op, part, 0, false, greatest) + piece * kArgPiece;
}

// Position of the first extreme element along an axis, from comparisons alone: NaN counts as extreme.
array arg_extreme(std::string_view op, const array& a_, std::optional<int> axis, bool keepdims, bool greatest) {
  graph::Lock lock;
  if (a_.ndim() == 0 && axis) api::normalize_axis(op, *axis, 1);
  if (!axis && !keepdims)
    if (graph::Cell* position = graph::position_small(a_, greatest)) return array(position, Dims(), DType::int64);
  array a = axis && a_.ndim() > 0 ? a_ : a_.ravel();
  const int k = axis && a_.ndim() > 0 ? api::normalize_axis(op, *axis, a.ndim()) : 0;
  const std::int64_t n = a.shape()[k];
  if (n == 0)
    throw ValueError(tag(op) + "an empty sequence has no extreme element; got shape " + to_string(a_.shape()));
  const std::uint64_t mask = std::uint64_t{1} << k;
  const auto kept = [&](array r) {
    if (!keepdims) return r;
    if (axis && a_.ndim() > 0) return keep_axes(r, a, mask);
    return r.with_view({Dims(a_.ndim(), 1), Dims(a_.ndim(), 0), r.view().offset});
  };
  if (graph::Cell* r = graph::positions_small(a, k, greatest)) {
    Dims others = a.shape();
    others.erase(k);
    return kept(array(r, others, DType::int64));
  }
  if (auto r = arg_extreme_on_host(a, k, greatest)) return kept(std::move(*r));
  const graph::Value& v = *a.cell()->value;
  if (a.ndim() == 1 && n >= 4 * kArgPiece && (v.ready() || !v.streams)) {  // else the file is read twice
    graph::force(a);
    return kept(arg_extreme_of_long(op, a, greatest));
  }
  reduce_options keep;
  keep.axis = Dims{k};
  keep.keepdims = true;
  array extreme = greatest ? max(a, keep) : min(a, keep);
  Dims weights(a.ndim(), 0);
  weights[k] = 1;
  const array position = graph::iota(a.shape(), weights, 0);
  array hit = a == extreme;
  if (is_inexact(a.dtype())) hit = hit | (isnan(a) & isnan(extreme));
  return kept(fold(Op::minimum, galop::where(hit, position, std::numeric_limits<std::int64_t>::max()), mask,
                   DType::int64, DType::int64, {}));
}

}  // namespace

array ufunc::reduce(const array& a, const reduce_options& o) const { return reduce_with(op(), name(), a, o, {}, {}); }

array ufunc::accumulate(const array& a, int axis, std::optional<DType> dtype, const array* out) const {
  graph::Lock lock;
  require_reduction(op(), a.dtype());
  if (a.ndim() == 0) throw TypeError(tag(name()) + "cannot accumulate on a scalar; got shape ()");
  const int k = api::normalize_axis(name(), axis, a.ndim());
  if (out) {
    api::require_writeable(name(), *out);
    if (!(out->shape() == a.shape()))
      throw ValueError(tag(name()) + "out has the wrong shape; got " + to_string(out->shape()) + " for " +
                       to_string(a.shape()));
  }
  const DType loop = accumulation_dtype(op(), a.dtype(), dtype, out);
  check_exponents(op(), loop, a, std::uint64_t{1} << k);
  const array x = a.dtype() == loop ? a : graph::cast(a, loop);
  if (graph::Cell* few = out || k != a.ndim() - 1 ? nullptr : graph::scan_small(op(), loop, x)) {
    array r(few, x.shape(), loop);
    graph::note_call_faults("accumulate", kCpu);
    return r;
  }
  const graph::Place place = graph::place_call({&x});
  if (a.size() >= 1 << 15) graph::begin_long_work();
  array r;
  graph::run_at(place, [&](Device d) {
    r = graph::make_empty(a.shape(), loop, {d, place.wish});
    if (r.size() == 0) return;
    const array from = axis_last(x, k);
    const array to = axis_last(r, k);
    const void* in = graph::read_pointer(from, d);
    const interrupt::Scope scope(true);
    backend_of(d).scan(op(), loop, from.shape(), in, from.strides(), graph::write_pointer(to, d), to.strides());
    graph::note_call_faults("accumulate", d);
  });
  if (!out) return r;
  graph::assign(*out, std::move(r));
  return *out;
}

array sum(const array& a, const reduce_options& o) { return reduce_with(Op::add, "sum", a, o, {}, {}); }
array prod(const array& a, const reduce_options& o) { return reduce_with(Op::multiply, "prod", a, o, {}, {}); }
array min(const array& a, const reduce_options& o) { return reduce_with(Op::minimum, "min", a, o, {}, {}); }
array max(const array& a, const reduce_options& o) { return reduce_with(Op::maximum, "max", a, o, {}, {}); }
array any(const array& a, const reduce_options& o) { return reduce_with(Op::logical_or, "any", a, o, {}, {}); }
array all_t::operator()(const array& a, const reduce_options& o) const {
  return reduce_with(Op::logical_and, "all", a, o, {}, {});
}

array count_nonzero(const array& a, const reduce_options& o) {
  graph::Lock lock;
  return reduce_with(Op::add, "count_nonzero", graph::cast(a, DType::bool_), o, DType::int64, DType::int64);
}

namespace {

// The total over the number of elements that took part, less `less`. Counts are int64 and strong, as NumPy's are, so
// that float32 is divided in float64 and rounded once.
array divided_by_count(const array& total, const array& a, const reduce_options& o, std::uint64_t mask, double less) {
  const DType wide = promote_types(total.dtype(), DType::int64);
  const array t = total.dtype() == wide ? total : graph::cast(total, wide);
  array r;
  if (o.where) {
    reduce_options c;
    c.axis = o.axis;
    c.keepdims = o.keepdims;
    const array n = count_nonzero(api::stretched("mean", *o.where, a.shape()), c);
    r = less == 0 ? t / n : t / maximum(n - less, 0.0);
  } else {
    r = t / std::max(static_cast<double>(folded_count(a, mask)) - less, 0.0);
  }
  return r.dtype() == total.dtype() ? r : graph::cast(r, total.dtype());
}

}  // namespace

array mean(const array& a, const reduce_options& o) {
  graph::Lock lock;
  const std::uint64_t mask = axis_mask("mean", a, o.axis);
  DType loop = o.dtype ? *o.dtype : is_inexact(a.dtype()) ? a.dtype() : DType::float64;
  if (!o.dtype && o.out) loop = promote_types(loop, o.out->dtype());
  const DType result = loop;
  if (!o.dtype && loop == DType::float16) loop = DType::float32;
  reduce_options inner = o;
  inner.out = nullptr;
  inner.dtype = loop;
  array r = divided_by_count(reduce_with(Op::add, "mean", a, inner, loop, loop), a, o, mask, 0);
  if (r.dtype() != result) r = graph::cast(r, result);
  return into_out("mean", std::move(r), o);
}

namespace {

// The sum of squared distances from the mean over the axes in `mask`, accumulated in `loop`, in one pass; nothing where
// the elements are not yet in memory or no device does it. NumPy's two passes are for results with its bits, which sums
// of floats on a device have not.
std::optional<array> distances_at_once(const array& a, std::uint64_t mask, DType loop) {
  if (mask == 0 || a.size() == 0 || !a.cell()->value->ready()) return std::nullopt;
  if ((loop != DType::float32 && loop != DType::float64) || is_complex(a.dtype())) return std::nullopt;
  const graph::Place place = graph::place_call({&a});
  const auto folds = [](Device d) { return !d.is_cpu() && cuda_backend(d.ordinal).folds_about_mean(); };
  if (!folds(place.device)) return std::nullopt;
  Dims kept, strides(a.ndim(), 0);
  for (int k = 0; k < a.ndim(); ++k)
    if (!(mask >> k & 1)) kept.push_back(a.shape()[k]);
  const faults::Policy policy = faults::policy();
  std::optional<array> r;
  graph::run_at(place, [&](Device d) {
    r.reset();
    if (!folds(d)) return;  // no memory there: the two passes find a way
    r = graph::make_empty(kept, loop, {d, place.wish});
    for (int k = 0, j = 0; k < a.ndim(); ++k)
      if (!(mask >> k & 1)) strides[k] = r->strides()[j++];
    Plan plan;
    plan.shape = a.shape();
    plan.operands.push_back({Operand::Kind::memory, a.dtype(), graph::read_pointer(a, d), a.strides()});
    plan.registers.push_back(a.dtype());
    if (a.dtype() != loop) {
      plan.registers.push_back(loop);
      plan.tape.push_back({Op::cast, a.dtype(), {0}, {1}});
    }
    Reduction fold{Op::add, loop, static_cast<std::uint16_t>(plan.tape.size()), mask, loop, nullptr, strides};
    fold.data = graph::write_pointer(*r, d);
    fold.input_strides = a.strides();
    fold.about_mean = true;
    fold.policy = policy;
    plan.reductions.push_back(std::move(fold));
    backend_of(d).run(plan);
    graph::note_late_faults(d, faults::stops(policy));
  });
  return r;
}

array variance(std::string_view op, const array& a, const reduce_options& o, double ddof) {
  graph::Lock lock;
  const std::uint64_t mask = axis_mask(op, a, o.axis);
  DType loop = o.dtype ? *o.dtype : is_inexact(a.dtype()) ? a.dtype() : DType::float64;
  const DType result = o.dtype ? *o.dtype : o.out ? promote_types(real_dtype(loop), o.out->dtype()) : real_dtype(loop);
  if (!o.dtype && loop == DType::float16) loop = DType::float32;
  DType squared = real_dtype(loop);
  if (!o.dtype && o.out) squared = promote_types(squared, o.out->dtype());  // as NumPy, which sums into out
  std::optional<array> total;
  if (!o.where && squared == loop) total = distances_at_once(a, mask, loop);
  if (total && o.keepdims) total = keep_axes(*total, a, mask);
  if (!total) {
    reduce_options wide = o;
    wide.out = nullptr;
    wide.dtype = loop;
    // Of few elements the sum of all is computed at its call, and so is the rest over a mean without axes.
    const bool few = !o.where && mask != 0 && mask == axis_mask(op, a, {}) && a.size() < 1 << 13;
    if (few) wide.axis.reset();
    wide.keepdims = !few;
    const array middle = divided_by_count(reduce_with(Op::add, op, a, wide, loop, loop), a, wide, mask, 0);
    const array distance = (a.dtype() == loop ? a : graph::cast(a, loop)) - middle;
    const array squares = is_complex(loop) ? square(distance.real()) + square(distance.imag()) : square(distance);
    reduce_options inner = wide;
    inner.keepdims = o.keepdims && !few;
    inner.dtype = squared;
    total = reduce_with(Op::add, op, squares, inner, squared, squared);
    if (few && o.keepdims) total = keep_axes(*total, a, ~std::uint64_t{0});
  }
  const array r = divided_by_count(*total, a, o, mask, ddof);
  return r.dtype() == result ? r : graph::cast(r, result);
}

}  // namespace

array var(const array& a, const reduce_options& o, double ddof) {
  return into_out("var", variance("var", a, o, ddof), o);
}

array std_(const array& a, const reduce_options& o, double ddof) {
  array r = sqrt(variance("std", a, o, ddof));
  if (o.out && o.out->shape() == r.shape())
    require_cast("std", "result", r.dtype(), o.out->dtype(), Casting::same_kind);  // sqrt has no unsafe casts
  return into_out("std", std::move(r), o);
}

array argmin(const array& a, std::optional<int> axis, bool keepdims) {
  return arg_extreme("argmin", a, axis, keepdims, false);
}
array argmax(const array& a, std::optional<int> axis, bool keepdims) {
  return arg_extreme("argmax", a, axis, keepdims, true);
}

}  // namespace galop
