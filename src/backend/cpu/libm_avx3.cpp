// The C library's functions over AVX-512 lanes, for clang only: vec_libm-inl.h says why. This file is compiled with
// -mavx512f, so it must define nothing that another file might share.
#if defined(__clang__) && defined(__x86_64__)

#ifndef __AVX512F__
#error "compile this file with -mavx512f: without it clang passes these vectors in memory"
#endif

#include <hwy/detect_targets.h>

#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#define GALOP_LIBM_CALLS libm_avx3
#define GALOP_LIBM_BYTES 64
#include "backend/cpu/libm_calls-inl.h"

#endif
