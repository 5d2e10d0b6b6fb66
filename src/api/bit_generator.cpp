// The public bit generators: states in NumPy's form, streams apart, raw words.
#include "galop/bit_generator.hpp"

#include <algorithm>

#include "api/random_draw.hpp"
#include "graph/build.hpp"
#include "random/bit_stream.hpp"
#include "random/errors.hpp"

namespace galop::random {
namespace {

u128 joined(const uint128& v) { return make_u128(v.high, v.low); }
uint128 halves(u128 v) { return {high_half(v), low_half(v)}; }

template <class G>
std::shared_ptr<AnyBitStream> seeded(const SeedSequence& seed) {
  return std::make_shared<AnyBitStream>(G(seed));
}

}  // namespace

std::string to_string(const uint128& v) {
  std::string digits;
  for (u128 rest = joined(v); rest != 0 || digits.empty(); rest /= 10)
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  std::reverse(digits.begin(), digits.end());
  return digits;
}

BitGenerator::BitGenerator(std::shared_ptr<AnyBitStream> stream, std::optional<SeedSequence> seed)
    : stream_(std::move(stream)), seed_(std::make_shared<std::optional<SeedSequence>>(std::move(seed))) {}

std::string_view BitGenerator::name() const {
  return std::visit([](const auto& g) { return std::string_view(g.kName); }, *stream_);
}

BitState BitGenerator::state() const {
  graph::Lock lock;
  if (const auto* g = std::get_if<Pcg64>(stream_.get())) {
    const Pcg64::State& s = g->state();
    return Pcg64State{halves(s.state), halves(s.increment), s.has_uint32, s.uinteger};
  }
  const Mt19937::State s = std::get<Mt19937>(*stream_).state();
  return Mt19937State{s.key, s.pos};
}

void BitGenerator::set_state(const BitState& state) const {
  graph::Lock lock;
  if (state.index() != stream_->index())
    value_error("state", "expected the state of a " + std::string(name()) + "; got that of a " +
                             (std::holds_alternative<Pcg64State>(state) ? Pcg64::kName : Mt19937::kName));
  if (const auto* s = std::get_if<Pcg64State>(&state)) {
    std::get<Pcg64>(*stream_).set_state({joined(s->state), joined(s->inc), s->has_uint32, s->uinteger});
  } else {
    const auto& twister = std::get<Mt19937State>(state);
    std::get<Mt19937>(*stream_).set_state({twister.key, twister.pos});
  }
}

BitGenerator BitGenerator::jumped(const uint128& jumps) const {
  graph::Lock lock;
  AnyBitStream far = *stream_;
  if (auto* g = std::get_if<Pcg64>(&far))
    *g = g->jumped(joined(jumps));
  else
    far = std::get<Mt19937>(far).jumped(static_cast<std::size_t>(jumps.low));
  return {std::make_shared<AnyBitStream>(std::move(far)), SeedSequence::from_os()};
}

void BitGenerator::advance(const uint128& draws) const {
  graph::Lock lock;
  auto* g = std::get_if<Pcg64>(stream_.get());
  if (!g) throw TypeError("[advance] only PCG64 can advance; got MT19937");
  g->advance(joined(draws));
}

std::vector<BitGenerator> BitGenerator::spawn(std::int64_t n) const {
  graph::Lock lock;
  if (n < 0) value_error("spawn", "the number of children must not be negative; got " + std::to_string(n));
  if (!*seed_)
    throw TypeError("[spawn] the bit generator was not made from a seed sequence, so it has no children; got " +
                    std::string(name()));
  std::vector<BitGenerator> children;
  children.reserve(static_cast<std::size_t>(n));
  for (SeedSequence& seed : (*seed_)->spawn(static_cast<std::size_t>(n))) {
    auto stream = std::holds_alternative<Pcg64>(*stream_) ? seeded<Pcg64>(seed) : seeded<Mt19937>(seed);
    children.emplace_back(std::move(stream), std::move(seed));
  }
  return children;
}

std::optional<SeedSequence> BitGenerator::seed_seq() const {
  graph::Lock lock;
  return *seed_;
}

array BitGenerator::random_raw(const Dims& size) const {
  graph::Lock lock;
  return filled<std::uint64_t>(size, [&](std::size_t count, std::uint64_t* out) {
    in_pieces(*stream_, count, out, [&](std::size_t n, std::uint64_t* to) {
      if (auto* g = std::get_if<Pcg64>(stream_.get()))
        std::generate_n(to, n, [g] { return g->next_uint64(); });
      else
        std::generate_n(to, n, [g = &std::get<Mt19937>(*stream_)] { return g->next_uint32(); });
    });
  });
}

PCG64::PCG64() : PCG64(SeedSequence::from_os()) {}
PCG64::PCG64(std::uint64_t seed) : PCG64(SeedSequence(seed)) {}
PCG64::PCG64(const SeedSequence& seed) : BitGenerator(seeded<Pcg64>(seed), seed) {}

MT19937::MT19937() : MT19937(SeedSequence::from_os()) {}
MT19937::MT19937(std::uint64_t seed) : MT19937(SeedSequence(seed)) {}
MT19937::MT19937(const SeedSequence& seed) : BitGenerator(seeded<Mt19937>(seed), seed) {}

}  // namespace galop::random
