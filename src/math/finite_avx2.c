/* finite_avx2.c - finite.h for AVX2, four vectors at a time. */
#include "math/finite.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = 8, AT_ONCE = 4 };

AVX2 bool kl_avx2_are_finite(int64_t n, const float *x)
{
    const __m256i size = _mm256_set1_epi32(0x7fffffff), carry = _mm256_set1_epi32(0x00800000);
    __m256i seen[AT_ONCE] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    int64_t j = 0;
    for (; j + AT_ONCE * LANES <= n; j += AT_ONCE * LANES)
        for (int k = 0; k < AT_ONCE; k++) {
            __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(x + j + k * LANES));
            seen[k] = _mm256_or_si256(seen[k], _mm256_add_epi32(_mm256_and_si256(bits, size), carry));
        }
    __m256i all = _mm256_or_si256(_mm256_or_si256(seen[0], seen[1]), _mm256_or_si256(seen[2], seen[3]));
    return _mm256_movemask_ps(_mm256_castsi256_ps(all)) == 0 && kl_portable_are_finite(n - j, x + j);
}

#else

typedef int finite_avx2_is_for_x86;

#endif
