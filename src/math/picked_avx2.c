/*
 * picked_avx2.c - products of values that stand in another order, and sums of products, for AVX2. The few behind the last whole vector are made
 * here, not by the reference: instructions of both kinds beside each other wait for the upper halves of registers, longer than all of it takes.
 */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/pick.h"

#include <stddef.h>

/* No fused products: the bits are those of the reference. */
AVX2 INLINE void multiply_real(int64_t n, const float *g, const int32_t *order, const float *t, float *z)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        _mm256_storeu_ps(z + k, _mm256_mul_ps(_mm256_loadu_ps(z + k), _mm256_mul_ps(_mm256_loadu_ps(g + k), kl_pick(t, order + k))));
    for (; k < n; k++)
        z[k] *= g[k] * t[order[k]];
}

AVX2 INLINE void multiply_complex(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        __m256 scale = _mm256_loadu_ps(g + k), re = _mm256_loadu_ps(z.re + k), im = _mm256_loadu_ps(z.im + k);
        __m256 a = _mm256_mul_ps(scale, kl_pick(t.re, order + k)), b = _mm256_mul_ps(scale, kl_pick(t.im, order + k));
        _mm256_storeu_ps(z.re + k, _mm256_sub_ps(_mm256_mul_ps(re, a), _mm256_mul_ps(im, b)));
        _mm256_storeu_ps(z.im + k, _mm256_add_ps(_mm256_mul_ps(re, b), _mm256_mul_ps(im, a)));
    }
    for (; k < n; k++) {
        float a = g[k] * t.re[order[k]], b = g[k] * t.im[order[k]], re = z.re[k], im = z.im[k];
        z.re[k] = re * a - im * b;
        z.im[k] = re * b + im * a;
    }
}

AVX2 void kl_avx2_multiply_picked(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z)
{
    if (t.im == NULL)
        multiply_real(n, g, order, t.re, z.re);
    else
        multiply_complex(n, g, order, t, z);
}

AVX2 void kl_avx2_add_product(int64_t n, const float *a, const float *b, float *y)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        _mm256_storeu_ps(y + k, _mm256_add_ps(_mm256_loadu_ps(y + k), _mm256_mul_ps(_mm256_loadu_ps(a + k), _mm256_loadu_ps(b + k))));
    for (; k < n; k++)
        y[k] += a[k] * b[k];
}

#else

typedef int picked_avx2_is_for_x86;

#endif
