// Which instruction sets the kernels are compiled for: three on x86-64 (SSE4, AVX2, AVX-512), NEON on ARM. Include
// before Highway.
//
// Highway compiles one source for every target and says what the processor supports; the lanes themselves are the
// compiler's vector types (vec-inl.h), because Highway's packaged version lacks 8-bit multiplication, integer division
// and several conversions.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#define HWY_DISABLED_TARGETS (~(HWY_SSE4 | HWY_AVX2 | HWY_AVX3))
#elif defined(__aarch64__)
#define HWY_BASELINE_TARGETS HWY_NEON
#define HWY_DISABLED_TARGETS (~HWY_NEON)
#endif

// What every shard needs, here because standard headers must not be read inside a target's region.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <hwy/base.h>
#include <hwy/detect_targets.h>
