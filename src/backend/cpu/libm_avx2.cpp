// The C library's functions over AVX2 lanes, for clang only: vec_libm-inl.h says why. This file is compiled with
// -mavx2, so it must define nothing that another file might share.
#if defined(__clang__) && defined(__x86_64__)

#ifndef __AVX2__
#error "compile this file with -mavx2: without it clang passes these vectors in memory"
#endif

#include <hwy/detect_targets.h>

#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#define GALOP_LIBM_CALLS libm_avx2
#define GALOP_LIBM_BYTES 32
#include "backend/cpu/libm_calls-inl.h"

#endif
