// PCG64's leaps, and MT19937 in lanes: their starts by doubling, each level one polynomial, then all lanes at once.
#include "backend/cuda/draw_stream.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "random/int128.hpp"
#include "random/mt19937_block.hpp"
#include "random/mt19937_jump.hpp"
#include "random/pcg64.hpp"

namespace galop::cuda::draw {
namespace {

using random::u128;

U128 halves_of(u128 x) { return {random::high_half(x), random::low_half(x)}; }

// The leap by 624 · 2^k words, from a window of words to another. Each is the square of the one before.
random::jump::Polynomial block_leap(std::size_t k) {
  static std::mutex mutex;
  static std::vector<random::jump::Polynomial> known;
  const std::lock_guard lock(mutex);
  if (known.empty()) known.push_back(random::jump::step(kTwister));
  while (known.size() <= k) known.push_back(random::jump::squared(known.back()));
  return known[k];
}

constexpr std::int64_t kMostLanes = 512;
constexpr std::size_t kShortestLane = 6;  // 2^6 blocks of 624 words: below, the leaps cost more than they save

}  // namespace

Stream pcg64_stream(const Draw& d, bool halves) {
  const u128 increment = random::make_u128(d.increment[0], d.increment[1]);
  const u128 state = random::make_u128(d.state[0], d.state[1]);
  Stream s{};
  s.has_kept = halves && d.has_uint32;
  s.kept = d.uinteger;
  // A kept half is the upper half of a word before the stream's next.
  s.start = halves_of(s.has_kept ? state : state * random::Pcg64::kMultiplier + increment);
  // kMostLead words back are 2^128 - kMostLead words on.
  const random::Pcg64::Leap back = random::Pcg64::leap(u128{0} - u128{kMostLead}, increment);
  s.lead = halves_of(random::make_u128(s.start.high, s.start.low) * back.factor + back.term);
  u128 factor = random::Pcg64::kMultiplier, term = increment;
  for (Leap& leap : s.leaps) {
    leap = {halves_of(factor), halves_of(term)};
    term *= factor + 1;
    factor *= factor;
  }
  return s;
}

void pcg64_row_leaps(const Draw& d, Leap* leaps) {
  const u128 increment = random::make_u128(d.increment[0], d.increment[1]);
  const auto row = random::Pcg64::leap(32, increment);
  auto leap = random::Pcg64::leap(u128{0} - u128{kMostLead}, increment);
  for (int k = 0; k < kRowLeaps; ++k) {
    leaps[k] = {halves_of(leap.factor), halves_of(leap.term)};
    leap.factor *= row.factor;
    leap.term = leap.term * row.factor + row.term;
  }
}

void make_twister_words(Machine& machine, const Draw& d, std::int64_t count, u32* to) {
  // What is left of the current block.
  std::uint32_t words[kTwister];
  random::block::temper(d.key, words);
  const std::int64_t left = std::min<std::int64_t>(count, kTwister - static_cast<std::int64_t>(d.pos));
  if (left > 0) machine.upload(to, words + d.pos, left * 4);
  if (count <= left) return;

  Args a{};
  a.made = to + left;
  a.made_count = count - left;
  const std::int64_t blocks = (a.made_count + kTwister - 1) / kTwister;
  std::size_t power = kShortestLane;
  while (((blocks - 1) >> power) >= kMostLanes) ++power;
  a.lane_words = std::int64_t{kTwister} << power;
  a.lanes = (a.made_count + a.lane_words - 1) / a.lane_words;

  // The low 31 bits of a block's first word are no part of the state, so a window begins with its second word.
  std::uint32_t window[kTwister];
  std::copy(d.key + 1, d.key + kTwister, window);
  window[kTwister - 1] = random::block::recur(d.key[0], d.key[1], d.key[random::block::kMiddle]);
  const auto levels = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(a.lanes - 1)));
  std::vector<random::jump::Polynomial> leaps;
  for (std::size_t k = 0; k < levels; ++k) leaps.push_back(block_leap(power + k));

  const Memory windows(machine, a.lanes * kTwister * 4);
  constexpr std::int64_t kBytes = sizeof(random::jump::Polynomial);
  const Memory polynomials(machine, std::max<std::int64_t>(1, static_cast<std::int64_t>(levels)) * kBytes);
  a.windows = windows.at<u32>();
  machine.upload(a.windows, window, kTwister * 4);
  if (levels > 0) machine.upload(polynomials.at(), leaps.data(), static_cast<std::int64_t>(levels) * kBytes);
  const std::string what = "MT19937, " + std::to_string(count) + " words";
  for (std::size_t k = 0; k < levels; ++k) {
    a.polynomial = polynomials.at<u64>(static_cast<std::int64_t>(k) * kBytes);
    machine.launch(Kernel::twister_leap_lanes, 1u << k, a, what);
  }
  machine.launch(Kernel::twister_fill_lanes, static_cast<unsigned>(a.lanes), a, what);
}

}  // namespace galop::cuda::draw
