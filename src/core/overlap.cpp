// Whether two views share a byte: a bounded linear Diophantine equation, solved by a depth-first search.
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/view.hpp"

namespace galop {
namespace {

__extension__ using Int = __int128;  // sums of two extents' reaches pass 64 bits

/// coefficient · x with x in 0 … most.
struct Term {
  std::int64_t coefficient;
  std::int64_t most;
};

/// The inverse of a modulo m; a and m have no common factor, m > 1.
Int inverse(Int a, Int m) {
  Int r0 = m, r1 = a % m, s0 = 0, s1 = 1;
  while (r1 != 0) {
    Int q = r0 / r1;
    Int r = r0 - q * r1, s = s0 - q * s1;
    r0 = r1, r1 = r, s0 = s1, s1 = s;
  }
  return s0 < 0 ? s0 + m : s0;
}

/// Searches Σ coefficient · x = target, terms from the greatest coefficient down.
class Search {
 public:
  Search(std::vector<Term> terms, std::int64_t max_work) : terms_(std::move(terms)), work_(max_work) {
    std::size_t n = terms_.size();
    reach_.assign(n + 1, 0);
    gcd_.assign(n + 1, 0);
    for (std::size_t k = n; k-- > 0;) {
      reach_[k] = reach_[k + 1] + static_cast<Int>(terms_[k].coefficient) * terms_[k].most;
      gcd_[k] = std::gcd(gcd_[k + 1], terms_[k].coefficient);
    }
  }

  Overlap solve(std::size_t k, Int target) {
    if (target < 0 || target > reach_[k]) return Overlap::no;
    if (target == 0) return Overlap::yes;
    if (target % gcd_[k] != 0) return Overlap::no;
    const Term& t = terms_[k];
    if (k + 1 == terms_.size()) return Overlap::yes;  // in reach and divisible by its only coefficient
    // What the rest can reach bounds x, and its divisor admits one x in every `step`.
    Int low = target - reach_[k + 1];
    low = low <= 0 ? 0 : (low + t.coefficient - 1) / t.coefficient;
    Int high = std::min<Int>(t.most, target / t.coefficient);
    Int step = gcd_[k + 1] / gcd_[k];
    if (step > 1) {
      Int first = (target / gcd_[k] % step) * inverse(t.coefficient / gcd_[k], step) % step;
      low += ((first - low) % step + step) % step;
    }
    for (Int x = low; x <= high; x += step) {
      if (work_ == 0) return Overlap::maybe;
      if (work_ > 0) --work_;
      Overlap r = solve(k + 1, target - x * t.coefficient);
      if (r != Overlap::no) return r;
    }
    return Overlap::no;
  }

 private:
  std::vector<Term> terms_;
  std::vector<Int> reach_;
  std::vector<std::int64_t> gcd_;
  std::int64_t work_;
};

void add_terms(std::vector<Term>& terms, const View& v, std::int64_t itemsize) {
  for (int i = 0; i < v.ndim(); ++i)
    if (v.shape[i] > 1 && v.strides[i] != 0) terms.push_back({std::abs(v.strides[i]), v.shape[i] - 1});
  if (itemsize > 1) terms.push_back({1, itemsize - 1});
}

}  // namespace

Overlap overlap(const View& a, std::int64_t itemsize_a, const View& b, std::int64_t itemsize_b, std::int64_t max_work) {
  if (a.size() == 0 || b.size() == 0) return Overlap::no;
  auto [first_a, last_a] = byte_bounds(a, itemsize_a);
  auto [first_b, last_b] = byte_bounds(b, itemsize_b);
  if (last_a <= first_b || last_b <= first_a) return Overlap::no;
  if (a.offset == b.offset) return Overlap::yes;

  // A byte of a is first_a + Σ |stride| · x, one of b is (last_b - 1) - Σ |stride| · y: both sums go to one side.
  std::vector<Term> terms;
  add_terms(terms, a, itemsize_a);
  add_terms(terms, b, itemsize_b);
  std::sort(terms.begin(), terms.end(), [](const Term& x, const Term& y) { return x.coefficient > y.coefficient; });
  std::vector<Term> merged;
  for (const Term& t : terms) {
    std::int64_t most;
    if (!merged.empty() && merged.back().coefficient == t.coefficient &&
        !__builtin_add_overflow(merged.back().most, t.most, &most))
      merged.back().most = most;
    else
      merged.push_back(t);
  }
  return Search(std::move(merged), max_work).solve(0, static_cast<Int>(last_b) - 1 - first_a);
}

}  // namespace galop
