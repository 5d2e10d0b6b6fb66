// Small vectors of dimensions, strides and axes; four fit without the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace galop {

/// The most dimensions an array may have, as in NumPy 2.
inline constexpr int kMaxDims = 64;

/// A short list of 64-bit integers: a shape, strides or axes.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> v) : Dims(v.begin(), v.end()) {}
  Dims(const std::vector<std::int64_t>& v) : Dims(v.begin(), v.end()) {}
  explicit Dims(int n, std::int64_t fill) { resize(n, fill); }
  template <class It>
  requires(!std::is_integral_v<It>) Dims(It first, It last) {
    for (; first != last; ++first) push_back(static_cast<std::int64_t>(*first));
  }
  Dims(const Dims& o) {
    if (o.data_ == o.inline_)
      take_inline(o);
    else
      assign(o);
  }
  Dims(Dims&& o) noexcept { steal(o); }
  Dims& operator=(const Dims& o) {
    if (data_ == inline_ && o.data_ == o.inline_)
      take_inline(o);
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
  std::int64_t* data() { return data_; }
  const std::int64_t* data() const { return data_; }
  std::int64_t* begin() { return data_; }
  std::int64_t* end() { return data_ + size_; }
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  std::int64_t& operator[](int i) { return data_[i]; }
  std::int64_t operator[](int i) const { return data_[i]; }
  std::int64_t& back() { return data_[size_ - 1]; }
  std::int64_t back() const { return data_[size_ - 1]; }

  void push_back(std::int64_t v) {
    if (size_ == capacity_) grow(2 * capacity_);
    data_[size_++] = v;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(int n, std::int64_t fill = 0) {
    if (n > capacity_) grow(n);
    for (int i = size_; i < n; ++i) data_[i] = fill;
    size_ = n;
  }
  void insert(int at, std::int64_t v) {
    push_back(v);
    std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
  }
  void erase(int at) {
    std::copy(data_ + at + 1, data_ + size_, data_ + at);
    --size_;
  }
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a.data_[i] != b.data_[i]) return false;
    return true;
  }

 private:
  void grow(int n) {
    auto* heap = new std::int64_t[static_cast<std::size_t>(n)];
    std::copy(data_, data_ + size_, heap);
    free_heap();
    data_ = heap;
    capacity_ = n;
  }
  void free_heap() {
    if (data_ != inline_) delete[] data_;
  }
  void assign(const Dims& o) {
    size_ = 0;
    if (o.size_ > capacity_) grow(o.size_);
    std::copy(o.begin(), o.end(), data_);
    size_ = o.size_;
  }
  // Four at once, whatever the size: a copy of known length is two instructions.
  void take_inline(const Dims& o) {
    size_ = o.size_;
    std::memcpy(inline_, o.inline_, sizeof inline_);
  }
  void steal(Dims& o) {
    if (o.data_ == o.inline_) {
      data_ = inline_;
      capacity_ = 4;
      take_inline(o);
    } else {
      size_ = o.size_;
      data_ = o.data_;
      capacity_ = o.capacity_;
      o.data_ = o.inline_;
      o.capacity_ = 4;
    }
    o.size_ = 0;
  }

  std::int64_t inline_[4] = {};
  std::int64_t* data_ = inline_;
  int size_ = 0;
  int capacity_ = 4;
};

/// "(3, 4)", "(5,)", "()": as Python writes a tuple.
std::string to_string(const Dims& d);

/// Where the elements of an array lie in its buffer: offset and strides in bytes, as NumPy's.
struct View {
  Dims shape;
  Dims strides;
  std::int64_t offset = 0;

  int ndim() const { return shape.size(); }
  /// Number of elements: the product of the shape.
  std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    return n;
  }
};

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
inline View c_view(const Dims& shape, std::int64_t itemsize) { return {shape, c_strides(shape, itemsize), 0}; }

}  // namespace galop
