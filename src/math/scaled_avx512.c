/* scaled_avx512.c - a row times a row for AVX-512. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = 16 };

AVX512 void kl_avx512_times(int64_t n, const float *by, float *x)
{
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        _mm512_storeu_ps(x + j, _mm512_mul_ps(_mm512_loadu_ps(by + j), _mm512_loadu_ps(x + j)));
    kl_micro_portable.times(n - j, by + j, x + j);
}

#else

typedef int scaled_avx512_is_for_x86;

#endif
