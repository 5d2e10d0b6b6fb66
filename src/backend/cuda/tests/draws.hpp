// The draws that are tested, with the host's stream as what is expected of each.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "backend/backend.hpp"
#include "random/integers.hpp"
#include "random/legacy.hpp"
#include "random/normal.hpp"
#include "random/torch_stream.hpp"
#include "random/uniform.hpp"

namespace galop::cuda::test {

/// A kind of draw: how to ask for it, and how the host makes it.
struct DrawCase {
  std::string name;
  Draw::Kind kind;
  DType dtype;
  double low = 0, range = 1;
  bool scaled = false;
  std::uint64_t offset = 0, last = 0;
  bool masked = false;
  bool only_twister = false;
};

inline random::IntType int_type_of(DType t) { return static_cast<random::IntType>(static_cast<int>(t)); }

inline void make_on_host(const DrawCase& c, random::AnyBitStream& bits, std::size_t n, void* out) {
  if (c.kind == Draw::Kind::polar) {
    random::raw::RandomState state(bits);
    state.normal(c.low, c.range, n, static_cast<double*>(out));
    bits = state.bits();
    return;
  }
  std::visit(
      [&](auto& g) {
        const bool f64 = c.dtype == DType::float64;
        auto* d = static_cast<double*>(out);
        auto* f = static_cast<float*>(out);
        switch (c.kind) {
          case Draw::Kind::uniform:
            if (f64) return random::fill_uniform(g, c.low, c.range, n, d);
            return random::fill_random(g, n, f);
          case Draw::Kind::torch:
            if constexpr (std::is_same_v<std::decay_t<decltype(g)>, random::Mt19937>)
              random::torch_uniform_f32(g, static_cast<float>(c.low), static_cast<float>(c.low + c.range), n, f);
            return;
          case Draw::Kind::integers:
            return random::fill_integers(g, int_type_of(c.dtype), {c.offset, c.last},
                                         c.masked ? random::Method::kMasked : random::Method::kLemire, n, out);
          case Draw::Kind::normal:
            if (!f64) return random::fill_standard_normal(g, n, f);
            if (c.scaled) return random::fill_normal(g, c.low, c.range, n, d);
            return random::fill_standard_normal(g, n, d);
          case Draw::Kind::polar:
            return;
        }
      },
      bits);
}

/// The request, as the array code makes it.
struct Request {
  Draw draw;
  random::Mt19937::State twister;  // what draw.key points at
};
inline void ask(const DrawCase& c, const random::AnyBitStream& bits, std::int64_t n, void* out, Request& r) {
  r.draw = Draw{};
  Draw& d = r.draw;
  d.kind = c.kind, d.dtype = c.dtype, d.n = n, d.out = out;
  d.low = c.low, d.range = c.range, d.scaled = c.scaled;
  d.offset = c.offset, d.last = c.last, d.masked = c.masked;
  if (const auto* pcg = std::get_if<random::Pcg64>(&bits)) {
    const auto& s = pcg->state();
    d.stream = Draw::Stream::pcg64;
    d.state[0] = random::high_half(s.state), d.state[1] = random::low_half(s.state);
    d.increment[0] = random::high_half(s.increment), d.increment[1] = random::low_half(s.increment);
    d.has_uint32 = s.has_uint32, d.uinteger = s.uinteger;
  } else {
    r.twister = std::get<random::Mt19937>(bits).state();
    d.stream = Draw::Stream::mt19937;
    d.key = r.twister.key.data(), d.pos = r.twister.pos;
  }
}

inline void skip(random::AnyBitStream& bits, const Draw& d) {
  std::visit([&](auto& g) { d.wide ? g.skip_uint64(d.taken) : g.skip_uint32(d.taken); }, bits);
}

inline std::string state_text(const random::AnyBitStream& bits) {
  if (const auto* pcg = std::get_if<random::Pcg64>(&bits)) {
    const auto& s = pcg->state();
    return "PCG64 " + std::to_string(random::high_half(s.state)) + " " + std::to_string(random::low_half(s.state)) +
           " kept " + std::to_string(s.has_uint32) + " " + std::to_string(s.has_uint32 ? s.uinteger : 0);
  }
  const auto s = std::get<random::Mt19937>(bits).state();
  std::uint64_t sum = 0;
  for (const std::uint32_t w : s.key) sum = sum * 31 + w;
  return "MT19937 at " + std::to_string(s.pos) + " of block " + std::to_string(sum);
}

/// The first place where n elements differ, with both values in hexadecimal; empty where they are equal.
inline std::string difference(const void* expected, const void* got, std::int64_t n, DType t) {
  const auto size = static_cast<std::size_t>(itemsize(t));
  const auto* e = static_cast<const unsigned char*>(expected);
  const auto* g = static_cast<const unsigned char*>(got);
  std::int64_t first = -1, count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::memcmp(e + i * itemsize(t), g + i * itemsize(t), size) == 0) continue;
    if (first < 0) first = i;
    ++count;
  }
  if (count == 0) return "";
  const auto bits = [&](const unsigned char* p) {
    std::uint64_t v = 0;
    std::memcpy(&v, p + first * itemsize(t), size);
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
    return std::string(text);
  };
  return std::to_string(count) + " of " + std::to_string(n) + " elements differ, the first at " +
         std::to_string(first) + ": expected " + bits(e) + ", got " + bits(g);
}

inline std::vector<DrawCase> draw_cases() {
  using K = Draw::Kind;
  std::vector<DrawCase> cases = {
      {"random f64", K::uniform, DType::float64},
      {"random f32", K::uniform, DType::float32},
      {"uniform(-3, 7)", K::uniform, DType::float64, -3, 10},
      {"torch(-1, 2)", K::torch, DType::float32, -1, 3, false, 0, 0, false, true},
      {"normal f64", K::normal, DType::float64},
      {"normal(2, 3) f64", K::normal, DType::float64, 2, 3, true},
      {"normal f32", K::normal, DType::float32},
      {"polar", K::polar, DType::float64},
      {"polar(5, 0.5)", K::polar, DType::float64, 5, 0.5},
      {"bool", K::integers, DType::bool_, 0, 1, false, 0, 1},
  };
  const auto integers = [&](DType t, std::uint64_t offset, std::uint64_t last) {
    for (const bool masked : {false, true})
      cases.push_back({std::string(name(t)) + " in " + std::to_string(offset) + " + [0, " + std::to_string(last) +
                           (masked ? "] by masks" : "] by Lemire"),
                       K::integers, t, 0, 1, false, offset, last, masked});
  };
  for (const DType t : {DType::int8, DType::uint16, DType::int32, DType::int64}) {
    integers(t, 0, 99);
    integers(t, static_cast<std::uint64_t>(-5), 63);
    integers(t, 3, 0);
  }
  integers(DType::uint8, 0, 255);
  integers(DType::uint8, 0, 128);
  integers(DType::int16, static_cast<std::uint64_t>(-32768), 65535);
  integers(DType::int16, 0, 20000);
  integers(DType::uint32, 0, 0xffffffffu);
  integers(DType::uint32, 1, 0xfffffffeu);
  integers(DType::int32, 0, 0x80000000u);
  integers(DType::int64, 7, 0xffffffffu);
  integers(DType::int64, 0, 0x90000000u);
  integers(DType::int64, 0, 0x100000000u);
  integers(DType::int64, static_cast<std::uint64_t>(-9), 0x8000000000000001u);
  integers(DType::uint64, 0, ~std::uint64_t{0});
  integers(DType::uint64, 0, ~std::uint64_t{0} >> 8);
  return cases;
}

}  // namespace galop::cuda::test
