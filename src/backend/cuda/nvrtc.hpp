// NVRTC, CUDA's run-time compiler, opened on first use.
#pragma once

#include <string>
#include <utility>

namespace galop::cuda {

/// NVRTC's version (major, minor), or {0, 0} with a sentence in `reason` that names the command that installs it.
std::pair<int, int> nvrtc_version(std::string* reason = nullptr);

/// The options that every kernel is compiled with, one a line, without the architecture: no contraction, no flush to
/// zero.
std::string nvrtc_options();

/// Opens and starts the compiler in a thread of its own, once, so that the first kernel need not wait for it. The
/// thread ends before the process does, and before a fork().
void warm_nvrtc(int capability);

/// The cubin of `source` for compute capability `capability` (75, 90, 120 …). Thread-safe. Throws Error with the
/// compiler's log, DeviceError when there is no compiler.
std::string compile(const std::string& source, const std::string& kernel, int capability);

}  // namespace galop::cuda
