/* complex_avx2.c - complex products and gathers for AVX2; the table of AVX-512 has them too: they are bound by loads. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <string.h>

typedef struct pair {
    __m256 re, im;
} pair;

AVX2 INLINE pair load(kl_complex a, int64_t k)
{
    return (pair){_mm256_loadu_ps(a.re + k), _mm256_loadu_ps(a.im + k)};
}

/* No fused products: the bits are those of the reference. */
AVX2 INLINE pair times(pair a, pair b)
{
    return (pair){_mm256_sub_ps(_mm256_mul_ps(a.re, b.re), _mm256_mul_ps(a.im, b.im)), _mm256_add_ps(_mm256_mul_ps(a.re, b.im), _mm256_mul_ps(a.im, b.re))};
}

/* Codes pick from the four roots inside half a vector. */
AVX2 INLINE pair roots(const kl_roots *c, int64_t k)
{
    const __m256 cosine = _mm256_setr_ps(1, 0, -1, 0, 1, 0, -1, 0), sine = _mm256_setr_ps(0, 1, 0, -1, 0, 1, 0, -1), scale = _mm256_set1_ps(c->scale);
    __m256i code = _mm256_cvtepu8_epi32(_mm_loadu_si64(c->code + k));
    return (pair){_mm256_permutevar_ps(_mm256_mul_ps(cosine, scale), code), _mm256_permutevar_ps(_mm256_mul_ps(sine, scale), code)};
}

/* `two` and `turned` are constants where it is called. Returns how many numbers it made. */
AVX2 INLINE int64_t products(bool two, bool turned, int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out)
{
    const kl_roots turn = turned ? *c : (kl_roots){0};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        pair v = load(a, k);
        if (two)
            v = times(v, load(b, k));
        if (turned)
            v = times(v, roots(&turn, k));
        _mm256_storeu_ps(out.re + k, v.re);
        _mm256_storeu_ps(out.im + k, v.im);
    }
    return k;
}

AVX2 void kl_avx2_multiply(int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out)
{
    int64_t k = b.re == NULL ? (c == NULL ? products(false, false, n, a, b, c, out) : products(false, true, n, a, b, c, out))
                             : (c == NULL ? products(true, false, n, a, b, c, out) : products(true, true, n, a, b, c, out));
    kl_complex left = {a.re + k, a.im + k}, right = {0}, to = {out.re + k, out.im + k};
    kl_roots third = {0};
    if (b.re != NULL)
        right = (kl_complex){b.re + k, b.im + k};
    if (c != NULL)
        third = (kl_roots){c->code + k, c->scale};
    if (k < n)
        kl_micro_portable.multiply(n - k, left, right, c != NULL ? &third : NULL, to);
}

void kl_avx2_keep(int64_t n, kl_complex x, const kl_complex *a, kl_complex out)
{
    if (a != NULL) {
        kl_avx2_multiply(n, *a, x, NULL, out);
        return;
    }
    memcpy(out.re, x.re, (size_t)n * sizeof *x.re);
    memcpy(out.im, x.im, (size_t)n * sizeof *x.im);
}

AVX2 void kl_avx2_interleave(int64_t n, kl_complex a, float *pairs)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        __m256 re = _mm256_loadu_ps(a.re + k), im = _mm256_loadu_ps(a.im + k), low = _mm256_unpacklo_ps(re, im), high = _mm256_unpackhi_ps(re, im);
        _mm256_storeu_ps(pairs + 2 * k, _mm256_permute2f128_ps(low, high, 0x20));
        _mm256_storeu_ps(pairs + 2 * k + 8, _mm256_permute2f128_ps(low, high, 0x31));
    }
    kl_micro_portable.interleave(n - k, (kl_complex){a.re + k, a.im + k}, pairs + 2 * k);
}

AVX2 INLINE __m128 two(const float *pairs, const int32_t *index)
{
    __m128 first = _mm_castsi128_ps(_mm_loadu_si64(pairs + 2 * (int64_t)index[0]));
    return _mm_loadh_pi(first, (const __m64 *)(pairs + 2 * (int64_t)index[1]));
}

/* Eight of them, one load a number; gather instructions were slower. */
AVX2 INLINE pair pick(const float *pairs, const int32_t *index)
{
    __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(two(pairs, index)), two(pairs, index + 4), 1);
    __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(two(pairs, index + 2)), two(pairs, index + 6), 1);
    return (pair){_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xDD)};
}

/* `times_a` and `turned` are constants where it is called. */
AVX2 INLINE int64_t picked(bool times_a, bool turned, int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out)
{
    const kl_roots turn = turned ? *c : (kl_roots){0};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        pair v = pick(pairs, index + k);
        if (times_a)
            v = times(load(a, k), v);
        if (turned)
            v = times(v, roots(&turn, k));
        _mm256_storeu_ps(out.re + k, v.re);
        _mm256_storeu_ps(out.im + k, v.im);
    }
    return k;
}

AVX2 void kl_avx2_gather(int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out)
{
    int64_t k = a.re == NULL ? (c == NULL ? picked(false, false, n, a, index, pairs, c, out) : picked(false, true, n, a, index, pairs, c, out))
                             : (c == NULL ? picked(true, false, n, a, index, pairs, c, out) : picked(true, true, n, a, index, pairs, c, out));
    kl_complex left = {0};
    kl_roots third = {0};
    if (a.re != NULL)
        left = (kl_complex){a.re + k, a.im + k};
    if (c != NULL)
        third = (kl_roots){c->code + k, c->scale};
    if (k < n)
        kl_micro_portable.gather(n - k, left, index + k, pairs, c != NULL ? &third : NULL, (kl_complex){out.re + k, out.im + k});
}

#else

typedef int complex_avx2_is_for_x86;

#endif
