// What happens when an operation divides by zero, overflows, underflows or has no valid result: NumPy's errstate.
//
//   galop::errstate quiet({.invalid = galop::FpAction::raise});
//   galop::array r = galop::sqrt(x);  // throws FloatingPointError when x has negative elements
//
// C++ programs start with everything ignored, the Python module with NumPy's defaults. An operation follows the policy
// that was in force where it was called, also when it is computed later; `raise` and `call` compute at the call.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "galop/error.hpp"

namespace galop {

/// A floating-point exception where the policy says `raise`: Python's FloatingPointError.
class FloatingPointError : public Error {
 public:
  using Error::Error;
};

enum class FpAction : std::uint8_t {
  ignore,
  warn,   ///< a line on stderr; Python: RuntimeWarning
  raise,  ///< throws FloatingPointError
  call,   ///< the handler of set_fp_handler
  print,  ///< a line on stdout
  log,    ///< as call
};

struct FpPolicy {
  FpAction divide = FpAction::ignore;     ///< a finite number by zero, log(0)
  FpAction overflow = FpAction::ignore;   ///< a result beyond the largest finite number
  FpAction underflow = FpAction::ignore;  ///< a result too small to be exact
  FpAction invalid = FpAction::ignore;    ///< no number: 0 / 0, sqrt(-1), NaN as an integer
};

/// The policy of this thread.
FpPolicy fp_policy();
void set_fp_policy(const FpPolicy& p);

/// Called for `call` and `log`, with a text such as "overflow encountered in exp", on the thread that computes. It must
/// not evaluate arrays.
void set_fp_handler(std::function<void(std::string_view what)> handler);

/// Sets the thread's policy and puts the former back at the end of the scope.
class errstate {
 public:
  explicit errstate(const FpPolicy& p) : before_(fp_policy()) { set_fp_policy(p); }
  ~errstate() { set_fp_policy(before_); }
  errstate(const errstate&) = delete;
  errstate& operator=(const errstate&) = delete;

 private:
  FpPolicy before_;
};

}  // namespace galop
