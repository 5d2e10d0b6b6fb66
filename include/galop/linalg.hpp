// Products of matrices and vectors through BLAS: NumPy's functions of the same name.
#pragma once

#include "galop/array.hpp"

namespace galop {

/// Matrix product over the last two axes, batches broadcast. Throws ValueError when the inner extents differ.
array matmul(const array& a, const array& b, const array* out = nullptr);
array dot(const array& a, const array& b, const array* out = nullptr);
/// Sum of conj(a) * b over an axis.
array vecdot(const array& a, const array& b, int axis = -1);
array matvec(const array& a, const array& b);
array vecmat(const array& a, const array& b);
/// Sum of products over the given axes of each; `axes` as numbers of last / first axes in the second form.
array tensordot(const array& a, const array& b, const Dims& axes_a, const Dims& axes_b);
array tensordot(const array& a, const array& b, int axes = 2);
array inner(const array& a, const array& b);
/// a.ravel()[:, None] * b.ravel()[None, :].
array outer(const array& a, const array& b);

}  // namespace galop
