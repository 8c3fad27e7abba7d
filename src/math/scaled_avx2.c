/* scaled_avx2.c - a row times a number or a row for AVX2; the table of AVX-512 has the first too: it is bound by loads and stores. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = 8 };

AVX2 int64_t kl_avx2_scaled(int64_t n, float factor, const float *from, float *to, float *square)
{
    const __m256 by = _mm256_set1_ps(factor), zero = _mm256_setzero_ps();
    __m256 sum[2] = {zero, zero};
    __m256i zeros = _mm256_setzero_si256(); /* counted downwards */
    float lane[LANES], rest = 0;
    int32_t none[LANES];
    int64_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES)
        for (int k = 0; k < 2; k++) {
            __m256 v = _mm256_loadu_ps(from + j + k * LANES);
            _mm256_storeu_ps(to + j + k * LANES, _mm256_mul_ps(by, v));
            sum[k] = _mm256_fmadd_ps(v, v, sum[k]);
            zeros = _mm256_add_epi32(zeros, _mm256_castps_si256(_mm256_cmp_ps(v, zero, _CMP_EQ_OQ)));
        }
    int64_t count = kl_micro_portable.scaled(n - j, factor, from + j, to + j, &rest) + j;
    _mm256_storeu_ps(lane, _mm256_add_ps(sum[0], sum[1]));
    _mm256_storeu_si256((__m256i *)(void *)none, zeros);
    for (int k = 0; k < LANES; k++) {
        rest += lane[k];
        count += none[k];
    }
    *square = rest;
    return count;
}

AVX2 void kl_avx2_times(int64_t n, const float *by, float *x)
{
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        _mm256_storeu_ps(x + j, _mm256_mul_ps(_mm256_loadu_ps(by + j), _mm256_loadu_ps(x + j)));
    kl_micro_portable.times(n - j, by + j, x + j);
}

#else

typedef int scaled_avx2_is_for_x86;

#endif
