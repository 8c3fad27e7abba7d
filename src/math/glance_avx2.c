/* glance_avx2.c - scores in float32 for AVX2: sums in two registers, up to four vectors of weights at a time. */
#include "math/glance.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = KL_GLANCE_LANES, AT_ONCE = 4 };

/* count and square, whether out[count] = z'z is wanted, are constants where it is called; stride: from a vector's lanes to its next ones */
AVX2 INLINE void dots(int64_t n, const float *z, int count, bool square, const float *w, int64_t stride, float *out)
{
    __m256 sum[AT_ONCE + 1][2];
    UNROLL
    for (int o = 0; o <= count; o++)
        sum[o][0] = sum[o][1] = _mm256_setzero_ps();
    for (int64_t p = 0; p < n; p += LANES, w += stride) {
        __m256 low = _mm256_loadu_ps(z + p), high = _mm256_loadu_ps(z + p + 8);
        UNROLL
        for (int o = 0; o < count; o++) {
            sum[o][0] = _mm256_fmadd_ps(low, _mm256_loadu_ps(w + o * LANES), sum[o][0]);
            sum[o][1] = _mm256_fmadd_ps(high, _mm256_loadu_ps(w + o * LANES + 8), sum[o][1]);
        }
        if (square) {
            sum[count][0] = _mm256_fmadd_ps(low, low, sum[count][0]);
            sum[count][1] = _mm256_fmadd_ps(high, high, sum[count][1]);
        }
    }
    UNROLL
    for (int o = 0; o < count + square; o++) {
        float lane[LANES];
        _mm256_storeu_ps(lane, sum[o][0]);
        _mm256_storeu_ps(lane + 8, sum[o][1]);
        out[o] = kl_glance_total(lane);
    }
}

/* The last ones, with the square. */
AVX2 INLINE void last_dots(int64_t n, const float *z, int64_t rest, const float *w, int64_t stride, float *out)
{
    if (rest == 1)
        dots(n, z, 1, true, w, stride, out);
    else if (rest == 2)
        dots(n, z, 2, true, w, stride, out);
    else if (rest == 3)
        dots(n, z, 3, true, w, stride, out);
    else if (rest == 4)
        dots(n, z, 4, true, w, stride, out);
}

AVX2 void kl_avx2_glance(int64_t n, const float *z, int64_t count, const float *w, float *out)
{
    int64_t o = 0;
    for (; count - o > AT_ONCE; o += AT_ONCE)
        dots(n, z, AT_ONCE, false, w + o * LANES, count * LANES, out + o);
    last_dots(n, z, count - o, w + o * LANES, count * LANES, out + o);
}

#else

typedef int glance_avx2_is_for_x86;

#endif
