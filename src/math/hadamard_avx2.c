/*
 * hadamard_avx2.c - the Walsh-Hadamard transform for AVX2: the stages inside a vector of 8. Their sums are made by the units of products, v times
 * +-1 being exact; those between vectors (hadamard_body.h) are left to the adders.
 */
#include "math/hadamard.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <stddef.h>

enum { LANES = 8 };

/* h = 4: both halves are loaded to both places, which costs less than turning a vector. */
AVX2 INLINE __m256 load_four(const float *sign, const float *from)
{
    const __m256 upper = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
    __m256 low = _mm256_broadcast_ps((const __m128 *)from), high = _mm256_broadcast_ps((const __m128 *)(from + 4));
    if (sign != NULL) {
        low = _mm256_mul_ps(low, _mm256_broadcast_ps((const __m128 *)sign));
        high = _mm256_mul_ps(high, _mm256_broadcast_ps((const __m128 *)(sign + 4)));
    }
    return _mm256_fmadd_ps(high, upper, low);
}

/* h = 1: each lane becomes its partner plus or minus itself. */
AVX2 INLINE __m256 one(__m256 v)
{
    const __m256 odd = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
    return _mm256_fmadd_ps(v, odd, _mm256_permute_ps(v, 0xB1));
}

/* The same of what is loaded twice, its even lanes and its odd ones: by the units of loads. */
AVX2 INLINE __m256 load_one(const float *from)
{
    const __m256 odd = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
    __m256 v = _mm256_loadu_ps(from);
    return _mm256_fmadd_ps(_mm256_movehdup_ps(v), odd, _mm256_moveldup_ps(v));
}

/* h = 2 */
AVX2 INLINE __m256 two(__m256 v)
{
    const __m256 second = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
    return _mm256_fmadd_ps(v, second, _mm256_permute_ps(v, 0x4E));
}

AVX2 INLINE __m256 eight(__m256 v)
{
    return v; /* between vectors here */
}

AVX2 INLINE __m256 load_eight(const float *from)
{
    return _mm256_loadu_ps(from);
}

AVX2 INLINE __m256 minus(__m256 a, __m256 b)
{
    return _mm256_fnmadd_ps(b, _mm256_set1_ps(1), a);
}

#define TARGET AVX2
#define VECTOR __m256
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define ADD _mm256_add_ps
#define SUBTRACT _mm256_sub_ps
#define MINUS minus
#define MULTIPLY _mm256_mul_ps
#define BESIDE(waiting, stored) (void)0 /* nothing waits */

#include "math/hadamard_body.h"

AVX2 void kl_avx2_hadamard(int64_t n, const float *sign, const float *from, float *x)
{
    hadamard(n, sign, from, x, NULL);
}

AVX2 void kl_avx2_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    finish(n, kept, x, a, out);
}

#else

typedef int hadamard_avx2_is_for_x86;

#endif
