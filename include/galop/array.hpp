// galop::array: NumPy's ndarray in C++. Expressions over arrays are evaluated when their values are needed, fused into
// one pass.
#pragma once

#include <complex>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "galop/device.hpp"
#include "galop/dtype.hpp"
#include "galop/error.hpp"
#include "galop/shape.hpp"

namespace galop {

namespace graph {
struct Cell;
void retain(Cell*) noexcept;
void release(Cell*) noexcept;
}  // namespace graph

class array;
class array_iterator;
class selection;
struct reduce_options;

/// A C++ type that is one element of an array.
template <class T>
concept element = requires {
  detail::dtype_of<std::remove_cv_t<T>>::value;
};

/// A number without a dtype of its own (NEP 50): it takes the dtype of the array that it meets, or bool, int64,
/// float64, complex128.
class scalar {
 public:
  scalar(bool v) : kind_('b'), int_(v) {}
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) scalar(T v)
      : kind_('i'), unsigned_(std::is_unsigned_v<T> && sizeof(T) == 8), int_(static_cast<std::int64_t>(v)) {}
  scalar(double v) : kind_('f'), value_(v) {}
  scalar(float v) : kind_('f'), value_(static_cast<double>(v)) {}
  scalar(std::complex<double> v) : kind_('c'), value_(v) {}

  /// 'b', 'i', 'f' or 'c'.
  char kind() const { return kind_; }
  /// Kind 'i' only: the value lies above the range of int64 and `integer()` is its two's complement.
  bool is_huge() const { return unsigned_ && int_ < 0; }
  std::int64_t integer() const { return int_; }
  std::complex<double> number() const {
    if (kind_ == 'f' || kind_ == 'c') return value_;
    return is_huge() ? static_cast<double>(static_cast<std::uint64_t>(int_)) : static_cast<double>(int_);
  }
  /// The dtype of an array made from this number alone.
  DType dtype() const;
  /// The value stored as one element of dtype `t`. Throws OverflowError for an integer that `t` cannot hold.
  void store(DType t, void* to) const;

 private:
  char kind_;
  bool unsigned_ = false;
  std::int64_t int_ = 0;
  std::complex<double> value_ = 0.0;
};

/// An operand: an array, or a number. Holds a reference, so use it as a parameter type only.
class arg {
 public:
  arg(const array& a) : array_(&a), scalar_(false) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<double>> || std::is_same_v<T, scalar>) arg(T v)
      : scalar_(v) {}

  bool is_array() const { return array_ != nullptr; }
  const array& as_array() const { return *array_; }
  const scalar& as_scalar() const { return scalar_; }

 private:
  const array* array_ = nullptr;
  scalar scalar_;
};

/// How a value may change its dtype when it is stored, as NumPy's `casting`.
enum class Casting : std::uint8_t { no, equiv, safe, same_kind, unsafe };
/// "no", …, "unsafe".
std::string_view name(Casting c);
/// Whether `casting` lets `from` become `to`: NumPy's can_cast.
bool can_cast(DType from, DType to, Casting casting = Casting::safe);

/// How elements lie in new memory, as NumPy's `order`: rows together (C) or columns (F); K as those of the array that
/// it is made from, A as F where that one's columns lie together, else as C.
enum class Order : char { C = 'C', F = 'F', A = 'A', K = 'K' };

/// Optional arguments of astype.
struct astype_options {
  Order order = Order::K;
  Casting casting = Casting::unsafe;
  bool copy = true;  ///< false: the array itself where dtype and order are right already
};

/// A basic slice `start:stop:step`; an empty part takes NumPy's default.
struct slice {
  std::optional<std::int64_t> start, stop, step;
  slice() = default;
  slice(std::optional<std::int64_t> stop_) : stop(stop_) {}
  slice(std::optional<std::int64_t> start_, std::optional<std::int64_t> stop_,
        std::optional<std::int64_t> step_ = std::nullopt)
      : start(start_), stop(stop_), step(step_) {}
};
struct newaxis_t {};
struct ellipsis_t {};
inline constexpr newaxis_t newaxis{};
inline constexpr ellipsis_t ellipsis{};
inline constexpr std::nullopt_t none = std::nullopt;
/// All elements of one axis.
inline const slice all_of{};

/// One part of an index expression: an integer, a slice, newaxis, ellipsis, or an array of integers or bools.
using index = std::variant<std::int64_t, slice, newaxis_t, ellipsis_t, array>;

/// An n-dimensional array: a handle on shared storage, a view into it and a dtype. Copying a handle shares the
/// elements, as `b = a` does in Python. Assigning to a named array rebinds the handle; assigning to the result of an
/// index expression, `a(slice(1, -1)) = b`, writes the elements.
class array {
 public:
  /// A 0-d float64 zero.
  array();
  /// A 0-d array of the number's own dtype.
  array(scalar v);
  template <class T>
  requires std::is_arithmetic_v<T> array(T v) : array(scalar(v)) {}
  /// A 1-d copy of the values.
  template <element T>
  array(const std::vector<T>& v) : array(copy_of(v)) {}
  template <element T, std::size_t N>
  array(std::span<T, N> v) : array(copy_of(v.data(), dtype_of<T>, Dims{static_cast<std::int64_t>(v.size())})) {}
  /// The numbers written down, `array({1, 2, 3})`, `array({{1.0, 2.0}, {3.0, 4.0}})`: integers become int64, real
  /// numbers float64, as NumPy's. Throws ValueError when rows differ in length.
  template <element T>
  array(std::initializer_list<T> v) : array(copy_of(std::vector<literal<T>>(v.begin(), v.end()))) {}
  template <element T>
  array(std::initializer_list<std::initializer_list<T>> rows) : array(copy_of_rows<literal<T>>(rows)) {}
  template <element T>
  array(const std::vector<std::vector<T>>& rows) : array(copy_of_rows<T>(rows)) {}

  array(const array& o) noexcept : cell_(o.cell_), view_(o.view_), dtype_(o.dtype_), writeable_(o.writeable_) {
    graph::retain(cell_);
  }
  array(array&& o) noexcept
      : cell_(std::exchange(o.cell_, nullptr)), view_(std::move(o.view_)), dtype_(o.dtype_), writeable_(o.writeable_) {}
  ~array() {
    if (cell_) graph::release(cell_);
  }
  array& operator=(const array& o) & {
    array t(o);
    return *this = std::move(t);
  }
  array& operator=(array&& o) & noexcept {
    std::swap(cell_, o.cell_);
    std::swap(view_, o.view_);
    dtype_ = o.dtype_;
    writeable_ = o.writeable_;
    return *this;
  }
  /// Writes through a view, `a(slice(1, -1)) = values`: broadcast and cast as NumPy's setitem.
  void operator=(const array& v) && { assign(v); }
  template <class T>
  requires(!std::is_same_v<T, array> && std::is_convertible_v<const T&, arg>) void operator=(const T& v) && {
    assign(v);
  }
  /// a[...] = values. Throws ValueError when read-only or when the shape does not broadcast.
  void assign(const arg& values) const;

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return view_.shape; }
  /// Bytes from one element to the next along each axis.
  const Dims& strides() const { return view_.strides; }
  int ndim() const { return view_.ndim(); }
  std::int64_t size() const { return view_.size(); }
  std::int64_t nbytes() const { return size() * itemsize(); }
  int itemsize() const { return galop::itemsize(dtype_); }
  bool writeable() const { return writeable_; }
  void set_writeable(bool w) { writeable_ = w; }
  bool is_c_contiguous() const;
  bool is_f_contiguous() const;

  /// A view or, with an array among the parts, a copy, as NumPy's a[...]. Throws IndexError.
  array at(std::span<const index> parts) const;
  /// a[parts] = values, also through integer and boolean arrays. Throws IndexError, ValueError.
  void set(std::span<const index> parts, const arg& values) const;
  /// a(parts…): a view or copy as at(), and a place to write to, `a(slice(1, -1)) = b`. With an array among the parts
  /// the result is a copy that knows where it comes from, so that `a(mask) = 0` and `a(mask) += 1` reach `a`.
  template <class... I>
  auto operator()(I&&... parts) const;

  /// The array with reversed axes, a view.
  array T() const;
  array transpose(const Dims& axes) const;
  /// A view where NumPy gives one, else a copy; one extent may be -1.
  array reshape(const Dims& shape) const;
  array reshape(const Dims& shape, Order order) const;
  array ravel() const { return reshape({-1}); }
  array ravel(Order order) const;
  /// A copy of another dtype (casting="unsafe"). Complex numbers lose their imaginary parts without a word, here and in
  /// other casts: NumPy's warnings that are not about floating point are given in Python alone.
  array astype(DType t) const;
  /// Throws TypeError where the casting does not allow it.
  array astype(DType t, const astype_options& o) const;
  array copy() const;
  array copy(Order order) const;
  /// Where it was computed, or will be; evaluates when only the cost decides.
  Device device() const;
  /// A copy on the device, whose results stay there; itself when it is placed there already. Throws DeviceError when
  /// there is no such device.
  array to_device(Device d) const;
  array cpu() const { return to_device(kCpu); }
  array cuda(int ordinal = 0) const { return to_device({DeviceKind::cuda, static_cast<std::int16_t>(ordinal)}); }
  /// Real and imaginary part: views for a complex array.
  array real() const;
  array imag() const;

  /// The value of a one-element array, as T. Evaluates. Throws ValueError for any other number of elements.
  template <class T>
  T item() const {
    if (size() != 1) throw_not_one_element();
    T v;
    item_into(dtype_of<T>, &v);
    return v;
  }
  /// The same as a conversion: `double(gp::sum(x))`, `if (gp::any(x > 1))`.
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>
  explicit operator T() const { return item<T>(); }
  /// The value of the element at flat C-order position `i`, written to `to` as dtype `t`.
  void item_into(DType t, void* to, std::int64_t i = 0) const;
  /// A copy of all elements in C order, as T.
  template <class T>
  std::vector<T> to_vector() const;

  /// Evaluates and returns the address of element 0; read through strides(). Valid while this storage is not written or
  /// released.
  const void* data() const;
  /// As data(), for writing; the storage then counts as shared with the outside until `release_export` balances this
  /// call.
  void* export_data() const;
  void release_export() const;

  // The functions of the same name, for expressions that read on: `(x * x).sum().item<double>()`.
  array sum() const;
  array sum(const reduce_options& o) const;
  array prod() const;
  array prod(const reduce_options& o) const;
  array min() const;
  array min(const reduce_options& o) const;
  array max() const;
  array max(const reduce_options& o) const;
  array any() const;
  array any(const reduce_options& o) const;
  array all() const;
  array all(const reduce_options& o) const;
  array mean() const;
  array mean(const reduce_options& o) const;
  array var() const;
  array var(const reduce_options& o) const;
  array std() const;
  array std(const reduce_options& o) const;
  array argmin(std::optional<int> axis = {}) const;
  array argmax(std::optional<int> axis = {}) const;
  array cumsum(std::optional<int> axis = {}) const;
  array cumprod(std::optional<int> axis = {}) const;
  array dot(const array& b) const;
  array clip(const arg& low, const arg& high) const;
  array round(int decimals = 0) const;
  array conj() const;
  array swapaxes(int axis1, int axis2) const;
  array squeeze() const;
  array diagonal(int offset = 0) const;
  array take(const array& indices, std::optional<int> axis = {}) const;
  array repeat(const array& repeats, std::optional<int> axis = {}) const;
  /// A 1-d copy, of the elements in C order or in another.
  array flatten(Order order = Order::C) const;
  /// The same bytes as another dtype, a view; the last axis follows the sizes. Throws ValueError where it cannot.
  array view_as(DType t) const;
  void fill(const arg& v) const { assign(v); }

  /// Views of the parts along the first axis, for range-based loops. Throw TypeError for a 0-d array.
  array_iterator begin() const;
  array_iterator end() const;

  array& operator+=(const arg& v);
  array& operator-=(const arg& v);
  array& operator*=(const arg& v);
  array& operator/=(const arg& v);
  array& operator%=(const arg& v);
  array& operator&=(const arg& v);
  array& operator|=(const arg& v);
  array& operator^=(const arg& v);
  array& operator<<=(const arg& v);
  array& operator>>=(const arg& v);

  // For Galop's own layers.
  array(graph::Cell* adopted, View view, DType t, bool writeable = true) noexcept
      : cell_(adopted), view_(std::move(view)), dtype_(t), writeable_(writeable) {}
  /// Of a cell whose elements lie in C order.
  array(graph::Cell* adopted, const Dims& shape, DType t)
      : cell_(adopted), view_(View::Dense{}, shape, galop::itemsize(t)), dtype_(t) {}
  graph::Cell* cell() const { return cell_; }
  const View& view() const { return view_; }
  /// A handle on the same storage.
  array with_view(View v) const;
  /// For a new handle that becomes another view where it is.
  View& own_view() { return view_; }

 private:
  // The numbers of an initializer list have the dtype of NumPy's literals.
  template <class T>
  using literal = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;

  [[noreturn]] void throw_not_one_element() const;
  static array copy_of(const void* data, DType t, const Dims& shape);
  template <class T>
  static array copy_of(const std::vector<T>& v) {
    const Dims shape{static_cast<std::int64_t>(v.size())};
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<std::uint8_t> bytes(v.begin(), v.end());
      return copy_of(bytes.data(), DType::bool_, shape);
    } else {
      return copy_of(v.data(), dtype_of<T>, shape);
    }
  }
  template <class T, class Rows>
  static array copy_of_rows(const Rows& rows) {
    std::vector<T> all;
    const std::size_t n = rows.size() == 0 ? 0 : rows.begin()->size();
    for (const auto& row : rows) {
      if (row.size() != n)
        throw ValueError("[array] rows must have one length; got " + std::to_string(n) + " and " +
                         std::to_string(row.size()));
      all.insert(all.end(), row.begin(), row.end());
    }
    return copy_of(all).reshape({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(n)});
  }
  template <class I>
  static index to_index(I&& i) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<I>>)
      return static_cast<std::int64_t>(i);
    else
      return index(std::forward<I>(i));
  }

  graph::Cell* cell_;
  View view_;
  DType dtype_;
  bool writeable_ = true;
};

/// The elements that an index expression with arrays picked: a copy of them, which writes back to its source when it is
/// assigned to.
class selection : public array {
 public:
  selection(const array& source, std::vector<index> parts)
      : array(source.at(parts)), source_(source), parts_(std::move(parts)) {}
  selection(const selection&) = default;
  void operator=(const selection& v) && { source_.set(parts_, static_cast<const array&>(v)); }
  template <class T>
  requires std::is_convertible_v<const T&, arg>
  void operator=(const T& v) && { source_.set(parts_, v); }
  void operator+=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) += v); }
  void operator-=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) -= v); }
  void operator*=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) *= v); }
  void operator/=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) /= v); }
  void operator%=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) %= v); }
  void operator&=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) &= v); }
  void operator|=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) |= v); }
  void operator^=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) ^= v); }
  void operator<<=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) <<= v); }
  void operator>>=(const arg& v) && { source_.set(parts_, static_cast<array&>(*this) >>= v); }

 private:
  array source_;
  std::vector<index> parts_;
};

template <class... I>
auto array::operator()(I&&... parts) const {
  std::vector<index> list{to_index(std::forward<I>(parts))...};
  if constexpr ((std::is_base_of_v<array, std::remove_cvref_t<I>> || ...))
    return selection(*this, std::move(list));
  else
    return at(list);
}

template <class T>
std::vector<T> array::to_vector() const {
  std::vector<T> out(static_cast<std::size_t>(size()));
  array c = astype(dtype_of<T>).ravel();
  const auto* p = static_cast<const char*>(c.data());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = *reinterpret_cast<const T*>(p + static_cast<std::int64_t>(i) * c.strides()[0]);
  return out;
}
template <>
std::vector<bool> array::to_vector<bool>() const;

array operator+(const arg& x, const arg& y);
array operator-(const arg& x, const arg& y);
array operator*(const arg& x, const arg& y);
array operator/(const arg& x, const arg& y);
array operator%(const arg& x, const arg& y);
array operator&(const arg& x, const arg& y);
array operator|(const arg& x, const arg& y);
array operator^(const arg& x, const arg& y);
array operator<<(const arg& x, const arg& y);
array operator>>(const arg& x, const arg& y);
array operator==(const arg& x, const arg& y);
array operator!=(const arg& x, const arg& y);
array operator<(const arg& x, const arg& y);
array operator<=(const arg& x, const arg& y);
array operator>(const arg& x, const arg& y);
array operator>=(const arg& x, const arg& y);
array operator-(const array& x);
array operator+(const array& x);
array operator~(const array& x);

/// An array over memory that belongs to somebody else. `owner` is called once, when the last handle has gone. Strides
/// in bytes.
array from_memory(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable,
                  std::function<void()> owner);

/// Several arrays as an argument: `concatenate({a, b})`, or a vector, array or span of them. Refers to them, so use it
/// as a parameter type only.
class array_list : public std::span<const array> {
 public:
  array_list(std::initializer_list<array> list) : span(list.begin(), list.size()) {}
  template <class R>
  requires std::is_convertible_v<R&&, std::span<const array>> array_list(R&& list)
      : span(static_cast<std::span<const array>>(list)) {}
};

/// Evaluates everything the arrays need, in as few passes as fusion allows.
void eval(array_list arrays);
inline void eval(const array& a) { eval(std::span(&a, 1)); }

/// The plan that evaluating `a` would run: kernels, bytes moved, temporaries. Empty work gives "ready".
std::string explain(const array& a);

}  // namespace galop
