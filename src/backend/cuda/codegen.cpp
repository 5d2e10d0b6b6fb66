// The whole program: prelude and kernel.
#include "backend/cuda/codegen.hpp"

#include <algorithm>

#include "backend/cuda/library_text.hpp"
#include "backend/cuda/prelude_text.hpp"
#include "backend/cuda/writer.hpp"

namespace galop::cuda {
namespace {

bool has_complex(const Plan& plan) {
  const auto complex = [](DType t) { return is_complex(t); };
  return std::any_of(plan.registers.begin(), plan.registers.end(), complex) ||
         std::any_of(plan.tape.begin(), plan.tape.end(), [&](const Instruction& i) { return complex(i.loop); }) ||
         std::any_of(plan.reductions.begin(), plan.reductions.end(),
                     [&](const Reduction& r) { return complex(r.result); });
}

}  // namespace

std::string prelude(bool with_complex, bool with_flags) {
  return std::string(kPreludeMathText) + kPreludeText + kPreludeMemoryText +
         (with_complex ? std::string(kPreludeComplexText) : std::string()) +
         (with_flags ? std::string(kPreludeFlagsText) : std::string());
}

std::string kernel_source(const Plan& plan, const Lowered& l, const std::string& kernel) {
  return Writer(plan, l, kernel).run();
}

std::string source(const Plan& plan, const Lowered& l, const std::string& kernel) {
  return prelude(has_complex(plan), !l.watched.empty()) + kernel_source(plan, l, kernel);
}

std::string pack_source(const Plan& plan, const Lowered& l, const std::string& kernel) {
  return prelude(has_complex(plan)) + "namespace g { using S = i64; inline S join(S a, S b) { return a + b; } }\n" +
         kPackText + kernel_source(plan, l, kernel);
}

}  // namespace galop::cuda
