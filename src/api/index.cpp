// Reading an index expression by NumPy's rules: integers, slices, newaxis, ellipsis, arrays of integers and of bools.
#include "api/index.hpp"

#include "api/checks.hpp"
#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/manipulate.hpp"
#include "galop/ufunc.hpp"
#include "graph/build.hpp"

namespace galop::api {
namespace {

[[noreturn]] void out_of_bounds(std::int64_t i, int axis, std::int64_t extent) {
  throw IndexError("[index] index out of bounds for axis " + std::to_string(axis) + " of extent " +
                   std::to_string(extent) + "; got " + std::to_string(i));
}

/// Start, number of elements and step of a slice along an extent, as Python's slice.indices.
struct Range {
  std::int64_t start, count, step;
};
Range resolve(const slice& s, std::int64_t extent) {
  std::int64_t step = s.step.value_or(1);
  if (step == 0) throw ValueError("[index] a slice's step must not be zero; got 0");
  step = std::max(step, -std::numeric_limits<std::int64_t>::max());
  auto clamp = [&](std::optional<std::int64_t> v, std::int64_t otherwise) {
    if (!v) return otherwise;
    std::int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
    return std::clamp(*v < 0 ? *v + extent : *v, low, high);
  };
  std::int64_t start = clamp(s.start, step < 0 ? extent - 1 : 0);
  std::int64_t stop = clamp(s.stop, step < 0 ? -1 : extent);
  std::int64_t distance = step < 0 ? start - stop : stop - start;
  return {start, distance <= 0 ? 0 : (distance - 1) / std::abs(step) + 1, step};
}

/// One axis that is indexed by an array.
struct Picked {
  array index;
  int axis;
  std::int64_t extent, stride;
};

/// Walks through the parts and collects the basic view and the picked axes.
class Walk {
 public:
  Walk(const array& a, std::span<const index> parts) : a_(a) {
    int consumed = 0;
    bool has_ellipsis = false;
    for (const index& p : parts) {
      if (const auto* x = std::get_if<array>(&p)) {
        if (x->dtype() != DType::bool_ && !is_integer(x->dtype()))
          throw IndexError("[index] arrays used as indices must be of integers or bools; got dtype " +
                           std::string(name(x->dtype())));
        consumed += x->dtype() == DType::bool_ ? x->ndim() : 1;
        arrays_ = arrays_ || x->dtype() == DType::bool_ || x->ndim() > 0;
      } else if (std::holds_alternative<ellipsis_t>(p)) {
        if (has_ellipsis) throw IndexError("[index] only one ellipsis may be among the parts; got two");
        has_ellipsis = true;
      } else if (!std::holds_alternative<newaxis_t>(p)) {
        ++consumed;
      }
    }
    if (consumed > a.ndim())
      throw IndexError("[index] too many indices for shape " + to_string(a.shape()) + "; got " +
                       std::to_string(consumed));
    rest_ = a.ndim() - consumed;
    selection.view.offset = a.view().offset;
    for (const index& p : parts) std::visit([this](const auto& part) { take(part); }, p);
    if (!has_ellipsis) take(ellipsis);
    if (selection.view.ndim() > kMaxDims)
      throw IndexError("[index] more than 64 dimensions; got " + std::to_string(selection.view.ndim()));
    if (!consecutive_) selection.place = 0;
    selection.has_arrays = arrays_;
  }

  Selection selection;
  std::vector<Picked> picked;

 private:
  void take(std::int64_t i) {
    const std::int64_t extent = a_.shape()[axis_];
    if (i < -extent || i >= extent) out_of_bounds(i, axis_, extent);
    selection.view.offset += (i < 0 ? i + extent : i) * a_.strides()[axis_++];
    if (arrays_) mark_array();
  }
  void take(const slice& s) {
    Range r = resolve(s, a_.shape()[axis_]);
    selection.view.offset += r.count > 0 ? r.start * a_.strides()[axis_] : 0;
    push(r.count, a_.strides()[axis_++] * (r.count > 1 ? r.step : 1));
  }
  void take(newaxis_t) { push(1, 0); }
  void take(ellipsis_t) {
    if (marked_) closed_ = true;
    for (int i = 0; i < rest_; ++i, ++axis_) push(a_.shape()[axis_], a_.strides()[axis_]);
  }
  void take(const array& x) {
    if (x.dtype() != DType::bool_) {
      if (x.ndim() == 0) {
        selection.has_scalar_array = true;
        return take(x.item<std::int64_t>());
      }
      mark_array();
      add(x);
      return;
    }
    mark_array();
    for (int i = 0; i < x.ndim(); ++i) {
      if (x.shape()[i] != a_.shape()[axis_ + i])
        throw IndexError("[index] a mask of shape " + to_string(x.shape()) + " does not match axis " +
                         std::to_string(axis_ + i) + "; got extent " + std::to_string(a_.shape()[axis_ + i]));
    }
    if (x.ndim() == 0) {
      // A 0-d mask adds an axis with one element or none.
      picked.push_back({fill_with({x.item<bool>() ? 1 : 0}, 0, DType::int64), axis_, 1, 0});
      return;
    }
    for (const array& along : nonzero(x)) add(along);
  }
  void add(const array& x) {
    picked.push_back({x, axis_, a_.shape()[axis_], a_.strides()[axis_]});
    ++axis_;
  }
  void push(std::int64_t extent, std::int64_t stride) {
    if (marked_) closed_ = true;
    selection.view.shape.push_back(extent);
    selection.view.strides.push_back(stride);
  }
  void mark_array() {
    if (!marked_) selection.place = selection.view.ndim();
    if (closed_) consecutive_ = false;
    marked_ = true;
  }

  const array& a_;
  bool arrays_ = false;  // an integer then counts as one when it is found where the picked axes go
  int rest_ = 0;         // axes that the ellipsis stands for
  int axis_ = 0;
  bool marked_ = false, closed_ = false, consecutive_ = true;
};

}  // namespace

Dims Selection::shape() const {
  Dims s = view.shape;
  for (int i = 0; i < picked.size(); ++i) s.insert(place + i, picked[i]);
  return s;
}

Selection select(const array& a, std::span<const index> parts, bool keep_order) {
  Walk walk(a, parts);
  Selection s = std::move(walk.selection);
  if (!s.has_arrays) return s;

  std::vector<const Dims*> shapes;
  for (const Picked& p : walk.picked) shapes.push_back(&p.index.shape());
  try {
    s.picked = broadcast("index", shapes);
  } catch (const ValueError& e) {
    throw IndexError(e.what());
  }
  const std::int64_t count = s.count = checked_size("index", s.picked, 8);
  std::vector<View> views;
  std::vector<const View*> pointers;
  for (const Picked& p : walk.picked) views.push_back(broadcast_view("index", p.index.view(), s.picked));
  for (const View& v : views) pointers.push_back(&v);
  for (int i = 0; i < s.picked.size(); ++i) s.picked_order.push_back(i);
  if (keep_order && s.view.size() == 1) s.picked_order = memory_order(s.picked.size(), pointers);

  // Index arrays as int64 side by side, so that the backend reads them in one loop.
  std::vector<const array*> operands;
  for (std::size_t k = 0; k < walk.picked.size(); ++k) {
    Picked& p = walk.picked[k];
    array x = p.index.with_view(views[k]).transpose(s.picked_order);
    if (x.dtype() != DType::int64) x = graph::cast(x, DType::int64);
    // Of memory from outside the elements may lie at any address.
    p.index = x.is_c_contiguous() && !x.cell()->shared_with_outside() && x.view().offset % 8 == 0 ? x : c_order_copy(x);
    operands.push_back(&p.index);
  }
  const graph::Place place = graph::place_call(operands);
  bool inside = true;
  graph::run_at(place, [&](Device d) {
    std::vector<IndexedAxis> axes;
    for (const Picked& p : walk.picked)
      axes.push_back({static_cast<const std::int64_t*>(graph::read_pointer(p.index, d)), p.extent, p.stride});
    s.places = graph::make_empty({count}, DType::int64, {d, place.wish});
    auto* offsets = static_cast<std::int64_t*>(graph::write_pointer(s.places, d));
    const interrupt::Scope scope(true);
    inside = count == 0 || backend_of(d).locate(axes, count, offsets);
  });
  if (inside) return s;
  for (const Picked& p : walk.picked) {
    const auto* numbers = static_cast<const std::int64_t*>(graph::read_pointer(p.index));
    for (std::int64_t i = 0; i < count; ++i)
      if (const std::int64_t v = numbers[i]; v < -p.extent || v >= p.extent) out_of_bounds(v, p.axis, p.extent);
  }
  return s;
}

const std::int64_t* Selection::offsets(Device d) const {
  return static_cast<const std::int64_t*>(graph::read_pointer(places, d));
}

}  // namespace galop::api
