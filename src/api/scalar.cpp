// Numbers without a dtype: which dtype they take alone, and how they are stored as an element.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/visit.hpp"
#include "galop/array.hpp"

namespace galop {
namespace {

/// Rounds once, ties to even, as NumPy's conversion from double.
std::uint16_t half_bits(double v) {
  auto sign = static_cast<std::uint16_t>(std::signbit(v) ? 0x8000 : 0);
  v = std::abs(v);
  if (std::isnan(v)) return sign | 0x7e00;
  if (v >= 65520.0) return sign | 0x7c00;
  if (v == 0) return sign;
  int exponent;
  std::frexp(v, &exponent);
  // The last bit is worth 2^(exponent - 11); below 2^-14 it stays at 2^-24. A carry runs into the exponent by itself.
  int last = std::max(exponent - 11, -24);
  auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(v, -last)));
  return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(last + 24) << 10) + units));
}

std::string out_of_bounds(DType t, const std::string& got) {
  return "[array] integer out of bounds for " + std::string(name(t)) + "; got " + got;
}

template <class T>
void store_as(const scalar& v, DType t, void* to) {
  T r;
  if (v.kind() == 'f') {
    double d = std::trunc(v.number().real());
    if (std::isnan(d)) throw ValueError("[array] NaN has no value of dtype " + std::string(name(t)) + "; got nan");
    // The limits are powers of two, but for one less than them on the upper side.
    double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(d < high && d >= (std::is_signed_v<T> ? -high : 0.0)))
      throw OverflowError(out_of_bounds(t, std::to_string(v.number().real())));
    r = static_cast<T>(d);
  } else {
    bool fits = v.is_huge() ? std::is_same_v<T, std::uint64_t> : std::in_range<T>(v.integer());
    if (!fits)
      throw OverflowError(out_of_bounds(
          t, v.is_huge() ? std::to_string(static_cast<std::uint64_t>(v.integer())) : std::to_string(v.integer())));
    r = static_cast<T>(v.integer());
  }
  std::memcpy(to, &r, sizeof r);
}

template <class T>
void put(T v, void* to) {
  std::memcpy(to, &v, sizeof v);
}

}  // namespace

DType scalar::dtype() const {
  switch (kind_) {
    case 'b':
      return DType::bool_;
    case 'i':
      return is_huge() ? DType::uint64 : DType::int64;
    case 'f':
      return DType::float64;
    default:
      return DType::complex128;
  }
}

void scalar::store(DType t, void* to) const {
  if (kind_ == 'c' && !galop::is_complex(t) && t != DType::bool_)
    throw TypeError("[array] a complex number has no value of dtype " + std::string(name(t)) + "; got " +
                    std::to_string(value_.real()) + (value_.imag() < 0 ? "" : "+") + std::to_string(value_.imag()) +
                    "j");
  const std::complex<double> v = number();
  visit_dtype(t, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, bool>)
      put(v != 0.0, to);
    else if constexpr (std::is_same_v<T, half>)
      put(half_bits(v.real()), to);
    else if constexpr (is_integer(dtype_of<T>))
      store_as<T>(*this, t, to);
    else if constexpr (is_complex(dtype_of<T>))
      put(T(v), to);
    else
      put(static_cast<T>(v.real()), to);
  });
}

}  // namespace galop
