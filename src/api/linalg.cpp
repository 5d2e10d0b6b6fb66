// Products of matrices and vectors: NumPy's rules of shapes in front of the backend's product of two matrices.
#include "galop/linalg.hpp"

#include "api/checks.hpp"
#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/manipulate.hpp"
#include "galop/ufunc.hpp"
#include "graph/build.hpp"

namespace galop {
namespace {

std::string got(const array& a, const array& b) {
  return "; got shapes " + to_string(a.shape()) + " and " + to_string(b.shape());
}

void require_dims(std::string_view op, const array& a, int least, const char* which) {
  if (a.ndim() < least)
    throw ValueError("[" + std::string(op) + "] " + which + " operand needs at least " + std::to_string(least) +
                     " dimensions; got shape " + to_string(a.shape()));
}

array as_dtype(const array& a, DType t) { return a.dtype() == t ? a : graph::cast(a, t); }

/// The view without its last `core` axes.
View batch_of(const View& v, int core) {
  View r = v;
  r.shape.resize(v.ndim() - core);
  r.strides.resize(v.ndim() - core);
  return r;
}

/// What a product costs, as functions like sin to compute: 100 multiplications and additions are worth about one.
double multiply_work(std::int64_t results, std::int64_t inner) {
  return static_cast<double>(results) * static_cast<double>(inner) / 100;
}

/// Every product of a stack: a is (…, n, k), b (…, k, m), c (batch…, n, m), all of one dtype and c apart from the
/// others; `fresh` when nobody sees c yet.
void multiply_all(std::string_view op, const array& a, const array& b, const array& c, const graph::Place& place,
                  bool fresh) {
  if (c.size() == 0) return;
  View whole = batch_of(c.view(), 2);
  View batch_a = broadcast_view("matmul", batch_of(a.view(), 2), whole.shape);
  View batch_b = broadcast_view("matmul", batch_of(b.view(), 2), whole.shape);
  auto matrix = [](const array& x, const void* data) {
    const int n = x.ndim();
    return Matrix{const_cast<void*>(data), x.shape()[n - 2], x.shape()[n - 1], x.strides()[n - 2], x.strides()[n - 1]};
  };
  Product p{c.dtype(), {}, {}, {}};
  p.tf32 = precision() == Precision::tf32;
  p.where = op == "inner" || op == "tensordot" ? "dot" : op;  // as NumPy calls them
  p.policy = faults::policy();
  p.batch = whole.shape;
  p.a_batch = batch_a.strides;
  p.b_batch = batch_b.strides;
  p.c_batch = whole.strides;
  graph::run_at(place, [&](Device anywhere) {
    const Device d = graph::writing_place(c, anywhere);
    p.c = matrix(c, graph::write_pointer(c, d));
    p.a = matrix(a, graph::read_pointer(a, d));
    p.b = matrix(b, graph::read_pointer(b, d));
    const interrupt::Scope scope(fresh);
    backend_of(d).matmul(p);
    graph::note_call_faults(p.where, d);
  });
}

/// a (…, n, k) · b (…, k, m). Of the result's last two axes the row or column axis is dropped where the operand was a
/// vector. Shapes in messages are those of `x` and `y`, the operands as the caller got them.
array product(std::string_view op, const array& x, const array& y, const array& a0, const array& b0, bool drop_row,
              bool drop_column, const array* out) {
  const int na = a0.ndim(), nb = b0.ndim();
  if (a0.shape()[na - 1] != b0.shape()[nb - 2])
    throw ValueError("[" + std::string(op) + "] inner extents differ: " + std::to_string(a0.shape()[na - 1]) + " and " +
                     std::to_string(b0.shape()[nb - 2]) + got(x, y));
  const DType t = promote_types(a0.dtype(), b0.dtype());
  const View batch_a = batch_of(a0.view(), 2), batch_b = batch_of(b0.view(), 2);
  const Dims* batches[] = {&batch_a.shape, &batch_b.shape};
  const Dims batch = broadcast(op, batches);
  const std::int64_t n = a0.shape()[na - 2], m = b0.shape()[nb - 1];
  Dims shape = batch;
  if (!drop_row) shape.push_back(n);
  if (!drop_column) shape.push_back(m);
  const std::int64_t size = checked_size(op, shape, itemsize(t));
  if (out) {
    api::require_writeable(op, *out);
    if (!(out->shape() == shape))
      throw ValueError("[" + std::string(op) + "] out needs shape " + to_string(shape) + "; got shape " +
                       to_string(out->shape()));
    if (!can_cast_same_kind(t, out->dtype()))
      throw TypeError("[" + std::string(op) + "] cannot cast the result by the rule 'same_kind'; got " +
                      std::string(name(t)) + " for " + std::string(name(out->dtype())));
  }
  array a = as_dtype(a0, t), b = as_dtype(b0, t);
  const bool in_place = out && out->dtype() == t && !graph::may_overlap(*out, a) && !graph::may_overlap(*out, b) &&
                        !has_internal_overlap(out->view(), itemsize(t));
  const graph::Place place = graph::place_call({&a, &b}, multiply_work(size, a0.shape()[na - 1]));
  array r = in_place ? *out : [&] {
    // The stack lies in the memory order of the operands' stacks, as NumPy's.
    const View va = broadcast_view(op, batch_a, batch), vb = broadcast_view(op, batch_b, batch);
    const View* views[] = {&va, &vb};
    const std::int64_t matrix = itemsize(t) * std::max<std::int64_t>(n, 1) * std::max<std::int64_t>(m, 1);
    View layout{shape, keep_order_strides(batch, matrix, views), 0};
    if (!drop_row) layout.strides.push_back(itemsize(t) * std::max<std::int64_t>(m, 1));
    if (!drop_column) layout.strides.push_back(itemsize(t));
    array made;
    const interrupt::Scope scope(true);
    graph::run_at(place, [&](Device d) { made = graph::make_empty(layout, t, size * itemsize(t), {d, place.wish}); });
    return made;
  }();
  // The result with the dropped axes in place again.
  View full = r.view();
  if (drop_row) {
    full.shape.insert(batch.size(), 1);
    full.strides.insert(batch.size(), itemsize(t));
  }
  if (drop_column) {
    full.shape.push_back(1);
    full.strides.push_back(itemsize(t));
  }
  multiply_all(op, a, b, r.with_view(std::move(full)), place, !in_place);
  if (!out) return r;
  if (!in_place) graph::assign(*out, r);
  return *out;
}

array row(const array& v) { return expand_dims(v, {-2}); }
array column(const array& v) { return expand_dims(v, {-1}); }
array conjugated(const array& a) { return is_complex(a.dtype()) ? conjugate(a) : a; }

/// Σ over the last axis of a and axis `along` of b, which becomes a's row times b's column; the other axes follow one
/// another.
array contract(std::string_view op, const array& a, const array& b, int along, const array* out) {
  array right = moveaxis(b, {along}, {0});
  Dims shape = a.shape();
  shape.pop_back();
  for (int i = 1; i < right.ndim(); ++i) shape.push_back(right.shape()[i]);
  const std::int64_t k = a.shape().back();
  std::int64_t n = 1, m = 1;
  for (int i = 0; i + 1 < a.ndim(); ++i) n *= a.shape()[i];
  for (int i = 1; i < right.ndim(); ++i) m *= right.shape()[i];
  if (k != right.shape()[0])
    throw ValueError("[" + std::string(op) + "] shapes are not aligned: " + std::to_string(k) + " and " +
                     std::to_string(right.shape()[0]) + got(a, b));
  checked_size(op, shape, itemsize(promote_types(a.dtype(), b.dtype())));
  array left = a.reshape({n, k});
  right = right.reshape({k, m});
  if (!out) return product(op, a, b, left, right, false, false, nullptr).reshape(shape);
  if (!(out->shape() == shape))
    throw ValueError("[" + std::string(op) + "] out needs shape " + to_string(shape) + "; got shape " +
                     to_string(out->shape()));
  array flat = out->reshape({n, m});  // a view: dot's out is C-contiguous
  product(op, a, b, left, right, false, false, &flat);
  return *out;
}

thread_local Precision current_precision = Precision::full;

}  // namespace

Precision parse_precision(std::string_view text) {
  if (text == "full") return Precision::full;
  if (text == "tf32") return Precision::tf32;
  throw ValueError("[precision] a precision is \"full\" or \"tf32\"; got \"" + std::string(text) + '"');
}

Precision precision() { return current_precision; }
void set_precision(Precision p) { current_precision = p; }

array matmul(const array& a, const array& b, const array* out) {
  graph::Lock lock;
  require_dims("matmul", a, 1, "first");
  require_dims("matmul", b, 1, "second");
  return product("matmul", a, b, a.ndim() == 1 ? row(a) : a, b.ndim() == 1 ? column(b) : b, a.ndim() == 1,
                 b.ndim() == 1, out);
}

array dot(const array& a, const array& b, const array* out) {
  graph::Lock lock;
  if (out) {
    api::require_writeable("dot", *out);
    if (out->dtype() != promote_types(a.dtype(), b.dtype()) || !out->is_c_contiguous())
      throw ValueError("[dot] out needs the result's dtype and C order; got dtype " + std::string(name(out->dtype())) +
                       ", shape " + to_string(out->shape()) + ", strides " + to_string(out->strides()));
  }
  if (a.ndim() == 0 || b.ndim() == 0) {
    array r = multiply(a, b);
    if (!out) return r;
    if (!(out->shape() == r.shape()))
      throw ValueError("[dot] out needs shape " + to_string(r.shape()) + "; got shape " + to_string(out->shape()));
    graph::assign(*out, r);
    return *out;
  }
  return contract("dot", a, b, b.ndim() == 1 ? 0 : b.ndim() - 2, out);
}

array inner(const array& a, const array& b) {
  graph::Lock lock;
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  return contract("inner", a, b, b.ndim() - 1, nullptr);
}

array outer(const array& a, const array& b, const array* out) {
  graph::Lock lock;
  return api::given("outer", out, multiply(column(a.ravel()), row(b.ravel())));
}

array vecdot(const array& a, const array& b, int axis, const array* out) {
  graph::Lock lock;
  require_dims("vecdot", a, 1, "first");
  require_dims("vecdot", b, 1, "second");
  array x = moveaxis(a, {api::normalize_axis("vecdot", axis, a.ndim())}, {-1});
  array y = moveaxis(b, {api::normalize_axis("vecdot", axis, b.ndim())}, {-1});
  return api::given("vecdot", out, product("vecdot", a, b, row(conjugated(x)), column(y), true, true, nullptr));
}

array matvec(const array& a, const array& b, const array* out) {
  graph::Lock lock;
  require_dims("matvec", a, 2, "first");
  require_dims("matvec", b, 1, "second");
  return api::given("matvec", out, product("matvec", a, b, a, column(b), false, true, nullptr));
}

array vecmat(const array& a, const array& b, const array* out) {
  graph::Lock lock;
  require_dims("vecmat", a, 1, "first");
  require_dims("vecmat", b, 2, "second");
  return api::given("vecmat", out, product("vecmat", a, b, row(conjugated(a)), b, true, false, nullptr));
}

array tensordot(const array& a, const array& b, const Dims& axes_a, const Dims& axes_b) {
  graph::Lock lock;
  const Dims sum_a = api::normalize_axes("tensordot", axes_a, a.ndim());
  const Dims sum_b = api::normalize_axes("tensordot", axes_b, b.ndim());
  bool fits = sum_a.size() == sum_b.size();
  for (int i = 0; fits && i < sum_a.size(); ++i)
    fits = a.shape()[static_cast<int>(sum_a[i])] == b.shape()[static_cast<int>(sum_b[i])];
  if (!fits)
    throw ValueError("[tensordot] the extents of the summed axes differ: axes " + to_string(axes_a) + " and " +
                     to_string(axes_b) + got(a, b));
  // Kept axes to the outside of the first operand and behind the summed ones of the second: two matrices.
  auto kept = [](const array& x, const Dims& summed) {
    Dims r;
    for (int i = 0; i < x.ndim(); ++i)
      if (std::find(summed.begin(), summed.end(), i) == summed.end()) r.push_back(i);
    return r;
  };
  const Dims kept_a = kept(a, sum_a), kept_b = kept(b, sum_b);
  Dims order_a = kept_a, order_b = sum_b, shape;
  std::int64_t n = 1, k = 1, m = 1;
  for (std::int64_t i : sum_a) {
    order_a.push_back(i);
    k *= a.shape()[static_cast<int>(i)];
  }
  for (std::int64_t i : kept_a) {
    n *= a.shape()[static_cast<int>(i)];
    shape.push_back(a.shape()[static_cast<int>(i)]);
  }
  for (std::int64_t i : kept_b) {
    order_b.push_back(i);
    m *= b.shape()[static_cast<int>(i)];
    shape.push_back(b.shape()[static_cast<int>(i)]);
  }
  checked_size("tensordot", shape, itemsize(promote_types(a.dtype(), b.dtype())));
  array left = a.transpose(order_a).reshape({n, k}), right = b.transpose(order_b).reshape({k, m});
  return product("tensordot", a, b, left, right, false, false, nullptr).reshape(shape);
}

array tensordot(const array& a, const array& b, int axes) {
  if (axes < 0 || axes > a.ndim() || axes > b.ndim())
    throw IndexError("[tensordot] more axes than the operands have" + got(a, b) + ", axes " + std::to_string(axes));
  Dims last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(a.ndim() - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

}  // namespace galop
