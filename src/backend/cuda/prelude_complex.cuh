// The leaf functions over complex numbers, appended to the prelude for kernels that have them: NumPy's formulas for
// arithmetic and order, and C's for the rest. complex<float> functions are computed in double.
namespace g {

template <class T>
using Z = complex<T>;
template <class T>
inline Z<T> operator+(Z<T> a, Z<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
inline Z<T> operator-(Z<T> a, Z<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
inline Z<T> operator*(Z<T> a, Z<T> b) {
  return {fused(a.re, b.re, negative(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
}
// Smith's method.
template <class T>
inline Z<T> operator/(Z<T> a, Z<T> b) {
  const T abs_re = absolute(b.re), abs_im = absolute(b.im);
  if (abs_re == 0 && abs_im == 0) return {a.re / abs_re, a.im / abs_im};
  const bool by_re = abs_re >= abs_im;
  const T large = by_re ? b.re : b.im, small = by_re ? b.im : b.re;
  const T ratio = small / large;
  const T scale = T(1) / (large + small * ratio);
  const T p = (by_re ? a.im : a.re) * ratio, q = (by_re ? a.re : a.im) * ratio;
  return {(by_re ? a.re + p : p + a.im) * scale, (by_re ? a.im - q : q - a.re) * scale};
}
#define GALOP_ORDER(op)                                                                                      \
  template <class T>                                                                                         \
  inline bool operator op(Z<T> a, Z<T> b) {                                                                  \
    return (a.re != b.re && a.re op b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im op b.im); \
  }
GALOP_ORDER(<)
GALOP_ORDER(<=) GALOP_ORDER(>) GALOP_ORDER(>=)
#undef GALOP_ORDER
    template <class T>
    inline bool operator==(Z<T> a, Z<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
inline bool operator!=(Z<T> a, Z<T> b) {
  return a.re != b.re || a.im != b.im;
}
template <class T>
inline Mask truth(Z<T> x) {
  return {x.re != 0 || x.im != 0};
}
template <class T>
inline bool isnan(Z<T> x) {
  return isnan(x.re) || isnan(x.im);
}
template <class T>
inline bool isinf(Z<T> x) {
  return isinf(x.re) || isinf(x.im);
}
template <class T>
inline bool isfinite(Z<T> x) {
  return isfinite(x.re) && isfinite(x.im);
}
template <class T>
inline Z<T> maximum(Z<T> x, Z<T> y) {
  return isnan(x) || x >= y ? x : y;
}
template <class T>
inline Z<T> minimum(Z<T> x, Z<T> y) {
  return isnan(x) || x <= y ? x : y;
}
template <class T>
inline Z<T> fmax(Z<T> x, Z<T> y) {
  return isnan(y) || x >= y ? x : y;
}
template <class T>
inline Z<T> fmin(Z<T> x, Z<T> y) {
  return isnan(y) || x <= y ? x : y;
}
// NumPy's clip has an order of its own, in which a NaN beside a decisive real part does not count.
template <class T>
inline bool below(Z<T> a, Z<T> b) {
  return a.re < b.re || (a.re == b.re && a.im < b.im);
}
template <class T>
inline Z<T> clip(Z<T> x, Z<T> low, Z<T> high) {
  const Z<T> r = isnan(x) || below(low, x) ? x : low;
  return isnan(r) || below(r, high) ? r : high;
}
template <class T>
inline Z<T> negative(Z<T> x) {
  return {negative(x.re), negative(x.im)};
}
template <class T>
inline Z<T> conjugate(Z<T> x) {
  return {x.re, negative(x.im)};
}
template <class T>
inline Z<T> rint(Z<T> x) {
  return {rint(x.re), rint(x.im)};
}
// The modulus, scaled by the larger part so that no square overflows.
template <class T>
inline T absolute(Z<T> x) {
  const T a = absolute(x.re), b = absolute(x.im);
  if (isinf(x)) return from_bits(inf_bits(T()));
  if (isnan(x)) return a + b;
  const T large = a > b ? a : b, small = a > b ? b : a;
  const T ratio = large > 0 ? small / large : T(0);
  return large * sqrt(fused(ratio, ratio, T(1)));
}
template <class T>
inline Z<T> reciprocal(Z<T> x) {
  const bool by_re = absolute(x.im) <= absolute(x.re);
  const T large = by_re ? x.re : x.im, small = by_re ? x.im : x.re;
  const T ratio = small / large;
  const T d = by_re ? large + small * ratio : small * ratio + large;
  return {(by_re ? T(1) : ratio) / d, negative(by_re ? ratio : T(1)) / d};
}
template <class T>
inline Z<T> sign(Z<T> x) {
  const T modulus = hypot(x.re, x.im);
  const T nan = nan_of(T());
  if (isnan(modulus) || (isinf(x.re) && isinf(x.im))) return {nan, nan};
  if (isinf(x.re)) return {copysign(T(1), x.re), T(0)};
  if (isinf(modulus)) return {T(0), copysign(T(1), x.im)};
  if (modulus == 0) return {T(0), T(0)};
  return {x.re / modulus, x.im / modulus};
}

using C = complex<double>;
inline C times_i(C z) { return {-z.im, z.re}; }
inline C over_i(C z) { return {z.im, -z.re}; }
inline C exp(C z) {
  if (z.im == 0) return {exp(z.re), z.im};
  if (isinf(z.re) && !isfinite(z.im)) return z.re < 0 ? C{0, copysign(0.0, z.im)} : C{z.re, nan_of(0.0)};
  const double c = cos(z.im), s = sin(z.im);
  if (z.re > 709 && isfinite(z.re)) {  // exp overflows before the product does
    const double half = exp(z.re * 0.5);
    return {half * c * half, half * s * half};
  }
  const double e = exp(z.re);
  return {e * c, e * s};
}
inline double log_modulus(double x, double y) {
  double a = absolute(x), b = absolute(y);
  if (a < b) {
    const double t = a;
    a = b;
    b = t;
  }
  if (isinf(a)) return a;
  if (a > 0.5 && a < 2) return 0.5 * log1p(fused(b, b, (a - 1) * (a + 1)));
  if (a > 0x1p1000) return log(hypot(a * 0x1p-10, b * 0x1p-10)) + 6.931471805599453094;
  if (a < 0x1p-1000) return log(hypot(a * 0x1p80, b * 0x1p80)) - 55.45177444479562475;
  return log(hypot(a, b));
}
inline C log(C z) { return {log_modulus(z.re, z.im), arctan2(z.im, z.re)}; }
inline C sqrt(C z) {
  if (isinf(z.im)) return {absolute(z.im), z.im};
  if (isinf(z.re)) {
    if (z.re > 0) return {z.re, isnan(z.im) ? z.im : copysign(0.0, z.im)};
    return {isnan(z.im) ? z.im : 0.0, copysign(absolute(z.re), z.im)};
  }
  if (z.re == 0 && z.im == 0) return {0.0, z.im};
  const double a = absolute(z.re), b = absolute(z.im);
  const bool large = a > 0x1p1000 || b > 0x1p1000, small = a < 0x1p-960 && b < 0x1p-960;
  const double up = large ? 0x1p-4 : small ? 0x1p100 : 1.0, down = large ? 4.0 : small ? 0x1p-50 : 1.0;
  const double r = sqrt(0.5 * (a * up + hypot(a * up, b * up)));
  const double other = 0.5 * (b * up / r) * down;
  return z.re >= 0 ? C{r * down, copysign(other, z.im)} : C{other, copysign(r * down, z.im)};
}
inline double half_exp(double x) {  // exp(x) / 2 where exp(x) may overflow
  const double half = exp(x * 0.5);
  return half * 0.5 * half;
}
inline C sinh(C z) {
  if (z.im == 0) return {sinh(z.re), z.im};
  if (z.re == 0) return {z.re, sin(z.im)};
  if (isinf(z.re) && !isfinite(z.im)) return {z.re, nan_of(0.0)};
  const double a = absolute(z.re);
  const double c = a > 700 ? half_exp(a) : cosh(z.re), s = a > 700 ? copysign(c, z.re) : sinh(z.re);
  return {s * cos(z.im), c * sin(z.im)};
}
inline C cosh(C z) {
  if (z.im == 0) return {cosh(z.re), z.re == 0 || isnan(z.re) ? z.im : copysign(z.im, z.re) * (signbit(z.im) ? -1 : 1)};
  if (z.re == 0) return {cos(z.im), isfinite(z.im) ? z.re * sin(z.im) : 0.0};
  if (isinf(z.re) && !isfinite(z.im)) return {absolute(z.re), nan_of(0.0)};
  const double a = absolute(z.re);
  const double c = a > 700 ? half_exp(a) : cosh(z.re), s = a > 700 ? copysign(c, z.re) : sinh(z.re);
  return {c * cos(z.im), s * sin(z.im)};
}
inline C tanh(C z) {
  if (z.im == 0) return {tanh(z.re), z.im};
  if (isinf(z.re)) return {copysign(1.0, z.re), copysign(0.0, isfinite(z.im) ? sin(2 * z.im) : 0.0)};
  const double a = absolute(z.re);
  if (a > 22) return {copysign(1.0, z.re), 4 * sin(z.im) * cos(z.im) * exp(-2 * a)};
  const double t = tan(z.im), s = sinh(z.re), rho = sqrt(1 + s * s), beta = 1 + t * t;
  if (isinf(t)) return {rho / s, 1 / t};
  const double d = 1 + beta * s * s;
  return {beta * rho * s / d, t / d};
}
inline C sin(C z) { return over_i(sinh(times_i(z))); }
inline C cos(C z) { return cosh(times_i(z)); }
inline C tan(C z) { return over_i(tanh(times_i(z))); }
// An infinity beside a NaN: the result is infinite all the same (Annex G), which the formulas lose.
inline bool infinite_and_nan(C z) { return (isinf(z.re) && isnan(z.im)) || (isnan(z.re) && isinf(z.im)); }
inline double infinity_like(double x) { return copysign(from_bits((u64)0x7ff0000000000000ull), x); }
// So far out that the functions are logarithms of 2 z, whose squares would overflow.
inline bool is_far(C z) {
  return !isnan(z.re) && !isnan(z.im) && (absolute(z.re) > 0x1p500 || absolute(z.im) > 0x1p500);
}
inline double log_of_twice(C z) { return log_modulus(z.re, z.im) + 0.693147180559945309417232121458176568; }
// Kahan's formulas.
inline C arcsin(C z) {
  if (infinite_and_nan(z)) return {nan_of(0.0), infinity_like(z.im)};
  if (is_far(z)) return {arctan2(z.re, absolute(z.im)), copysign(log_of_twice(z), z.im)};
  const C p = sqrt(C{1 + z.re, z.im}), m = sqrt(C{1 - z.re, -z.im});
  return {arctan2(z.re, m.re * p.re - m.im * p.im), arcsinh(m.re * p.im - m.im * p.re)};
}
inline C arccos(C z) {
  if (infinite_and_nan(z)) return {nan_of(0.0), -infinity_like(z.im)};
  if (is_far(z)) return {arctan2(absolute(z.im), z.re), -copysign(log_of_twice(z), z.im)};
  const C p = sqrt(C{1 + z.re, z.im}), m = sqrt(C{1 - z.re, -z.im});
  return {2 * arctan2(m.re, p.re), arcsinh(p.re * m.im - p.im * m.re)};
}
inline C arccosh(C z) {
  if (infinite_and_nan(z)) return {infinity_like(1.0), nan_of(0.0)};
  if (is_far(z)) return {log_of_twice(z), arctan2(z.im, z.re)};
  const C p = sqrt(C{z.re + 1, z.im}), m = sqrt(C{z.re - 1, z.im});
  return {arcsinh(m.re * p.re + m.im * p.im), 2 * arctan2(m.im, p.re)};
}
inline C arcsinh(C z) { return over_i(arcsin(times_i(z))); }
inline C arctanh(C z) {
  const double x = absolute(z.re), y = absolute(z.im);
  const double half_pi = 1.570796326794896619231321691639751442;
  if (x > 0x1p500 || y > 0x1p500) {
    const double large = x > y ? x : y, small = x > y ? y : x, ratio = isinf(large) ? 0 : small / large;
    const double re = isinf(large) ? 0 : (x > y ? 1 : ratio) / (large * (1 + ratio * ratio));
    return {copysign(re, z.re), copysign(half_pi, z.im)};
  }
  const double re = 0.25 * log1p(4 * x / ((1 - x) * (1 - x) + y * y));
  const double im = 0.5 * arctan2(2 * y, (1 - x) * (1 + x) - y * y);
  return {copysign(re, z.re), copysign(im, z.im)};
}
inline C arctan(C z) { return over_i(arctanh(times_i(z))); }
inline C exp2(C z) {
  const double ln2 = 0.693147180559945309417232121458176568;
  return exp(C{z.re * ln2, z.im * ln2});
}
inline C log2(C z) {
  const C r = log(z);
  return {r.re * 1.442695040888963407359924681001892137, r.im * 1.442695040888963407359924681001892137};
}
inline C log10(C z) {
  const C r = log(z);
  return {r.re * 0.434294481903251827651128918916605082, r.im * 0.434294481903251827651128918916605082};
}
inline C log1p(C z) { return {log_modulus(z.re + 1, z.im), arctan2(z.im, z.re + 1)}; }
inline C expm1(C z) {
  const double half = sin(z.im / 2);
  return {expm1(z.re) * cos(z.im) - 2 * half * half, exp(z.re) * sin(z.im)};
}
#define GALOP_BY_DOUBLE(name)                        \
  inline complex<float> name(complex<float> x) {     \
    const C r = name(C{(double)x.re, (double)x.im}); \
    return {(float)r.re, (float)r.im};               \
  }
GALOP_BY_DOUBLE(exp)
GALOP_BY_DOUBLE(exp2) GALOP_BY_DOUBLE(expm1) GALOP_BY_DOUBLE(log) GALOP_BY_DOUBLE(log2) GALOP_BY_DOUBLE(log10)
    GALOP_BY_DOUBLE(log1p) GALOP_BY_DOUBLE(sqrt) GALOP_BY_DOUBLE(sin) GALOP_BY_DOUBLE(cos) GALOP_BY_DOUBLE(tan)
        GALOP_BY_DOUBLE(sinh) GALOP_BY_DOUBLE(cosh) GALOP_BY_DOUBLE(tanh) GALOP_BY_DOUBLE(arcsin)
            GALOP_BY_DOUBLE(arccos) GALOP_BY_DOUBLE(arctan) GALOP_BY_DOUBLE(arcsinh) GALOP_BY_DOUBLE(arccosh)
                GALOP_BY_DOUBLE(arctanh)
#undef GALOP_BY_DOUBLE

    // NumPy multiplies out small integer exponents.
    template <class T>
    inline Z<T> times(Z<T> a, Z<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// C's product (Annex G): an infinite factor makes an infinite product where the parts alone give NaN.
inline double boxed(double x) { return copysign(isinf(x) ? 1.0 : 0.0, x); }
inline double unsigned_nan(double x) { return isnan(x) ? copysign(0.0, x) : x; }
inline C product_of(C a, C b) {
  const double ac = a.re * b.re, bd = a.im * b.im, ad = a.re * b.im, bc = a.im * b.re;
  const C r{ac - bd, ad + bc};
  if (!isnan(r.re) || !isnan(r.im)) return r;
  const bool a_infinite = isinf(a.re) || isinf(a.im), b_infinite = isinf(b.re) || isinf(b.im);
  const bool part_infinite = isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc);
  if (!a_infinite && !b_infinite && !part_infinite) return r;
  if (a_infinite) a = {boxed(a.re), boxed(a.im)};
  if (b_infinite) b = {boxed(b.re), boxed(b.im)};
  a = {unsigned_nan(a.re), unsigned_nan(a.im)};
  b = {unsigned_nan(b.re), unsigned_nan(b.im)};
  const double infinity = from_bits((u64)0x7ff0000000000000ull);
  return {infinity * (a.re * b.re - a.im * b.im), infinity * (a.re * b.im + a.im * b.re)};
}
template <class T>
inline Z<T> power_of(Z<T> a, Z<T> b) {
  const C l = log(C{(double)a.re, (double)a.im});
  const C r = exp(product_of({(double)b.re, (double)b.im}, l));
  return {(T)r.re, (T)r.im};
}
template <class T>
inline Z<T> power(Z<T> x, Z<T> y) {
  if (y.re == 0 && y.im == 0) return {T(1), T(0)};
  if (x.re == 0 && x.im == 0) return y.re > 0 ? Z<T>{T(0), T(0)} : Z<T>{nan_of(T()), nan_of(T())};
  if (!(y.im == 0 && y.re > -100 && y.re < 100 && y.re == trunc(y.re))) return power_of(x, y);
  const int n = (int)y.re;
  if (n == 1) return x;
  if (n == 2) return times(x, x);
  if (n == 3) return times(x, times(x, x));
  Z<T> result{T(1), T(0)};
  for (int left = n < 0 ? -n : n;;) {
    if (left & 1) result = times(result, x);
    left >>= 1;
    if (left == 0) break;
    x = times(x, x);
  }
  return n < 0 ? Z<T>{T(1), T(0)} / result : result;
}

}  // namespace g
