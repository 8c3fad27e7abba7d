/* glance_whole_avx2.c - glance_whole.h for AVX2: sums in two registers, up to four outputs at a time. */
#include "math/glance_whole.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { STEP = KL_GLANCE_STEP, HALF = STEP / 2, AT_ONCE = 4 };

/* Sixteen features in their order; what is not finite or too large becomes -32768 or 32767. */
AVX2 INLINE __m256i round_half(const float *z, __m256 scale)
{
    __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(z), scale)), high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(z + HALF / 2), scale));
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
}

AVX2 INLINE double total(__m256i sum)
{
    __m256d both = _mm256_add_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(sum)), _mm256_cvtepi32_pd(_mm256_extracti128_si256(sum, 1)));
    double lane[4];
    _mm256_storeu_pd(lane, both);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

AVX2 INLINE int32_t largest_of(__m256i least, __m256i most)
{
    int16_t lane[2][HALF];
    int32_t largest = 0;
    _mm256_storeu_si256((__m256i *)(void *)lane[0], least);
    _mm256_storeu_si256((__m256i *)(void *)lane[1], most);
    for (int k = 0; k < HALF; k++) {
        int32_t here = -lane[0][k] > lane[1][k] ? -lane[0][k] : lane[1][k];
        largest = here > largest ? here : largest;
    }
    return largest;
}

/* count is a constant where it is called; stride: from a step's weights to the next one's. Returns the largest |q|. */
AVX2 INLINE int32_t dots(int64_t n, const float *z, float scale, int count, const int16_t *w, int64_t stride, double *out)
{
    const __m256 by = _mm256_set1_ps(scale);
    __m256i sum[AT_ONCE][2], least = _mm256_setzero_si256(), most = least;
    UNROLL
    for (int o = 0; o < count; o++)
        sum[o][0] = sum[o][1] = _mm256_setzero_si256();
    for (int64_t p = 0; p < n; p += STEP, w += stride) {
        __m256i low = round_half(z + p, by), high = round_half(z + p + HALF, by);
        least = _mm256_min_epi16(least, _mm256_min_epi16(low, high));
        most = _mm256_max_epi16(most, _mm256_max_epi16(low, high));
        UNROLL
        for (int o = 0; o < count; o++) {
            const __m256i *from = (const __m256i *)(const void *)(w + o * STEP);
            sum[o][0] = _mm256_add_epi32(sum[o][0], _mm256_madd_epi16(low, _mm256_loadu_si256(from)));
            sum[o][1] = _mm256_add_epi32(sum[o][1], _mm256_madd_epi16(high, _mm256_loadu_si256(from + 1)));
        }
    }
    UNROLL
    for (int o = 0; o < count; o++)
        out[o] = total(sum[o][0]) + total(sum[o][1]);
    return largest_of(least, most);
}

AVX2 int32_t kl_avx2_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    int32_t largest = 0;
    for (int64_t o = 0; o < count; o += AT_ONCE) {
        int64_t left = count - o;
        const int16_t *from = w + o * STEP;
        largest = left == 1 ? dots(n, z, scale, 1, from, count * STEP, out + o) : left == 2 ? dots(n, z, scale, 2, from, count * STEP, out + o)
                : left == 3 ? dots(n, z, scale, 3, from, count * STEP, out + o) : dots(n, z, scale, 4, from, count * STEP, out + o);
    }
    return largest;
}

#else

typedef int glance_whole_avx2_is_for_x86;

#endif
