// Leaps of the Mersenne Twister: powers of t modulo its characteristic polynomial, and their use on a window of words.

#include "random/mt19937_jump.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "random/mt19937_block.hpp"

namespace galop::random::jump {
namespace {

using block::kMiddle;
using block::kWords;

// With A = t^624 + t^397, B = t^623 + t^396 and a_i the bits of the twist 0x9908b0df, the polynomial is
//   A B^31 + a_0 A B^30 + a_1 A B^29 + ... + a_30 A + a_31   (Matsumoto and Nishimura, 1998).
// Given as its exponents below 19937, falling.
std::vector<std::size_t> characteristic_exponents() {
  // Toggling an exponent adds its power; a pair of equal powers vanishes.
  std::vector<bool> odd(kDegree + 1, false);
  // (t^227 + 1)^power * t^shift, by the parity of binomials: C(n, k) is odd where k's bits lie within n's.
  const auto toggle = [&odd](std::size_t power, std::size_t shift) {
    for (std::size_t k = 0; k <= power; ++k) {
      if ((k & ~power) == 0) {
        const std::size_t exponent = shift + (kWords - kMiddle) * k;
        odd[exponent] = !odd[exponent];
      }
    }
  };
  // A^a B^b = (t^227 + 1)^(a + b) t^(397 a + 396 b).
  const auto toggle_product = [&toggle](std::size_t a, std::size_t b) {
    toggle(a + b, kMiddle * a + (kMiddle - 1) * b);
  };
  constexpr std::uint32_t twist = 0x9908b0dfu;
  toggle_product(1, 31);
  for (std::size_t i = 0; i < 31; ++i) {
    if (((twist >> i) & 1u) != 0) toggle_product(1, 30 - i);
  }
  if ((twist >> 31) != 0) toggle_product(0, 0);

  std::vector<std::size_t> exponents;
  for (std::size_t i = kDegree; i-- > 0;) {
    if (odd[i]) exponents.push_back(i);
  }
  return exponents;
}

const std::vector<std::size_t>& exponents() {
  static const std::vector<std::size_t> known = characteristic_exponents();
  return known;
}

using Product = std::array<std::uint64_t, 2 * (kDegree / 64 + 1)>;

// word * t^at added to p.
template <std::size_t N>
void add_at(std::array<std::uint64_t, N>& p, std::uint64_t word, std::size_t at) {
  p[at / 64] ^= word << (at % 64);
  if (at % 64 != 0 && at / 64 + 1 < N) p[at / 64 + 1] ^= word >> (64 - at % 64);
}

// The next lower power after t^19937 is t^19710, so a word of high coefficients never falls back upon itself.
Polynomial reduced(Product& p) {
  constexpr std::size_t edge = kDegree / 64;
  const std::vector<std::size_t>& lower = exponents();
  for (std::size_t i = p.size(); i-- > edge;) {
    std::uint64_t high = p[i];
    if (i == edge) high &= ~std::uint64_t{0} << (kDegree % 64);
    if (high == 0) continue;
    p[i] ^= high;
    for (const std::size_t e : lower) {
      // t^(64 i + b) = t^(64 i + b - 19937 + e); the lowest set bit keeps the shift non-negative at the edge.
      const auto lowest = static_cast<std::size_t>(std::countr_zero(high));
      add_at(p, high >> lowest, 64 * i + lowest - kDegree + e);
    }
  }
  Polynomial result;
  std::copy(p.begin(), p.begin() + result.size(), result.begin());
  return result;
}

// Squaring over GF(2) puts a zero between any two coefficients.
std::uint64_t spread(std::uint64_t half) {
  half = (half | (half << 16)) & 0x0000ffff0000ffffu;
  half = (half | (half << 8)) & 0x00ff00ff00ff00ffu;
  half = (half | (half << 4)) & 0x0f0f0f0f0f0f0f0fu;
  half = (half | (half << 2)) & 0x3333333333333333u;
  return (half | (half << 1)) & 0x5555555555555555u;
}

Polynomial times_t(const Polynomial& p) {
  Product product{};
  for (std::size_t i = 0; i < p.size(); ++i) add_at(product, p[i], 64 * i + 1);
  return reduced(product);
}

// The words from `words` on, as many as a leap of any degree reads, then summed where the leap has a coefficient.
void sum_windows(const Polynomial& leap, const std::vector<std::uint32_t>& words, std::uint32_t* window) {
  std::fill(window, window + kWords, 0u);
  for (std::size_t i = 0; i < leap.size(); ++i) {
    for (std::uint64_t bits = leap[i]; bits != 0; bits &= bits - 1) {
      block::add_window(words.data() + 64 * i + static_cast<std::size_t>(std::countr_zero(bits)), window);
    }
  }
}

// The sequence that begins with `window`, 19937 words more than a window.
std::vector<std::uint32_t> unrolled(const std::uint32_t* window) {
  std::vector<std::uint32_t> words(window, window + kWords);
  words.resize(kWords + kDegree + 1);
  for (std::size_t i = kWords; i < words.size(); ++i) {
    words[i] = block::recur(words[i - kWords], words[i - kWords + 1], words[i - kWords + kMiddle]);
  }
  return words;
}

}  // namespace

Polynomial squared(const Polynomial& p) {
  Product square;
  for (std::size_t i = 0; i < p.size(); ++i) {
    square[2 * i] = spread(p[i] & 0xffffffffu);
    square[2 * i + 1] = spread(p[i] >> 32);
  }
  return reduced(square);
}

std::size_t degree(const Polynomial& p) {
  for (std::size_t i = p.size(); i-- > 0;) {
    if (p[i] != 0) return 64 * i + static_cast<std::size_t>(std::bit_width(p[i])) - 1;
  }
  return 0;
}

Polynomial step(std::uint64_t n) {
  Polynomial result{};
  result[0] = 1;
  for (auto bit = static_cast<int>(std::bit_width(n)); bit-- > 0;) {
    result = squared(result);
    if (((n >> bit) & 1) != 0) result = times_t(result);
  }
  return result;
}

Polynomial power_of_two_step(std::size_t exponent) {
  static std::mutex mutex;
  static std::size_t known_exponent = 0;
  static Polynomial known = step(1);
  const std::lock_guard<std::mutex> lock(mutex);
  if (exponent < known_exponent) {
    known = step(1);
    known_exponent = 0;
  }
  for (; known_exponent < exponent; ++known_exponent) known = squared(known);
  return known;
}

void leap_window(const Polynomial& leap, std::uint32_t* window) { sum_windows(leap, unrolled(window), window); }

void leap_blocks(std::uint64_t blocks, std::uint32_t* key) {
  // The low 31 bits of a state's first word are no part of the state, so the leap starts from the second word.
  std::vector<std::uint32_t> words = unrolled(key);
  words.erase(words.begin());
  sum_windows(step(blocks * kWords - 1), words, key);
}

}  // namespace galop::random::jump
