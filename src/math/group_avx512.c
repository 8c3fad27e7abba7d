/* group_avx512.c - four dense rows of one kind for AVX-512: ten sums in ten registers, each of which is all lanes of a sum. */
#include "math/simd.h"

#if defined(__x86_64__)

enum { LANES = KL_GROUP_LANES, LINE = 64 };

AVX512 INLINE __m512 sixteen(kl_narrow kind, const kl_row *z, int64_t p)
{
    if (kind == KL_FLOAT32)
        return _mm512_loadu_ps(z->value + p);
    __m256i half = _mm256_loadu_si256((const __m256i *)(const void *)(z->half + p));
    if (kind == KL_INT16)
        return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(half));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* The columns behind the last whole vector, and zeros. */
AVX512 INLINE __m512 load_rest(kl_narrow kind, const kl_row *z, int64_t p, int64_t n)
{
    float value[LANES] = {0};
    for (int64_t q = p; q < n; q++)
        value[q - p] = kl_row_at(kind, z, q);
    return _mm512_loadu_ps(value);
}

/* w to each row, and each row to those before it. */
AVX512 INLINE void add_products(const __m512 *x, __m512 w, __m512 *dot, __m512 *inner)
{
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        dot[g] = _mm512_fmadd_ps(x[g], w, dot[g]);
    UNROLL
    for (int g = 1; g < KL_GROUP; g++)
        UNROLL
        for (int h = 0; h < g; h++)
            inner[g * (g - 1) / 2 + h] = _mm512_fmadd_ps(x[h], x[g], inner[g * (g - 1) / 2 + h]);
}

/* kl_group_total, four lanes at a time */
AVX512 INLINE double total(__m512 v)
{
    __m256 low = _mm512_castps512_ps256(v), high = _mm512_extractf32x8_ps(v, 1);
    __m256d first = _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(low)), _mm256_cvtps_pd(_mm256_extractf128_ps(low, 1)));
    __m256d last = _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(high)), _mm256_cvtps_pd(_mm256_extractf128_ps(high, 1)));
    __m256d four = _mm256_add_pd(first, last);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

AVX512 INLINE void prefetch(kl_narrow kind, const kl_row *next, int64_t p)
{
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        _mm_prefetch(kind == KL_FLOAT32 ? (const char *)(next[g].value + p) : (const char *)(next[g].half + p), _MM_HINT_T1);
}

AVX512 INLINE void dots(kl_narrow kind, const kl_row *const *rows, const kl_row *const *next, int64_t n, const float *w, double *f, double *out)
{
    const kl_row z[KL_GROUP] = {*rows[0], *rows[1], *rows[2], *rows[3]}, ahead[KL_GROUP] = {*next[0], *next[1], *next[2], *next[3]};
    __m512 dot[KL_GROUP], inner[KL_GROUP_PAIRS], x[KL_GROUP];
    int64_t p = 0, line = LINE / (kind == KL_FLOAT32 ? 4 : 2);
    UNROLL
    for (int g = 0; g < KL_GROUP; g++)
        dot[g] = _mm512_setzero_ps();
    UNROLL
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        inner[k] = _mm512_setzero_ps();
    for (; p + LANES <= n; p += LANES) {
        if (p % line == 0)
            prefetch(kind, ahead, p);
        UNROLL
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = sixteen(kind, &z[g], p);
        add_products(x, _mm512_loadu_ps(w + p), dot, inner);
    }
    if (p < n) {
        kl_row rest = {.value = w};
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = load_rest(kind, &z[g], p, n);
        add_products(x, load_rest(KL_FLOAT32, &rest, p, n), dot, inner);
    }
    for (int g = 0; g < KL_GROUP; g++)
        f[g] = total(dot[g]);
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        out[k] = total(inner[k]);
}

AVX512 void kl_avx512_group_dots(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner)
{
    kl_narrow kind = kl_row_kind(z[0]);
    if (kind == KL_FLOAT32)
        dots(KL_FLOAT32, z, next, n, w, f, inner);
    else if (kind == KL_INT16)
        dots(KL_INT16, z, next, n, w, f, inner);
    else
        dots(KL_BFLOAT16, z, next, n, w, f, inner);
}

AVX512 INLINE __m512 sum_of(const __m512 *x, const float *factor)
{
    __m512 sum = _mm512_mul_ps(_mm512_set1_ps(factor[0]), x[0]);
    UNROLL
    for (int g = 1; g < KL_GROUP; g++)
        sum = _mm512_fmadd_ps(_mm512_set1_ps(factor[g]), x[g], sum);
    return sum;
}

AVX512 INLINE void add(kl_narrow kind, const kl_row *const *rows, int64_t n, const float *factor, float *copy, float *delta)
{
    const kl_row z[KL_GROUP] = {*rows[0], *rows[1], *rows[2], *rows[3]};
    __m512 x[KL_GROUP];
    int64_t p = 0;
    for (; p + LANES <= n; p += LANES) {
        UNROLL
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = sixteen(kind, &z[g], p);
        __m512 sum = sum_of(x, factor);
        _mm512_storeu_ps(copy + p, _mm512_add_ps(_mm512_loadu_ps(copy + p), sum));
        _mm512_storeu_ps(delta + p, _mm512_add_ps(_mm512_loadu_ps(delta + p), sum));
    }
    if (p < n) {
        float sum[LANES];
        for (int g = 0; g < KL_GROUP; g++)
            x[g] = load_rest(kind, &z[g], p, n);
        _mm512_storeu_ps(sum, sum_of(x, factor));
        for (int64_t q = p; q < n; q++) {
            copy[q] += sum[q - p];
            delta[q] += sum[q - p];
        }
    }
}

AVX512 void kl_avx512_group_add(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta)
{
    kl_narrow kind = kl_row_kind(z[0]);
    if (kind == KL_FLOAT32)
        add(KL_FLOAT32, z, n, factor, copy, delta);
    else if (kind == KL_INT16)
        add(KL_INT16, z, n, factor, copy, delta);
    else
        add(KL_BFLOAT16, z, n, factor, copy, delta);
}

#else

typedef int group_avx512_is_for_x86;

#endif
