// The fourteen element types of Galop's arrays and what NumPy says about each.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace galop {

/// IEEE binary16, stored only: arithmetic goes through float.
struct half {
  std::uint16_t bits;
};

/// Element type of an array, in the order of NumPy's type numbers.
enum class DType : std::uint8_t {
  bool_,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  complex64,
  complex128,
};

inline constexpr int kDTypes = 14;

/// Kinds as NumPy's `dtype.kind`: 'b' bool, 'i' signed, 'u' unsigned, 'f' real floating, 'c' complex.
constexpr char kind(DType t) { return "biiiiuuuufffcc"[static_cast<int>(t)]; }
/// NumPy's one-letter code: `?bhilBHILefdFD`.
constexpr char typecode(DType t) { return "?bhilBHILefdFD"[static_cast<int>(t)]; }
/// Bytes of one element.
constexpr int itemsize(DType t) { return "\1\1\2\4\10\1\2\4\10\2\4\10\10\20"[static_cast<int>(t)]; }
/// NumPy's name: "bool", "int8", …, "complex128".
std::string_view name(DType t);

constexpr bool is_integer(DType t) { return kind(t) == 'i' || kind(t) == 'u'; }
constexpr bool is_complex(DType t) { return kind(t) == 'c'; }
constexpr bool is_inexact(DType t) { return kind(t) == 'f' || kind(t) == 'c'; }

/// The dtype of the parts of a complex dtype; any other dtype itself.
constexpr DType real_dtype(DType t) {
  return t == DType::complex64 ? DType::float32 : t == DType::complex128 ? DType::float64 : t;
}

namespace detail {
template <class T>
struct dtype_of;
template <>
struct dtype_of<bool> : std::integral_constant<DType, DType::bool_> {};
template <>
struct dtype_of<std::int8_t> : std::integral_constant<DType, DType::int8> {};
template <>
struct dtype_of<std::int16_t> : std::integral_constant<DType, DType::int16> {};
template <>
struct dtype_of<std::int32_t> : std::integral_constant<DType, DType::int32> {};
template <>
struct dtype_of<std::int64_t> : std::integral_constant<DType, DType::int64> {};
template <>
struct dtype_of<std::uint8_t> : std::integral_constant<DType, DType::uint8> {};
template <>
struct dtype_of<std::uint16_t> : std::integral_constant<DType, DType::uint16> {};
template <>
struct dtype_of<std::uint32_t> : std::integral_constant<DType, DType::uint32> {};
template <>
struct dtype_of<std::uint64_t> : std::integral_constant<DType, DType::uint64> {};
template <>
struct dtype_of<long long> : std::integral_constant<DType, DType::int64> {};
template <>
struct dtype_of<unsigned long long> : std::integral_constant<DType, DType::uint64> {};
template <>
struct dtype_of<half> : std::integral_constant<DType, DType::float16> {};
template <>
struct dtype_of<float> : std::integral_constant<DType, DType::float32> {};
template <>
struct dtype_of<double> : std::integral_constant<DType, DType::float64> {};
template <>
struct dtype_of<std::complex<float>> : std::integral_constant<DType, DType::complex64> {};
template <>
struct dtype_of<std::complex<double>> : std::integral_constant<DType, DType::complex128> {};
}  // namespace detail

/// The dtype that stores the C++ type T.
template <class T>
inline constexpr DType dtype_of = detail::dtype_of<std::remove_cv_t<T>>::value;

/// The dtype that holds both operands' values by NumPy's rules: promote_types(a, b).
DType promote_types(DType a, DType b);
/// casting="safe": no value is lost.
bool can_cast_safely(DType from, DType to);
/// casting="same_kind": safe, or within a kind (bool → u → i → f → c upwards).
bool can_cast_same_kind(DType from, DType to);

}  // namespace galop
