/* half_avx2.c - a row in bfloat16 against float64 and float32 vectors for AVX2: the loops of row_avx2.c, in the same order, on half the
 * memory. The table of AVX-512 has them too: they are bound by loads. */
#include "math/bfloat16.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { STEP = 16, STEP32 = 32 };

AVX2 INLINE __m256 eight(const uint16_t *z)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)z)), 16));
}

AVX2 INLINE __m256d half_of(__m256 x, int upper)
{
    return _mm256_cvtps_pd(upper ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x));
}

static float wide(uint16_t half)
{
    float value;
    kl_bfloat16_widen(1, &half, &value);
    return value;
}

AVX2 INLINE float fused32(float a, float b, float c)
{
    return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}

/* count is a constant where it is called */
AVX2 INLINE void dots(int64_t n, const uint16_t *z, const uint16_t *next, int count, const double *w, int64_t stride, double *out)
{
    __m256d sum[3][4];
    int64_t p = 0;
    UNROLL
    for (int o = 0; o < count; o++)
        UNROLL
        for (int k = 0; k < 4; k++)
            sum[o][k] = _mm256_setzero_pd();
    for (; p + STEP <= n; p += STEP) {
        __m256 x[2] = {eight(z + p), eight(z + p + 8)};
        _mm_prefetch((const char *)(next + p), _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 4; k++)
            UNROLL
            for (int o = 0; o < count; o++)
                sum[o][k] = _mm256_fmadd_pd(half_of(x[k / 2], k % 2), _mm256_loadu_pd(w + o * stride + p + 4 * k), sum[o][k]);
    }
    UNROLL
    for (int o = 0; o < count; o++) {
        double lane[STEP];
        UNROLL
        for (int k = 0; k < 4; k++)
            _mm256_storeu_pd(lane + 4 * k, sum[o][k]);
        for (int64_t q = p; q < n; q++)
            lane[q - p] += (double)wide(z[q]) * w[o * stride + q];
        out[o] = kl_row_total(lane);
    }
}

AVX2 void kl_avx2_half_dots(int64_t n, const uint16_t *z, const uint16_t *next, int64_t count, const double *w, int64_t stride, double *out)
{
    int64_t o = 0;
    for (; o + 3 <= count; o += 3)
        dots(n, z, next, 3, w + o * stride, stride, out + o);
    if (o + 2 == count)
        dots(n, z, next, 2, w + o * stride, stride, out + o);
    else if (o + 1 == count)
        dots(n, z, next, 1, w + o * stride, stride, out + o);
}

AVX2 INLINE void dots32(int64_t n, const uint16_t *z, const uint16_t *next, int count, const float *w, int64_t stride, double *out)
{
    __m256 sum[3][4];
    int64_t p = 0;
    UNROLL
    for (int o = 0; o < count; o++)
        UNROLL
        for (int k = 0; k < 4; k++)
            sum[o][k] = _mm256_setzero_ps();
    for (; p + STEP32 <= n; p += STEP32) {
        _mm_prefetch((const char *)(next + p), _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 4; k++) {
            __m256 x = eight(z + p + 8 * k);
            UNROLL
            for (int o = 0; o < count; o++)
                sum[o][k] = _mm256_fmadd_ps(x, _mm256_loadu_ps(w + o * stride + p + 8 * k), sum[o][k]);
        }
    }
    UNROLL
    for (int o = 0; o < count; o++) {
        float lane[STEP32];
        UNROLL
        for (int k = 0; k < 4; k++)
            _mm256_storeu_ps(lane + 8 * k, sum[o][k]);
        for (int64_t q = p; q < n; q++)
            lane[q - p] = fused32(wide(z[q]), w[o * stride + q], lane[q - p]);
        out[o] = kl_row_total32(lane);
    }
}

AVX2 void kl_avx2_half_dots32(int64_t n, const uint16_t *z, const uint16_t *next, int64_t count, const float *w, int64_t stride, double *out)
{
    int64_t o = 0;
    for (; o + 3 <= count; o += 3)
        dots32(n, z, next, 3, w + o * stride, stride, out + o);
    if (o + 2 == count)
        dots32(n, z, next, 2, w + o * stride, stride, out + o);
    else if (o + 1 == count)
        dots32(n, z, next, 1, w + o * stride, stride, out + o);
}

AVX2 void kl_avx2_half_add32(int64_t n, float factor, const uint16_t *z, float *copy, float *delta)
{
    __m256 f = _mm256_set1_ps(factor);
    int64_t p = 0;
    for (; p + 8 <= n; p += 8) {
        __m256 change = _mm256_mul_ps(f, eight(z + p));
        _mm256_storeu_ps(copy + p, _mm256_add_ps(_mm256_loadu_ps(copy + p), change));
        _mm256_storeu_ps(delta + p, _mm256_add_ps(_mm256_loadu_ps(delta + p), change));
    }
    kl_micro_portable.half_add32(n - p, factor, z + p, copy + p, delta + p);
}

#else

typedef int half_avx2_is_for_x86;

#endif
