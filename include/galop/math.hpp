// Rounding, comparison of whole arrays, differences and what else NumPy makes of element-wise operations.
#pragma once

#include <limits>

#include "galop/ufunc.hpp"

namespace galop {

/// Rounded to a number of decimals, ties to even; negative ones round to tens, hundreds, …
array round(const array& a, int decimals = 0);
/// Rounded towards zero.
array fix(const array& a);

/// Whether |a - b| <= atol + rtol * |b|, element by element.
array isclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether isclose holds for all elements. Evaluates.
bool allclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
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
array isposinf(const array& a);
array isneginf(const array& a);
/// A copy with NaN and infinities replaced; by default with the greatest and least number of the dtype.
array nan_to_num(const array& a, double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {});

/// n-th differences of neighbours along an axis. Throws ValueError for a negative n.
array diff(const array& a, int n = 1, int axis = -1);
/// Integral by the trapezoidal rule over steps of `dx`, or over the abscissas `x`.
array trapezoid(const array& y, double dx = 1.0, int axis = -1);
array trapezoid(const array& y, const array& x, int axis = -1);
/// sin(pi x) / (pi x), 1 at 0.
array sinc(const array& x);
/// Cross products of vectors of three elements along the last axis. Throws ValueError for other lengths.
array cross(const array& a, const array& b);

}  // namespace galop
