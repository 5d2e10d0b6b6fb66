// Products of matrices and vectors through BLAS: NumPy's functions of the same name.
#pragma once

#include "galop/array.hpp"

namespace galop {

/// How a GPU multiplies float32 and complex64: in full float32, or with tensor cores that round each factor to 11
/// significant bits (relative error about 1e-3, several times as fast). The CPU always multiplies in full.
enum class Precision : std::uint8_t { full, tf32 };

/// "full" or "tf32". Throws ValueError for another text.
Precision parse_precision(std::string_view text);
/// What this thread's products use; full at first.
Precision precision();
void set_precision(Precision p);

/// The products of this thread use the precision while it lives.
class precision_scope {
 public:
  explicit precision_scope(Precision p) : before_(precision()) { set_precision(p); }
  ~precision_scope() { set_precision(before_); }
  precision_scope(const precision_scope&) = delete;
  precision_scope& operator=(const precision_scope&) = delete;

 private:
  Precision before_;
};

/// Matrix product over the last two axes, batches broadcast. Throws ValueError when the inner extents differ.
array matmul(const array& a, const array& b, const array* out = nullptr);
array dot(const array& a, const array& b, const array* out = nullptr);
/// Sum of conj(a) * b over an axis.
array vecdot(const array& a, const array& b, int axis = -1, const array* out = nullptr);
/// The same over all elements.
inline array vdot(const array& a, const array& b) { return vecdot(a.ravel(), b.ravel()); }
array matvec(const array& a, const array& b, const array* out = nullptr);
array vecmat(const array& a, const array& b, const array* out = nullptr);
/// Sum of products over the given axes of each; `axes` as numbers of last / first axes in the second form.
array tensordot(const array& a, const array& b, const Dims& axes_a, const Dims& axes_b);
array tensordot(const array& a, const array& b, int axes = 2);
array inner(const array& a, const array& b);
/// a.ravel()[:, None] * b.ravel()[None, :].
array outer(const array& a, const array& b, const array* out = nullptr);

}  // namespace galop
