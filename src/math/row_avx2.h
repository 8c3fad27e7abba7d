/* row_avx2.h - columns of a dense row, in float32 or bfloat16, for row_avx2.c and group_avx2.c. `half` is a constant where it is called. */
#ifndef KL_ROW_AVX2_H
#define KL_ROW_AVX2_H

#include "math/simd.h"

AVX2 INLINE __m256 eight(bool half, const kl_row *z, int64_t p)
{
    if (half)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(z->half + p))), 16));
    return _mm256_loadu_ps(z->value + p);
}

/* The cache line of column p; that of bfloat16 holds twice as many. */
AVX2 INLINE const char *place(bool half, const kl_row *z, int64_t p)
{
    return half ? (const char *)(z->half + p) : (const char *)(z->value + p);
}

#endif
