/* complex_avx512.c - complex products and gathers for AVX-512. What is left behind whole vectors is masked: runs may be short. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/pick.h"

#include <string.h>

enum { LANES = 16 };

typedef struct pair {
    __m512 re, im;
} pair;

static inline __mmask16 first_lanes(int64_t n)
{
    return (__mmask16)((1 << n) - 1);
}

static inline kl_complex behind(bool there, kl_complex c, int64_t k)
{
    return there ? (kl_complex){c.re + k, c.im + k} : (kl_complex){0};
}

/* No fused products: the bits are those of the reference. */
AVX512 INLINE pair times(pair a, pair b)
{
    return (pair){_mm512_sub_ps(_mm512_mul_ps(a.re, b.re), _mm512_mul_ps(a.im, b.im)), _mm512_add_ps(_mm512_mul_ps(a.re, b.im), _mm512_mul_ps(a.im, b.re))};
}

/* The four roots, in every quarter of a vector. */
AVX512 INLINE pair roots_of(float scale)
{
    return (pair){_mm512_setr_ps(scale, 0, -scale, 0, scale, 0, -scale, 0, scale, 0, -scale, 0, scale, 0, -scale, 0),
                  _mm512_setr_ps(0, scale, 0, -scale, 0, scale, 0, -scale, 0, scale, 0, -scale, 0, scale, 0, -scale)};
}

AVX512 INLINE pair turn(pair v, pair roots, __m128i codes)
{
    __m512i code = _mm512_cvtepu8_epi32(codes);
    return times(v, (pair){_mm512_permutevar_ps(roots.re, code), _mm512_permutevar_ps(roots.im, code)});
}

/* `two` and `turned` are constants where it is called; `some` of the lanes, all but at the end. */
AVX512 INLINE void product(bool two, bool turned, __mmask16 some, kl_complex a, kl_complex b, const uint8_t *code, pair roots, kl_complex out)
{
    pair v = {_mm512_maskz_loadu_ps(some, a.re), _mm512_maskz_loadu_ps(some, a.im)};
    if (two)
        v = times(v, (pair){_mm512_maskz_loadu_ps(some, b.re), _mm512_maskz_loadu_ps(some, b.im)});
    if (turned)
        v = turn(v, roots, _mm_maskz_loadu_epi8(some, code));
    _mm512_mask_storeu_ps(out.re, some, v.re);
    _mm512_mask_storeu_ps(out.im, some, v.im);
}

AVX512 INLINE void products(bool two, bool turned, int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out)
{
    const pair roots = roots_of(turned ? c->scale : 0);
    const uint8_t *code = turned ? c->code : NULL;
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES)
        product(two, turned, 0xFFFF, behind(true, a, k), behind(two, b, k), turned ? code + k : NULL, roots, behind(true, out, k));
    if (k < n)
        product(two, turned, first_lanes(n - k), behind(true, a, k), behind(two, b, k), turned ? code + k : NULL, roots, behind(true, out, k));
}

AVX512 void kl_avx512_multiply(int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out)
{
    if (b.re == NULL && c == NULL)
        products(false, false, n, a, b, c, out);
    else if (b.re == NULL)
        products(false, true, n, a, b, c, out);
    else if (c == NULL)
        products(true, false, n, a, b, c, out);
    else
        products(true, true, n, a, b, c, out);
}

AVX512 void kl_avx512_interleave(int64_t n, kl_complex a, float *pairs)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        __m512 re = _mm512_loadu_ps(a.re + k), im = _mm512_loadu_ps(a.im + k);
        _mm512_storeu_ps(pairs + 2 * k, _mm512_permutex2var_ps(re, low, im));
        _mm512_storeu_ps(pairs + 2 * k + LANES, _mm512_permutex2var_ps(re, high, im));
    }
    kl_micro_portable.interleave(n - k, (kl_complex){a.re + k, a.im + k}, pairs + 2 * k);
}

/* Eight of them, a pair being a number of 64 bits, a load to all places each. */
AVX512 INLINE __m512 eight(const float *pairs, const int32_t *index)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(kl_pick_pairs(pairs, index)), kl_pick_pairs(pairs, index + 4), 1);
}

AVX512 INLINE pair pick(const float *pairs, const int32_t *index)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    __m512 a = eight(pairs, index), b = eight(pairs, index + LANES / 2);
    return (pair){_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)};
}

AVX512 INLINE void pick_product(bool times_a, bool turned, __mmask16 some, kl_complex a, const int32_t *index, const float *pairs, const uint8_t *code, pair roots, kl_complex out)
{
    pair v = pick(pairs, index);
    if (times_a)
        v = times((pair){_mm512_maskz_loadu_ps(some, a.re), _mm512_maskz_loadu_ps(some, a.im)}, v);
    if (turned)
        v = turn(v, roots, _mm_maskz_loadu_epi8(some, code));
    _mm512_mask_storeu_ps(out.re, some, v.re);
    _mm512_mask_storeu_ps(out.im, some, v.im);
}

AVX512 INLINE void picked(bool times_a, bool turned, int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out)
{
    const pair roots = roots_of(turned ? c->scale : 0);
    const uint8_t *code = turned ? c->code : NULL;
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES)
        pick_product(times_a, turned, 0xFFFF, behind(times_a, a, k), index + k, pairs, turned ? code + k : NULL, roots, behind(true, out, k));
    if (k == n)
        return;
    int32_t last[LANES] = {0}; /* lanes behind the end pick something */
    memcpy(last, index + k, (size_t)(n - k) * sizeof *last);
    pick_product(times_a, turned, first_lanes(n - k), behind(times_a, a, k), last, pairs, turned ? code + k : NULL, roots, behind(true, out, k));
}

AVX512 void kl_avx512_gather(int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out)
{
    if (a.re == NULL && c == NULL)
        picked(false, false, n, a, index, pairs, c, out);
    else if (a.re == NULL)
        picked(false, true, n, a, index, pairs, c, out);
    else if (c == NULL)
        picked(true, false, n, a, index, pairs, c, out);
    else
        picked(true, true, n, a, index, pairs, c, out);
}

#else

typedef int complex_avx512_is_for_x86;

#endif
