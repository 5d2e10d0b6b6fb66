// Reductions, running folds and the statistics made of them, as NumPy's functions of the same name. Results are 0-d
// arrays when every axis is reduced, so that nothing has to wait.
#pragma once

#include "galop/ufunc.hpp"

namespace galop {

/// Sum of elements; integers accumulate in 64 bits, float16 in float32. The same bits as NumPy.
array sum(const array& a, const reduce_options& o = {});
array prod(const array& a, const reduce_options& o = {});
/// Throw ValueError when a reduced axis is empty and there is no `initial`.
array min(const array& a, const reduce_options& o = {});
array max(const array& a, const reduce_options& o = {});
array any(const array& a, const reduce_options& o = {});
/// `all(a)`: whether all elements are true. As a part of an index, every element of its axis: `a(all, 0)`.
struct all_t {
  array operator()(const array& a, const reduce_options& o = {}) const;
  operator slice() const { return {}; }
};
inline constexpr all_t all;
/// Number of non-zero elements, int64.
array count_nonzero(const array& a, const reduce_options& o = {});
/// Means of integers are float64; of float16 accumulated in float32.
array mean(const array& a, const reduce_options& o = {});
/// Mean squared distance from the mean over N - ddof, real also for complex input.
array var(const array& a, const reduce_options& o = {}, double ddof = 0);
array std_(const array& a, const reduce_options& o = {}, double ddof = 0);
/// Position of the first least / greatest element (NaN counts as both), int64; flat position when `axis` is unset.
array argmin(const array& a, std::optional<int> axis = {}, bool keepdims = false);
array argmax(const array& a, std::optional<int> axis = {}, bool keepdims = false);

/// Greatest minus least element.
array ptp(const array& a, const axes& axis = {}, bool keepdims = false, const array* out = nullptr);
/// Mean with weights of the shape of `a`, or of the axes averaged over; integers in float64. Throws TypeError when the
/// shapes differ and `axis` is unset, ValueError when weights do not fit, ZeroDivisionError when they sum to zero.
array average(const array& a, const array& weights, const axes& axis = {}, bool keepdims = false);
/// The averages, and what the weights of each sum to: NumPy's average(…, returned=True). Null: a weight of 1 for each.
std::pair<array, array> average_and_sum(const array& a, const array* weights = nullptr, const axes& axis = {},
                                        bool keepdims = false);
/// Running sums and products along an axis, or over all elements; integers in 64 bits.
array cumsum(const array& a, std::optional<int> axis = {}, std::optional<DType> dtype = {}, const array* out = nullptr);
array cumprod(const array& a, std::optional<int> axis = {}, std::optional<DType> dtype = {},
              const array* out = nullptr);
/// The array API's running folds, which with `include_initial` begin with 0 or 1. Throw ValueError when the axis is
/// unset and there is more than one.
array cumulative_sum(const array& x, std::optional<int> axis = {}, std::optional<DType> dtype = {},
                     bool include_initial = false, const array* out = nullptr);
array cumulative_prod(const array& x, std::optional<int> axis = {}, std::optional<DType> dtype = {},
                      bool include_initial = false, const array* out = nullptr);
/// Sum of a diagonal.
array trace(const array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1, std::optional<DType> dtype = {},
            const array* out = nullptr);

/// The same with NaN left out. Of nothing but NaN, sums are 0, products 1, all else NaN.
array nansum(const array& a, const reduce_options& o = {});
array nanprod(const array& a, const reduce_options& o = {});
array nanmin(const array& a, const reduce_options& o = {});
array nanmax(const array& a, const reduce_options& o = {});
array nanmean(const array& a, const reduce_options& o = {});
array nanvar(const array& a, const reduce_options& o = {}, double ddof = 0);
array nanstd(const array& a, const reduce_options& o = {}, double ddof = 0);

}  // namespace galop
