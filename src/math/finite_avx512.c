/* finite_avx512.c - finite.h for AVX-512, four vectors at a time. */
#include "math/finite.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = 16, AT_ONCE = 4 };

AVX512 bool kl_avx512_are_finite(int64_t n, const float *x)
{
    const __m512i size = _mm512_set1_epi32(0x7fffffff), carry = _mm512_set1_epi32(0x00800000);
    __m512i seen[AT_ONCE] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    int64_t j = 0;
    for (; j + AT_ONCE * LANES <= n; j += AT_ONCE * LANES)
        for (int k = 0; k < AT_ONCE; k++) {
            __m512i bits = _mm512_loadu_si512(x + j + k * LANES);
            seen[k] = _mm512_or_si512(seen[k], _mm512_add_epi32(_mm512_and_si512(bits, size), carry));
        }
    __m512i all = _mm512_or_si512(_mm512_or_si512(seen[0], seen[1]), _mm512_or_si512(seen[2], seen[3]));
    return _mm512_test_epi32_mask(all, _mm512_set1_epi32(INT32_MIN)) == 0 && kl_portable_are_finite(n - j, x + j);
}

#else

typedef int finite_avx512_is_for_x86;

#endif
