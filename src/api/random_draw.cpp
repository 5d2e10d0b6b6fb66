// A generator's state as a device takes it, and the generator moved on afterwards.
#include "api/random_draw.hpp"

namespace galop::random {

Draw draw_of(Draw::Kind kind, DType t, double low, double range) {
  Draw d{};
  d.kind = kind;
  d.dtype = t;
  d.low = low;
  d.range = range;
  return d;
}

bool draw_on(DeviceBackend& device, AnyBitStream& bits, Draw d, std::int64_t n, void* out) {
  d.n = n;
  d.out = out;
  Mt19937::State twister;
  if (const auto* pcg = std::get_if<Pcg64>(&bits)) {
    const Pcg64::State& s = pcg->state();
    d.stream = Draw::Stream::pcg64;
    d.state[0] = high_half(s.state), d.state[1] = low_half(s.state);
    d.increment[0] = high_half(s.increment), d.increment[1] = low_half(s.increment);
    d.has_uint32 = s.has_uint32;
    d.uinteger = s.uinteger;
  } else {
    twister = std::get<Mt19937>(bits).state();
    d.stream = Draw::Stream::mt19937;
    d.key = twister.key.data();
    d.pos = twister.pos;
  }
  if (!device.draw(d)) return false;
  std::visit([&](auto& g) { d.wide ? g.skip_uint64(d.taken) : g.skip_uint32(d.taken); }, bits);
  return true;
}

bool polar_on(DeviceBackend& device, raw::RandomState& state, double loc, double scale, std::int64_t n, double* out) {
  const bool kept = state.gauss().has_gauss;
  const std::int64_t first = kept ? 1 : 0, pairs = (n - first) / 2;
  if (!draw_on(device, state.bits(), draw_of(Draw::Kind::polar, DType::float64, loc, scale), 2 * pairs, out + first))
    return false;
  // The host makes those at the ends.
  double z;
  if (kept) {
    state.normal(loc, scale, 1, &z);
    device.upload(out, &z, sizeof z);
  }
  if (first + 2 * pairs < n) {
    state.normal(loc, scale, 1, &z);
    device.upload(out + n - 1, &z, sizeof z);
  }
  return true;
}

}  // namespace galop::random
