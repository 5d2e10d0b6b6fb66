// Random numbers made where a new array is placed: on a GPU with the bits of the host's stream, else on the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/array.hpp"
#include "galop/create.hpp"
#include "galop/error.hpp"
#include "graph/build.hpp"
#include "random/bit_stream.hpp"
#include "random/legacy.hpp"

namespace galop::random {

/// A request of this kind; the stream, the count and the place come later.
Draw draw_of(Draw::Kind kind, DType t, double low = 0, double range = 1);

/// n numbers at `out`, an address of the device, and `bits` past what they took; false, and nothing has changed, where
/// the device cannot.
bool draw_on(DeviceBackend& device, AnyBitStream& bits, Draw d, std::int64_t n, void* out);

/// The same for RandomState's normal deviates, of which one may be left from before, and one be left over.
bool polar_on(DeviceBackend& device, raw::RandomState& state, double loc, double scale, std::int64_t n, double* out);

/// A real parameter as float64. Throws TypeError for a complex one.
array real_array(std::string_view op, const arg& v);

/// A new array in C order: on_device(device, n, out) where it is placed on one that can, else on_host(n, out).
template <class OnDevice, class OnHost>
array made(const Dims& size, DType t, OnDevice&& on_device, OnHost&& on_host) {
  const std::int64_t n = checked_size("empty", size, itemsize(t));
  const graph::Place place = graph::place_new(n * itemsize(t), static_cast<double>(n));
  if (!place.device.is_cpu() && n > 0) {
    try {
      array a = graph::make_empty(size, t, place);
      void* out = graph::write_pointer(a, place.device);
      if (on_device(cuda_backend(place.device.ordinal), n, out)) return a;
    } catch (const MemoryError&) {  // then the host makes them, and the array moves when it is used
    }
  }
  const interrupt::Scope scope(true);  // memory fresh from the system takes long, too
  array a = empty(size, t);
  on_host(static_cast<std::size_t>(n), graph::write_pointer(a));
  return a;
}

/// f(), which may be ended where it polls: then `bits` is as it was. For work on fresh memory.
template <class F>
void endable(AnyBitStream& bits, F&& f) {
  const interrupt::Scope scope(true);
  const AnyBitStream before = bits;
  try {
    f();
  } catch (const Interrupted&) {
    bits = before;
    throw;
  }
}

/// fill(n, out) in pieces, between which it may be ended. For draws that give the same in one call and in several.
template <class T, class Fill>
void in_pieces(AnyBitStream& bits, std::size_t n, T* out, Fill&& fill) {
  if (n < 1 << 20) return fill(n, out);
  endable(bits, [&] { interrupt::polled(n, [&](std::size_t from, std::size_t to) { fill(to - from, out + from); }); });
}

/// A new array whose elements are written, in C order, by fill(n, out).
template <class T, class Fill>
array filled(const Dims& size, Fill&& fill) {
  const interrupt::Scope scope(true);  // memory fresh from the system takes long, too
  array a = empty(size, dtype_of<T>);
  fill(static_cast<std::size_t>(a.size()), static_cast<T*>(graph::write_pointer(a)));
  return a;
}

}  // namespace galop::random
