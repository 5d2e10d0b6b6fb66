// The Mersenne Twister's 624 words at a time, compiled for each instruction set; the best is chosen at run time.

#include "random/mt19937_block.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "random/mt19937_block.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace galop::random::block {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;
using Floats = hn::ScalableTag<float>;

// key[i] for i in [begin, end) from key[i], key[i + 1] and key[i + offset].
void recur_range(std::uint32_t* HWY_RESTRICT key, std::size_t begin, std::size_t end, std::ptrdiff_t offset) {
  const Words d;
  const std::size_t lanes = hn::Lanes(d);
  const auto top = hn::Set(d, 0x80000000u);
  const auto one = hn::Set(d, 1u);
  const auto matrix = hn::Set(d, 0x9908b0dfu);
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    const auto next = hn::LoadU(d, key + i + 1);
    const auto joined = hn::Or(hn::And(hn::LoadU(d, key + i), top), hn::AndNot(top, next));
    const auto odd = hn::Sub(hn::Zero(d), hn::And(next, one));
    const auto middle = hn::LoadU(d, key + static_cast<std::ptrdiff_t>(i) + offset);
    hn::StoreU(hn::Xor(hn::Xor(middle, hn::ShiftRight<1>(joined)), hn::And(odd, matrix)), d, key + i);
  }
  for (; i < end; ++i) key[i] = recur(key[i], key[i + 1], key[static_cast<std::ptrdiff_t>(i) + offset]);
}

void regenerate(std::uint32_t* key) {
  constexpr auto ahead = static_cast<std::ptrdiff_t>(kMiddle);
  constexpr auto behind = ahead - static_cast<std::ptrdiff_t>(kWords);
  recur_range(key, 0, kWords - kMiddle, ahead);
  recur_range(key, kWords - kMiddle, kWords - 1, behind);
  key[kWords - 1] = recur(key[kWords - 1], key[0], key[kMiddle - 1]);
}

void temper(const std::uint32_t* HWY_RESTRICT key, std::uint32_t* HWY_RESTRICT words) {
  const hn::CappedTag<std::uint32_t, 16> d;  // 16 divides 624
  const auto b = hn::Set(d, 0x9d2c5680u);
  const auto c = hn::Set(d, 0xefc60000u);
  for (std::size_t i = 0; i < kWords; i += hn::Lanes(d)) {
    auto y = hn::LoadU(d, key + i);
    y = hn::Xor(y, hn::ShiftRight<11>(y));
    y = hn::Xor(y, hn::And(hn::ShiftLeft<7>(y), b));
    y = hn::Xor(y, hn::And(hn::ShiftLeft<15>(y), c));
    hn::StoreU(hn::Xor(y, hn::ShiftRight<18>(y)), d, words + i);
  }
}

void to_doubles(const std::uint32_t* HWY_RESTRICT words, std::size_t n, double low, double range,
                double* HWY_RESTRICT out) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR  // whose vectors hold no pair of words
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<std::uint32_t, decltype(d)> dw;
  const std::size_t lanes = hn::Lanes(d);
  // An integer below 2^32 in the low bits of 2^52 or 2^78 makes a double without a conversion; every step is exact.
  const auto exponent52 = hn::Set(du, 0x4330000000000000u);
  const auto exponent78 = hn::Set(du, 0x44d0000000000000u);
  const auto both = hn::Set(d, 0x1p78 + 0x1p52);
  const auto first = hn::Set(du, 0xffffffffu);
  const auto scale = hn::Set(d, 0x1p-53);
  const auto vlow = hn::Set(d, low);
  const auto vrange = hn::Set(d, range);
  for (; i + lanes <= n; i += lanes) {
    const auto pair = hn::BitCast(du, hn::LoadU(dw, words + 2 * i));
    const auto high27 = hn::Or(hn::ShiftRight<5>(hn::And(pair, first)), exponent78);
    const auto low26 = hn::Or(hn::ShiftRight<38>(pair), exponent52);
    const auto integer = hn::Add(hn::Sub(hn::BitCast(d, high27), both), hn::BitCast(d, low26));
    hn::StoreU(hn::Add(vlow, hn::Mul(vrange, hn::Mul(integer, scale))), d, out + i);
  }
#endif
  for (; i < n; ++i) {
    const auto integer = (static_cast<std::int64_t>(words[2 * i] >> 5) << 26) + (words[2 * i + 1] >> 6);
    out[i] = low + range * (static_cast<double>(integer) * 0x1p-53);
  }
}

void to_floats(const std::uint32_t* HWY_RESTRICT words, std::size_t n, float* HWY_RESTRICT out) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const Words dw;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, 0x1p-24f);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(dw, words + i)));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, bits), scale), d, out + i);
  }
  for (; i < n; ++i) out[i] = static_cast<float>(words[i] >> 8) * 0x1p-24f;
}

void low_bits_to_floats(const std::uint32_t* HWY_RESTRICT words, std::size_t n, float low, float range,
                        float* HWY_RESTRICT out) {
  std::size_t i = 0;
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_TARGET == HWY_NEON  // where MulAdd rounds once
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const Words dw;
  const std::size_t lanes = hn::Lanes(d);
  const auto mask = hn::Set(dw, 0xffffffu);
  const auto scale = hn::Set(d, 0x1p-24f);
  const auto vlow = hn::Set(d, low);
  const auto vrange = hn::Set(d, range);
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::BitCast(di, hn::And(hn::LoadU(dw, words + i), mask));
    hn::StoreU(hn::MulAdd(hn::Mul(hn::ConvertTo(d, bits), scale), vrange, vlow), d, out + i);
  }
#endif
  for (; i < n; ++i) out[i] = std::fma(static_cast<float>(words[i] & 0xffffffu) * 0x1p-24f, range, low);
}

void add_window(const std::uint32_t* HWY_RESTRICT words, std::uint32_t* HWY_RESTRICT sum) {
  const hn::CappedTag<std::uint32_t, 16> d;
  for (std::size_t i = 0; i < kWords; i += hn::Lanes(d)) {
    hn::StoreU(hn::Xor(hn::LoadU(d, sum + i), hn::LoadU(d, words + i)), d, sum + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace galop::random::block
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace galop::random::block {

HWY_EXPORT(regenerate);
HWY_EXPORT(temper);
HWY_EXPORT(to_doubles);
HWY_EXPORT(to_floats);
HWY_EXPORT(low_bits_to_floats);
HWY_EXPORT(add_window);

void regenerate(std::uint32_t* key) { HWY_DYNAMIC_DISPATCH(regenerate)(key); }

void temper(const std::uint32_t* key, std::uint32_t* words) { HWY_DYNAMIC_DISPATCH(temper)(key, words); }

void to_doubles(const std::uint32_t* words, std::size_t n, double low, double range, double* out) {
  HWY_DYNAMIC_DISPATCH(to_doubles)(words, n, low, range, out);
}

void to_floats(const std::uint32_t* words, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(to_floats)(words, n, out);
}

void low_bits_to_floats(const std::uint32_t* words, std::size_t n, float low, float range, float* out) {
  HWY_DYNAMIC_DISPATCH(low_bits_to_floats)(words, n, low, range, out);
}

void add_window(const std::uint32_t* words, std::uint32_t* sum) { HWY_DYNAMIC_DISPATCH(add_window)(words, sum); }

}  // namespace galop::random::block
#endif
