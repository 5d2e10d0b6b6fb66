// The array class: making handles, views of the same storage, reading and writing whole views.
#include "galop/array.hpp"

#include <cstring>

#include "api/checks.hpp"
#include "core/view.hpp"
#include "graph/build.hpp"
#include "graph/part.hpp"
#include "graph/small.hpp"
#include "graph/value.hpp"

namespace galop {
namespace {

/// Strides of a view of another shape over the same elements in C order; nothing when no strides do it.
std::optional<Dims> reshape_strides(const View& v, const Dims& shape, std::int64_t itemsize) {
  if (is_c_contiguous(v, itemsize)) return c_strides(shape, itemsize);
  Dims extents, strides;
  for (int i = 0; i < v.ndim(); ++i) {
    if (v.shape[i] == 1) continue;
    extents.push_back(v.shape[i]);
    strides.push_back(v.strides[i]);
  }
  Dims r(shape.size(), 0);
  int i = 0, j = 0;
  while (i < extents.size() && j < shape.size()) {
    // The shortest runs of old and new axes with the same number of elements; the old ones must lie in one even run.
    int i_end = i + 1, j_end = j + 1;
    std::int64_t old_count = extents[i], new_count = shape[j];
    while (old_count != new_count) {
      if (new_count < old_count) {
        new_count *= shape[j_end++];
      } else {
        if (strides[i_end - 1] != extents[i_end] * strides[i_end]) return std::nullopt;
        old_count *= extents[i_end++];
      }
    }
    std::int64_t step = strides[i_end - 1];
    for (int k = j_end - 1; k >= j; --k) {
      r[k] = step;
      step *= shape[k];
    }
    i = i_end;
    j = j_end;
  }
  // What is left has extent 1.
  for (; j < shape.size(); ++j) r[j] = j > 0 ? r[j - 1] : itemsize;
  return r;
}

Dims resolve_shape(const array& a, const Dims& shape) {
  auto error = [&](const char* what) {
    return ValueError(std::string("[reshape] ") + what + "; got shape " + to_string(a.shape()) + " and " +
                      to_string(shape));
  };
  if (shape.size() > kMaxDims) throw error("more than 64 dimensions");
  Dims r = shape;
  int unknown = -1;
  std::int64_t known = 1;
  for (int i = 0; i < r.size(); ++i) {
    if (r[i] < 0) {
      if (unknown >= 0) throw error("only one extent can be unknown");
      unknown = i;
    } else if (__builtin_mul_overflow(known, r[i], &known)) {
      throw error("cannot reshape: the numbers of elements differ");
    }
  }
  if (unknown >= 0) {
    if (known == 0 || a.size() % known != 0) throw error("cannot reshape: the elements do not divide evenly");
    r[unknown] = a.size() / known;
  } else if (known != a.size()) {
    throw error("cannot reshape: the numbers of elements differ");
  }
  return r;
}

}  // namespace

array::array() : array(scalar(0.0)) {}

array::array(scalar v) : array(api::fill_with({}, v, v.dtype())) {}

array array::copy_of(const void* data, DType t, const Dims& shape) {
  graph::Lock lock;
  array r = graph::make_empty(shape, t);
  if (r.size() > 0) std::memcpy(graph::write_pointer(r), data, static_cast<std::size_t>(r.nbytes()));
  return r;
}

array array::with_view(View v) const {
  graph::retain(cell_);
  return array(cell_, std::move(v), dtype_, writeable_);
}

bool array::is_c_contiguous() const { return galop::is_c_contiguous(view_, itemsize()); }
bool array::is_f_contiguous() const { return galop::is_f_contiguous(view_, itemsize()); }

void array::assign(const arg& values) const {
  graph::Lock lock;
  api::require_writeable("setitem", *this);
  if (!values.is_array()) {
    api::note_number(values.as_scalar(), dtype_);
    if (size() == 1 && graph::on_host(*this)) {
      // a[i] = x: the element goes straight into its place.
      alignas(16) std::byte bits[16];
      values.as_scalar().store(dtype_, bits);
      std::memcpy(graph::write_pointer(*this), bits, static_cast<std::size_t>(itemsize()));
      return;
    }
    graph::assign(*this, api::fill_with({}, values.as_scalar(), dtype_));
    return;
  }
  const array& v = values.as_array();
  // Leading axes of extent 1 are dropped, as NumPy does on assignment only.
  View source = v.view();
  while (source.ndim() > ndim() && source.shape[0] == 1) {
    source.shape.erase(0);
    source.strides.erase(0);
  }
  if (source.ndim() > ndim())
    throw ValueError("[setitem] could not broadcast to shape " + to_string(shape()) + "; got shape " +
                     to_string(v.shape()));
  graph::assign(*this, v.with_view(broadcast_view("setitem", source, shape())));
}

array array::T() const {
  View v = view_;
  std::reverse(v.shape.begin(), v.shape.end());
  std::reverse(v.strides.begin(), v.strides.end());
  return with_view(std::move(v));
}

array array::transpose(const Dims& axes) const {
  if (axes.size() != ndim())
    throw ValueError("[transpose] axes do not match the array; got axes " + to_string(axes) + " for shape " +
                     to_string(shape()));
  Dims order = api::normalize_axes("transpose", axes, ndim());
  View v{{}, {}, view_.offset};
  for (std::int64_t axis : order) {
    v.shape.push_back(view_.shape[static_cast<int>(axis)]);
    v.strides.push_back(view_.strides[static_cast<int>(axis)]);
  }
  return with_view(std::move(v));
}

array array::reshape(const Dims& shape) const {
  graph::Lock lock;
  Dims target = resolve_shape(*this, shape);
  if (target == view_.shape) return *this;
  if (auto strides = reshape_strides(view_, target, itemsize()))
    return with_view({target, std::move(*strides), view_.offset});
  array c = api::c_order_copy(*this);
  return c.with_view(c_view(target, itemsize()));
}

array array::astype(DType t) const {
  graph::Lock lock;
  return graph::cast(*this, t);
}

array array::copy() const { return astype(dtype_); }

array array::real() const {
  if (!is_complex(dtype_)) return *this;
  graph::retain(cell_);
  return array(cell_, view_, real_dtype(dtype_), writeable_);
}

array array::imag() const {
  if (is_complex(dtype_)) {
    graph::retain(cell_);
    View v = view_;
    v.offset += itemsize() / 2;
    return array(cell_, std::move(v), real_dtype(dtype_), writeable_);
  }
  graph::Lock lock;
  array zeros = api::fill_with(shape(), false, dtype_);
  zeros.set_writeable(false);
  return zeros;
}

void array::throw_not_one_element() const {
  throw ValueError("[item] only an array of one element is one number, use any() or all() for a truth; got shape " +
                   to_string(shape()));
}

void array::item_into(DType t, void* to, std::int64_t i) const {
  if (i < 0 || i >= size())
    throw IndexError("[item] index out of bounds for size " + std::to_string(size()) + "; got " + std::to_string(i));
  std::int64_t place = 0;
  for (int axis = ndim() - 1; axis >= 0; --axis) {
    place += i % view_.shape[axis] * view_.strides[axis];
    i /= view_.shape[axis];
  }
  if (t == dtype_ && graph::read_element(*this, place, to)) return;
  graph::Lock lock;
  const auto bytes = static_cast<std::size_t>(galop::itemsize(t));
  if (t == dtype_ && (graph::on_host(*this) || cell_->value->bytes == itemsize())) {
    std::memcpy(to, static_cast<const char*>(graph::read_pointer(*this)) + place, bytes);
  } else {
    array element = graph::cast(graph::computed(with_view({{}, {}, view_.offset + place})), t);
    std::memcpy(to, graph::read_pointer(element), bytes);
  }
}

template <>
std::vector<bool> array::to_vector<bool>() const {
  std::vector<bool> out;
  for (std::uint8_t v : astype(DType::bool_).astype(DType::uint8).to_vector<std::uint8_t>()) out.push_back(v != 0);
  return out;
}

const void* array::data() const {
  graph::Lock lock;
  return graph::read_pointer(*this);
}

void* array::export_data() const {
  graph::Lock lock;
  return graph::export_pointer(*this, kCpu);
}

void array::release_export() const {
  graph::Lock lock;
  cell_->value->buffer->end_export();
}

array from_memory(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable,
                  std::function<void()> owner) {
  graph::Lock lock;
  if (shape.size() != strides.size())
    throw ValueError("[from_memory] one stride for each axis; got shape " + to_string(shape) + ", strides " +
                     to_string(strides));
  checked_size("from_memory", shape, itemsize(t));
  return graph::wrap(data, t, shape, strides, writeable, std::move(owner));
}

}  // namespace galop
