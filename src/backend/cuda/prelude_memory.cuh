// Casts, memory and indices, appended to the prelude: vectors, unaligned elements, constants from parameters.
namespace g {

template <class To>
struct Cast {  // integers
  static To of(bool x) { return (To)x; }
  static To of(f16 x) {
    const To r = float_to_integer<To>(to_float(x));
    if constexpr (sizeof(To) == 4 && !is_signed<To>) return r == 0x80000000u ? 0 : r;  // NumPy makes infinities 0
    return r;
  }
  static To of(float x) { return float_to_integer<To>(x); }
  static To of(double x) { return float_to_integer<To>(x); }
  template <class T>
  static To of(complex<T> x) {
    return of(x.re);
  }
  template <class T>
  static To of(T x) {
    return (To)x;
  }
};
template <>
struct Cast<bool> {
  static bool of(f16 x) { return (x.bits & 0x7fffu) != 0; }
  template <class T>
  static bool of(complex<T> x) {
    return x.re != 0 || x.im != 0;
  }
  template <class T>
  static bool of(T x) {
    return x != 0;
  }
};
template <>
struct Cast<float> {
  static float of(f16 x) { return to_float(x); }
  static float of(double x) { return to_single(x); }
  template <class T>
  static float of(complex<T> x) {
    return of(x.re);
  }
  template <class T>
  static float of(T x) {
    return (float)x;
  }
};
template <>
struct Cast<double> {
  static double of(f16 x) { return to_double(to_float(x)); }
  static double of(float x) { return to_double(x); }
  template <class T>
  static double of(complex<T> x) {
    return of(x.re);
  }
  template <class T>
  static double of(T x) {
    return (double)x;
  }
};
template <>
struct Cast<f16> {
  static f16 of(f16 x) { return x; }
  static f16 of(float x) { return to_half(x); }
  static f16 of(double x) { return to_half(rounded_to_odd(x)); }
  template <class T>
  static f16 of(complex<T> x) {
    return of(x.re);
  }
  template <class T>
  static f16 of(T x) {
    return to_half((float)x);
  }
};
template <class P>
struct Cast<complex<P>> {
  template <class T>
  static complex<P> of(complex<T> x) {
    return {Cast<P>::of(x.re), Cast<P>::of(x.im)};
  }
  template <class T>
  static complex<P> of(T x) {
    return {Cast<P>::of(x), P(0)};
  }
};

// Memory. A vector is one access of up to 16 bytes, taken apart by shifts, so that it stays in registers; unaligned
// elements come byte by byte.
template <class T>
struct Word {  // integers
  static T of(u64 x) { return (T)x; }
  static u64 from(T x) { return (u64)(typename traits<T>::U)x; }
};
template <>
struct Word<bool> {
  static bool of(u64 x) { return (x & 0xff) != 0; }
  static u64 from(bool x) { return x; }
};
template <>
struct Word<f16> {
  static f16 of(u64 x) { return {(u16)x}; }
  static u64 from(f16 x) { return x.bits; }
};
template <>
struct Word<float> {
  static float of(u64 x) { return from_bits((u32)x); }
  static u64 from(float x) { return bits(x); }
};
template <>
struct Word<double> {
  static double of(u64 x) { return from_bits(x); }
  static u64 from(double x) { return bits(x); }
};
template <>
struct Word<complex<float>> {
  static complex<float> of(u64 x) { return {from_bits((u32)x), from_bits((u32)(x >> 32))}; }
  static u64 from(complex<float> x) { return bits(x.re) | (u64)bits(x.im) << 32; }
};
template <class T, int N>
inline void load_vector(const char* p, T (&to)[N]) {
  constexpr int bytes = sizeof(T) * N, item = sizeof(T);
  // Words as they are make less work for the compiler than shifts.
  if constexpr (bytes == 16 && item == 8) {
    const ulonglong2 w = *reinterpret_cast<const ulonglong2*>(p);
    to[0] = Word<T>::of(w.x);
    to[1] = Word<T>::of(w.y);
    return;
  } else if constexpr (bytes == 16 && item == 4) {
    const uint4 w = *reinterpret_cast<const uint4*>(p);
    to[0] = Word<T>::of(w.x);
    to[1] = Word<T>::of(w.y);
    to[2] = Word<T>::of(w.z);
    to[3] = Word<T>::of(w.w);
    return;
  }
  u64 low = 0, high = 0;
  if constexpr (bytes == 16) {
    const ulonglong2 w = *reinterpret_cast<const ulonglong2*>(p);
    low = w.x;
    high = w.y;
  } else if constexpr (bytes == 8) {
    low = *reinterpret_cast<const u64*>(p);
  } else if constexpr (bytes == 4) {
    low = *reinterpret_cast<const u32*>(p);
  } else {
    low = *reinterpret_cast<const u16*>(p);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = Word<T>::of((i * item < 8 ? low : high) >> (8 * (i * item % 8)));
}
template <class T, int N>
inline void store_vector(char* p, const T (&from)[N]) {
  constexpr int bytes = sizeof(T) * N, item = sizeof(T);
  if constexpr (bytes == 16 && item == 8) {
    *reinterpret_cast<ulonglong2*>(p) = {Word<T>::from(from[0]), Word<T>::from(from[1])};
    return;
  } else if constexpr (bytes == 16 && item == 4) {
    *reinterpret_cast<uint4*>(p) = {(u32)Word<T>::from(from[0]), (u32)Word<T>::from(from[1]),
                                    (u32)Word<T>::from(from[2]), (u32)Word<T>::from(from[3])};
    return;
  }
  u64 low = 0, high = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) (i * item < 8 ? low : high) |= Word<T>::from(from[i]) << (8 * (i * item % 8));
  if constexpr (bytes == 16) {
    *reinterpret_cast<ulonglong2*>(p) = {low, high};
  } else if constexpr (bytes == 8) {
    *reinterpret_cast<u64*>(p) = low;
  } else if constexpr (bytes == 4) {
    *reinterpret_cast<u32*>(p) = (u32)low;
  } else {
    *reinterpret_cast<u16*>(p) = (u16)low;
  }
}
template <class T>
inline T load(const char* p) {
  return *reinterpret_cast<const T*>(p);
}
template <class T>
inline void store(char* p, T x) {
  *reinterpret_cast<T*>(p) = x;
}
template <class T>
inline T load_bytes(const char* p) {
  union {
    char bytes[sizeof(T)];
    T v;
  } u;
  for (int i = 0; i < (int)sizeof(T); ++i) u.bytes[i] = p[i];
  return u.v;
}
template <class T>
inline void store_bytes(char* p, T x) {
  union {
    char bytes[sizeof(T)];
    T v;
  } u;
  u.v = x;
  for (int i = 0; i < (int)sizeof(T); ++i) p[i] = u.bytes[i];
}
// A constant of any dtype from two parameter words.
template <class T>
inline T constant(u64 low, u64 high) {
  union {
    u64 words[2];
    T v;
  } u;
  u.words[0] = low;
  u.words[1] = high;
  return u.v;
}
// x becomes x / d, the result is x % d; 32-bit division where both fit.
inline u64 take(u64& x, u64 d) {
  if (((x | d) >> 32) == 0) {
    const u32 n = (u32)x, q = n / (u32)d;
    x = q;
    return n - q * (u32)d;
  }
  const u64 n = x;
  x = n / d;
  return n - x * d;
}

}  // namespace g
