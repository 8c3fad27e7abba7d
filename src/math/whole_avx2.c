/* whole_avx2.c - whole.h by AVX2, blocks of two vectors by 6 rows as in micro_avx2.c: sums as names, for compilers that do not keep arrays in registers. */
#include "math/whole.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <string.h>

enum { LEFT = 6, WIDTH = 16 };

AVX2 INLINE __m256i both_of(const int16_t *a)
{
    int32_t pair;
    memcpy(&pair, a, sizeof pair);
    return _mm256_set1_epi32(pair);
}

AVX2 INLINE __m256i plus(__m256i sum, __m256i x, __m256i b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, b));
}

AVX2 INLINE void keep(__m256i sum, double unit, double *c)
{
    __m256d u = _mm256_set1_pd(unit), low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(sum)), high = _mm256_cvtepi32_pd(_mm256_extracti128_si256(sum, 1));
    _mm256_storeu_pd(c, _mm256_add_pd(_mm256_loadu_pd(c), _mm256_mul_pd(u, low)));
    _mm256_storeu_pd(c + 4, _mm256_add_pd(_mm256_loadu_pd(c + 4), _mm256_mul_pd(u, high)));
}

AVX2 void kl_avx2_add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    __m256i c00 = _mm256_setzero_si256(), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00, c40 = c00, c41 = c00, c50 = c00, c51 = c00;
    for (int64_t p = 0; p < pairs; p++, a += 2 * LEFT, b += 2 * WIDTH) {
        __m256i b0 = _mm256_loadu_si256((const __m256i *)b), b1 = _mm256_loadu_si256((const __m256i *)(b + WIDTH)), x;
        x = both_of(a);
        c00 = plus(c00, x, b0);
        c01 = plus(c01, x, b1);
        x = both_of(a + 2);
        c10 = plus(c10, x, b0);
        c11 = plus(c11, x, b1);
        x = both_of(a + 4);
        c20 = plus(c20, x, b0);
        c21 = plus(c21, x, b1);
        x = both_of(a + 6);
        c30 = plus(c30, x, b0);
        c31 = plus(c31, x, b1);
        x = both_of(a + 8);
        c40 = plus(c40, x, b0);
        c41 = plus(c41, x, b1);
        x = both_of(a + 10);
        c50 = plus(c50, x, b0);
        c51 = plus(c51, x, b1);
    }
    const __m256i sum[LEFT][2] = {{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}, {c40, c41}, {c50, c51}};
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < 2; j++)
            keep(sum[i][j], unit, c + i * stride + 8 * j);
}

#endif
