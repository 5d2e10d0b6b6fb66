// exp, log, erf, sin and cos of float64 in few operations of that type, of which a kernel that calls them can do least
// at a time; and the forms for several elements, where one branch asks for all of them whether the compiler's own
// function is needed. Coefficients lie in constant memory: a literal costs two instructions, wherever it is used.
// tools/cuda_functions.py makes them. Self-contained, so that a test can compile it for the host.
namespace g {

__constant__ static double exp_terms[] = {
    0x1.000000000000ap-1,  0x1.55555555554fap-3,  0x1.555555555087ep-5,  0x1.1111111127bf5p-7,  0x1.6c16c18429db2p-10,
    0x1.a01a012a520ecp-13, 0x1.a0199a0cda9f8p-16, 0x1.71df255ecad33p-19, 0x1.28ad727a5035ep-22, 0x1.ad7f5bd157cf4p-26};
__constant__ static double log_terms[] = {0x1.5555555555592p-4,  0x1.999999997ff93p-7,  0x1.24924941d8e1bp-9,
                                          0x1.c71c521b99366p-12, 0x1.74663b6fdc3d5p-14, 0x1.39a20dfef4e7ep-16,
                                          0x1.2f0256353f354p-18};
__constant__ static double erf_above[] = {
    0x1.52403eb98feebp-4,  0x1.845047398dc40p-7,  0x1.c9e39cf008ec9p-9,  0x1.2943686baf7d3p-12, 0x1.0a50aab3d5d4dp-15,
    0x1.a943c04e075d0p-20, 0x1.6eb2fd309d9d8p-24, 0x1.37b681117204ap-29, 0x1.a868fdf16d922p-35, 0x1.d5bae5dcd5cc0p-47};
__constant__ static double erf_below[] = {
    0x1.5900000000000p+0,  0x1.5f1ff2dd181ccp-1,  0x1.5439f54035e9cp-3,  0x1.9e815edddc88ep-6,  0x1.608ec0f570bbbp-9,
    0x1.b66b210405274p-13, 0x1.93a50ff82e44ep-17, 0x1.0e0e6420da98ap-21, 0x1.e990195910094p-27, 0x1.e1c8ebddf256ep-33};
__constant__ static double sin_terms[] = {-0x1.5555555555548p-3, 0x1.111111110f7cap-7,   -0x1.a01a019bfd272p-13,
                                          0x1.71de35671c498p-19, -0x1.ae5e59fb900dcp-26, 0x1.5d8fa4737425cp-33};
__constant__ static double cos_terms[] = {0x1.5555555555551p-5,   -0x1.6c16c16c15a29p-10, 0x1.a01a019d68636p-16,
                                          -0x1.27e4f87c4aff9p-22, 0x1.1eea30ab883dcp-29,  -0x1.8fce9a4a5c571p-37};

#ifdef GALOP_ON_HOST  // where a test says what is not C++
#define GALOP_UNROLLED
#define GALOP_ROLLED
#else
#define GALOP_UNROLLED _Pragma("unroll")
#define GALOP_ROLLED _Pragma("unroll 1")
// Of the high word alone, to some 19 bits, the low word 0.
inline double near_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
inline double near_inverse_root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
#endif

// The high word as a float has the order of x, from 2^1017 on it is none. Comparing costs one instruction so, whatever
// x is, and false is the answer for what is not a number.
inline float high(double x) { return __int_as_float(__double2hiint(x)); }
inline float high_of(int word) { return __int_as_float(word); }

// High words wrap around where a number is none that the function is made for; then its result is not taken.
inline int wrapping_sum(int a, unsigned b) { return (int)((unsigned)a + b); }

template <int N>
inline double polynomial(double x, const double (&c)[N]) {
  double p = c[N - 1];
  GALOP_UNROLLED
  for (int i = N - 2; i >= 0; --i) p = ::fma(p, x, c[i]);
  return p;
}
// near = y * r, corrected to y / x by the third power of r's error; r is near 1 / x.
inline double refined(double near, double x, double r) {
  const double e = ::fma(-x, r, 1.0);
  return ::fma(near, ::fma(e, e, e), near);
}

// 2^k e^f with |f| <= log(2) / 2, while 2^k is normal.
inline bool exp_is_short(double x) { return fabsf(high(x)) < high_of(0x40862000); }  // 708
inline double short_exp(double x) {
  const double shifted = ::fma(x, 0x1.71547652b82fep+0, 0x1.8p52), k = shifted - 0x1.8p52;
  const double f = ::fma(k, -0x1.abc9e3b39803fp-56, ::fma(k, -0x1.62e42fefa39efp-1, x));
  const double e = ::fma(::fma(polynomial(f, exp_terms), f, 1.0), f, 1.0);
  return __hiloint2double(wrapping_sum(__double2hiint(e), (unsigned)__double2loint(shifted) << 20), __double2loint(e));
}
inline double exp(double x) { return exp_is_short(x) ? short_exp(x) : ::exp(x); }

// k log(2) + 2 artanh(v / 2) with v = 2 (m - 1) / (m + 1), x = 2^k m, sqrt(1/2) <= m < sqrt(2); for normal numbers.
inline bool log_is_short(double x) { return high(x) >= high_of(0x00100000); }
inline double short_log(double x) {
  const int k = wrapping_sum(__double2hiint(x), -0x3fe6a09eu) >> 20;
  const double m = __hiloint2double(wrapping_sum(__double2hiint(x), -((unsigned)k << 20)), __double2loint(x));
  const double middle = ::fma(m, 0.5, 0.5), r = near_reciprocal(middle);
  const double v = refined((m - 1) * r, middle, r), square = v * v;
  return ::fma((double)k, 0x1.62e42fefa39efp-1, ::fma(v, polynomial(square, log_terms) * square, v));
}
inline double log(double x) { return log_is_short(x) ? short_log(x) : ::log(x); }

// x (K + (z0 - z) P(z) / Q(z)), z = x^2, where the quotient vanishes as erf(x) nears 1.
inline bool erf_is_short(double x) { return fabsf(high(x)) < high_of(0x400e0000); }  // 3.75
inline double short_erf(double x) {
  const double z = x * x, q = polynomial(z, erf_below), r = near_reciprocal(q);
  const double p = (0x1.c1fff94ac5358p+3 - z) * polynomial(z, erf_above);
  return ::fma(x, 0x1.1111111111111p-2, x * refined(p * r, q, r));
}
inline double slow_erf(double x) { return fabs(x) >= 6 ? ::copysign(1.0, x) : ::erf(x); }
inline double erf(double x) { return erf_is_short(x) ? short_erf(x) : slow_erf(x); }

// The quarter turns in x and the angle f that remains, |f| <= pi / 4; 160 bits of pi / 2, up to 2^30.
inline bool sin_is_short(double x) { return fabsf(high(x)) < high_of(0x41d00000); }
inline int quarters(double x, double& f) {
  const double shifted = ::fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52), k = shifted - 0x1.8p52;
  f = ::fma(k, -0x1.921fb54442d18p+0, x);
  f = ::fma(k, -0x1.1a62633145c06p-54, f);  // all negative, which keeps -0
  f = ::fma(k, -0x1.c1cd129024e09p-107, f);
  return __double2loint(shifted);
}
inline double negated_if(int bit, double x) {
  return __hiloint2double(__double2hiint(x) ^ (bit << 31), __double2loint(x));
}
inline double sin_of_rest(double f, double square) {  // + 0 for the sign of f = -0
  return ::fma(::fma(polynomial(square, sin_terms), square, 0.0), f, f);
}
inline double cos_of_rest(double square) {
  return ::fma(::fma(polynomial(square, cos_terms), square, -0.5), square, 1.0);
}
inline void short_sincos(double x, double& sine, double& cosine) {
  double f;
  const int turns = quarters(x, f);
  const double square = f * f, s = sin_of_rest(f, square), c = cos_of_rest(square);
  sine = negated_if(turns >> 1, turns & 1 ? c : s);
  cosine = negated_if((turns + 1) >> 1, turns & 1 ? s : c);
}
inline double short_sin(double x) {
  double s, c;
  short_sincos(x, s, c);
  return s;
}
inline double short_cos(double x) {
  double s, c;
  short_sincos(x, s, c);
  return c;
}
inline double sin(double x) { return sin_is_short(x) ? short_sin(x) : ::sin(x); }
inline double cos(double x) { return sin_is_short(x) ? short_cos(x) : ::cos(x); }

// N elements side by side: y[k] of x[k], `slow` where `is_short(x[k], y[k])` does not hold; that loop is not unrolled,
// to have the compiler's long function once.
template <int N, class Is, class Short, class Slow>
inline void side_by_side(const double (&x)[N], double (&y)[N], Is is_short, Short short_of, Slow slow) {
  bool all = true;
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) {
    y[k] = short_of(x[k]);
    all &= is_short(x[k], y[k]);
  }
  if (all) return;
  double from[N], to[N];
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) from[k] = x[k], to[k] = y[k];
  GALOP_ROLLED
  for (int k = 0; k < N; ++k)
    if (!is_short(from[k], to[k])) to[k] = slow(from[k]);
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) y[k] = to[k];
}
template <int N>
inline void lanes_exp(const double (&x)[N], double (&y)[N]) {
  side_by_side(
      x, y, [](double v, double) { return exp_is_short(v); }, [](double v) { return short_exp(v); },
      [](double v) { return ::exp(v); });
}
template <int N>
inline void lanes_log(const double (&x)[N], double (&y)[N]) {
  side_by_side(
      x, y, [](double v, double) { return log_is_short(v); }, [](double v) { return short_log(v); },
      [](double v) { return ::log(v); });
}
template <int N>
inline void lanes_erf(const double (&x)[N], double (&y)[N]) {
  side_by_side(
      x, y, [](double v, double) { return erf_is_short(v); }, [](double v) { return short_erf(v); },
      [](double v) { return slow_erf(v); });
}
template <int N>
inline void lanes_sin(const double (&x)[N], double (&y)[N]) {
  side_by_side(
      x, y, [](double v, double) { return sin_is_short(v); }, [](double v) { return short_sin(v); },
      [](double v) { return ::sin(v); });
}
template <int N>
inline void lanes_cos(const double (&x)[N], double (&y)[N]) {
  side_by_side(
      x, y, [](double v, double) { return sin_is_short(v); }, [](double v) { return short_cos(v); },
      [](double v) { return ::cos(v); });
}
template <int N>
inline void lanes_sincos(const double (&x)[N], double (&sine)[N], double (&cosine)[N]) {
  bool all = true;
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) {
    short_sincos(x[k], sine[k], cosine[k]);
    all &= sin_is_short(x[k]);
  }
  if (all) return;
  double of[N], s[N], c[N];
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) of[k] = x[k], s[k] = sine[k], c[k] = cosine[k];
  GALOP_ROLLED
  for (int k = 0; k < N; ++k)
    if (!sin_is_short(of[k])) ::sincos(of[k], &s[k], &c[k]);
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) sine[k] = s[k], cosine[k] = c[k];
}

// Roots and quotients rounded once, by the compiler's own steps: also what it puts into the low word of the first guess
// counts, since a quotient half way between two numbers may hang on it.
inline bool sqrt_is_short(double x) { return high(x) >= high_of(0x03500000); }
inline double short_sqrt(double x) {
  const double start = near_inverse_root(x);
  const double n = __hiloint2double(__double2hiint(start), wrapping_sum(__double2hiint(x), -0x03500000u));
  const double e = ::fma(x, -(n * n), 1.0);
  const double r = ::fma(::fma(e, 0.375, 0.5), e * n, n), near = x * r;
  const double half = __hiloint2double(wrapping_sum(__double2hiint(r), -0x00100000u), __double2loint(r));
  return ::fma(::fma(-near, near, x), half, near);
}
template <int N>
inline void lanes_sqrt(const double (&x)[N], double (&y)[N]) {
  side_by_side(
      x, y, [](double v, double) { return sqrt_is_short(v); }, [](double v) { return short_sqrt(v); },
      [](double v) { return ::sqrt(v); });
}

inline double short_quotient(double x, double y) {
  const double n = __hiloint2double(__double2hiint(near_reciprocal(y)), 1);
  const double e = ::fma(-y, n, 1.0), once = ::fma(n, ::fma(e, e, e), n);
  const double r = ::fma(once, ::fma(-y, once, 1.0), once), near = x * r;
  return ::fma(r, ::fma(-y, near, x), near);
}
// Whether the quotient, the dividend's remainder and the divisor are far from where exponents end.
inline bool quotient_is_short(double x, double y, double quotient) {
  const bool x_fits = fabsf(high(x)) >= high_of(0x03600000);
  return x_fits & (fabsf(__fmaf_rn(0.0f, high(y), high(quotient))) > high_of(0x00100000));
}
template <int N>
inline void lanes_divide(const double (&x)[N], const double (&y)[N], double (&q)[N]) {
  bool all = true;
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) {
    q[k] = short_quotient(x[k], y[k]);
    all &= quotient_is_short(x[k], y[k], q[k]);
  }
  if (all) return;
  double above[N], below[N], to[N];
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) above[k] = x[k], below[k] = y[k];
  GALOP_ROLLED
  for (int k = 0; k < N; ++k) to[k] = above[k] / below[k];
  GALOP_UNROLLED
  for (int k = 0; k < N; ++k) q[k] = to[k];
}

// x / y with the nearest number to 1 / y at hand (Markstein): the first quotient is corrected twice, from remainders
// that are exact while no exponent is extreme.
inline double short_divided(double x, double y, double inverse) {
  const double near = x * inverse, nearer = ::fma(::fma(-y, near, x), inverse, near);
  return ::fma(::fma(-y, nearer, x), inverse, nearer);
}
template <int N>
inline void lanes_divided(const double (&x)[N], double y, double inverse, double (&q)[N]) {
  const float size = fabsf(high(y));
  const bool fits = size >= high_of(0x39b00000) && size < high_of(0x46300000);  // 2^-100, 2^100
  side_by_side(
      x, q, [=](double, double quotient) { return fits & (fabsf(high(quotient)) >= high_of(0x14300000)); },  // 2^-700
      [=](double v) { return short_divided(v, y, inverse); }, [=](double v) { return v / y; });
}

}  // namespace g
