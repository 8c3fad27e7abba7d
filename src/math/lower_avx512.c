/* lower_avx512.c - lower.h for AVX-512, with the bits of lower_avx2.c: the eight right sides are one vector of float64. Of float32 they are half
 * a vector, for which lower_avx2.c will do. */
#include "math/lower.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { GROUP = KL_MICRO_GROUP, ROWS = 8, ACROSS = 4 };

AVX512 void kl_avx512_below64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y)
{
    for (int64_t r = 0; r < rows; r += ROWS, l += ROWS * stride, y += ROWS * GROUP) {
        __m512d sum[ROWS];
        UNROLL
        for (int i = 0; i < ROWS; i++)
            sum[i] = _mm512_loadu_pd(y + i * GROUP);
        for (int64_t p = 0; p < columns; p++) {
            __m512d f = _mm512_loadu_pd(x + p * GROUP);
            UNROLL
            for (int i = 0; i < ROWS; i++)
                sum[i] = _mm512_fnmadd_pd(_mm512_set1_pd(l[i * stride + p]), f, sum[i]);
        }
        UNROLL
        for (int i = 0; i < ROWS; i++)
            _mm512_storeu_pd(y + i * GROUP, sum[i]);
    }
}

AVX512 void kl_avx512_above64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y)
{
    for (int64_t r = 0; r < rows; r += ACROSS, l += ACROSS * stride, x += ACROSS * GROUP) {
        __m512d f[ACROSS];
        UNROLL
        for (int i = 0; i < ACROSS; i++)
            f[i] = _mm512_loadu_pd(x + i * GROUP);
        for (int64_t p = 0; p < columns; p++) {
            __m512d sum = _mm512_loadu_pd(y + p * GROUP);
            UNROLL
            for (int i = 0; i < ACROSS; i++)
                sum = _mm512_fnmadd_pd(_mm512_set1_pd(l[i * stride + p]), f[i], sum);
            _mm512_storeu_pd(y + p * GROUP, sum);
        }
    }
}

#else

typedef int lower_avx512_is_for_x86;

#endif
