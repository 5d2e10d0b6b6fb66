// The methods of array that are functions of another header.
#include "api/checks.hpp"
#include "galop/elements.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"
#include "galop/math.hpp"
#include "galop/reduce.hpp"
#include "graph/build.hpp"

namespace galop {

array array::sum() const { return galop::sum(*this); }
array array::sum(const reduce_options& o) const { return galop::sum(*this, o); }
array array::prod() const { return galop::prod(*this); }
array array::prod(const reduce_options& o) const { return galop::prod(*this, o); }
array array::min() const { return galop::min(*this); }
array array::min(const reduce_options& o) const { return galop::min(*this, o); }
array array::max() const { return galop::max(*this); }
array array::max(const reduce_options& o) const { return galop::max(*this, o); }
array array::any() const { return galop::any(*this); }
array array::any(const reduce_options& o) const { return galop::any(*this, o); }
array array::all() const { return galop::all(*this); }
array array::all(const reduce_options& o) const { return galop::all(*this, o); }
array array::mean() const { return galop::mean(*this); }
array array::mean(const reduce_options& o) const { return galop::mean(*this, o); }
array array::var() const { return galop::var(*this); }
array array::var(const reduce_options& o) const { return galop::var(*this, o); }
array array::std() const { return std_(*this); }
array array::std(const reduce_options& o) const { return std_(*this, o); }
array array::argmin(std::optional<int> axis) const { return galop::argmin(*this, axis); }
array array::argmax(std::optional<int> axis) const { return galop::argmax(*this, axis); }
array array::cumsum(std::optional<int> axis) const { return galop::cumsum(*this, axis); }
array array::cumprod(std::optional<int> axis) const { return galop::cumprod(*this, axis); }
array array::dot(const array& b) const { return galop::dot(*this, b); }
array array::clip(const arg& low, const arg& high) const { return galop::clip(*this, low, high); }
array array::round(int decimals) const { return galop::round(*this, decimals); }
array array::conj() const { return is_complex(dtype_) ? conjugate(*this) : *this; }
array array::swapaxes(int axis1, int axis2) const { return galop::swapaxes(*this, axis1, axis2); }
array array::squeeze() const { return galop::squeeze(*this); }
array array::diagonal(int offset) const { return galop::diagonal(*this, offset); }
array array::take(const array& indices, std::optional<int> axis) const { return galop::take(*this, indices, axis); }
array array::repeat(const array& times, std::optional<int> axis) const { return galop::repeat(*this, times, axis); }

array array::view_as(DType t) const {
  const std::int64_t from = itemsize(), to = galop::itemsize(t);
  View v = view_;
  if (from != to) {
    const auto refuse = [&](const char* why) {
      throw ValueError(std::string("[view] ") + why + "; got " + std::string(name(dtype_)) + " of shape " +
                       to_string(shape()) + " for " + std::string(name(t)));
    };
    if (ndim() == 0) refuse("a 0-d array can change to a dtype of the same size only");
    const std::int64_t bytes = v.shape.back() * from;
    if (v.strides.back() != from && v.shape.back() != 1) refuse("the last axis must be contiguous");
    if (bytes % to != 0) refuse("the last axis must be a multiple of the new size in bytes");
    v.shape.back() = bytes / to;
    v.strides.back() = to;
  }
  graph::retain(cell_);
  return array(cell_, std::move(v), t, writeable_);
}

array_iterator array::begin() const {
  if (ndim() == 0) throw TypeError("[iter] a 0-d array has no parts; got shape ()");
  return {*this, 0};
}
array_iterator array::end() const { return {*this, ndim() == 0 ? 0 : shape()[0]}; }

}  // namespace galop
