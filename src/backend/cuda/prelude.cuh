// What every generated kernel starts with: lanes of each dtype, NumPy's casts, and the leaf functions that the bodies
// of ops.def name. Self-contained: compiled at run time without any header. Rules and bits are those of the CPU's
// kernels (src/backend/cpu/vec_math-inl.h, vec_complex-inl.h, casts-inl.h); complex functions follow in
// prelude_complex.cuh.
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

namespace g {

template <bool B, class X, class Y>
struct choose {
  using type = X;
};
template <class X, class Y>
struct choose<false, X, Y> {
  using type = Y;
};
template <class T>
struct traits;
#define GALOP_TRAITS(T, I_, U_, IS_SIGNED, DIGITS) \
  template <>                                      \
  struct traits<T> {                               \
    using I = I_;                                  \
    using U = U_;                                  \
    static constexpr bool is_signed = IS_SIGNED;   \
    static constexpr int digits = DIGITS;          \
  };
GALOP_TRAITS(i8, i8, u8, true, 7)
GALOP_TRAITS(i16, i16, u16, true, 15)
GALOP_TRAITS(i32, i32, u32, true, 31)
GALOP_TRAITS(i64, i64, u64, true, 63)
GALOP_TRAITS(u8, i8, u8, false, 8)
GALOP_TRAITS(u16, i16, u16, false, 16)
GALOP_TRAITS(u32, i32, u32, false, 32)
GALOP_TRAITS(u64, i64, u64, false, 64)
GALOP_TRAITS(float, i32, u32, true, 24)
GALOP_TRAITS(double, i64, u64, true, 53)
#undef GALOP_TRAITS

// The dtypes in registers: bool, integers, f16, float, double, complex<T>. A body sees lanes: bools as Mask, integers
// as Int.
struct f16 {
  u16 bits;
};
template <class T>
struct complex {
  T re, im;
};
struct Mask {
  bool v;
};
template <class T>
struct Int {
  T v;
};
template <class A, class B>
struct Pair {
  A first;
  B second;
};

inline Mask lane(bool x) { return {x}; }
#define GALOP_LANE(T) \
  inline Int<T> lane(T x) { return {x}; }
GALOP_LANE(i8)
GALOP_LANE(i16)
GALOP_LANE(i32) GALOP_LANE(i64) GALOP_LANE(u8) GALOP_LANE(u16) GALOP_LANE(u32) GALOP_LANE(u64)
#undef GALOP_LANE
    inline f16 lane(f16 x) {
  return x;
}
inline float lane(float x) { return x; }
inline double lane(double x) { return x; }
template <class T>
inline complex<T> lane(complex<T> x) {
  return x;
}

inline bool raw(bool x) { return x; }
inline bool raw(Mask x) { return x.v; }
template <class T>
inline T raw(Int<T> x) {
  return x.v;
}
inline f16 raw(f16 x) { return x; }
inline float raw(float x) { return x; }
inline double raw(double x) { return x; }
template <class T>
inline complex<T> raw(complex<T> x) {
  return x;
}

inline u32 bits(float x) { return __float_as_uint(x); }
inline u64 bits(double x) { return (u64)__double_as_longlong(x); }
inline float from_bits(u32 x) { return __uint_as_float(x); }
inline double from_bits(u64 x) { return __longlong_as_double((i64)x); }
inline constexpr u32 sign_bit(float) { return 0x80000000u; }
inline constexpr u64 sign_bit(double) { return 0x8000000000000000ull; }
inline constexpr u32 inf_bits(float) { return 0x7f800000u; }
inline constexpr u64 inf_bits(double) { return 0x7ff0000000000000ull; }
inline float nan_of(float) { return from_bits(0x7fc00000u); }
inline double nan_of(double) { return from_bits(0x7ff8000000000000ull); }

// Masks and bools: + is or, * is and, as in NumPy.
inline Mask operator&(Mask a, Mask b) { return {a.v && b.v}; }
inline Mask operator|(Mask a, Mask b) { return {a.v || b.v}; }
inline Mask operator^(Mask a, Mask b) { return {a.v != b.v}; }
inline Mask operator~(Mask a) { return {!a.v}; }
inline Mask operator+(Mask a, Mask b) { return a | b; }
inline Mask operator*(Mask a, Mask b) { return a & b; }
#define GALOP_COMPARE(op)                                                  \
  inline bool operator op(Mask a, Mask b) { return (int)a.v op(int) b.v; } \
  template <class T>                                                       \
  inline bool operator op(Int<T> a, Int<T> b) {                            \
    return a.v op b.v;                                                     \
  }
GALOP_COMPARE(==)
GALOP_COMPARE(!=)
GALOP_COMPARE(<) GALOP_COMPARE(<=) GALOP_COMPARE(>) GALOP_COMPARE(>=)
#undef GALOP_COMPARE

    // Integers wrap around, so arithmetic goes through unsigned types of 32 bits at least.
    template <class T>
    using Wide = typename choose<(sizeof(T) < 8), u32, u64>::type;
#define GALOP_ARITHMETIC(op)                      \
  template <class T>                              \
  inline Int<T> operator op(Int<T> a, Int<T> b) { \
    return {(T)((Wide<T>)a.v op(Wide<T>) b.v)};   \
  }
GALOP_ARITHMETIC(+)
GALOP_ARITHMETIC(-)
GALOP_ARITHMETIC(*) GALOP_ARITHMETIC(&) GALOP_ARITHMETIC(|) GALOP_ARITHMETIC(^)
#undef GALOP_ARITHMETIC
    template <class T>
    inline Int<T> operator~(Int<T> a) {
  return {(T)~a.v};
}

template <class T>
inline T select(Mask m, T a, T b) {
  return m.v ? a : b;
}

// Truth and classes.
inline Mask truth(Mask x) { return x; }
template <class T>
inline Mask truth(Int<T> x) {
  return {x.v != 0};
}
inline Mask truth(float x) { return {x != 0}; }
inline Mask truth(double x) { return {x != 0}; }
inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
#define GALOP_CLASSES(L)                   \
  inline bool isnan(L) { return false; }   \
  inline bool isinf(L) { return false; }   \
  inline bool isfinite(L) { return true; } \
  inline L floor(L x) { return x; }        \
  inline L ceil(L x) { return x; }         \
  inline L trunc(L x) { return x; }        \
  inline L conjugate(L x) { return x; }
GALOP_CLASSES(Mask)
GALOP_CLASSES(Int<i8>)
GALOP_CLASSES(Int<i16>) GALOP_CLASSES(Int<i32>) GALOP_CLASSES(Int<i64>) GALOP_CLASSES(Int<u8>) GALOP_CLASSES(Int<u16>)
    GALOP_CLASSES(Int<u32>) GALOP_CLASSES(Int<u64>)
#undef GALOP_CLASSES

    // Those of double are in prelude_math.cuh.
    inline float exp(float x) {
  return ::expf(x);
}
inline float log(float x) { return ::logf(x); }
inline float erf(float x) { return ::erff(x); }
inline float sin(float x) { return ::sinf(x); }
inline float cos(float x) { return ::cosf(x); }
inline Pair<float, float> sincos(float x) {
  Pair<float, float> r;
  ::sincosf(x, &r.first, &r.second);
  return r;
}
inline Pair<double, double> sincos(double x) {
  Pair<double, double> r;
  if (sin_is_short(x)) {
    short_sincos(x, r.first, r.second);
  } else {
    ::sincos(x, &r.first, &r.second);
  }
  return r;
}

// Functions over both float types.
#define GALOP_FLOATS(T, suffix)                                                                              \
  inline T floor(T x) { return ::floor##suffix(x); }                                                         \
  inline T ceil(T x) { return ::ceil##suffix(x); }                                                           \
  inline T trunc(T x) { return ::trunc##suffix(x); }                                                         \
  inline T rint(T x) { return ::rint##suffix(x); }                                                           \
  inline T sqrt(T x) { return ::sqrt##suffix(x); }                                                           \
  inline T fused(T x, T y, T z) { return ::fma##suffix(x, y, z); }                                           \
  inline T conjugate(T x) { return x; }                                                                      \
  inline T absolute(T x) { return from_bits(bits(x) & ~sign_bit(T())); }                                     \
  inline T negative(T x) { return from_bits(bits(x) ^ sign_bit(T())); }                                      \
  inline T copysign(T x, T y) { return from_bits((bits(x) & ~sign_bit(T())) | (bits(y) & sign_bit(T()))); }  \
  inline bool signbit(T x) { return (bits(x) & sign_bit(T())) != 0; }                                        \
  inline bool isinf(T x) { return bits(absolute(x)) == inf_bits(T()); }                                      \
  inline bool isfinite(T x) { return bits(absolute(x)) < inf_bits(T()); }                                    \
  inline T sign(T x) { return x != x ? x : x > 0 ? T(1) : x < 0 ? T(-1) : T(0); }                            \
  inline T heaviside(T x, T y) { return x != x ? x : x == 0 ? y : x < 0 ? T(0) : T(1); }                     \
  inline T maximum(T x, T y) { return x > y || x != x ? x : y; }                                             \
  inline T minimum(T x, T y) { return x < y || x != x ? x : y; }                                             \
  inline T fmax(T x, T y) { return x > y || y != y ? x : y; }                                                \
  inline T fmin(T x, T y) { return x < y || y != y ? x : y; }                                                \
  inline T clip(T x, T low, T high) { return minimum(maximum(x, low), high); }                               \
  inline T reciprocal(T x) { return T(1) / x; }                                                              \
  inline T degrees(T x) { return x * (T(180) / T(3.141592653589793238462643383279502884)); }                 \
  inline T radians(T x) { return x * (T(3.141592653589793238462643383279502884) / T(180)); }                 \
  inline T fmod(T x, T y) { return ::fmod##suffix(x, y); }                                                   \
  inline T exp2(T x) { return ::exp2##suffix(x); }                                                           \
  inline T expm1(T x) { return ::expm1##suffix(x); }                                                         \
  inline T log2(T x) { return ::log2##suffix(x); }                                                           \
  inline T log10(T x) { return ::log10##suffix(x); }                                                         \
  inline T log1p(T x) { return ::log1p##suffix(x); }                                                         \
  inline T tan(T x) { return ::tan##suffix(x); }                                                             \
  inline T arcsin(T x) { return ::asin##suffix(x); }                                                         \
  inline T arccos(T x) { return ::acos##suffix(x); }                                                         \
  inline T arctan(T x) { return ::atan##suffix(x); }                                                         \
  inline T arctan2(T x, T y) { return ::atan2##suffix(x, y); }                                               \
  /* Beside the largest number, where the library overflows; scaled by a power of two sqrt(x x) is exact. */ \
  inline T hypot_far_out(T x, T y) {                                                                         \
    const T small = sizeof(T) == 8 ? T(0x1p-600) : T(0x1p-80);                                               \
    x *= small, y *= small;                                                                                  \
    return sqrt(x * x + y * y) / small;                                                                      \
  }                                                                                                          \
  inline T hypot(T x, T y) {                                                                                 \
    const T r = ::hypot##suffix(x, y);                                                                       \
    return isinf(r) && isfinite(x) && isfinite(y) ? hypot_far_out(x, y) : r;                                 \
  }                                                                                                          \
  inline T sinh(T x) { return ::sinh##suffix(x); }                                                           \
  inline T cosh(T x) { return ::cosh##suffix(x); }                                                           \
  inline T tanh(T x) { return ::tanh##suffix(x); }                                                           \
  inline T arcsinh(T x) { return ::asinh##suffix(x); }                                                       \
  inline T arccosh(T x) { return ::acosh##suffix(x); }                                                       \
  inline T arctanh(T x) { return ::atanh##suffix(x); }                                                       \
  inline T cbrt(T x) { return ::cbrt##suffix(x); }                                                           \
  inline T erfc(T x) { return ::erfc##suffix(x); }                                                           \
  inline T power(T x, T y) { return ::pow##suffix(x, y); }                                                   \
  inline T ldexp(T x, Int<i64> y) {                                                                          \
    return ::ldexp##suffix(x, (int)(y.v < -100000 ? -100000 : y.v > 100000 ? 100000 : y.v));                 \
  }                                                                                                          \
  inline T smallest(T) { return from_bits((decltype(bits(T())))1); }                                         \
  inline Pair<T, T> modf(T x) {                                                                              \
    const T whole = trunc(x);                                                                                \
    return {copysign(isinf(x) ? T(0) : x - whole, x), whole};                                                \
  }                                                                                                          \
  inline T nextafter(T x, T y) {                                                                             \
    if (x != x || y != y) return x + y;                                                                      \
    if (x == y) return y;                                                                                    \
    if (x == 0) return copysign(smallest(x), y);                                                             \
    return from_bits((x < y) != (x < 0) ? bits(x) + 1 : bits(x) - 1);                                        \
  }                                                                                                          \
  inline T spacing(T x) {                                                                                    \
    if (isinf(x)) return x - x;                                                                              \
    return x == 0 ? smallest(x) : from_bits(bits(x) + 1) - x;                                                \
  }                                                                                                          \
  inline Pair<T, Int<i32>> frexp(T x) {                                                                      \
    constexpr int digits = traits<T>::digits;                                                                \
    constexpr int bias = sizeof(T) == 4 ? 126 : 1022;                                                        \
    if (!isfinite(x) || x == 0) return {x, {0}};                                                             \
    const bool small = (bits(x) & inf_bits(T())) == 0;                                                       \
    const auto scaled = bits(small ? x * (T)(1ll << digits) : x);                                            \
    const int exponent = (int)((scaled & inf_bits(T())) >> (digits - 1)) - (small ? bias + digits : bias);   \
    return {from_bits((scaled & ~inf_bits(T())) | ((decltype(bits(T())))bias << (digits - 1))), {exponent}}; \
  }                                                                                                          \
  inline Pair<T, T> divmod(T x, T y) {                                                                       \
    const T ratio = x / y;                                                                                   \
    T r = fmod(x, y);                                                                                        \
    T q = (x - r) / y;                                                                                       \
    const bool adjust = r != 0 && (y < 0) != (r < 0);                                                        \
    q = adjust ? q - T(1) : q;                                                                               \
    r = r == 0 ? copysign(T(0), y) : adjust ? r + y : r;                                                     \
    T down = floor(q);                                                                                       \
    down = q - down > T(0.5) ? down + T(1) : down;                                                           \
    down = q == 0 ? copysign(T(0), ratio) : down;                                                            \
    return {y == 0 ? ratio : down, r};                                                                       \
  }                                                                                                          \
  inline T floor_divide(T x, T y) { return divmod(x, y).first; }                                             \
  inline T remainder(T x, T y) {                                                                             \
    const T r = fmod(x, y);                                                                                  \
    return r == 0 ? copysign(T(0), y) : (y < 0) != (r < 0) ? r + y : r;                                      \
  }
GALOP_FLOATS(float, f)
GALOP_FLOATS(double, )
#undef GALOP_FLOATS

    // log(exp(x) + exp(y)); in double for both types, since the terms may nearly cancel.
    inline double logaddexp(double x, double y) {
  if (x == y) return x + 0.693147180559945309417232121458176568;
  const double d = x - y;
  return d > 0 ? x + log1p(exp(-d)) : d <= 0 ? y + log1p(exp(d)) : d;
}
inline double logaddexp2(double x, double y) {
  if (x == y) return x + 1;
  const double log2e = 1.442695040888963407359924681001892137, d = x - y;
  return d > 0 ? x + log2e * log1p(exp2(-d)) : d <= 0 ? y + log2e * log1p(exp2(d)) : d;
}
inline float logaddexp(float x, float y) { return (float)logaddexp((double)x, (double)y); }
inline float logaddexp2(float x, float y) { return (float)logaddexp2((double)x, (double)y); }

// The number of some elements, their mean, and the sum of their squared distances from it (Chan, Golub and LeVeque).
struct Moments {
  double n, mean, distances;
};
template <class T>
inline Moments moment(T x, double pivot) {
  return {1, (double)x - pivot, 0};
}
// Of N elements, N a power of two.
template <int N, class T>
inline Moments moments(const T* x, double pivot) {
  double y[N], sum[N];
#pragma unroll
  for (int i = 0; i < N; ++i) sum[i] = y[i] = (double)x[i] - pivot;
#pragma unroll
  for (int h = N / 2; h > 0; h /= 2)
#pragma unroll
    for (int i = 0; i < h; ++i) sum[i] = sum[i] + sum[i + h];
  const double mean = sum[0] * (1.0 / N);
  double even = 0, odd = 0;
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    even = fused(y[i] - mean, y[i] - mean, even);
    odd = fused(y[i + 1] - mean, y[i + 1] - mean, odd);
  }
  return {N, mean, even + odd};
}
// One element that is not finite has no distance from itself.
inline double spread(Moments m) { return m.distances + (m.mean - m.mean); }
inline Moments joined(Moments a, Moments b) {
  const double n = a.n + b.n, part = b.n / n, d = b.mean - a.mean;
  return {n, fused(d, part, a.mean), a.distances + b.distances + d * d * (a.n * part)};
}

// Integers and bools.
template <class T>
inline Int<T> maximum(Int<T> x, Int<T> y) {
  return x > y ? x : y;
}
template <class T>
inline Int<T> minimum(Int<T> x, Int<T> y) {
  return x < y ? x : y;
}
inline Mask maximum(Mask x, Mask y) { return x | y; }
inline Mask minimum(Mask x, Mask y) { return x & y; }
inline Mask absolute(Mask x) { return x; }
#define GALOP_BY_ORDER(HEAD, L)                          \
  HEAD inline L fmax(L x, L y) { return maximum(x, y); } \
  HEAD inline L fmin(L x, L y) { return minimum(x, y); } \
  HEAD inline L clip(L x, L low, L high) { return minimum(maximum(x, low), high); }
GALOP_BY_ORDER(template <class T>, Int<T>)
GALOP_BY_ORDER(, Mask)
#undef GALOP_BY_ORDER

template <class T>
using Unsigned = typename traits<T>::U;
template <class T>
constexpr bool is_signed = traits<T>::is_signed;
template <class T>
constexpr T lowest() {
  return is_signed<T> ? (T)((Unsigned<T>)1 << (8 * sizeof(T) - 1)) : T(0);
}
template <class T>
inline Int<T> negative(Int<T> x) {
  return Int<T>{0} - x;
}
template <class T>
inline Int<T> absolute(Int<T> x) {
  return x.v < 0 ? negative(x) : x;
}
template <class T>
inline Int<T> sign(Int<T> x) {
  return {(T)(x.v > 0 ? 1 : x.v < 0 ? -1 : 0)};
}
// NumPy converts 1.0 / x: 0 gives x86's conversion of an infinity.
template <class T>
inline Int<T> reciprocal(Int<T> x) {
  if (x.v == 0) return {sizeof(T) >= 4 ? lowest<T>() : T(0)};
  return {x.v == 1 || (is_signed<T> && x.v == (T)-1) ? x.v : T(0)};
}
// x / 0 is 0; the lowest integer divided by -1 wraps to itself.
template <class T>
inline bool no_division(T x, T y) {
  return y == 0 || (is_signed<T> && y == (T)-1 && x == lowest<T>());
}
template <class T>
inline Pair<Int<T>, Int<T>> divmod(Int<T> x, Int<T> y) {
  if (no_division(x.v, y.v)) return {{y.v == 0 ? T(0) : x.v}, {0}};
  T q = (T)(x.v / y.v);
  T r = (T)(x.v % y.v);
  if (is_signed<T> && r != 0 && (r < 0) != (y.v < 0)) {
    q = (T)(q - 1);
    r = (T)(r + y.v);
  }
  return {{q}, {r}};
}
template <class T>
inline Int<T> floor_divide(Int<T> x, Int<T> y) {
  return divmod(x, y).first;
}
template <class T>
inline Int<T> remainder(Int<T> x, Int<T> y) {
  return divmod(x, y).second;
}
template <class T>
inline Int<T> fmod(Int<T> x, Int<T> y) {
  return {no_division(x.v, y.v) ? T(0) : (T)(x.v % y.v)};
}
// By squaring, modulo 2**width; exponents are not negative.
template <class T>
inline Int<T> power(Int<T> x, Int<T> y) {
  Int<T> result{1};
  for (Unsigned<T> n = (Unsigned<T>)y.v; n != 0; n = (Unsigned<T>)(n >> 1)) {
    if (n & 1) result = result * x;
    x = x * x;
  }
  return result;
}
template <class T>
inline Unsigned<T> gcd_of(T x, T y) {
  Unsigned<T> a = (Unsigned<T>)absolute(Int<T>{x}).v, b = (Unsigned<T>)absolute(Int<T>{y}).v;
  while (b != 0) {
    const Unsigned<T> r = (Unsigned<T>)(a % b);
    a = b;
    b = r;
  }
  return a;
}
template <class T>
inline Int<T> gcd(Int<T> x, Int<T> y) {
  return {(T)gcd_of(x.v, y.v)};
}
template <class T>
inline Int<T> lcm(Int<T> x, Int<T> y) {
  const Unsigned<T> d = gcd_of(x.v, y.v);
  if (d == 0) return {0};
  return Int<T>{(T)((Unsigned<T>)absolute(x).v / d)} * absolute(y);
}
// Shifts by the width or more, and by negative amounts, give 0, or -1 for a negative number shifted right.
template <class T>
inline Int<T> left_shift(Int<T> x, Int<T> y) {
  return {(Unsigned<T>)y.v < 8 * sizeof(T) ? (T)((Unsigned<T>)x.v << y.v) : T(0)};
}
template <class T>
inline Int<T> right_shift(Int<T> x, Int<T> y) {
  return {(Unsigned<T>)y.v < 8 * sizeof(T) ? (T)(x.v >> y.v) : (T)(x.v < 0 ? -1 : 0)};
}
template <class T>
inline Int<u8> bitwise_count(Int<T> x) {
  return {(u8)__popcll((u64)(Unsigned<T>)absolute(x).v)};
}

// Halves.
inline float to_float(f16 x) {
  const u32 sign = (u32)(x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7fffu;
  if (magnitude > 0x7c00u) return from_bits(sign | 0x7fc00000u | magnitude << 13);
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}
inline f16 to_half(float x) {
  const u32 b = bits(x);
  if (x != x) return {(u16)((b >> 16 & 0x8000u) | 0x7e00u | (b >> 13 & 0x3ffu))};
  f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
inline bool isnan(f16 x) { return (x.bits & 0x7fffu) > 0x7c00u; }
inline int rank(f16 x) { return x.bits & 0x8000u ? -(int)(x.bits & 0x7fffu) : (int)x.bits; }
inline f16 nextafter(f16 x, f16 y) {
  if (isnan(x) || isnan(y)) return {0x7e00u};
  if (rank(x) == rank(y)) return x;
  if (rank(x) == 0) return {(u16)((y.bits & 0x8000u) + 1)};
  return {(u16)((rank(x) < rank(y)) == (rank(x) > 0) ? x.bits + 1 : x.bits - 1)};
}
inline f16 spacing(f16 x) {
  const u32 magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return {0x7e00u};
  if (x.bits == 0x7bffu) return {0x7c00u};
  const bool finer = (x.bits & 0x8000u) && (x.bits & 0x3ffu) == 0;
  const int exponent = (int)(magnitude >> 10) - 10 - finer;
  if (exponent > 0) return {(u16)(exponent << 10)};
  return {(u16)(exponent + 9 > 0 ? 1 << (exponent + 9) : 1)};
}

// NumPy's astype(casting="unsafe") on x86-64: what does not fit gives the lowest integer, whose low bits remain in
// narrow types; NaNs keep sign and payload between float types.
inline double to_double(float x) {
  const u64 b = bits(x);
  return x == x ? (double)x : from_bits((b & 0x80000000u) << 32 | 0x7ff8000000000000ull | (b & 0x7fffffu) << 29);
}
inline float to_single(double x) {
  const u64 b = bits(x);
  return x == x ? (float)x : from_bits((u32)(b >> 32 & 0x80000000u) | 0x7fc00000u | (u32)(b >> 29 & 0x3fffffu));
}
// Truncated to float, the last bit set where bits were lost: rounded on to half, that is x rounded once.
inline float rounded_to_odd(double x) {
  const u64 b = bits(x), tail = 0x1fffffffull;
  return to_single(from_bits((b & ~tail) | ((b & tail) != 0 ? tail + 1 : 0)));
}
template <class I, class F>
inline I to_signed(F x) {
  constexpr F limit = (F)((u64)1 << (8 * sizeof(I) - 1));
  const bool fits = sizeof(F) > sizeof(I) ? x > -limit - 1 && x < limit : x >= -limit && x < limit;
  return fits ? (I)x : lowest<I>();
}
template <class To, class F>
inline To float_to_integer(F x) {
  if constexpr (sizeof(To) < 4) {
    return (To)to_signed<i32>(x);
  } else if constexpr (is_signed<To>) {
    return to_signed<To>(x);
  } else {
    const F half = (F)((To)1 << (8 * sizeof(To) - 1));
    const bool below = !(x >= half);
    const To low = (To)to_signed<typename traits<To>::I>(below ? x : x - half);
    return below ? low : (To)(low ^ ((To)1 << (8 * sizeof(To) - 1)));
  }
}

}  // namespace g
