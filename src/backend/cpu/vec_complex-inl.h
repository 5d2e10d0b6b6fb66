// The leaf functions of ops.def over complex lanes, by NumPy's formulas and NumPy's order (lexicographic, with its
// rules for NaN).
#if defined(GALOP_CPU_VEC_COMPLEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GALOP_CPU_VEC_COMPLEX_INL_H_
#undef GALOP_CPU_VEC_COMPLEX_INL_H_
#else
#define GALOP_CPU_VEC_COMPLEX_INL_H_
#endif

#include "backend/cpu/vec_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace galop::cpu::HWY_NAMESPACE {

template <class T>
GALOP_INLINE C<T> select(MaskOf<T> m, C<T> a, C<T> b) {
  return {select(m, a.re, b.re), select(m, a.im, b.im)};
}

template <class T>
GALOP_INLINE C<T> operator+(C<T> a, C<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
GALOP_INLINE C<T> operator-(C<T> a, C<T> b) {
  return {a.re - b.re, a.im - b.im};
}
/// NumPy fuses the second product with the sum where the processor can; so do we, and plainly on SSE4 as NumPy there.
template <class T>
GALOP_INLINE C<T> operator*(C<T> a, C<T> b) {
  return {fused(a.re, b.re, negative(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
}
/// Smith's method.
template <class T>
GALOP_INLINE C<T> operator/(C<T> a, C<T> b) {
  const V<T> zero(T(0));
  const V<T> abs_re = absolute(b.re);
  const V<T> abs_im = absolute(b.im);
  const MaskOf<T> by_re = abs_re >= abs_im;
  const V<T> large = select(by_re, b.re, b.im);
  const V<T> small = select(by_re, b.im, b.re);
  const V<T> ratio = small / large;
  const V<T> scale = V<T>(T(1)) / (large + small * ratio);
  const V<T> p = select(by_re, a.im, a.re) * ratio;
  const V<T> q = select(by_re, a.re, a.im) * ratio;
  const V<T> re = select(by_re, a.re + p, p + a.im) * scale;
  const V<T> im = select(by_re, a.im - q, q - a.re) * scale;
  const MaskOf<T> by_zero = (abs_re == zero) & (abs_im == zero);
  return {select(by_zero, a.re / abs_re, re), select(by_zero, a.im / abs_re, im)};
}

#define GALOP_ORDER(op)                                                                                             \
  template <class T>                                                                                                \
  GALOP_INLINE MaskOf<T> operator op(C<T> a, C<T> b) {                                                              \
    return ((a.re != b.re) & (a.re op b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im op b.im)); \
  }
GALOP_ORDER(<)
GALOP_ORDER(<=)
GALOP_ORDER(>)
GALOP_ORDER(>=)
#undef GALOP_ORDER
template <class T>
GALOP_INLINE MaskOf<T> operator==(C<T> a, C<T> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class T>
GALOP_INLINE MaskOf<T> operator!=(C<T> a, C<T> b) {
  return (a.re != b.re) | (a.im != b.im);
}

template <class T>
GALOP_INLINE MaskOf<T> truth(C<T> x) {
  return truth(x.re) | truth(x.im);
}
template <class T>
GALOP_INLINE MaskOf<T> isnan(C<T> x) {
  return isnan(x.re) | isnan(x.im);
}
template <class T>
GALOP_INLINE MaskOf<T> isinf(C<T> x) {
  return isinf(x.re) | isinf(x.im);
}
template <class T>
GALOP_INLINE MaskOf<T> isfinite(C<T> x) {
  return isfinite(x.re) & isfinite(x.im);
}
template <class T>
GALOP_INLINE C<T> maximum(C<T> x, C<T> y) {
  return select(isnan(x) | (x >= y), x, y);
}
template <class T>
GALOP_INLINE C<T> minimum(C<T> x, C<T> y) {
  return select(isnan(x) | (x <= y), x, y);
}
template <class T>
GALOP_INLINE C<T> fmax(C<T> x, C<T> y) {
  return select(isnan(y) | (x >= y), x, y);
}
template <class T>
GALOP_INLINE C<T> fmin(C<T> x, C<T> y) {
  return select(isnan(y) | (x <= y), x, y);
}
/// NumPy's clip has an order of its own, in which a NaN beside a decisive real part does not count.
template <class T>
GALOP_INLINE C<T> clip(C<T> x, C<T> low, C<T> high) {
  const auto below = [](C<T> a, C<T> b) HWY_ATTR { return (a.re < b.re) | ((a.re == b.re) & (a.im < b.im)); };
  const C<T> r = select(isnan(x) | below(low, x), x, low);
  return select(isnan(r) | below(r, high), r, high);
}

template <class T>
GALOP_INLINE C<T> negative(C<T> x) {
  return {negative(x.re), negative(x.im)};
}
template <class T>
GALOP_INLINE C<T> conjugate(C<T> x) {
  return {x.re, negative(x.im)};
}
template <class T>
GALOP_INLINE C<T> rint(C<T> x) {
  return {rint(x.re), rint(x.im)};
}
/// The modulus, scaled by the larger part so that no square overflows.
template <class T>
GALOP_INLINE V<T> absolute(C<T> x) {
  const V<T> a = absolute(x.re);
  const V<T> b = absolute(x.im);
  const V<T> large = select(a > b, a, b);
  const V<T> small = select(a > b, b, a);
  const MaskOf<T> plain = (large > V<T>(T(0))) & isfinite(large);
  const V<T> ratio = select(plain, small / large, V<T>(T(0)));
  V<T> r = large * sqrt(fused(ratio, ratio, V<T>(T(1))));
  r = select(isnan(x), a + b, r);
  return select(isinf(x), V<T>(std::numeric_limits<T>::infinity()), r);
}
template <class T>
GALOP_INLINE C<T> reciprocal(C<T> x) {
  const V<T> one(T(1));
  const MaskOf<T> by_re = absolute(x.im) <= absolute(x.re);
  const V<T> large = select(by_re, x.re, x.im);
  const V<T> small = select(by_re, x.im, x.re);
  const V<T> ratio = small / large;
  const V<T> d = select(by_re, large + small * ratio, small * ratio + large);
  return {select(by_re, one, ratio) / d, negative(select(by_re, ratio, one)) / d};
}

}  // namespace galop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
