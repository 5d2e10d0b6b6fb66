// Memory orders: what to allocate for 'C', 'F', 'A' or 'K', and how it is seen.
#pragma once

#include "galop/array.hpp"

namespace galop::api {

/// New memory of a shape: its axes from the slowest to the fastest, and the view of them in the shape's order.
class Layout {
 public:
  /// `like` is what A and K follow. Throws ValueError for these without one.
  Layout(const Dims& shape, Order order, const array* like = nullptr);
  /// The shape to allocate in C order.
  const Dims& allocated() const { return allocated_; }
  /// An array of that shape, seen in the shape that was asked for.
  array view(array a) const;

 private:
  Dims allocated_, back_;
  bool plain_;
};

/// What A means for an array: F where its columns lie together and its rows do not.
Order follows(const array& a);
/// Whether the elements are dense in that order already.
bool lies_in(const array& a, Order order);

}  // namespace galop::api
