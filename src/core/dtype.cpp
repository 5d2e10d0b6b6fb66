// Names, promotion and casting of dtypes by NumPy's rules.
#include "galop/dtype.hpp"

namespace galop {
namespace {

constexpr std::string_view kNames[] = {"bool",   "int8",   "int16",   "int32",   "int64",   "uint8",     "uint16",
                                       "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"};

// Bytes of the smallest float that holds every integer of this dtype, as NumPy sees it (64-bit integers count as
// float64).
constexpr int float_bytes(DType t) {
  if (kind(t) == 'f') return itemsize(t);
  if (kind(t) == 'c') return itemsize(t) / 2;
  return itemsize(t) == 1 ? 2 : itemsize(t) == 2 ? 4 : 8;
}

constexpr DType float_of(int bytes) {
  return bytes == 2 ? DType::float16 : bytes == 4 ? DType::float32 : DType::float64;
}
constexpr DType complex_of(int bytes) { return bytes <= 4 ? DType::complex64 : DType::complex128; }
constexpr DType signed_of(int bytes) {
  return bytes == 1 ? DType::int8 : bytes == 2 ? DType::int16 : bytes == 4 ? DType::int32 : DType::int64;
}

constexpr int kind_rank(DType t) {
  switch (kind(t)) {
    case 'b':
      return 0;
    case 'u':
      return 1;
    case 'i':
      return 2;
    case 'f':
      return 3;
    default:
      return 4;
  }
}

}  // namespace

std::string_view name(DType t) { return kNames[static_cast<int>(t)]; }

DType promote_types(DType a, DType b) {
  if (a == b || b == DType::bool_) return a;
  if (a == DType::bool_) return b;
  if (is_inexact(a) || is_inexact(b)) {
    int bytes = float_bytes(a) > float_bytes(b) ? float_bytes(a) : float_bytes(b);
    return is_complex(a) || is_complex(b) ? complex_of(bytes) : float_of(bytes);
  }
  if (kind(a) == kind(b)) return itemsize(a) > itemsize(b) ? a : b;
  DType s = kind(a) == 'i' ? a : b;
  DType u = kind(a) == 'i' ? b : a;
  if (itemsize(s) > itemsize(u)) return s;
  return itemsize(u) == 8 ? DType::float64 : signed_of(2 * itemsize(u));
}

bool can_cast_safely(DType from, DType to) { return promote_types(from, to) == to; }

bool can_cast_same_kind(DType from, DType to) { return can_cast_safely(from, to) || kind_rank(from) <= kind_rank(to); }

}  // namespace galop
