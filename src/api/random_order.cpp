// Random orders and choices of both classes of distributions, and their bytes.
#include <algorithm>
#include <cmath>

#include "api/checks.hpp"
#include "api/places.hpp"
#include "api/random_draw.hpp"
#include "core/view.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "galop/random.hpp"
#include "graph/build.hpp"
#include "random/errors.hpp"
#include "random/generator.hpp"
#include "random/legacy.hpp"

namespace galop::random {
namespace {

/// 0 … n - 1 in random order.
template <class Stream>
array indices(Stream& g, std::int64_t n) {
  return filled<std::int64_t>({std::max<std::int64_t>(n, 0)}, [&](std::size_t count, std::int64_t* out) {
    endable(g.bits(), [&] { g.permutation(count, out); });
  });
}

template <class Stream>
array permutation_of(Stream& g, const array& a, int axis) {
  graph::Lock lock;
  axis = api::normalize_axis("permutation", axis, a.ndim());
  const index rows[] = {indices(g, a.shape()[axis])};
  return moveaxis(moveaxis(a, {axis}, {0}).at(rows), {0}, {axis});
}

template <class Stream>
void shuffle_of(Stream& g, const array& a, int axis) {
  graph::Lock lock;
  axis = api::normalize_axis("shuffle", axis, a.ndim());
  api::require_writeable("shuffle", a);
  if (a.size() == 0) return;
  if (a.ndim() == 1 && graph::writing_place(a, kCpu).is_cpu()) {
    void* const data = graph::write_pointer(a);
    if (a.size() >= 1 << 17) graph::begin_long_work();
    const interrupt::Scope scope(true);  // between two swaps; the stream is then behind those that were made
    g.shuffle(static_cast<std::size_t>(a.size()), static_cast<std::size_t>(a.itemsize()), a.strides()[0], data);
    return;
  }
  const array rows = moveaxis(a, {axis}, {0});
  const index order[] = {indices(g, a.shape()[axis])};
  rows.assign(rows.at(order));
}

template <class Stream>
array choice_of(Stream& g, std::int64_t population, const Dims& size, const choice_options& o) {
  graph::Lock lock;
  Choice c{population, o.replace, o.shuffle, {}};
  std::vector<double> p;
  if (o.p) {
    if (o.p->ndim() != 1) value_error("choice", "p must be 1-dimensional; got shape " + to_string(o.p->shape()));
    p = real_array("choice", *o.p).template to_vector<double>();
    if (p.empty() && population > 0) value_error("choice", "p must not be empty");
    c.p = p;
    if (o.p->dtype() == DType::float32) c.tolerance = std::sqrt(0x1p-23);
    if (o.p->dtype() == DType::float16) c.tolerance = std::sqrt(0x1p-10);
  }
  return filled<std::int64_t>(
      size, [&](std::size_t n, std::int64_t* out) { endable(g.bits(), [&] { g.choice(c, n, out); }); });
}

template <class Stream>
array choice_of(Stream& g, const array& a, const Dims& size, const choice_options& o) {
  if (a.ndim() == 0) value_error("choice", "a must be an array of at least one axis, or an integer; got a 0-d array");
  const int axis = api::normalize_axis("choice", o.axis, a.ndim());
  const array places = choice_of(g, a.shape()[axis], size, o);
  if (places.ndim() == 0) return api::at_axis(a, axis, places.item<std::int64_t>()).copy();
  return take(a, places, axis);
}

template <class Stream>
std::vector<std::uint8_t> bytes_of(Stream& g, std::int64_t n) {
  graph::Lock lock;
  if (n < 0) value_error("bytes", "the number of bytes must not be negative; got " + std::to_string(n));
  if (n >= 1 << 20) graph::begin_long_work();
  std::vector<std::uint8_t> out(static_cast<std::size_t>(n));
  in_pieces(g.bits(), out.size(), out.data(),  // no bytes at all take a word, as NumPy's
            [&](std::size_t k, std::uint8_t* to) { g.bytes(k, to); });
  return out;
}

}  // namespace

array RandomState::permutation(std::int64_t n) {
  graph::Lock lock;
  return indices(*stream_, n);
}
array RandomState::permutation(const array& a) { return permutation_of(*stream_, a, 0); }
void RandomState::shuffle(const array& a) { shuffle_of(*stream_, a, 0); }
array RandomState::choice(std::int64_t population, const Dims& size, const choice_options& o) {
  return choice_of(*stream_, population, size, o);
}
array RandomState::choice(const array& a, const Dims& size, const choice_options& o) {
  if (a.ndim() > 1) value_error("choice", "a must be 1-dimensional; got " + std::to_string(a.ndim()) + " dimensions");
  return choice_of(*stream_, a, size, o);
}
std::vector<std::uint8_t> RandomState::bytes(std::int64_t n) { return bytes_of(*stream_, n); }

array Generator::permutation(std::int64_t n) {
  graph::Lock lock;
  return indices(*stream_, n);
}
array Generator::permutation(const array& a, int axis) { return permutation_of(*stream_, a, axis); }
void Generator::shuffle(const array& a, int axis) { shuffle_of(*stream_, a, axis); }
array Generator::choice(std::int64_t population, const Dims& size, const choice_options& o) {
  return choice_of(*stream_, population, size, o);
}
array Generator::choice(const array& a, const Dims& size, const choice_options& o) {
  return choice_of(*stream_, a, size, o);
}
std::vector<std::uint8_t> Generator::bytes(std::int64_t n) { return bytes_of(*stream_, n); }

}  // namespace galop::random
