// Arithmetic on views: contiguity, broadcasting, memory bounds, NumPy's memory order. The search for overlaps is in
// overlap.cpp.
#include "core/view.hpp"

#include <cstdlib>
#include <limits>

#include "galop/error.hpp"

namespace galop {

bool is_c_contiguous(const View& v, std::int64_t itemsize) {
  if (v.size() == 0) return true;
  for (int i = v.ndim() - 1; i >= 0; --i) {
    if (v.shape[i] == 1) continue;
    if (v.strides[i] != itemsize) return false;
    itemsize *= v.shape[i];
  }
  return true;
}

bool is_f_contiguous(const View& v, std::int64_t itemsize) {
  if (v.size() == 0) return true;
  for (int i = 0; i < v.ndim(); ++i) {
    if (v.shape[i] == 1) continue;
    if (v.strides[i] != itemsize) return false;
    itemsize *= v.shape[i];
  }
  return true;
}

std::int64_t checked_size(std::string_view op, const Dims& shape, std::int64_t itemsize) {
  auto message = [&](const char* what) {
    return "[" + std::string(op) + "] " + what + "; got shape " + to_string(shape);
  };
  if (shape.size() > kMaxDims) throw ValueError(message("more than 64 dimensions"));
  for (std::int64_t d : shape)
    if (d < 0) throw ValueError(message("negative extent"));
  // Extents of 0 are skipped: as in NumPy, the others must not pass the limit even in an empty array.
  std::int64_t bytes = itemsize;
  std::int64_t n = 1;
  for (std::int64_t d : shape) {
    if (d > 0 && __builtin_mul_overflow(bytes, d, &bytes))
      throw ValueError(message("array is too big: more than 2**63 - 1 bytes"));
    n *= d;
  }
  return n;
}

Dims broadcast(std::string_view op, std::span<const Dims* const> shapes) {
  Dims r;
  for (const Dims* s : shapes) {
    while (r.size() < s->size()) r.insert(0, 1);
    int lead = r.size() - s->size();
    for (int i = 0; i < s->size(); ++i) {
      std::int64_t d = (*s)[i];
      std::int64_t& have = r[lead + i];
      if (d == have || d == 1) continue;
      if (have != 1) {
        std::string got;
        for (const Dims* t : shapes) got += (got.empty() ? "" : " ") + to_string(*t);
        throw ValueError("[" + std::string(op) + "] shapes could not be broadcast together; got " + got);
      }
      have = d;
    }
  }
  checked_size(op, r, 1);
  return r;
}

View broadcast_view(std::string_view op, const View& v, const Dims& shape) {
  if (v.shape == shape) return v;
  View r{shape, Dims(shape.size(), 0), v.offset};
  int lead = shape.size() - v.ndim();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < v.ndim(); ++i) {
    if (v.shape[i] == shape[lead + i])
      r.strides[lead + i] = v.strides[i];
    else
      fits = v.shape[i] == 1;
  }
  if (!fits)
    throw ValueError("[" + std::string(op) + "] could not broadcast to shape " + to_string(shape) + "; got shape " +
                     to_string(v.shape));
  return r;
}

Dims memory_order(int ndim, std::span<const View* const> operands) {
  // Insertion sort from the innermost axis outwards. It has to be this one: the comparison is no total order (an axis
  // of stride 0 or extent 1 compares with nothing), so that the result depends on the algorithm.
  Dims inner_first;
  for (int i = ndim - 1; i >= 0; --i) {
    int place = inner_first.size();
    for (int k = place - 1; k >= 0; --k) {
      int j = static_cast<int>(inner_first[k]);
      bool compared = false;
      bool inside = false;
      for (const View* v : operands) {
        std::int64_t a = v->shape[i] == 1 ? 0 : std::abs(v->strides[i]);
        std::int64_t b = v->shape[j] == 1 ? 0 : std::abs(v->strides[j]);
        if (a == 0 || b == 0) continue;
        // Operands that disagree leave the axes in C order.
        inside = a < b && (!compared || inside);
        compared = true;
      }
      if (!compared) continue;
      if (!inside) break;
      place = k;
    }
    inner_first.insert(place, i);
  }
  std::reverse(inner_first.begin(), inner_first.end());
  return inner_first;
}

Dims keep_order_strides(const Dims& shape, std::int64_t itemsize, std::span<const View* const> operands) {
  if (shape.size() == 1) return Dims{itemsize};
  Dims order = memory_order(shape.size(), operands);
  Dims strides(shape.size(), 0);
  for (int k = shape.size() - 1; k >= 0; --k) {
    int axis = static_cast<int>(order[k]);
    strides[axis] = itemsize;
    itemsize *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

bool covers_once(const View& v, std::int64_t itemsize, std::int64_t bytes) {
  if (v.size() == 0) return bytes == 0;
  auto [first, last] = byte_bounds(v, itemsize);
  return first == 0 && last == bytes && v.size() * itemsize == bytes && !has_internal_overlap(v, itemsize);
}

bool has_internal_overlap(const View& v, std::int64_t itemsize) {
  if (v.size() <= 1) return false;
  Dims axes;
  for (int i = 0; i < v.ndim(); ++i)
    if (v.shape[i] > 1) axes.push_back(i);
  std::sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(v.strides[static_cast<int>(a)]) < std::abs(v.strides[static_cast<int>(b)]);
  });
  // Each step along an axis must clear what the axes inside it reach.
  std::int64_t reach = itemsize;
  for (std::int64_t a : axes) {
    std::int64_t step = std::abs(v.strides[static_cast<int>(a)]);
    if (step < reach) return true;
    reach += step * (v.shape[static_cast<int>(a)] - 1);
  }
  return false;
}

std::pair<std::int64_t, std::int64_t> byte_bounds(const View& v, std::int64_t itemsize) {
  std::int64_t first = v.offset;
  std::int64_t last = v.offset;
  if (v.size() == 0) return {first, last};
  for (int i = 0; i < v.ndim(); ++i) (v.strides[i] < 0 ? first : last) += (v.shape[i] - 1) * v.strides[i];
  return {first, last + itemsize};
}

bool same_map(const View& a, const View& b) {
  if (a.offset != b.offset || !(a.shape == b.shape)) return false;
  for (int i = 0; i < a.ndim(); ++i)
    if (a.shape[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}  // namespace galop
