/* lower_avx2.c - lower.h for AVX2. Some rows at a time: their sums stay in registers, or what is added to is loaded once for all of them. */
#include "math/lower.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { GROUP = KL_MICRO_GROUP, ROWS64 = 4, ROWS32 = 8, ACROSS = 4 };

AVX2 void kl_avx2_below64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y)
{
    for (int64_t r = 0; r < rows; r += ROWS64, l += ROWS64 * stride, y += ROWS64 * GROUP) {
        __m256d sum[ROWS64][2];
        UNROLL
        for (int i = 0; i < ROWS64; i++) {
            sum[i][0] = _mm256_loadu_pd(y + i * GROUP);
            sum[i][1] = _mm256_loadu_pd(y + i * GROUP + 4);
        }
        for (int64_t p = 0; p < columns; p++) {
            __m256d x0 = _mm256_loadu_pd(x + p * GROUP), x1 = _mm256_loadu_pd(x + p * GROUP + 4);
            UNROLL
            for (int i = 0; i < ROWS64; i++) {
                __m256d f = _mm256_broadcast_sd(l + i * stride + p);
                sum[i][0] = _mm256_fnmadd_pd(f, x0, sum[i][0]);
                sum[i][1] = _mm256_fnmadd_pd(f, x1, sum[i][1]);
            }
        }
        UNROLL
        for (int i = 0; i < ROWS64; i++) {
            _mm256_storeu_pd(y + i * GROUP, sum[i][0]);
            _mm256_storeu_pd(y + i * GROUP + 4, sum[i][1]);
        }
    }
}

AVX2 void kl_avx2_above64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y)
{
    for (int64_t r = 0; r < rows; r += ACROSS, l += ACROSS * stride, x += ACROSS * GROUP) {
        __m256d f[ACROSS][2];
        UNROLL
        for (int i = 0; i < ACROSS; i++) {
            f[i][0] = _mm256_loadu_pd(x + i * GROUP);
            f[i][1] = _mm256_loadu_pd(x + i * GROUP + 4);
        }
        for (int64_t p = 0; p < columns; p++) {
            __m256d y0 = _mm256_loadu_pd(y + p * GROUP), y1 = _mm256_loadu_pd(y + p * GROUP + 4);
            UNROLL
            for (int i = 0; i < ACROSS; i++) {
                __m256d factor = _mm256_broadcast_sd(l + i * stride + p);
                y0 = _mm256_fnmadd_pd(factor, f[i][0], y0);
                y1 = _mm256_fnmadd_pd(factor, f[i][1], y1);
            }
            _mm256_storeu_pd(y + p * GROUP, y0);
            _mm256_storeu_pd(y + p * GROUP + 4, y1);
        }
    }
}

AVX2 void kl_avx2_below32(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y)
{
    for (int64_t r = 0; r < rows; r += ROWS32, l += ROWS32 * stride, y += ROWS32 * GROUP) {
        __m256 sum[ROWS32];
        UNROLL
        for (int i = 0; i < ROWS32; i++)
            sum[i] = _mm256_loadu_ps(y + i * GROUP);
        for (int64_t p = 0; p < columns; p++) {
            __m256 f = _mm256_loadu_ps(x + p * GROUP);
            UNROLL
            for (int i = 0; i < ROWS32; i++)
                sum[i] = _mm256_fnmadd_ps(_mm256_broadcast_ss(l + i * stride + p), f, sum[i]);
        }
        UNROLL
        for (int i = 0; i < ROWS32; i++)
            _mm256_storeu_ps(y + i * GROUP, sum[i]);
    }
}

AVX2 void kl_avx2_above32(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y)
{
    for (int64_t r = 0; r < rows; r += ACROSS, l += ACROSS * stride, x += ACROSS * GROUP) {
        __m256 f[ACROSS];
        UNROLL
        for (int i = 0; i < ACROSS; i++)
            f[i] = _mm256_loadu_ps(x + i * GROUP);
        for (int64_t p = 0; p < columns; p++) {
            __m256 sum = _mm256_loadu_ps(y + p * GROUP);
            UNROLL
            for (int i = 0; i < ACROSS; i++)
                sum = _mm256_fnmadd_ps(_mm256_broadcast_ss(l + i * stride + p), f[i], sum);
            _mm256_storeu_ps(y + p * GROUP, sum);
        }
    }
}

#else

typedef int lower_avx2_is_for_x86;

#endif
