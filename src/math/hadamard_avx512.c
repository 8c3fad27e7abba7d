/*
 * hadamard_avx512.c - the Walsh-Hadamard transform for AVX-512.
 *   up to 256 values stay in 16 registers for their signs and first eight stages: four inside a vector, four between them;
 *   then passes of 8 values a step of h apart, three stages each for one load and store. What three stages do not divide
 *   comes first, in a pass of 2, 4 or 16, where h = 256 and 16 lines do not fight for one set of the cache.
 * Every stage adds and subtracts the pairs of the definition, so all tables give the same bits.
 */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <stddef.h>

enum { LANES = 16, MOST = 16, WIDEST = 16, FIRST = LANES * MOST };

/* The stage h = 8 inside a vector: each lane becomes its partner plus or minus itself; v times +-1 is exact. */
AVX512 INLINE __m512 beyond_eight(__m512 v)
{
    const __m512 upper = _mm512_setr_ps(1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm512_fmadd_ps(v, upper, _mm512_shuffle_f32x4(v, v, 0x4E));
}

/* The stages h = 1, 2, 4, 8. */
AVX512 INLINE __m512 within(__m512 v)
{
    const __m512 odd = _mm512_setr_ps(1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1);
    const __m512 second = _mm512_setr_ps(1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1);
    const __m512 third = _mm512_setr_ps(1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1);
    v = _mm512_fmadd_ps(v, odd, _mm512_permute_ps(v, 0xB1));
    v = _mm512_fmadd_ps(v, second, _mm512_permute_ps(v, 0x4E));
    v = _mm512_fmadd_ps(v, third, _mm512_shuffle_f32x4(v, v, 0xB1));
    return beyond_eight(v);
}

#define TARGET AVX512
#define VECTOR __m512
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define ADD _mm512_add_ps
#define SUBTRACT _mm512_sub_ps
#define MULTIPLY _mm512_mul_ps

#include "math/hadamard_body.h"

AVX512 INLINE void transform(bool rest, int64_t last, int64_t n, const float *sign, const float *from, float *x)
{
    int64_t h = FIRST;
    int stages = 0; /* after the first ones */
    begin_all(rest, n, sign, from, x);
    while (h << stages < last)
        stages++;
    if (stages == 1)
        pass(2, n, h, x);
    else if (stages % 3 == 1)
        pass(16, n, h, x);
    else if (stages % 3 == 2)
        pass(4, n, h, x);
    for (h <<= stages == 1 ? 1 : stages % 3 == 1 ? 4 : stages % 3; h < last; h *= 8)
        pass(8, n, h, x);
}

AVX512 void kl_avx512_hadamard(int64_t n, const float *sign, const float *from, float *x)
{
    transform(false, n, n, sign, from, x);
}

AVX512 void kl_avx512_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    finish(n, kept, x, a, out);
}

#else

typedef int hadamard_avx512_is_for_x86;

#endif
