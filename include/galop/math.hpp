// Rounding, comparison of whole arrays, differences and what else NumPy makes of element-wise operations.
#pragma once

#include <limits>

#include "galop/ufunc.hpp"

namespace galop {

/// Rounded to a number of decimals, ties to even; negative ones round to tens, hundreds, … Of bools float16.
array round(const array& a, int decimals = 0, const array* out = nullptr);
/// Rounded towards zero.
array fix(const array& a);

/// Whether |a - b| <= atol + rtol * |b|, element by element; all four broadcast.
array isclose(const array& a, const array& b, const arg& rtol = 1e-5, const arg& atol = 1e-8, bool equal_nan = false);
/// Whether isclose holds for all elements. Evaluates.
bool allclose(const array& a, const array& b, const arg& rtol = 1e-5, const arg& atol = 1e-8, bool equal_nan = false);
/// Whether shapes and all elements are equal. Evaluates.
bool array_equal(const array& a, const array& b, bool equal_nan = false);
/// The same after broadcasting.
bool array_equiv(const array& a, const array& b);

/// Real and imaginary part: views for a complex array.
inline array real(const array& a) { return a.real(); }
inline array imag(const array& a) { return a.imag(); }
/// Angle of complex numbers in radians, or in degrees.
array angle(const array& z, bool deg = false);
/// Where the imaginary part is not zero, and where it is.
array iscomplex(const array& a);
array isreal(const array& a);
array isposinf(const array& a, const array* out = nullptr);
array isneginf(const array& a, const array* out = nullptr);
/// NaN and infinities replaced in a copy, or in the array itself; infinities by default with the greatest and least
/// number of the dtype. Replacements are numbers or arrays that broadcast.
array nan_to_num(const array& a, const arg& nan = 0.0, const std::optional<arg>& posinf = {},
                 const std::optional<arg>& neginf = {}, bool copy = true);

/// n-th differences of neighbours along an axis, of bools whether they differ; before them the axis grows by
/// `prepend` and `append`, arrays that fit or 0-d ones. Throws ValueError for a negative n or a 0-d array.
array diff(const array& a, int n = 1, int axis = -1, const array* prepend = nullptr, const array* append = nullptr);
/// Integral by the trapezoidal rule over steps of `dx`, or over the abscissas `x`, 1-d or of the shape of `y`.
array trapezoid(const array& y, double dx = 1.0, int axis = -1);
array trapezoid(const array& y, const array& x, int axis = -1);
/// The same over steps of their own lengths, which broadcast with the pairs of neighbours.
array trapezoid_over(const array& y, const arg& steps, int axis = -1);
/// sin(pi x) / (pi x), 1 at 0.
array sinc(const array& x);
/// Cross products of vectors of three elements along the axes `axisa` and `axisb`; those of the result lie along
/// `axisc`. Throws ValueError for other lengths.
array cross(const array& a, const array& b, int axisa = -1, int axisb = -1, int axisc = -1);

}  // namespace galop
