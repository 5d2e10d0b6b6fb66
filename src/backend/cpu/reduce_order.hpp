// The order in which NumPy adds: how its buffered iterator cuts a folded array into the runs that its loops see.
#pragma once

#include <cstdint>

#include "galop/shape.hpp"

namespace galop::cpu {

/// The elements of a domain in its flat order, cut into units of `unit` elements that lie within one result each; a
/// unit into runs of `run` elements, the last one shorter. NumPy folds the runs of a result one after the other, a
/// sum's runs pairwise inside.
struct RunOrder {
  std::int64_t unit;
  std::int64_t run;
};

/// The cut for an array of `shape` (from the outermost axis in memory to the innermost, which is folded) with `strides`
/// in bytes. Bit k of `folded` says that axis k is folded. `buffered`: the iterator must copy, because the loop's dtype
/// is another or the array is not aligned. Holds for NumPy 2.3 and 2.4; depends on nothing else.
RunOrder run_order(const Dims& shape, const Dims& strides, std::uint64_t folded, bool buffered);

/// Where the pairwise sum of n > 128 elements divides them: the count of the first part.
constexpr std::int64_t pairwise_split(std::int64_t n, bool is_complex) {
  return is_complex ? (n - n % 8) / 2 : n / 2 - n / 2 % 8;
}

}  // namespace galop::cpu
