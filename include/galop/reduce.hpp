// Reductions, as NumPy's functions of the same name. Results are 0-d arrays when every axis is reduced, so that nothing
// has to wait.
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
array all(const array& a, const reduce_options& o = {});
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

}  // namespace galop
