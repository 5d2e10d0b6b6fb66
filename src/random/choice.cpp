// NumPy's choice: inverse distribution functions, Floyd's sets and shuffled tails.

#include "random/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/interrupt.hpp"
#include "random/bounded.hpp"
#include "random/errors.hpp"
#include "random/integers.hpp"
#include "random/permute.hpp"
#include "random/uniform.hpp"

namespace galop::random {
namespace {

constexpr const char* kOp = "choice";

// Kahan's sum.
double compensated_sum(std::span<const double> values) {
  double sum = values.empty() ? 0.0 : values[0];
  double lost = 0.0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double y = values[i] - lost;
    const double next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  return sum;
}

void check(const Choice& choice, std::size_t n) {
  if (choice.population <= 0 && n != 0) {
    value_error(kOp, "the population must not be empty unless no samples are taken; got a population of " +
                         std::to_string(choice.population) + " and " + std::to_string(n) + " samples");
  }
  const auto population = static_cast<std::size_t>(std::max<std::int64_t>(choice.population, 0));
  if (!choice.p.empty()) {
    if (choice.p.size() != population) {
      value_error(kOp, "a and p must have the same size; got " + std::to_string(population) + " and " +
                           std::to_string(choice.p.size()));
    }
    const double sum = compensated_sum(choice.p);
    if (std::isnan(sum)) value_error(kOp, "probabilities contain NaN");
    const auto negative = std::find_if(choice.p.begin(), choice.p.end(), [](double v) { return v < 0; });
    if (negative != choice.p.end()) {
      value_error(kOp, "probabilities must not be negative; got " + std::to_string(*negative));
    }
    if (std::abs(sum - 1.0) > choice.tolerance) {
      value_error(kOp, "probabilities do not sum to 1; got " + std::to_string(sum));
    }
  }
  if (choice.replace) return;
  if (n > population) {
    value_error(kOp, "cannot take a larger sample than the population when replace is False; got a population of " +
                         std::to_string(population) + " and " + std::to_string(n) + " samples");
  }
  if (!choice.p.empty()) {
    const auto possible = std::count_if(choice.p.begin(), choice.p.end(), [](double v) { return v > 0; });
    if (static_cast<std::size_t>(possible) < n) {
      value_error(kOp, "fewer non-zero entries in p than samples; got " + std::to_string(possible) + " and " +
                           std::to_string(n));
    }
  }
}

std::vector<double> distribution_function(std::span<const double> p) {
  std::vector<double> cdf(p.size());
  std::partial_sum(p.begin(), p.end(), cdf.begin());
  const double total = cdf.back();
  for (double& value : cdf) value /= total;
  return cdf;
}

std::int64_t inverse(const std::vector<double>& cdf, double u) {
  return std::upper_bound(cdf.begin(), cdf.end(), u) - cdf.begin();
}

template <class G>
void weighted(G& g, std::span<const double> p, std::size_t n, std::int64_t* out) {
  const std::vector<double> cdf = distribution_function(p);
  draw(g, n, [&](auto& stream) {
    interrupt::polled(n, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) out[i] = inverse(cdf, stream.next_double());
    });
  });
}

// Rounds: as many draws as are missing, of which the first of each index is kept; found indices then weigh nothing.
template <class G>
void weighted_without_replacement(G& g, std::span<const double> p, std::size_t n, std::int64_t* out) {
  std::vector<double> weights(p.begin(), p.end());
  std::vector<bool> seen(p.size() + 1, false);
  std::vector<double> u;
  std::size_t found = 0;
  while (found < n) {
    u.resize(n - found);
    fill_random(g, u.size(), u.data());
    for (std::size_t i = 0; i < found; ++i) weights[static_cast<std::size_t>(out[i])] = 0;
    const std::vector<double> cdf = distribution_function(weights);
    std::fill(seen.begin(), seen.end(), false);
    interrupt::polled(u.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const std::int64_t index = inverse(cdf, u[i]);
        if (seen[static_cast<std::size_t>(index)]) continue;
        seen[static_cast<std::size_t>(index)] = true;
        out[found++] = index;
      }
    });
  }
}

// Floyd: for each j of the last n, a random index up to j, or j itself where that index is taken already.
template <BitStream S>
void floyd(S& stream, std::uint64_t population, std::size_t n, std::int64_t* out) {
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  const auto wanted = static_cast<std::uint64_t>(1.2 * static_cast<double>(n));
  const std::uint64_t mask = bounded::mask_of(wanted);
  std::vector<std::uint64_t> taken(mask + 1, none);
  // The slot of `index`, or the free one where it belongs.
  const auto slot = [&](std::uint64_t index) -> std::uint64_t& {
    std::uint64_t at = index & mask;
    while (taken[at] != none && taken[at] != index) at = (at + 1) & mask;
    return taken[at];
  };
  interrupt::polled(n, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const std::uint64_t j = population - n + i;
      std::uint64_t index = bounded::lemire_index(stream, j);
      if (slot(index) == index) index = j;
      slot(index) = index;
      out[i] = static_cast<std::int64_t>(index);
    }
  });
}

template <class G>
void without_replacement(G& g, const Choice& choice, std::size_t n, std::int64_t* out) {
  const auto population = static_cast<std::uint64_t>(choice.population);
  const std::uint64_t cutoff = choice.shuffle ? 50 : 20;
  if (population > 10000 && n > population / cutoff) {
    std::vector<std::int64_t> all(population);
    std::iota(all.begin(), all.end(), std::int64_t{0});
    const std::size_t first = std::max<std::size_t>(population - n, 1);
    draw(g, n / 2, [&](auto& stream) { shuffle_tail(stream, population, first, all.data()); });
    std::copy(all.end() - static_cast<std::ptrdiff_t>(n), all.end(), out);
    return;
  }
  draw(g, n / 2, [&](auto& stream) {
    floyd(stream, population, n, out);
    if (choice.shuffle) shuffle_tail(stream, n, 1, out);
  });
}

}  // namespace

template <class G>
void fill_choice(G& g, const Choice& choice, std::size_t n, std::int64_t* out) {
  check(choice, n);
  if (n == 0) return;
  if (!choice.p.empty()) {
    return choice.replace ? weighted(g, choice.p, n, out) : weighted_without_replacement(g, choice.p, n, out);
  }
  if (!choice.replace) return without_replacement(g, choice, n, out);
  const Bounds bounds = integer_bounds(kOp, IntType::kInt64, 0, choice.population, false);
  fill_integers(g, IntType::kInt64, bounds, Method::kLemire, n, out);
}

template <class G>
void fill_legacy_choice(G& g, const Choice& choice, std::size_t n, std::int64_t* out) {
  check(choice, n);
  if (!choice.p.empty()) {
    if (n == 0) return;
    return choice.replace ? weighted(g, choice.p, n, out) : weighted_without_replacement(g, choice.p, n, out);
  }
  if (!choice.replace) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(std::max<std::int64_t>(choice.population, 0)));
    permutation(g, all.size(), all.data());  // even for no sample: NumPy draws all the same
    std::copy(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), out);
    return;
  }
  if (n == 0) return;
  const Bounds bounds = integer_bounds(kOp, IntType::kInt64, 0, choice.population, false);
  fill_integers(g, IntType::kInt64, bounds, Method::kMasked, n, out);
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define GALOP_INSTANTIATE(G)                                                \
  template void fill_choice(G&, const Choice&, std::size_t, std::int64_t*); \
  template void fill_legacy_choice(G&, const Choice&, std::size_t, std::int64_t*);
GALOP_FOR_EACH_BIT_STREAM(GALOP_INSTANTIATE)
#undef GALOP_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace galop::random
