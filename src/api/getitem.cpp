// a[parts] and a[parts] = values.
#include "api/checks.hpp"
#include "api/index.hpp"
#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/manipulate.hpp"
#include "graph/build.hpp"

namespace galop {
namespace {

const array* as_mask(const index& part) {
  const auto* x = std::get_if<array>(&part);
  return x && x->dtype() == DType::bool_ && x->ndim() > 0 ? x : nullptr;
}

/// The axes of a block of a selection in memory order, as the backend takes them.
Blocks blocks_of(const array& a, const api::Selection& s, const Dims& order, Device d) {
  Blocks b{};
  b.itemsize = a.itemsize();
  b.count = s.count;
  b.offsets = s.offsets(d);
  for (std::int64_t axis : order) {
    b.shape.push_back(s.view.shape[static_cast<int>(axis)]);
    b.place_strides.push_back(s.view.strides[static_cast<int>(axis)]);
  }
  return b;
}

/// A copy of what the selection picks: picked axes outermost in memory, the others inside in the order of the source,
/// as NumPy's.
array gathered(const array& a, const api::Selection& s) {
  const View* views[] = {&s.view};
  const Dims order = memory_order(s.view.ndim(), views);
  const Dims shape = s.shape();
  checked_size("getitem", shape, a.itemsize());
  Dims packed_shape;
  for (std::int64_t axis : s.picked_order) packed_shape.push_back(s.picked[static_cast<int>(axis)]);
  for (std::int64_t axis : order) packed_shape.push_back(s.view.shape[static_cast<int>(axis)]);
  const Dims packed_strides = c_strides(packed_shape, a.itemsize());

  // The packed axes at their places in the result.
  const int picked = s.picked.size();
  View result{shape, Dims(shape.size(), 0), 0};
  Dims inner_strides;
  for (int i = 0; i < packed_shape.size(); ++i) {
    const std::int64_t stride = packed_strides[i];
    if (i < picked) {
      result.strides[s.place + static_cast<int>(s.picked_order[i])] = stride;
    } else {
      int axis = static_cast<int>(order[i - picked]);
      result.strides[axis < s.place ? axis : axis + picked] = stride;
      inner_strides.push_back(stride);
    }
  }
  std::optional<array> packed;
  const graph::Place place = graph::place_call({&a, &s.places});
  graph::run_at(place, [&](Device d) {
    const interrupt::Scope scope(true);
    packed = graph::make_empty(packed_shape, a.dtype(), {d, place.wish});
    if (packed->size() == 0) return;
    Blocks b = blocks_of(a, s, order, d);
    b.packed_strides = inner_strides;
    b.packed_step = a.itemsize();
    for (std::int64_t n : b.shape) b.packed_step *= n;
    auto* from = static_cast<const char*>(graph::read_pointer(a, d)) + (s.view.offset - a.view().offset);
    b.places = const_cast<char*>(from);
    b.packed = graph::write_pointer(*packed, d);
    backend_of(d).gather(b);
  });
  return packed->with_view(std::move(result));
}

/// a[mask] for a mask of the array's own shape.
array compressed(const array& a, const array& mask) {
  if (!(mask.shape() == a.shape()))
    throw IndexError("[index] a mask of shape " + to_string(mask.shape()) + " does not match; got shape " +
                     to_string(a.shape()));
  if (auto packed = graph::pack(a, mask)) return *std::move(packed);
  array m = mask.is_c_contiguous() ? mask : api::c_order_copy(mask);
  array x = a.is_c_contiguous() ? a : api::c_order_copy(a);
  const graph::Place place = graph::place_call({&x, &m});
  std::optional<array> r;
  graph::run_at(place, [&](Device d) {
    Backend& backend = backend_of(d);
    const void* bits = graph::read_pointer(m, d);
    const interrupt::Scope scope(true);
    r = graph::make_empty({backend.count_true(bits, m.size())}, a.dtype(), {d, place.wish});
    if (r->size() > 0)
      backend.compress(bits, m.size(), a.itemsize(), graph::read_pointer(x, d), graph::write_pointer(*r, d));
  });
  return *std::move(r);
}

/// values as elements of a[...], in a's dtype when it is a number.
array operand(const array& a, const arg& values) {
  return values.is_array() ? values.as_array() : api::fill_with({}, values.as_scalar(), a.dtype());
}

/// Leading axes of extent 1 that a destination of `ndim` axes has no room for are dropped.
View without_lead(View v, int ndim) {
  while (v.ndim() > ndim && v.shape[0] == 1) {
    v.shape.erase(0);
    v.strides.erase(0);
  }
  return v;
}

/// One mask among slices, and values that do not depend on how many elements it selects: an element-wise write without
/// a gather.
bool assign_masked(const array& a, std::span<const index> parts, const arg& values) {
  const array* mask = nullptr;
  bool integers = false;
  std::vector<index> basic;
  int before = 0;  // axes of the basic view in front of the mask's
  int consumed = 0;
  for (const index& p : parts)
    consumed +=
        as_mask(p) ? as_mask(p)->ndim() : std::holds_alternative<slice>(p) || std::holds_alternative<std::int64_t>(p);
  for (const index& p : parts) {
    if (const array* m = as_mask(p)) {
      if (mask) return false;
      mask = m;
      for (int i = 0; i < m->ndim(); ++i) basic.push_back(all_of);
      continue;
    }
    if (std::holds_alternative<array>(p)) return false;
    integers = integers || std::holds_alternative<std::int64_t>(p);
    basic.push_back(p);
    if (mask || std::holds_alternative<std::int64_t>(p)) continue;
    before += std::holds_alternative<ellipsis_t>(p) ? a.ndim() - consumed : 1;
  }
  if (!mask) return false;
  array v = operand(a, values);
  if (integers && v.ndim() > 0) return false;
  api::Selection s = api::select(a, basic);
  for (int i = 0; i < mask->ndim(); ++i)
    if (s.view.shape[before + i] != mask->shape()[i]) return false;  // reported by the general path

  const int after = s.view.ndim() - before - mask->ndim();
  if (parts.size() == 1 && after == 0 && v.ndim() > 1)
    throw TypeError("[setitem] a mask of the array's shape takes a number or 1-d values; got shape " +
                    to_string(v.shape()));
  View values_view = without_lead(v.view(), before + 1 + after);
  if (values_view.ndim() > after) {
    // The axis along which the selected elements would lie; it is spread over the mask's axes.
    int k = values_view.ndim() - after - 1;
    if (values_view.shape[k] != 1) return false;
    for (int i = 1; i < mask->ndim(); ++i) {
      values_view.shape.insert(k, 1);
      values_view.strides.insert(k, 0);
    }
  }
  View mask_view = mask->view();
  for (int i = 0; i < after; ++i) {
    mask_view.shape.push_back(1);
    mask_view.strides.push_back(0);
  }
  array where = mask->with_view(broadcast_view("setitem", mask_view, s.view.shape));
  graph::assign(a.with_view(s.view), v.with_view(broadcast_view("setitem", values_view, s.view.shape)), &where);
  return true;
}

}  // namespace

array array::at(std::span<const index> parts) const {
  graph::Lock lock;
  if (parts.size() == 1)
    if (const array* mask = as_mask(parts[0]); mask && mask->ndim() == ndim()) return compressed(*this, *mask);
  api::Selection s = api::select(*this, parts, true);
  if (s.has_arrays) return gathered(*this, s);
  array r = with_view(std::move(s.view));
  return s.has_scalar_array ? r.copy() : r;
}

void array::set(std::span<const index> parts, const arg& values) const {
  graph::Lock lock;
  api::require_writeable("setitem", *this);
  const auto note = [&] {
    if (!values.is_array()) api::note_number(values.as_scalar(), dtype_);
  };
  if (assign_masked(*this, parts, values)) return note();
  api::Selection s = api::select(*this, parts);
  if (!s.has_arrays) {
    if (s.view.ndim() == 0 && values.is_array() && values.as_array().ndim() > 0 &&
        std::none_of(parts.begin(), parts.end(), [](const index& p) { return std::holds_alternative<ellipsis_t>(p); }))
      throw ValueError("[setitem] one element cannot be set to an array; got shape " +
                       to_string(values.as_array().shape()));
    return with_view(std::move(s.view)).assign(values);
  }

  note();
  const Dims shape = s.shape();
  array v = operand(*this, values);
  v = v.with_view(broadcast_view("setitem", without_lead(v.view(), shape.size()), shape));
  if (v.size() == 0) return;
  if (v.dtype() != dtype_)
    v = graph::cast(v, dtype_);
  else if (graph::may_overlap(v, *this))
    v = v.copy();
  // The picked axes to the front and into one, as the blocks are numbered.
  Dims order, packed_shape{s.count};
  for (int i = 0; i < s.picked.size(); ++i) order.push_back(s.place + i);
  for (int i = 0; i < s.view.ndim(); ++i) {
    order.push_back(i < s.place ? i : i + s.picked.size());
    packed_shape.push_back(s.view.shape[i]);
  }
  v = v.transpose(order).reshape(packed_shape);

  Dims axes;
  for (int i = 0; i < s.view.ndim(); ++i) axes.push_back(i);
  if (v.size() >= 1 << 17) graph::begin_long_work();
  graph::run_at(graph::place_call({this, &v, &s.places}), [&](Device anywhere) {
    const Device d = graph::writing_place(*this, anywhere);
    // First: it may evaluate those who read the array.
    auto* places = static_cast<char*>(graph::write_pointer(*this, d)) + (s.view.offset - view_.offset);
    Blocks b = blocks_of(*this, s, axes, d);
    b.places = places;
    b.packed = const_cast<void*>(graph::read_pointer(v, d));
    b.packed_step = v.strides()[0];
    for (int i = 0; i < s.view.ndim(); ++i) b.packed_strides.push_back(v.strides()[i + 1]);
    const interrupt::Scope scope(true);  // each element is written wholly, or not at all
    backend_of(d).scatter(b);
  });
}

array compress_mask(const array& a, const array& mask) {
  graph::Lock lock;
  if (mask.dtype() != DType::bool_)
    throw TypeError("[compress_mask] the mask must be bool; got dtype " + std::string(name(mask.dtype())));
  return compressed(a, mask);
}

}  // namespace galop
