/*
 * pick.h - values that stand in another order, a load to all places of a vector each, for the files of AVX2 and AVX-512. Not by gather instructions: where they are
 * fast they gain a little, and on Intel's CPUs before Sapphire Rapids, which they leak from, what keeps them from it makes them two to three times as slow as loads.
 */
#ifndef KL_PICK_H
#define KL_PICK_H

#include "math/simd.h"

/* t[order[0]] .. t[order[7]] */
AVX2 INLINE __m256 kl_pick(const float *t, const int32_t *order)
{
    __m256 a = _mm256_blend_ps(_mm256_broadcast_ss(t + order[0]), _mm256_broadcast_ss(t + order[1]), 0x02);
    __m256 b = _mm256_blend_ps(_mm256_broadcast_ss(t + order[2]), _mm256_broadcast_ss(t + order[3]), 0x08);
    __m256 c = _mm256_blend_ps(_mm256_broadcast_ss(t + order[4]), _mm256_broadcast_ss(t + order[5]), 0x20);
    __m256 d = _mm256_blend_ps(_mm256_broadcast_ss(t + order[6]), _mm256_broadcast_ss(t + order[7]), 0x80);
    return _mm256_blend_ps(_mm256_blend_ps(a, b, 0x0C), _mm256_blend_ps(c, d, 0xC0), 0xF0);
}

/* Pairs index[0] .. index[3] */
AVX2 INLINE __m256 kl_pick_pairs(const float *pairs, const int32_t *index)
{
    const double *from = (const double *)(const void *)pairs;
    __m256d a = _mm256_blend_pd(_mm256_broadcast_sd(from + index[0]), _mm256_broadcast_sd(from + index[1]), 0x2);
    __m256d b = _mm256_blend_pd(_mm256_broadcast_sd(from + index[2]), _mm256_broadcast_sd(from + index[3]), 0x8);
    return _mm256_castpd_ps(_mm256_blend_pd(a, b, 0xC));
}

#endif
