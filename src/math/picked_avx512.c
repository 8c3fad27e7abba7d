/* picked_avx512.c - complex products of values that stand in another order for AVX-512. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/pick.h"

#include <stddef.h>

enum { LANES = 16 };

AVX512 INLINE __m512 pick(const float *t, const int32_t *order)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(kl_pick(t, order)), kl_pick(t, order + LANES / 2), 1);
}

/* No fused products: the bits are those of the reference. */
AVX512 void kl_avx512_multiply_picked(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z)
{
    int64_t k = 0;
    if (t.im == NULL) { /* with one part for every place wider vectors gain nothing */
        kl_avx2_multiply_picked(n, g, order, t, z);
        return;
    }
    for (; k + LANES <= n; k += LANES) {
        __m512 scale = _mm512_loadu_ps(g + k), re = _mm512_loadu_ps(z.re + k), im = _mm512_loadu_ps(z.im + k);
        __m512 a = _mm512_mul_ps(scale, pick(t.re, order + k)), b = _mm512_mul_ps(scale, pick(t.im, order + k));
        _mm512_storeu_ps(z.re + k, _mm512_sub_ps(_mm512_mul_ps(re, a), _mm512_mul_ps(im, b)));
        _mm512_storeu_ps(z.im + k, _mm512_add_ps(_mm512_mul_ps(re, b), _mm512_mul_ps(im, a)));
    }
    kl_avx2_multiply_picked(n - k, g + k, order + k, t, (kl_complex){z.re + k, z.im + k});
}

#else

typedef int picked_avx512_is_for_x86;

#endif
