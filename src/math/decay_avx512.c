/* decay_avx512.c - the same for AVX-512, sixteen at a time, with the bits of decay_avx2.c. */
#include "math/decay.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <string.h>

enum { WIDTH = 16 };

typedef struct part {
    __m256 rest, power; /* of eight numbers: t - n and n */
    unsigned near;
} part;

AVX512 INLINE part split(__m256 product, __m512d xx, const double *norm, __m512d rate, __m512d near)
{
    __m512d all = _mm512_add_pd(xx, _mm512_loadu_pd(norm)), s = _mm512_fnmadd_pd(_mm512_set1_pd(2), _mm512_cvtps_pd(product), all);
    __m512d t = _mm512_max_pd(_mm512_set1_pd(KL_DECAY_LOWEST), _mm512_mul_pd(s, rate));
    t = _mm512_min_pd(_mm512_set1_pd(KL_DECAY_HIGHEST), t);
    __m512d n = _mm512_roundscale_pd(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    unsigned below = _mm512_cmp_pd_mask(s, _mm512_mul_pd(near, all), _CMP_LT_OQ);
    return (part){_mm512_cvtpd_ps(_mm512_sub_pd(t, n)), _mm512_cvtpd_ps(n), below};
}

AVX512 INLINE __m512 join(__m256 low, __m256 high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

AVX512 INLINE __m512 raise_two(__m512 r, __m512 n)
{
    __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(KL_DECAY_6), r, _mm512_set1_ps(KL_DECAY_5));
    sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(KL_DECAY_4));
    sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(KL_DECAY_3));
    sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(KL_DECAY_2));
    sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(KL_DECAY_1));
    return _mm512_scalef_ps(_mm512_fmadd_ps(sum, r, _mm512_set1_ps(1)), n);
}

AVX512 INLINE unsigned sixteen(const float *product, __m512d xx, const double *norm, __m512d rate, __m512d near, float *out)
{
    part low = split(_mm256_loadu_ps(product), xx, norm, rate, near), high = split(_mm256_loadu_ps(product + 8), xx, norm + 8, rate, near);
    _mm512_storeu_ps(out, raise_two(join(low.rest, high.rest), join(low.power, high.power)));
    return low.near | high.near << 8;
}

AVX512 bool kl_avx512_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out)
{
    __m512d x = _mm512_set1_pd(xx), r = _mm512_set1_pd(rate), share = _mm512_set1_pd(near);
    unsigned any = 0;
    int64_t j = 0;
    for (; j + WIDTH <= count; j += WIDTH)
        any |= sixteen(product + j, x, norm + j, r, share, out + j);
    if (j < count) {
        float last[WIDTH] = {0}, value[WIDTH];
        double norms[WIDTH] = {0};
        size_t rest = (size_t)(count - j);
        memcpy(last, product + j, rest * sizeof *last);
        memcpy(norms, norm + j, rest * sizeof *norms);
        any |= sixteen(last, x, norms, r, share, value) & ((1u << rest) - 1);
        memcpy(out + j, value, rest * sizeof *value);
    }
    return any != 0;
}

#else

typedef int decay_avx512_is_for_x86;

#endif
