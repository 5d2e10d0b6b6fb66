// Typed access to the elements of an array, without a call for each: what std::span and std::mdspan are for other
// memory.
//
//   galop::elements<double, 2> u(a);                     // evaluates; a is a float64 array of two axes
//   for (std::int64_t i = 0; i < u.extent(0); ++i) u(i, 0) = 1;
//   for (auto row : u) std::ranges::sort(row);           // rows of two axes, numbers of one
//
// Elements are those of the array, not a copy: writes through either are seen by both and by every view, as a NumPy
// array and a memoryview of it. While `elements` live, operations on the array read at the call and write in place, so
// expressions over it neither wait nor fuse; let it go out of scope soon.
#pragma once

#include <array>
#include <cassert>
#include <compare>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "galop/array.hpp"

namespace galop {

/// N axes over elements of type T somewhere in memory: an address, extents, and strides counted in elements. It owns
/// nothing and copies like a pointer. T is const where elements are only read.
template <class T, int N = 1>
class strided_span {
  static_assert(N >= 1, "a strided_span has at least one axis");

 public:
  using element_type = T;
  using value_type = std::conditional_t<N == 1, std::remove_cv_t<T>, strided_span<T, N - 1 == 0 ? 1 : N - 1>>;
  using reference = std::conditional_t<N == 1, T&, strided_span<T, N - 1 == 0 ? 1 : N - 1>>;
  using extents_type = std::array<std::int64_t, static_cast<std::size_t>(N)>;

  strided_span() = default;
  strided_span(T* data, const extents_type& extents, const extents_type& strides)
      : data_(data), extents_(extents), strides_(strides) {}
  /// Elements that are read may be had from those that are written.
  operator strided_span<const T, N>() const requires(!std::is_const_v<T>) { return {data_, extents_, strides_}; }

  static constexpr int rank() { return N; }
  std::int64_t extent(int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  /// Elements from one to the next along the axis; negative in reversed views.
  std::int64_t stride(int axis) const { return strides_[static_cast<std::size_t>(axis)]; }
  /// Number of elements.
  std::int64_t size() const {
    std::int64_t n = 1;
    for (const std::int64_t e : extents_) n *= e;
    return n;
  }
  bool empty() const { return size() == 0; }
  /// The address of element 0.
  T* data() const { return data_; }

  /// The element at a place; places outside are undefined behaviour, asserted in debug builds.
  template <std::integral... I>
  requires(sizeof...(I) == N) T& operator()(I... place) const {
    return data_[offset(std::make_index_sequence<N>(), static_cast<std::int64_t>(place)...)];
  }
  /// The element at a place that is checked. Throws IndexError.
  template <std::integral... I>
  requires(sizeof...(I) == N) T& at(I... place) const {
    const std::int64_t list[] = {static_cast<std::int64_t>(place)...};
    for (int k = 0; k < N; ++k)
      if (list[k] < 0 || list[k] >= extent(k))
        throw IndexError("[elements] index out of bounds for axis " + std::to_string(k) + " with size " +
                         std::to_string(extent(k)) + "; got " + std::to_string(list[k]));
    return (*this)(place...);
  }
  /// Part `i` of the first axis: an element of one axis, else a span with one axis less.
  reference operator[](std::int64_t i) const {
    assert(i >= 0 && i < extents_[0]);
    if constexpr (N == 1) {
      return data_[i * strides_[0]];
    } else {
      typename reference::extents_type extents, strides;
      for (std::size_t k = 1; k < N; ++k) {
        extents[k - 1] = extents_[k];
        strides[k - 1] = strides_[k];
      }
      return {data_ + i * strides_[0], extents, strides};
    }
  }

  /// Whether the elements stand side by side in C order.
  bool contiguous() const {
    std::int64_t step = 1;
    for (int k = N - 1; k >= 0; --k) {
      if (extent(k) != 1 && stride(k) != step) return size() == 0;
      step *= extent(k);
    }
    return true;
  }
  /// All elements as a std::span. Throws ValueError unless they are contiguous.
  std::span<T> flat() const {
    if (!contiguous()) throw ValueError("[elements] the elements must be contiguous in C order; got another layout");
    return {data_, static_cast<std::size_t>(size())};
  }

  /// Goes along the first axis.
  class iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::conditional_t<N == 1, std::random_access_iterator_tag, std::input_iterator_tag>;
    using value_type = strided_span::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = strided_span::reference;
    using pointer = std::conditional_t<N == 1, T*, void>;

    iterator() = default;
    iterator(const strided_span& s, std::int64_t i) : span_(s), i_(i) {}
    reference operator*() const { return span_[i_]; }
    reference operator[](difference_type n) const { return span_[i_ + n]; }
    iterator& operator++() { return *this += 1; }
    iterator& operator--() { return *this -= 1; }
    iterator operator++(int) { return std::exchange(*this, *this + 1); }
    iterator operator--(int) { return std::exchange(*this, *this - 1); }
    iterator& operator+=(difference_type n) { return i_ += n, *this; }
    iterator& operator-=(difference_type n) { return i_ -= n, *this; }
    friend iterator operator+(iterator it, difference_type n) { return it += n; }
    friend iterator operator+(difference_type n, iterator it) { return it += n; }
    friend iterator operator-(iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const iterator& x, const iterator& y) { return x.i_ - y.i_; }
    friend bool operator==(const iterator& x, const iterator& y) { return x.i_ == y.i_; }
    friend auto operator<=>(const iterator& x, const iterator& y) { return x.i_ <=> y.i_; }

   private:
    strided_span span_;
    std::int64_t i_ = 0;
  };
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, extents_[0]}; }

 private:
  template <std::size_t... K, class... I>
  std::int64_t offset(std::index_sequence<K...>, I... place) const {
    assert(((place >= 0 && place < extents_[K]) && ...));
    return ((place * strides_[K]) + ...);
  }

  T* data_ = nullptr;
  extents_type extents_{};
  extents_type strides_{};
};

/// The elements of an evaluated array as T: a strided_span that keeps the array alive and its memory in place. It moves
/// but does not copy. A const T reads, any other T writes.
///
/// Throws TypeError when the dtype is not T's (use astype first), ValueError when there are not N axes, when elements
/// are to be written and the array is read-only, or when a stride is no multiple of T's size.
template <class T, int N = 1>
class elements : public strided_span<T, N> {
 public:
  explicit elements(const array& a) : elements(checked(a), a) {}
  elements(elements&& o) noexcept : strided_span<T, N>(o), array_(std::move(o.array_)) { o.array_.reset(); }
  elements& operator=(elements&& o) noexcept {
    if (this == &o) return *this;
    release();
    strided_span<T, N>::operator=(o);
    array_ = std::move(o.array_);
    o.array_.reset();
    return *this;
  }
  ~elements() { release(); }

 private:
  using Span = strided_span<T, N>;

  // A handle on the same elements through which nobody can write what is only read.
  static array checked(const array& a) {
    if (a.dtype() != dtype_of<T>)
      throw TypeError("[elements] the array must have the elements' dtype " + std::string(name(dtype_of<T>)) +
                      "; got " + std::string(name(a.dtype())));
    if (a.ndim() != N)
      throw ValueError("[elements] the array must have " + std::to_string(N) + " axes; got shape " +
                       to_string(a.shape()));
    if (!std::is_const_v<T> && !a.writeable())
      throw ValueError("[elements] the array is read-only; got elements to write");
    for (const std::int64_t s : a.strides())
      if (s % static_cast<std::int64_t>(sizeof(T)) != 0)
        throw ValueError("[elements] strides must be multiples of an element's size; got strides " +
                         to_string(a.strides()));
    array handle = a;
    if constexpr (std::is_const_v<T>) handle.set_writeable(false);
    return handle;
  }

  elements(array handle, const array& a) : Span(seen(handle, a)), array_(std::move(handle)) {}

  static Span seen(const array& handle, const array& a) {
    typename Span::extents_type extents, strides;
    for (int k = 0; k < N; ++k) {
      extents[static_cast<std::size_t>(k)] = a.shape()[k];
      strides[static_cast<std::size_t>(k)] = a.strides()[k] / static_cast<std::int64_t>(sizeof(T));
    }
    return {static_cast<T*>(handle.export_data()), extents, strides};
  }

  void release() {
    if (array_) array_->release_export();
    array_.reset();
  }

  std::optional<array> array_;
};

/// Goes along the first axis of an array; its parts are views.
class array_iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = array;
  using difference_type = std::ptrdiff_t;
  using reference = array;
  using pointer = void;

  array_iterator() = default;
  array_iterator(array a, std::int64_t i) : array_(std::move(a)), i_(i) {}
  array operator*() const { return array_(i_); }
  array operator[](difference_type n) const { return array_(i_ + n); }
  array_iterator& operator++() { return *this += 1; }
  array_iterator& operator--() { return *this -= 1; }
  array_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  array_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  array_iterator& operator+=(difference_type n) { return i_ += n, *this; }
  array_iterator& operator-=(difference_type n) { return i_ -= n, *this; }
  friend array_iterator operator+(array_iterator it, difference_type n) { return it += n; }
  friend array_iterator operator+(difference_type n, array_iterator it) { return it += n; }
  friend array_iterator operator-(array_iterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(const array_iterator& x, const array_iterator& y) { return x.i_ - y.i_; }
  friend bool operator==(const array_iterator& x, const array_iterator& y) { return x.i_ == y.i_; }
  friend auto operator<=>(const array_iterator& x, const array_iterator& y) { return x.i_ <=> y.i_; }

 private:
  array array_;
  std::int64_t i_ = 0;
};

}  // namespace galop
