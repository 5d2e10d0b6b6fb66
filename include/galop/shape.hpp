// Small vectors of dimensions, strides and axes; four fit without the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace galop {

/// The most dimensions an array may have, as in NumPy 2.
inline constexpr int kMaxDims = 64;

/// A short list of 64-bit integers: a shape, strides or axes.
class Dims {
 public:
  Dims() : inline_{} {}
  Dims(std::initializer_list<std::int64_t> v) : Dims(v.begin(), v.end()) {}
  Dims(const std::vector<std::int64_t>& v) : Dims(v.begin(), v.end()) {}
  explicit Dims(int n, std::int64_t fill) : Dims() { resize(n, fill); }
  template <class It>
  requires(!std::is_integral_v<It>) Dims(It first, It last) : Dims() {
    for (; first != last; ++first) push_back(static_cast<std::int64_t>(*first));
  }
  Dims(const Dims& o) {
    if (o.on_heap()) {
      size_ = 0;
      capacity_ = kInline;
      assign(o);
    } else {
      take(o);
    }
  }
  Dims(Dims&& o) noexcept { steal(o); }
  Dims& operator=(const Dims& o) {
    if (!on_heap() && !o.on_heap())
      take(o);
    else if (this != &o)
      assign(o);
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept {
    if (this != &o) {
      free_heap();
      steal(o);
    }
    return *this;
  }
  ~Dims() { free_heap(); }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* data() { return on_heap() ? heap_ : inline_; }
  const std::int64_t* data() const { return on_heap() ? heap_ : inline_; }
  std::int64_t* begin() { return data(); }
  std::int64_t* end() { return data() + size_; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }
  std::int64_t& operator[](int i) { return data()[i]; }
  std::int64_t operator[](int i) const { return data()[i]; }
  std::int64_t& back() { return data()[size_ - 1]; }
  std::int64_t back() const { return data()[size_ - 1]; }

  void push_back(std::int64_t v) {
    if (size_ == capacity_) grow(2 * capacity_);
    data()[size_++] = v;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(int n, std::int64_t fill = 0) {
    if (n > capacity_) grow(n);
    for (int i = size_; i < n; ++i) data()[i] = fill;
    size_ = n;
  }
  void insert(int at, std::int64_t v) {
    push_back(v);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(int at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  static constexpr int kInline = 4;
  bool on_heap() const { return capacity_ > kInline; }
  void grow(int n) {
    auto* heap = new std::int64_t[static_cast<std::size_t>(n)];
    std::copy(begin(), end(), heap);
    free_heap();
    heap_ = heap;
    capacity_ = n;
  }
  void free_heap() {
    if (on_heap()) delete[] heap_;
  }
  void assign(const Dims& o) {
    size_ = 0;
    if (o.size_ > capacity_) grow(o.size_);
    std::copy(o.begin(), o.end(), data());
    size_ = o.size_;
  }
  // All that is there, whatever the size: a copy of known length is a few instructions.
  void take(const Dims& o) {
    size_ = o.size_;
    capacity_ = o.capacity_;
    std::memcpy(inline_, o.inline_, sizeof inline_);
  }
  void steal(Dims& o) {
    take(o);
    o.size_ = 0;
    o.capacity_ = kInline;
  }

  union {
    std::int64_t inline_[kInline];
    std::int64_t* heap_;
  };
  int size_ = 0;
  int capacity_ = kInline;
};

/// "(3, 4)", "(5,)", "()": as Python writes a tuple.
std::string to_string(const Dims& d);

/// Strides in bytes of a dense C-order array.
inline Dims c_strides(const Dims& shape, std::int64_t itemsize) {
  Dims s = shape;
  std::int64_t n = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    s[i] = itemsize * n;
    n *= shape[i];
  }
  // As in NumPy, a new array without elements has no strides.
  if (n == 0) std::fill(s.begin(), s.end(), 0);
  return s;
}

/// Where the elements of an array lie in its buffer: offset and strides in bytes, as NumPy's.
struct View {
  Dims shape;
  Dims strides;
  std::int64_t offset = 0;

  View() = default;
  // Constructors in place of an aggregate, which compilers clear as a whole before they fill it.
  template <class S = Dims, class T = Dims>
  View(S&& shape_, T&& strides_, std::int64_t offset_ = 0)
      : shape(std::forward<S>(shape_)), strides(std::forward<T>(strides_)), offset(offset_) {}
  /// Of a dense C-order array.
  struct Dense {};
  View(Dense, const Dims& shape_, std::int64_t itemsize) : shape(shape_), strides(c_strides(shape_, itemsize)) {}

  int ndim() const { return shape.size(); }
  /// Number of elements: the product of the shape.
  std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    return n;
  }
};

inline View c_view(const Dims& shape, std::int64_t itemsize) { return {View::Dense{}, shape, itemsize}; }

}  // namespace galop
