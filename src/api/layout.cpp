// In which order elements lie in new memory: rows or columns together, or as those of another array.
#include "api/layout.hpp"

#include <algorithm>
#include <cstdlib>

#include "api/checks.hpp"
#include "core/view.hpp"
#include "galop/create.hpp"
#include "graph/build.hpp"

namespace galop {
namespace api {

Layout::Layout(const Dims& shape, Order order, const array* like) {
  if (!like && (order == Order::A || order == Order::K))
    throw ValueError(std::string("[order] must be 'C' or 'F' where there is no array to follow; got '") +
                     static_cast<char>(order) + "'");
  const int n = shape.size();
  Dims axes;  // from the slowest to the fastest
  for (int i = 0; i < n; ++i) axes.push_back(i);
  if (like && order == Order::A) order = follows(*like);
  if (order == Order::F) {
    std::reverse(axes.begin(), axes.end());
  } else if (order == Order::K && like && like->ndim() == n) {
    const Dims& s = like->strides();
    std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t x, std::int64_t y) {
      return std::abs(s[static_cast<int>(x)]) > std::abs(s[static_cast<int>(y)]);
    });
  }
  back_ = Dims(n, 0);
  for (int i = 0; i < n; ++i) {
    allocated_.push_back(shape[static_cast<int>(axes[i])]);
    back_[static_cast<int>(axes[i])] = i;
  }
  plain_ = std::is_sorted(axes.begin(), axes.end());
}

array Layout::view(array a) const { return plain_ ? a : a.transpose(back_); }

Order follows(const array& a) { return a.is_f_contiguous() && !a.is_c_contiguous() ? Order::F : Order::C; }

bool lies_in(const array& a, Order order) {
  if (order == Order::F) return a.is_f_contiguous();
  return a.is_c_contiguous() || (order != Order::C && a.is_f_contiguous());
}

}  // namespace api

array array::copy(Order order) const { return astype(dtype_, {.order = order}); }

array array::astype(DType t, const astype_options& o) const {
  graph::Lock lock;
  if (!can_cast(dtype_, t, o.casting))
    throw TypeError("[astype] not allowed by casting='" + std::string(name(o.casting)) + "'; got " +
                    std::string(name(dtype_)) + " to " + std::string(name(t)));
  if (!o.copy && t == dtype_ && (o.order == Order::K || o.order == Order::A || api::lies_in(*this, o.order)))
    return *this;
  // Dense already in that order, or without a choice of one: the values can wait, and no memory is taken for them yet.
  if (ndim() == 1 || api::lies_in(*this, o.order)) return astype(t);
  const api::Layout layout(shape(), o.order, this);
  array out = layout.view(empty(layout.allocated(), t));
  out.assign(*this);
  return out;
}

array array::reshape(const Dims& shape, Order order) const {
  if (order == Order::A) order = api::follows(*this);
  if (order != Order::F) return reshape(shape);
  Dims back(shape);
  std::reverse(back.begin(), back.end());
  return T().reshape(back).T();
}

array array::ravel(Order order) const { return reshape({-1}, order == Order::K ? Order::A : order); }

array array::flatten(Order order) const {
  array r = ravel(order);
  return r.cell() == cell() ? r.copy(Order::C) : r;
}

}  // namespace galop
