// PCG64: seeding and leaps.

#include "random/pcg64.hpp"

#include <vector>

namespace galop::random {

Pcg64::Pcg64(const SeedSequence& seed) {
  const std::vector<std::uint64_t> words = seed.generate_state64(4);
  s_.increment = (make_u128(words[2], words[3]) << 1) | 1;
  s_.state = s_.increment + make_u128(words[0], words[1]);
  s_.state = s_.state * kMultiplier + s_.increment;
}

Pcg64::Leap Pcg64::leap(u128 delta, u128 increment) {
  // Square and multiply on affine maps (F. Brown, "Random Number Generation with Arbitrary Strides", 1994).
  Leap result;
  Leap power{kMultiplier, increment};
  for (; delta != 0; delta >>= 1) {
    if ((delta & 1) != 0) result = {result.factor * power.factor, result.term * power.factor + power.term};
    power = {power.factor * power.factor, (power.factor + 1) * power.term};
  }
  return result;
}

void Pcg64::advance(u128 delta) {
  skip_uint64(delta);
  s_.has_uint32 = false;
  s_.uinteger = 0;
}

Pcg64 Pcg64::jumped(u128 jumps) const {
  Pcg64 result = *this;
  result.advance(jumps * make_u128(0x9e3779b97f4a7c15u, 0xf39cc0605cedc835u));
  return result;
}

void Pcg64::skip_uint32(std::uint64_t n) {
  if (n == 0) return;
  if (s_.has_uint32) {
    s_.has_uint32 = false;
    --n;
  }
  if (n == 0) return;
  // The last pair is drawn, so that the kept half is what the calls would have left.
  skip_uint64((n - 1) / 2);
  next_uint32();
  if (n % 2 == 0) next_uint32();
}

}  // namespace galop::random
