/* glance_whole_avx512.c - glance_whole.h for AVX-512: a register of sums for each of up to sixteen outputs, so that weights are read in one go. */
#include "math/glance_whole.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { STEP = KL_GLANCE_STEP, AT_ONCE = 16 };

#if !defined(KLIFT_TEST_AVX512)
/* By name: whole_avx512.c says why. */
AVX512 INLINE __m512i plus_in_one(__m512i sum, __m512i q, const int16_t *w)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(q), "m"(*(const __m512i *)(const void *)w));
    return sum;
}
#endif

AVX512 INLINE __m512i plus(bool in_one, __m512i sum, __m512i q, const int16_t *w)
{
#if !defined(KLIFT_TEST_AVX512)
    if (in_one)
        return plus_in_one(sum, q, w);
#endif
    (void)in_one;
    return _mm512_add_epi32(sum, _mm512_madd_epi16(q, _mm512_loadu_si512(w)));
}

/* 32 features in their order; what is not finite or too large becomes -32768 or 32767. */
AVX512 INLINE __m512i round_step(const float *z, __m512 scale)
{
    const __m512i in_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i low = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(z), scale)), high = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(z + STEP / 2), scale));
    return _mm512_permutexvar_epi64(in_order, _mm512_packs_epi32(low, high));
}

AVX512 INLINE double total(__m512i sum)
{
    __m512d both = _mm512_add_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(sum)), _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sum, 1)));
    double lane[8];
    _mm512_storeu_pd(lane, both);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* in_one and count are constants where it is called; stride: from a step's weights to the next one's. Returns the largest |q|. */
AVX512 INLINE int32_t dots(bool in_one, int64_t n, const float *z, float scale, int count, const int16_t *w, int64_t stride, double *out)
{
    const __m512 by = _mm512_set1_ps(scale);
    __m512i sum[AT_ONCE], least = _mm512_setzero_si512(), most = least;
    int16_t lane[2][STEP];
    int32_t largest = 0;
    UNROLL
    for (int o = 0; o < count; o++)
        sum[o] = _mm512_setzero_si512();
    for (int64_t p = 0; p < n; p += STEP, w += stride) {
        __m512i q = round_step(z + p, by);
        least = _mm512_min_epi16(least, q);
        most = _mm512_max_epi16(most, q);
        UNROLL
        for (int o = 0; o < count; o++)
            sum[o] = plus(in_one, sum[o], q, w + o * STEP);
    }
    UNROLL
    for (int o = 0; o < count; o++)
        out[o] = total(sum[o]);
    _mm512_storeu_si512(lane[0], least);
    _mm512_storeu_si512(lane[1], most);
    for (int k = 0; k < STEP; k++) {
        int32_t here = -lane[0][k] > lane[1][k] ? -lane[0][k] : lane[1][k];
        largest = here > largest ? here : largest;
    }
    return largest;
}

/* So many outputs, at most sixteen; stride as above */
AVX512 INLINE int32_t some_dots(bool in_one, int64_t n, const float *z, float scale, int64_t count, const int16_t *w, int64_t stride, double *out)
{
    switch (count) {
    case 1: return dots(in_one, n, z, scale, 1, w, stride, out);
    case 2: return dots(in_one, n, z, scale, 2, w, stride, out);
    case 3: return dots(in_one, n, z, scale, 3, w, stride, out);
    case 4: return dots(in_one, n, z, scale, 4, w, stride, out);
    case 5: return dots(in_one, n, z, scale, 5, w, stride, out);
    case 6: return dots(in_one, n, z, scale, 6, w, stride, out);
    case 7: return dots(in_one, n, z, scale, 7, w, stride, out);
    case 8: return dots(in_one, n, z, scale, 8, w, stride, out);
    case 9: return dots(in_one, n, z, scale, 9, w, stride, out);
    case 10: return dots(in_one, n, z, scale, 10, w, stride, out);
    case 11: return dots(in_one, n, z, scale, 11, w, stride, out);
    case 12: return dots(in_one, n, z, scale, 12, w, stride, out);
    case 13: return dots(in_one, n, z, scale, 13, w, stride, out);
    case 14: return dots(in_one, n, z, scale, 14, w, stride, out);
    case 15: return dots(in_one, n, z, scale, 15, w, stride, out);
    default: return dots(in_one, n, z, scale, 16, w, stride, out);
    }
}

AVX512 INLINE int32_t all_dots(bool in_one, int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    int32_t largest = 0;
    for (int64_t o = 0; o < count; o += AT_ONCE)
        largest = some_dots(in_one, n, z, scale, count - o < AT_ONCE ? count - o : AT_ONCE, w + o * STEP, count * STEP, out + o);
    return largest;
}

AVX512 static int32_t in_two(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    return all_dots(false, n, z, scale, count, w, out);
}

#if defined(KLIFT_TEST_AVX512)
int32_t kl_avx512_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    return in_two(n, z, scale, count, w, out);
}
#else
AVX512 static int32_t in_one(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    return all_dots(true, n, z, scale, count, w, out);
}

int32_t kl_avx512_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    return __builtin_cpu_supports("avx512vnni") ? in_one(n, z, scale, count, w, out) : in_two(n, z, scale, count, w, out);
}
#endif

#else

typedef int glance_whole_avx512_is_for_x86;

#endif
