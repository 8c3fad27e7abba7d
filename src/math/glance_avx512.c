/* glance_avx512.c - scores in float32 for AVX-512: a register of sums for each of up to eight vectors of weights at a time. */
#include "math/glance.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = KL_GLANCE_LANES, AT_ONCE = 8 };

/* count and square, whether out[count] = z'z is wanted, are constants where it is called; stride: from a vector's lanes to its next ones */
AVX512 INLINE void dots(int64_t n, const float *z, int count, bool square, const float *w, int64_t stride, float *out)
{
    __m512 sum[AT_ONCE + 1];
    UNROLL
    for (int o = 0; o <= count; o++)
        sum[o] = _mm512_setzero_ps();
    for (int64_t p = 0; p < n; p += LANES, w += stride) {
        __m512 x = _mm512_loadu_ps(z + p);
        UNROLL
        for (int o = 0; o < count; o++)
            sum[o] = _mm512_fmadd_ps(x, _mm512_loadu_ps(w + o * LANES), sum[o]);
        if (square)
            sum[count] = _mm512_fmadd_ps(x, x, sum[count]);
    }
    UNROLL
    for (int o = 0; o < count + square; o++) {
        float lane[LANES];
        _mm512_storeu_ps(lane, sum[o]);
        out[o] = kl_glance_total(lane);
    }
}

/* The last ones, with the square. */
AVX512 INLINE void last_dots(int64_t n, const float *z, int64_t rest, const float *w, int64_t stride, float *out)
{
    if (rest == 1)
        dots(n, z, 1, true, w, stride, out);
    else if (rest == 2)
        dots(n, z, 2, true, w, stride, out);
    else if (rest == 3)
        dots(n, z, 3, true, w, stride, out);
    else if (rest == 4)
        dots(n, z, 4, true, w, stride, out);
    else if (rest == 5)
        dots(n, z, 5, true, w, stride, out);
    else if (rest == 6)
        dots(n, z, 6, true, w, stride, out);
    else if (rest == 7)
        dots(n, z, 7, true, w, stride, out);
    else if (rest == 8)
        dots(n, z, 8, true, w, stride, out);
}

AVX512 void kl_avx512_glance(int64_t n, const float *z, int64_t count, const float *w, float *out)
{
    int64_t o = 0;
    for (; count - o > AT_ONCE; o += AT_ONCE)
        dots(n, z, AT_ONCE, false, w + o * LANES, count * LANES, out + o);
    last_dots(n, z, count - o, w + o * LANES, count * LANES, out + o);
}

#else

typedef int glance_avx512_is_for_x86;

#endif
