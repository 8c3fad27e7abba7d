/*
 * hadamard_avx2.c - the Walsh-Hadamard transform for AVX2.
 *   up to 64 values stay in 8 registers for their signs and first six stages: three inside a vector, three between them;
 *   then passes of 8 values a step of h apart, three stages each for one load and store, after one of 2, 4 or 16 for what three
 *   stages do not divide: 16 are more than the registers hold, and still less work than 2 and 8. Only there are they near enough
 *   to each other not to meet in one set of the cache.
 * Every stage adds and subtracts the pairs of the definition, so all tables give the same bits.
 */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <stddef.h>

enum { LANES = 8, MOST = 8, FIRST = LANES * MOST, WIDEST = 16 };

/* The stages h = 1, 2, 4 inside a vector: each lane becomes its partner plus or minus itself; v times +-1 is exact. */
AVX2 INLINE __m256 within(__m256 v)
{
    const __m256 odd = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
    const __m256 second = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
    const __m256 upper = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
    v = _mm256_fmadd_ps(v, odd, _mm256_permute_ps(v, 0xB1));
    v = _mm256_fmadd_ps(v, second, _mm256_permute_ps(v, 0x4E));
    return _mm256_fmadd_ps(v, upper, _mm256_permute2f128_ps(v, v, 1));
}

AVX2 INLINE __m256 beyond_eight(__m256 v)
{
    return v;
}

#define TARGET AVX2
#define VECTOR __m256
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define ADD _mm256_add_ps
#define SUBTRACT _mm256_sub_ps
#define MULTIPLY _mm256_mul_ps

#include "math/hadamard_body.h"

AVX2 INLINE void transform(bool rest, int64_t last, int64_t n, const float *sign, const float *from, float *x)
{
    int64_t h = FIRST;
    int stages = 0; /* after the first ones */
    begin_all(rest, n, sign, from, x);
    while (h << stages < last)
        stages++;
    if (stages % 3 == 1 && stages > 1) {
        pass(WIDEST, n, h, x);
        h *= WIDEST;
        stages -= 4;
    }
    if (stages % 3 == 1)
        pass(2, n, h, x);
    else if (stages % 3 == 2)
        pass(4, n, h, x);
    for (h <<= stages % 3; h < last; h *= 8)
        pass(8, n, h, x);
}

AVX2 void kl_avx2_hadamard(int64_t n, const float *sign, const float *from, float *x)
{
    transform(false, n, n, sign, from, x);
}

AVX2 void kl_avx2_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    finish(n, kept, x, a, out);
}

#else

typedef int hadamard_avx2_is_for_x86;

#endif
