// Where a size or a dtype known at run time becomes one that the compiler knows.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "galop/dtype.hpp"

namespace galop {

/// A number of bytes as a type; converts to the number.
template <int kSize>
using Bytes = std::integral_constant<int, kSize>;

/// The unsigned integer of 1, 2, 4 or 8 bytes; 16 are two.
template <int kSize>
using Word = std::conditional_t<
    kSize == 1, std::uint8_t,
    std::conditional_t<
        kSize == 2, std::uint16_t,
        std::conditional_t<kSize == 4, std::uint32_t,
                           std::conditional_t<kSize == 8, std::uint64_t, std::array<std::uint64_t, 2>>>>>;

/// f(Bytes<size>()) for the size of an element: 1, 2, 4, 8 or 16.
template <class F>
[[gnu::always_inline]] inline decltype(auto) visit_itemsize(std::int64_t size, F&& f) {
  switch (size) {
    case 1:
      return f(Bytes<1>());
    case 2:
      return f(Bytes<2>());
    case 4:
      return f(Bytes<4>());
    case 8:
      return f(Bytes<8>());
    default:
      return f(Bytes<16>());
  }
}

/// The same for any size: f(Bytes<0>()) where it is no element's.
template <class F>
[[gnu::always_inline]] inline decltype(auto) visit_size(std::int64_t size, F&& f) {
  if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16) return visit_itemsize(size, f);
  return f(Bytes<0>());
}

/// f(std::type_identity<T>()) for the floating or complex type T of a dtype, otherwise() for the others and float16.
template <class F, class Otherwise>
[[gnu::always_inline]] inline decltype(auto) visit_floating(DType t, F&& f, Otherwise&& otherwise) {
  switch (t) {
    case DType::float32:
      return f(std::type_identity<float>());
    case DType::float64:
      return f(std::type_identity<double>());
    case DType::complex64:
      return f(std::type_identity<std::complex<float>>());
    case DType::complex128:
      return f(std::type_identity<std::complex<double>>());
    default:
      return otherwise();
  }
}

/// f(std::type_identity<T>()) for the type T whose dtype_of is t.
template <class F>
[[gnu::always_inline]] inline decltype(auto) visit_dtype(DType t, F&& f) {
  return visit_floating(t, f, [&]() -> decltype(auto) {
    switch (t) {
      case DType::bool_:
        return f(std::type_identity<bool>());
      case DType::int8:
        return f(std::type_identity<std::int8_t>());
      case DType::int16:
        return f(std::type_identity<std::int16_t>());
      case DType::int32:
        return f(std::type_identity<std::int32_t>());
      case DType::int64:
        return f(std::type_identity<std::int64_t>());
      case DType::uint8:
        return f(std::type_identity<std::uint8_t>());
      case DType::uint16:
        return f(std::type_identity<std::uint16_t>());
      case DType::uint32:
        return f(std::type_identity<std::uint32_t>());
      case DType::uint64:
        return f(std::type_identity<std::uint64_t>());
      default:
        return f(std::type_identity<half>());
    }
  });
}

}  // namespace galop
