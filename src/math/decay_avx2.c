/* decay_avx2.c - the steps of decay.c for AVX2, eight numbers at a time, products and sums fused. */
#include "math/decay.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <string.h>

enum { WIDTH = 8 };

typedef struct part {
    __m128 rest, power; /* of four numbers: t - n and n */
    int near;
} part;

AVX2 INLINE part split(__m128 product, __m256d xx, const double *norm, __m256d rate, __m256d near)
{
    __m256d all = _mm256_add_pd(xx, _mm256_loadu_pd(norm)), s = _mm256_fnmadd_pd(_mm256_set1_pd(2), _mm256_cvtps_pd(product), all);
    __m256d t = _mm256_max_pd(_mm256_set1_pd(KL_DECAY_LOWEST), _mm256_mul_pd(s, rate));
    t = _mm256_min_pd(_mm256_set1_pd(KL_DECAY_HIGHEST), t);
    __m256d n = _mm256_round_pd(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    int below = _mm256_movemask_pd(_mm256_cmp_pd(s, _mm256_mul_pd(near, all), _CMP_LT_OQ));
    return (part){_mm256_cvtpd_ps(_mm256_sub_pd(t, n)), _mm256_cvtpd_ps(n), below};
}

AVX2 INLINE __m256 power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

AVX2 INLINE __m256 raise_two(__m256 r, __m256 n)
{
    __m256 sum = _mm256_fmadd_ps(_mm256_set1_ps(KL_DECAY_6), r, _mm256_set1_ps(KL_DECAY_5));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(KL_DECAY_4));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(KL_DECAY_3));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(KL_DECAY_2));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(KL_DECAY_1));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1));
    __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(sum, power_of_two(half)), power_of_two(_mm256_sub_epi32(whole, half)));
}

AVX2 INLINE int eight(const float *product, __m256d xx, const double *norm, __m256d rate, __m256d near, float *out)
{
    part low = split(_mm_loadu_ps(product), xx, norm, rate, near), high = split(_mm_loadu_ps(product + 4), xx, norm + 4, rate, near);
    __m256 r = _mm256_set_m128(high.rest, low.rest), n = _mm256_set_m128(high.power, low.power);
    _mm256_storeu_ps(out, raise_two(r, n));
    return low.near | high.near << 4;
}

AVX2 bool kl_avx2_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out)
{
    __m256d x = _mm256_set1_pd(xx), r = _mm256_set1_pd(rate), share = _mm256_set1_pd(near);
    int any = 0;
    int64_t j = 0;
    for (; j + WIDTH <= count; j += WIDTH)
        any |= eight(product + j, x, norm + j, r, share, out + j);
    if (j < count) {
        float last[WIDTH] = {0}, value[WIDTH];
        double norms[WIDTH] = {0};
        size_t rest = (size_t)(count - j);
        memcpy(last, product + j, rest * sizeof *last);
        memcpy(norms, norm + j, rest * sizeof *norms);
        any |= eight(last, x, norms, r, share, value) & ((1 << rest) - 1);
        memcpy(out + j, value, rest * sizeof *value);
    }
    return any != 0;
}

#else

typedef int decay_avx2_is_for_x86;

#endif
