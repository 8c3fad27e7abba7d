/* group_avx2.c - four dense rows of float32 or bfloat16 for AVX2: ten sums in ten registers. The table of AVX-512 has them too: they are
 * bound by loads. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/row_avx2.h"

#include <stddef.h>

enum { LANES = KL_GROUP_LANES, LINE = 64 };

/* The columns behind the last whole vector, and zeros. */
AVX2 INLINE __m256 load_rest(const kl_row *z, int64_t p, int64_t n)
{
    float value[LANES] = {0};
    for (int64_t q = p; q < n; q++)
        value[q - p] = kl_row_at(z, q);
    return _mm256_loadu_ps(value);
}

/* w to each row, and each row to those before it. */
AVX2 INLINE void add_products(const __m256 *x, __m256 w, __m256 *dot, __m256 *inner)
{
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        dot[g] = _mm256_fmadd_ps(x[g], w, dot[g]);
    UNROLL
    for (int g = 1; g < KL_GROUP; g++)
        UNROLL
        for (int h = 0; h < g; h++)
            inner[g * (g - 1) / 2 + h] = _mm256_fmadd_ps(x[h], x[g], inner[g * (g - 1) / 2 + h]);
}

AVX2 INLINE double total(__m256 v)
{
    float lane[LANES];
    _mm256_storeu_ps(lane, v);
    return kl_group_total(lane);
}

AVX2 INLINE void prefetch(bool half, const kl_row *const *next, int64_t p)
{
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        _mm_prefetch(place(half, next[g], p), _MM_HINT_NTA); /* past the second cache, where the present rows and the vector are */
}

AVX2 INLINE void dots(bool half, const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *out)
{
    __m256 dot[KL_GROUP], inner[KL_GROUP_PAIRS], x[KL_GROUP];
    int64_t p = 0, line = LINE / (half ? 2 : 4);
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        dot[g] = _mm256_setzero_ps();
    UNROLL
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        inner[k] = _mm256_setzero_ps();
    for (; p + LANES <= n; p += LANES) {
        if (p % line == 0)
            prefetch(half, next, p);
        UNROLL
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = eight(half, z[g], p);
        add_products(x, _mm256_loadu_ps(w + p), dot, inner);
    }
    if (p < n) {
        kl_row rest = {.value = w};
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = load_rest(z[g], p, n);
        add_products(x, load_rest(&rest, p, n), dot, inner);
    }
    for (int g = 0; g < KL_GROUP; g++)
        f[g] = total(dot[g]);
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        out[k] = total(inner[k]);
}

AVX2 void kl_avx2_group_dots(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner)
{
    if (z[0]->half != NULL)
        dots(true, z, next, n, w, f, inner);
    else
        dots(false, z, next, n, w, f, inner);
}

AVX2 INLINE __m256 sum_of(const __m256 *x, const float *factor)
{
    __m256 sum = _mm256_mul_ps(_mm256_set1_ps(factor[0]), x[0]);
    UNROLL
    for (int g = 1; g < KL_GROUP; g++)
        sum = _mm256_fmadd_ps(_mm256_set1_ps(factor[g]), x[g], sum);
    return sum;
}

AVX2 INLINE void add(bool half, const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta)
{
    __m256 x[KL_GROUP];
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES) {
        UNROLL
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = eight(half, z[g], p);
        __m256 sum = sum_of(x, factor);
        _mm256_storeu_ps(copy + p, _mm256_add_ps(_mm256_loadu_ps(copy + p), sum));
        _mm256_storeu_ps(delta + p, _mm256_add_ps(_mm256_loadu_ps(delta + p), sum));
    }
    if (p < n) {
        float sum[LANES];
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = load_rest(z[g], p, n);
        _mm256_storeu_ps(sum, sum_of(x, factor));
        for (int64_t q = p; q < n; q++) {
            copy[q] += sum[q - p];
            delta[q] += sum[q - p];
        }
    }
}

AVX2 void kl_avx2_group_add(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta)
{
    if (z[0]->half != NULL)
        add(true, z, n, factor, copy, delta);
    else
        add(false, z, n, factor, copy, delta);
}

#else

typedef int group_avx2_is_for_x86;

#endif
