/* block_avx512.h - a block of float32 products for the AVX-512 files, 14 rows by 32 columns: 28 of the 32 registers are sums. */
#ifndef KL_BLOCK_AVX512_H
#define KL_BLOCK_AVX512_H

#include "math/simd.h"

enum { LEFT32 = 14, WIDTH32 = 32 };

typedef struct block32 {
    __m512 c[LEFT32][2];
} block32;

/* rows: a constant where it is called; those behind it are left as they are. */
AVX512 INLINE block32 sum32(int rows, int64_t k, const float *a, const float *b, block32 s)
{
    FOUR_STEPS
    for (int64_t p = 0; p < k; p++, a += LEFT32, b += WIDTH32) {
        __m512 b0 = _mm512_loadu_ps(b), b1 = _mm512_loadu_ps(b + 16);
        UNROLL
        for (int i = 0; i < rows; i++) {
            __m512 x = _mm512_set1_ps(a[i]);
            s.c[i][0] = _mm512_fmadd_ps(x, b0, s.c[i][0]);
            s.c[i][1] = _mm512_fmadd_ps(x, b1, s.c[i][1]);
        }
    }
    return s;
}

/* What a block is added to, to the second cache: the rows of a tile are a page apart, and 14 such lines are too many for one set of the first. */
AVX512 INLINE void fetch_block(int64_t rows, const double *c, int64_t stride)
{
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < WIDTH32; j += 8)
            _mm_prefetch((const char *)(c + i * stride + j), _MM_HINT_T1);
}

AVX512 INLINE block32 zeros(void)
{
    block32 sum;
    UNROLL
    for (int i = 0; i < LEFT32; i++)
        sum.c[i][0] = sum.c[i][1] = _mm512_setzero_ps();
    return sum;
}

#endif
