// Failures on demand, for tests of what happens after one.
#pragma once

namespace galop::cuda {

enum class Fault { allocate, launch };

/// The n-th call of this kind from now on fails once, when n > 0; none does otherwise. At first GALOP_CUDA_FAULT says
/// it: "allocate:N" or "launch:N", or both with a comma between.
void inject(Fault kind, long n);
/// Counts a call of this kind; true: it is to fail.
bool is_injected(Fault kind);

}  // namespace galop::cuda

extern "C" {
/// inject() by name, "allocate" or "launch"; 0, or -1 for another name.
int galop_cuda_inject(const char* kind, long n);
}
