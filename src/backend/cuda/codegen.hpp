// CUDA C++ for one lowered plan: the prelude, the operations of its tape, and one kernel.
#pragma once

#include <string>

#include "backend/cuda/lower.hpp"

namespace galop::cuda {

inline constexpr const char* kKernelName = "galop_kernel";

/// A self-contained program with one kernel of that name (a C function), whose parameter is `l.words` by value.
std::string source(const Plan& plan, const Lowered& l, const std::string& kernel = kKernelName);

/// The same for a plan that packs (pack.cpp).
std::string pack_source(const Plan& plan, const Lowered& l, const std::string& kernel);

/// The kernel alone, for several in one program after one `prelude()`. Its helpers live in a namespace of the kernel's
/// name.
std::string kernel_source(const Plan& plan, const Lowered& l, const std::string& kernel);
std::string prelude(bool with_complex, bool with_flags = false);

}  // namespace galop::cuda
