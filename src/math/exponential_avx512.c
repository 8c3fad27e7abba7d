/* exponential_avx512.c - the steps of exponential.c for AVX-512: eight at a time, nothing fused, so that the bits are the same. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { DEGREE = 13 };

AVX512 INLINE __m512d raise_eight(__m512d x)
{
    static const double term[DEGREE + 1] = {1,         1,          0.5,          1.0 / 6,        1.0 / 24,        1.0 / 120,       1.0 / 720,
                                            1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    const __m512d lowest = _mm512_set1_pd(-708), highest = _mm512_set1_pd(709), shift = _mm512_set1_pd(0x1.8p52);
    __m512d at = _mm512_min_pd(highest, _mm512_max_pd(lowest, x)); /* the second where one is no number */
    __m512d shifted = _mm512_add_pd(_mm512_mul_pd(at, _mm512_set1_pd(0x1.71547652b82fep0)), shift), n = _mm512_sub_pd(shifted, shift);
    __m512d r = _mm512_sub_pd(at, _mm512_mul_pd(n, _mm512_set1_pd(0x1.62e42fee00000p-1)));
    r = _mm512_sub_pd(r, _mm512_mul_pd(n, _mm512_set1_pd(0x1.a39ef35793c76p-33)));
    __m512d sum = _mm512_set1_pd(term[DEGREE]);
    UNROLL
    for (int k = DEGREE - 1; k >= 0; k--)
        sum = _mm512_add_pd(_mm512_mul_pd(sum, r), _mm512_set1_pd(term[k]));
    __m512i power = _mm512_slli_epi64(_mm512_add_epi64(_mm512_castpd_si512(shifted), _mm512_set1_epi64(1023)), 52);
    __m512d value = _mm512_mul_pd(sum, _mm512_castsi512_pd(power));
    return _mm512_mask_mov_pd(value, _mm512_cmp_pd_mask(x, lowest, _CMP_LT_OQ), _mm512_setzero_pd());
}

AVX512 void kl_avx512_raise(const double *x, double *out)
{
    for (int i = 0; i < KL_RAISE; i += 8)
        _mm512_storeu_pd(out + i, raise_eight(_mm512_loadu_pd(x + i)));
}

#else

typedef int exponential_avx512_is_for_x86;

#endif
