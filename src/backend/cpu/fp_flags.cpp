// Floating-point flags by tests of operands and results.
#include "backend/cpu/fp_flags.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "backend/cpu/scalar_math.hpp"
#include "core/visit.hpp"

namespace galop::cpu {
namespace {

using faults::kDivide;
using faults::kInvalid;
using faults::kOverflow;
using faults::kUnderflow;

constexpr std::int64_t kPiece = 256;

template <class T>
bool at_pole(Op op, T x, T y) {
  switch (pole_of(op)) {
    case Pole::always:
      return true;
    case Pole::at_zero_x:
      return x == T(0);
    case Pole::at_zero_y:
      return y == T(0);
    default:
      return false;
  }
}

template <class T>
bool underflows(Op op, T x, T y, T r) {
  switch (vanishing_of(op)) {
    case Vanishing::always:
      return true;
    case Vanishing::of_power:
      return x != T(0) && std::isfinite(y);
    case Vanishing::of_unequal:
      return x != y;
    case Vanishing::of_scaling:
      return x != T(0) && r == T(0);
    default:
      return false;
  }
}

template <class T>
bool all_ordinary(const T* r, std::int64_t n, bool normal) {
  return kernels().ordinary[sizeof(T) == sizeof(double)](r, n, normal);
}

template <class T>
std::uint8_t of_results(Op op, const T* x, const T* y, const T* r, std::int64_t n, bool underflow) {
  if (vanishing_of(op) == Vanishing::never) underflow = false;
  if (all_ordinary(r, n, underflow)) return 0;
  std::uint8_t flags = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T a = x[i], b = y ? y[i] : T(0), c = r[i];
    if (std::isfinite(c)) {
      if (underflow && std::fabs(c) < std::numeric_limits<T>::min() && std::isfinite(a) && underflows(op, a, b, c))
        flags |= kUnderflow;
    } else if (std::isnan(c)) {
      if (!std::isnan(a) && !std::isnan(b) && op != Op::spacing) flags |= kInvalid;
    } else if (std::isfinite(a) && (std::isfinite(b) || op == Op::nextafter)) {
      flags |= at_pole(op, a, b) ? kDivide : kOverflow;
      // NumPy subtracts the infinite quotient from itself.
      if ((op == Op::floor_divide || op == Op::divmod) && b != T(0)) flags |= kInvalid;
    } else if (op == Op::power && a == T(0) && std::isinf(b)) {
      flags |= kDivide;
    }
  }
  return flags;
}

// The modulus.
template <class T>
std::uint8_t of_modulus(const std::complex<T>* x, const T* r, std::int64_t n) {
  if (all_ordinary(r, n, false)) return 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (std::isinf(r[i]) && std::isfinite(x[i].real()) && std::isfinite(x[i].imag())) return kOverflow;
  return 0;
}

// float16 has no arithmetic of its own, and some processors no conversion to it. `step` is how far apart the numbers
// lie.
template <class T>
std::uint8_t of_halves(const T* x, int step, const std::uint16_t* r, std::int64_t n, bool underflow) {
  std::uint8_t flags = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i * step]);
    if ((r[i] & 0x7fff) == 0x7c00 && std::isfinite(v)) flags |= kOverflow;
    if (underflow && std::fabs(v) < 0x1p-14 && std::nearbyint(v * 0x1p24) != v * 0x1p24) flags |= kUnderflow;
  }
  return flags;
}

std::uint8_t of_halves(const void* x, DType from, const std::uint16_t* r, std::int64_t n, bool underflow) {
  const bool any = underflow || std::any_of(r, r + n, [](std::uint16_t h) { return (h & 0x7fff) == 0x7c00; });
  if (!any) return 0;
  const auto floating = [&]<class T>(std::type_identity<T>) {
    if constexpr (is_complex(dtype_of<T>))
      return of_halves(static_cast<const typename T::value_type*>(x), 2, r, n, underflow);
    else
      return of_halves(static_cast<const T*>(x), 1, r, n, underflow);
  };
  const auto integers = [&] {
    return std::any_of(r, r + n, [](std::uint16_t h) { return (h & 0x7fff) == 0x7c00; }) ? kOverflow : std::uint8_t{0};
  };
  return visit_floating(from, floating, integers);
}

template <class T>
bool leaves_range(const void* x_, const void* y_, std::int64_t n) {
  const T *x = static_cast<const T*>(x_), *y = static_cast<const T*>(y_);
  for (std::int64_t i = 0; i < n; ++i)
    if (y[i] == static_cast<T>(-1) && x[i] == std::numeric_limits<T>::min()) return true;
  return false;
}

std::uint8_t of_integers(Op op, DType t, const void* x, const void* y, std::int64_t n) {
  const int dtype = static_cast<int>(t);
  if (!y) return kernels().truth[0][dtype](x, n).last ? kDivide | kInvalid : 0;
  std::uint8_t flags = kernels().truth[0][dtype](y, n).last ? kDivide : 0;
  if (kind(t) != 'i' || (op != Op::floor_divide && op != Op::divmod)) return flags;
  // The least number, which most arrays have not, divided by -1.
  visit_itemsize(itemsize(t), [&](auto size) {
    using T = std::make_signed_t<Word<std::min<int>(size, 8)>>;
    T least;
    std::memcpy(&least, static_cast<const T*>(x) + kernels().extreme[0][dtype](x, n).at, sizeof least);
    if (least == std::numeric_limits<T>::min() && leaves_range<T>(x, y, n)) flags |= kOverflow;
  });
  return flags;
}

// The quotients once more by NumPy's formula: the kernel also computes the branch that it does not take.
template <class T>
std::uint8_t of_quotients(const void* x_, const void* y_, std::int64_t n) {
  const auto *x = static_cast<const std::complex<T>*>(x_), *y = static_cast<const std::complex<T>*>(y_);
  take_hardware_flags();
  for (std::int64_t i = 0; i < n; ++i) {
    const volatile std::complex<T> keep = over(x[i], y[i]);
    static_cast<void>(keep);
  }
  return take_hardware_flags();
}

template <class T>
bool is_nan(const std::complex<T>& z) {
  return std::isnan(z.real()) || std::isnan(z.imag());
}

// The kernel has a NaN ready for zero to a power that is not positive, and compares the NaNs among its operands.
template <class T>
std::uint8_t of_powers(const void* x_, const void* y_, std::int64_t n, std::uint8_t flags) {
  const auto *x = static_cast<const std::complex<T>*>(x_), *y = static_cast<const std::complex<T>*>(y_);
  const std::complex<T> zero;
  bool numbers = false, of_zero = false;
  for (std::int64_t i = 0; i < n; ++i) {
    numbers = numbers || (!is_nan(x[i]) && !is_nan(y[i]));
    of_zero = of_zero || (x[i] == zero && y[i] != zero && !(y[i].real() > T(0)));
  }
  return static_cast<std::uint8_t>((numbers ? flags : flags & ~kInvalid) | (of_zero ? kInvalid : 0));
}

// Runs the kernel over memory that is not its operands'.
std::uint8_t run_piece(const Watched& w, void* const* out, const void* const* in, std::int64_t n, std::uint8_t watch) {
  if (w.test != FlagTest::results) {
    const bool single = w.loop == DType::complex64;
    take_hardware_flags();
    w.kernel(out, in, n);
    const std::uint8_t raised = take_hardware_flags();
    if (w.test == FlagTest::complex_power)
      return single ? of_powers<float>(in[0], in[1], n, raised) : of_powers<double>(in[0], in[1], n, raised);
    if (raised == 0) return 0;
    return single ? of_quotients<float>(in[0], in[1], n) : of_quotients<double>(in[0], in[1], n);
  }
  w.kernel(out, in, n);
  const bool two = info(w.op).nin == 2 && !info(w.op).int_second;
  const bool underflow = watch & kUnderflow;
  std::uint8_t flags = 0;
  if (w.result == DType::float16)
    return of_halves(in[0], w.loop, static_cast<const std::uint16_t*>(out[0]), n, underflow);
  const auto floating = [&]<class T>(std::type_identity<T>) {
    const auto *x = static_cast<const T*>(in[0]), *y = two ? static_cast<const T*>(in[1]) : nullptr;
    if constexpr (is_complex(dtype_of<T>)) {
      flags |= of_modulus(x, static_cast<const typename T::value_type*>(out[0]), n);
    } else {
      for (int k = 0; k < (w.op == Op::divmod ? 2 : 1); ++k)
        flags |= of_results(w.op, x, y, static_cast<const T*>(out[k]), n, underflow);
    }
  };
  visit_floating(w.loop, floating, [] {});
  return flags;
}

}  // namespace

std::uint8_t run_other(const Watched& w, void* const* out, const void* const* in, std::int64_t n, std::uint8_t watch) {
  if (w.test == FlagTest::integer_divide || w.test == FlagTest::integer_inverse) {
    const std::uint8_t flags =
        of_integers(w.op, w.loop, in[0], w.test == FlagTest::integer_divide ? in[1] : nullptr, n);
    w.kernel(out, in, n);
    return flags;
  }
  const int nin = info(w.op).nin, nout = info(w.op).nout;
  bool over_operand = false;
  for (int k = 0; k < nout; ++k)
    for (int j = 0; j < nin; ++j) over_operand = over_operand || out[k] == in[j];
  if (!over_operand) return run_piece(w, out, in, n, watch);
  // The kernel writes over what the test has to see: it gets copies, a piece after the other.
  alignas(64) char copies[2][kPiece * 16];
  const std::int64_t in_size[2] = {itemsize(w.loop), info(w.op).int_second ? 8 : itemsize(w.loop)};
  const std::int64_t out_size[2] = {itemsize(w.result), nout > 1 ? itemsize(result_dtype(w.op, 1, w.loop)) : 0};
  std::uint8_t flags = 0;
  for (std::int64_t done = 0; done < n; done += kPiece) {
    const std::int64_t here = std::min(kPiece, n - done);
    const void* from[2] = {copies[0], copies[1]};
    void* to[2] = {};
    for (int j = 0; j < nin; ++j)
      std::memcpy(copies[j], static_cast<const char*>(in[j]) + done * in_size[j],
                  static_cast<std::size_t>(here * in_size[j]));
    for (int k = 0; k < nout; ++k) to[k] = static_cast<char*>(out[k]) + done * out_size[k];
    flags |= run_piece(w, to, from, here, watch);
  }
  return flags;
}

}  // namespace galop::cpu
