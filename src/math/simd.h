/* simd.h - what the files of the AVX2 table share: micro_avx2.c, and hadamard_avx2.c for its transform. */
#ifndef KL_SIMD_H
#define KL_SIMD_H

#include "math/micro.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))

/* Into the caller always, where counts are constants, and loops over vectors unrolled whole: then arrays of vectors become
 * registers. */
#define INLINE __attribute__((always_inline)) static inline
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* As in kl_micro. */
void kl_avx2_hadamard(int64_t n, const float *sign, float *x);

#endif
