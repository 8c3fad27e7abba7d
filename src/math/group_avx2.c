/* group_avx2.c - four dense rows of one kind for AVX2: ten sums in ten registers, a half of their lanes at a time. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/row_avx2.h"

enum { LANES = KL_GROUP_LANES, EIGHT = 8, LINE = 64 };

/* The columns behind the last whole vector, and zeros. */
AVX2 INLINE __m256 load_rest(kl_narrow kind, const kl_row *z, int64_t p, int64_t n)
{
    float value[EIGHT] = {0};
    for (int64_t q = p; q < n; q++)
        value[q - p] = kl_row_at(kind, z, q);
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

AVX2 INLINE void prefetch(kl_narrow kind, const kl_row *next, int64_t p)
{
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        _mm_prefetch(place(kind, &next[g], p), _MM_HINT_T1);
}

/* Of ten sums' sixteen lanes those from `lane` on, eight each: all at once are more than there are registers. */
AVX2 INLINE void half_dots(kl_narrow kind, const kl_row *const *rows, const kl_row *const *next, int64_t n, const float *w, int64_t lane, float sum[][LANES])
{
    const kl_row z[KL_GROUP] = {*rows[0], *rows[1], *rows[2], *rows[3]}, ahead[KL_GROUP] = {*next[0], *next[1], *next[2], *next[3]};
    __m256 dot[KL_GROUP], inner[KL_GROUP_PAIRS], x[KL_GROUP];
    int64_t p = lane, line = LINE / (kind == KL_FLOAT32 ? 4 : 2);
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        dot[g] = _mm256_setzero_ps();
    UNROLL
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        inner[k] = _mm256_setzero_ps();
    for (; p + EIGHT <= n; p += LANES) {
        if (p % line == 0)
            prefetch(kind, ahead, p);
        UNROLL
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = eight(kind, &z[g], p);
        add_products(x, _mm256_loadu_ps(w + p), dot, inner);
    }
    if (p < n) {
        kl_row rest = {.value = w};
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = load_rest(kind, &z[g], p, n);
        add_products(x, load_rest(KL_FLOAT32, &rest, p, n), dot, inner);
    }
    for (int g = 0; g < KL_GROUP; g++)
        _mm256_storeu_ps(sum[g] + lane, dot[g]);
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        _mm256_storeu_ps(sum[KL_GROUP + k] + lane, inner[k]);
}

AVX2 INLINE void dots(kl_narrow kind, const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner)
{
    float sum[KL_GROUP + KL_GROUP_PAIRS][LANES];
    half_dots(kind, z, next, n, w, 0, sum);
    half_dots(kind, z, next, n, w, EIGHT, sum);
    for (int g = 0; g < KL_GROUP; g++)
        f[g] = kl_group_total(sum[g]);
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        inner[k] = kl_group_total(sum[KL_GROUP + k]);
}

AVX2 void kl_avx2_group_dots(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner)
{
    kl_narrow kind = kl_row_kind(z[0]);
    if (kind == KL_FLOAT32)
        dots(KL_FLOAT32, z, next, n, w, f, inner);
    else if (kind == KL_INT16)
        dots(KL_INT16, z, next, n, w, f, inner);
    else
        dots(KL_BFLOAT16, z, next, n, w, f, inner);
}

AVX2 INLINE __m256 sum_of(const __m256 *x, const float *factor)
{
    __m256 sum = _mm256_mul_ps(_mm256_set1_ps(factor[0]), x[0]);
    UNROLL
    for (int g = 1; g < KL_GROUP; g++)
        sum = _mm256_fmadd_ps(_mm256_set1_ps(factor[g]), x[g], sum);
    return sum;
}

AVX2 INLINE void add(kl_narrow kind, const kl_row *const *rows, int64_t n, const float *factor, float *copy, float *delta)
{
    const kl_row z[KL_GROUP] = {*rows[0], *rows[1], *rows[2], *rows[3]};
    __m256 x[KL_GROUP];
    int64_t p = 0;
    for (; p + EIGHT <= n; p += EIGHT) {
        UNROLL
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = eight(kind, &z[g], p);
        __m256 sum = sum_of(x, factor);
        _mm256_storeu_ps(copy + p, _mm256_add_ps(_mm256_loadu_ps(copy + p), sum));
        _mm256_storeu_ps(delta + p, _mm256_add_ps(_mm256_loadu_ps(delta + p), sum));
    }
    if (p < n) {
        float sum[EIGHT];
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = load_rest(kind, &z[g], p, n);
        _mm256_storeu_ps(sum, sum_of(x, factor));
        for (int64_t q = p; q < n; q++) {
            copy[q] += sum[q - p];
            delta[q] += sum[q - p];
        }
    }
}

AVX2 void kl_avx2_group_add(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta)
{
    kl_narrow kind = kl_row_kind(z[0]);
    if (kind == KL_FLOAT32)
        add(KL_FLOAT32, z, n, factor, copy, delta);
    else if (kind == KL_INT16)
        add(KL_INT16, z, n, factor, copy, delta);
    else
        add(KL_BFLOAT16, z, n, factor, copy, delta);
}

AVX2 void kl_avx2_group_settle(int64_t n, double *w, float *copy, float *delta)
{
    int64_t p = 0;
    for (; p + 4 <= n; p += 4) {
        __m256d sum = _mm256_add_pd(_mm256_loadu_pd(w + p), _mm256_cvtps_pd(_mm_loadu_ps(delta + p)));
        _mm256_storeu_pd(w + p, sum);
        _mm_storeu_ps(copy + p, _mm256_cvtpd_ps(sum));
        _mm_storeu_ps(delta + p, _mm_setzero_ps());
    }
    kl_micro_portable.group_settle(n - p, w + p, copy + p, delta + p);
}

#else

typedef int group_avx2_is_for_x86;

#endif
