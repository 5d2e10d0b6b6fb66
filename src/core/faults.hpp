// Floating-point exceptions inside the engine: flags, packed policies, and who hears of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace galop::faults {

/// Flags, as NumPy numbers them.
inline constexpr std::uint8_t kDivide = 1, kOverflow = 2, kUnderflow = 4, kInvalid = 8;

/// An FpAction for each flag, 3 bits each in the order of the flags.
using Policy = std::uint16_t;

constexpr int action(Policy p, int flag_number) { return p >> (3 * flag_number) & 7; }

/// The flags that are not ignored.
constexpr std::uint8_t watched(Policy p) {
  unsigned mask = 0;
  for (int k = 0; k < 4; ++k) mask |= (action(p, k) != 0 ? 1u : 0u) << k;
  return static_cast<std::uint8_t>(mask);
}

/// Whether a flag stops the program at the statement that raised it, or calls somebody then: `raise` and `call`.
constexpr bool stops(Policy p) {
  bool any = false;
  for (int k = 0; k < 4; ++k) any = any || action(p, k) == 2 || action(p, k) == 3;
  return any;
}

/// "divide by zero" and the like.
std::string_view describe(int flag_number);

/// What happened in which operation, and the policy where it was called.
struct Fault {
  std::string_view where;  // of static storage
  std::uint8_t flags;
  Policy policy;
};

/// Who says what the policy is and hears of faults, instead of the thread's own policy.
struct Host {
  Policy (*policy)();
  void (*report)(const Fault& f);  // may throw
};
void set_host(const Host& h);

/// The policy in force here.
Policy policy();
/// Does what the fault's policy says; may throw. Never with the engine's lock.
void report(const Fault& f);

}  // namespace galop::faults
