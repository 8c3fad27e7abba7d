/* row_avx2.h - columns of a dense row of any kind, for row_avx2.c and group_avx2.c. `kind` is a constant where it is called. */
#ifndef KL_ROW_AVX2_H
#define KL_ROW_AVX2_H

#include "math/simd.h"

AVX2 INLINE __m256 eight(kl_narrow kind, const kl_row *z, int64_t p)
{
    if (kind == KL_FLOAT32)
        return _mm256_loadu_ps(z->value + p);
    __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(z->half + p));
    if (kind == KL_INT16)
        return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(half));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}

/* The cache line of column p; that of 16 bits holds twice as many. */
AVX2 INLINE const char *place(kl_narrow kind, const kl_row *z, int64_t p)
{
    return kind == KL_FLOAT32 ? (const char *)(z->value + p) : (const char *)(z->half + p);
}

#endif
