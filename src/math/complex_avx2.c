/* complex_avx2.c - complex products and gathers for AVX2; the table of AVX-512 has them too: they are bound by loads. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <string.h>

/* No fused products: the bits are those of the reference. */
AVX2 void kl_avx2_multiply(int64_t n, kl_complex a, kl_complex b, const kl_complex *c, kl_complex out)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        __m256 ar = _mm256_loadu_ps(a.re + k), ai = _mm256_loadu_ps(a.im + k), br = _mm256_loadu_ps(b.re + k), bi = _mm256_loadu_ps(b.im + k);
        __m256 re = _mm256_sub_ps(_mm256_mul_ps(ar, br), _mm256_mul_ps(ai, bi)), im = _mm256_add_ps(_mm256_mul_ps(ar, bi), _mm256_mul_ps(ai, br));
        if (c != NULL) {
            __m256 cr = _mm256_loadu_ps(c->re + k), ci = _mm256_loadu_ps(c->im + k);
            ar = _mm256_sub_ps(_mm256_mul_ps(re, cr), _mm256_mul_ps(im, ci));
            im = _mm256_add_ps(_mm256_mul_ps(re, ci), _mm256_mul_ps(im, cr));
            re = ar;
        }
        _mm256_storeu_ps(out.re + k, re);
        _mm256_storeu_ps(out.im + k, im);
    }
    kl_complex left = {a.re + k, a.im + k}, right = {b.re + k, b.im + k}, to = {out.re + k, out.im + k}, third = {0};
    if (c != NULL)
        third = (kl_complex){c->re + k, c->im + k};
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

AVX2 static inline __m128 four(const float *a, const int32_t *index)
{
    __m128 v = _mm_load_ss(a + index[0]);
    v = _mm_insert_ps(v, _mm_load_ss(a + index[1]), 0x10);
    v = _mm_insert_ps(v, _mm_load_ss(a + index[2]), 0x20);
    return _mm_insert_ps(v, _mm_load_ss(a + index[3]), 0x30);
}

/* Four single loads and one store: gather instructions were slower, 1.7 against 1.0 us for 2048 numbers. */
AVX2 void kl_avx2_gather(int64_t n, const int32_t *index, kl_complex a, kl_complex out)
{
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        _mm_storeu_ps(out.re + k, four(a.re, index + k));
        _mm_storeu_ps(out.im + k, four(a.im, index + k));
    }
    for (; k < n; k++) {
        out.re[k] = a.re[index[k]];
        out.im[k] = a.im[index[k]];
    }
}

#else

typedef int complex_avx2_is_for_x86;

#endif
