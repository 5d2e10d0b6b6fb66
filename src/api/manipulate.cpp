// Views with other axes, joined arrays, masks and shared memory.
#include "galop/manipulate.hpp"

#include "api/checks.hpp"
#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/ufunc.hpp"
#include "graph/build.hpp"

namespace galop {
namespace {

std::string got(const array& a) {
  return "; got shape " + to_string(a.shape()) + ", dtype " + std::string(name(a.dtype()));
}

/// Axes from outermost to innermost of a join's result, by NumPy's sort for it: as memory_order, but from the outside
/// inwards, which differs where axes of extent 1 stand between others.
Dims join_order(std::span<const array> arrays) {
  const int ndim = arrays[0].ndim();
  Dims order;
  for (int i = 0; i < ndim; ++i) {
    int place = i;
    for (int k = i - 1; k >= 0; --k) {
      int j = static_cast<int>(order[k]);
      bool compared = false, outside = false;
      for (const array& a : arrays) {
        if (a.shape()[i] == 1 || a.shape()[j] == 1) continue;
        outside = std::abs(a.strides()[i]) > std::abs(a.strides()[j]) && (!compared || outside);
        compared = true;
      }
      if (!compared) continue;
      if (!outside) break;
      place = k;
    }
    order.insert(place, i);
  }
  return order;
}

bool contains(const Dims& d, int v) { return std::find(d.begin(), d.end(), v) != d.end(); }

}  // namespace

array broadcast_to(const array& a, const Dims& shape) {
  checked_size("broadcast_to", shape, 1);
  array r = api::stretched("broadcast_to", a, shape);
  r.set_writeable(false);
  return r;
}

Dims broadcast_shapes(std::span<const Dims> shapes) {
  std::vector<const Dims*> pointers;
  for (const Dims& d : shapes) pointers.push_back(&d);
  return broadcast("broadcast_shapes", pointers);
}

std::vector<array> broadcast_arrays(array_list arrays) {
  std::vector<const Dims*> pointers;
  for (const array& a : arrays) pointers.push_back(&a.shape());
  const Dims shape = broadcast("broadcast_arrays", pointers);
  std::vector<array> r;
  for (const array& a : arrays) r.push_back(api::stretched("broadcast_arrays", a, shape));
  return r;
}

array expand_dims(const array& a, const Dims& axes) {
  const int ndim = a.ndim() + axes.size();
  if (ndim > kMaxDims) throw ValueError("[expand_dims] more than 64 dimensions" + got(a));
  const Dims fresh = api::normalize_axes("expand_dims", axes, ndim);
  View v{{}, {}, a.view().offset};
  for (int i = 0, old = 0; i < ndim; ++i) {
    bool is_new = contains(fresh, i);
    v.shape.push_back(is_new ? 1 : a.shape()[old]);
    v.strides.push_back(is_new ? 0 : a.strides()[old]);
    old += !is_new;
  }
  return a.with_view(std::move(v));
}

array squeeze(const array& a, std::optional<Dims> axes) {
  Dims dropped;
  if (axes) {
    dropped = api::normalize_axes("squeeze", *axes, a.ndim());
    for (std::int64_t axis : dropped)
      if (a.shape()[static_cast<int>(axis)] != 1)
        throw ValueError("[squeeze] only axes of extent 1 can be dropped; got axes " + to_string(*axes) + " of shape " +
                         to_string(a.shape()));
  }
  View v{{}, {}, a.view().offset};
  for (int i = 0; i < a.ndim(); ++i) {
    if (axes ? contains(dropped, i) : a.shape()[i] == 1) continue;
    v.shape.push_back(a.shape()[i]);
    v.strides.push_back(a.strides()[i]);
  }
  return a.with_view(std::move(v));
}

array swapaxes(const array& a, int axis1, int axis2) {
  int i = api::normalize_axis("swapaxes", axis1, a.ndim()), j = api::normalize_axis("swapaxes", axis2, a.ndim());
  View v = a.view();
  std::swap(v.shape[i], v.shape[j]);
  std::swap(v.strides[i], v.strides[j]);
  return a.with_view(std::move(v));
}

array moveaxis(const array& a, const Dims& source, const Dims& destination) {
  const Dims from = api::normalize_axes("moveaxis", source, a.ndim());
  const Dims to = api::normalize_axes("moveaxis", destination, a.ndim());
  if (from.size() != to.size())
    throw ValueError("[moveaxis] source and destination need as many axes; got " + to_string(source) + " and " +
                     to_string(destination));
  Dims order(a.ndim(), -1);
  for (int k = 0; k < from.size(); ++k) order[static_cast<int>(to[k])] = from[k];
  int next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (contains(from, next)) ++next;
    axis = next++;
  }
  return a.transpose(order);
}

array flip(const array& a, std::optional<Dims> axes) {
  Dims turned;
  if (axes) turned = api::normalize_axes("flip", *axes, a.ndim());
  View v = a.view();
  for (int i = 0; i < v.ndim(); ++i) {
    if (axes && !contains(turned, i)) continue;
    if (v.size() > 0) v.offset += (v.shape[i] - 1) * v.strides[i];
    v.strides[i] = -v.strides[i];
  }
  return a.with_view(std::move(v));
}

array concatenate(array_list arrays, std::optional<int> axis, const join_options& o) {
  graph::Lock lock;
  if (arrays.empty()) throw ValueError("[concatenate] at least one array is needed; got none");
  std::vector<array> list(arrays.begin(), arrays.end());
  if (o.dtype) {
    if (o.out) throw TypeError("[concatenate] takes `out` or `dtype`; got both");
    for (array& a : list) a = a.astype(*o.dtype, {.casting = o.casting, .copy = false});
  }
  if (!axis)
    for (array& a : list) a = a.ravel();
  const array& first = list[0];
  if (first.ndim() == 0) throw ValueError("[concatenate] 0-d arrays have no axis to join along" + got(first));
  const int along = api::normalize_axis("concatenate", axis.value_or(0), first.ndim());
  Dims shape = first.shape();
  DType t = first.dtype();
  shape[along] = 0;
  for (const array& a : list) {
    bool fits = a.ndim() == first.ndim();
    for (int i = 0; fits && i < a.ndim(); ++i) fits = i == along || a.shape()[i] == first.shape()[i];
    if (!fits)
      throw ValueError("[concatenate] shapes must agree but along axis " + std::to_string(along) + "; got " +
                       to_string(first.shape()) + " and " + to_string(a.shape()));
    if (__builtin_add_overflow(shape[along], a.shape()[along], &shape[along]))
      throw ValueError("[concatenate] array is too big" + got(a));
    t = promote_types(t, a.dtype());
  }
  std::int64_t size = checked_size("concatenate", shape, itemsize(t));
  View layout{shape, Dims(shape.size(), 0), 0};
  const Dims order = join_order(list);
  std::int64_t stride = itemsize(t);
  for (int k = shape.size() - 1; k >= 0; --k) {
    layout.strides[static_cast<int>(order[k])] = stride;
    stride *= std::max<std::int64_t>(shape[static_cast<int>(order[k])], 1);
  }
  if (size >= 1 << 17) graph::begin_long_work();
  const interrupt::Scope scope(true);  // nobody sees the result yet
  array r = graph::make_empty(layout, t, size * itemsize(t));
  std::int64_t at = 0;
  for (const array& a : list) {
    View part = r.view();
    part.offset += at * part.strides[along];
    part.shape[along] = a.shape()[along];
    at += a.shape()[along];
    if (part.size() > 0) graph::assign(r.with_view(std::move(part)), a);
  }
  return api::given("concatenate", o.out, r, o.casting);
}

array stack(array_list arrays, int axis, const join_options& o) {
  graph::Lock lock;
  if (arrays.empty()) throw ValueError("[stack] at least one array is needed; got none");
  std::vector<array> list;
  const int ndim = arrays[0].ndim() + 1;
  const int along = api::normalize_axis("stack", axis, ndim);
  for (const array& a : arrays) {
    if (!(a.shape() == arrays[0].shape()))
      throw ValueError("[stack] all shapes must be the same; got " + to_string(arrays[0].shape()) + " and " +
                       to_string(a.shape()));
    list.push_back(expand_dims(a, {along}));
  }
  return concatenate(list, along, o);
}

namespace {

/// Whether b's memory can be compared with a's at all; its view is then an offset from a's buffer.
std::optional<View> beside(const array& a, const array& b) {
  View v = b.view();
  if (a.cell() == b.cell()) return v;
  // Storage of Galop's own belongs to one cell; only memory of somebody else can be reached through two.
  if (!a.cell()->shared_with_outside() || !b.cell()->shared_with_outside()) return std::nullopt;
  const graph::Buffer& of_a = *a.cell()->value->buffer;
  const graph::Buffer& of_b = *b.cell()->value->buffer;
  if (!(of_a.home() == of_b.home())) return std::nullopt;
  v.offset += of_b.address(of_b.home()) - of_a.address(of_a.home());
  return v;
}

}  // namespace

bool shares_memory(const array& a, const array& b) {
  graph::Lock lock;
  auto v = beside(a, b);
  return v && overlap(a.view(), a.itemsize(), *v, b.itemsize(), -1) != Overlap::no;
}

bool may_share_memory(const array& a, const array& b) {
  graph::Lock lock;
  auto v = beside(a, b);
  if (!v) return false;
  auto [first_a, last_a] = byte_bounds(a.view(), a.itemsize());
  auto [first_b, last_b] = byte_bounds(*v, b.itemsize());
  return std::max(first_a, first_b) < std::min(last_a, last_b);
}

std::vector<array> nonzero(const array& a) {
  graph::Lock lock;
  if (a.ndim() == 0) throw ValueError("[nonzero] 0-d arrays have no positions" + got(a));
  array m = a.dtype() == DType::bool_ ? a : not_equal(a, 0);
  if (!m.is_c_contiguous()) m = api::c_order_copy(m);
  const graph::Place place = graph::place_call({&m});
  array flat;
  graph::run_at(place, [&](Device d) {
    Backend& backend = backend_of(d);
    const void* bits = graph::read_pointer(m, d);
    const interrupt::Scope scope(true);
    flat = graph::make_empty({backend.count_true(bits, m.size())}, DType::int64, {d, place.wish});
    if (flat.size() > 0) backend.positions(bits, m.size(), static_cast<std::int64_t*>(graph::write_pointer(flat, d)));
  });
  if (a.ndim() == 1) return {flat};
  std::vector<array> r;
  std::int64_t inside = a.size();
  for (int i = 0; i < a.ndim(); ++i) {
    inside = flat.size() == 0 ? 1 : inside / a.shape()[i];
    array rows = inside == 1 ? flat : floor_divide(flat, inside);
    r.push_back(i == 0 ? rows : remainder(rows, flat.size() == 0 ? 1 : a.shape()[i]));
  }
  return r;
}

void copyto(const array& dst, const arg& src, const array* where) {
  graph::Lock lock;
  if (dst.size() > 0) api::require_writeable("copyto", dst);
  const DType from = src.is_array() ? src.as_array().dtype() : src.as_scalar().dtype();
  // A number has a kind only: an integer suits every dtype of integers, a float every float.
  const bool is_number_of_kind =
      !src.is_array() && (is_integer(from) ? is_integer(dst.dtype()) : kind(from) == kind(dst.dtype()));
  if (!is_number_of_kind && !can_cast_same_kind(from, dst.dtype()))
    throw TypeError("[copyto] cannot cast by the rule 'same_kind'; got " + std::string(name(from)) + " for " +
                    std::string(name(dst.dtype())));
  if (!where) return dst.assign(src);
  if (where->dtype() != DType::bool_)
    throw TypeError("[copyto] where must be bool; got dtype " + std::string(name(where->dtype())));
  array mask = api::stretched("copyto", *where, dst.shape());
  array v = src.is_array() ? src.as_array() : api::fill_with({}, src.as_scalar(), dst.dtype());
  View view = v.view();
  while (view.ndim() > dst.ndim() && view.shape[0] == 1) {
    view.shape.erase(0);
    view.strides.erase(0);
  }
  graph::assign(dst, v.with_view(broadcast_view("copyto", view, dst.shape())), &mask);
}

}  // namespace galop
