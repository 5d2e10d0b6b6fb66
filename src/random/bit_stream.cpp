// The start of PCG64's interleaved chains.

#include "random/bit_stream.hpp"

namespace galop::random {

PcgChains::PcgChains(const Pcg64::State& from) : leap_(Pcg64::leap(kChains, from.increment)) {
  u128 state = from.state;
  for (u128& chain : at_) chain = state = state * Pcg64::kMultiplier + from.increment;
}

}  // namespace galop::random
