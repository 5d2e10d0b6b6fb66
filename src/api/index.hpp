// What an index expression selects: a view, or with arrays among its parts a list of places.
#pragma once

#include <span>

#include "galop/array.hpp"

namespace galop::api {

/// The elements that a[parts] means. Without arrays among the parts, `view` is the result. With them, the index arrays
/// were broadcast to `picked` and checked; picked place i holds the elements of `view` moved by offsets[i] bytes.
struct Selection {
  bool has_arrays = false;
  bool has_scalar_array = false;  // a 0-d integer array among the parts: NumPy copies the view
  View view;                      // of the axes that are indexed by slices and newaxis
  Dims picked;                    // the index arrays' common shape
  int place = 0;                  // where the axes of `picked` stand among those of the view
  std::int64_t count = 0;         // of picked places
  Dims picked_order;              // with `keep_order`: offsets run through the axes of `picked` in this order

  Dims shape() const;
  /// Of each picked place, in C order of `picked`: an address on `d`.
  const std::int64_t* offsets(Device d) const;

  array places;  // int64: what offsets() gives out
};

/// Throws IndexError. `keep_order`: the picked axes are listed in the index arrays' memory order when nothing else is
/// left, as NumPy lays the result out; otherwise in C order.
Selection select(const array& a, std::span<const index> parts, bool keep_order = false);

}  // namespace galop::api
