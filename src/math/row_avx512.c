/* row_avx512.c - a row of any kind against float64 vectors for AVX-512: sums in two registers, up to four vectors at a time. The lanes
 * are those of row_avx2.c, bit for bit. */
#include "math/simd.h"

#if defined(__x86_64__)

enum { STEP = 16 };

AVX512 INLINE __m512d eight(kl_narrow kind, const kl_row *z, int64_t p)
{
    if (kind == KL_FLOAT32)
        return _mm512_cvtps_pd(_mm256_loadu_ps(z->value + p));
    __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(z->half + p));
    if (kind == KL_INT16)
        return _mm512_cvtps_pd(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(half)));
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16)));
}

/* kind and count are constants where it is called */
AVX512 INLINE void dots(kl_narrow kind, int64_t n, const kl_row *z, const kl_row *next, int count, const double *w, int64_t stride, double *out)
{
    const kl_row row = *z;
    const char *ahead = kind == KL_FLOAT32 ? (const char *)next->value : (const char *)next->half;
    __m512d sum[4][2];
    int64_t p = 0, bytes = kind == KL_FLOAT32 ? 4 : 2;
    UNROLL
    for (int o = 0; o < count; o++)
        sum[o][0] = sum[o][1] = _mm512_setzero_pd();
    for (; p + STEP <= n; p += STEP) {
        _mm_prefetch(ahead + p * bytes, _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 2; k++) {
            __m512d x = eight(kind, &row, p + 8 * k);
            UNROLL
            for (int o = 0; o < count; o++)
                sum[o][k] = _mm512_fmadd_pd(x, _mm512_loadu_pd(w + o * stride + p + 8 * k), sum[o][k]);
        }
    }
    UNROLL
    for (int o = 0; o < count; o++) {
        double lane[STEP];
        _mm512_storeu_pd(lane, sum[o][0]);
        _mm512_storeu_pd(lane + 8, sum[o][1]);
        for (int64_t q = p; q < n; q++)
            lane[q - p] += (double)kl_row_at(kind, z, q) * w[o * stride + q];
        out[o] = kl_row_total(lane);
    }
}

AVX512 INLINE void all_dots(kl_narrow kind, int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
{
    int64_t o = 0;
    for (; o + 4 <= count; o += 4)
        dots(kind, n, z, next, 4, w + o * stride, stride, out + o);
    if (o + 2 <= count) {
        dots(kind, n, z, next, 2, w + o * stride, stride, out + o);
        o += 2;
    }
    if (o < count)
        dots(kind, n, z, next, 1, w + o * stride, stride, out + o);
}

AVX512 void kl_avx512_row_dots(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
{
    kl_narrow kind = kl_row_kind(z);
    if (kind == KL_FLOAT32)
        all_dots(KL_FLOAT32, n, z, next, count, w, stride, out);
    else if (kind == KL_INT16)
        all_dots(KL_INT16, n, z, next, count, w, stride, out);
    else
        all_dots(KL_BFLOAT16, n, z, next, count, w, stride, out);
}

/* kind is a constant where it is called */
AVX512 INLINE double square(kl_narrow kind, int64_t n, const kl_row *z, const kl_row *next)
{
    const char *ahead = kind == KL_FLOAT32 ? (const char *)next->value : (const char *)next->half;
    __m512d low = _mm512_setzero_pd(), high = low;
    double lane[STEP];
    int64_t p = 0, bytes = kind == KL_FLOAT32 ? 4 : 2;
    for (; p + STEP <= n; p += STEP) {
        __m512d x = eight(kind, z, p), y = eight(kind, z, p + 8);
        _mm_prefetch(ahead + p * bytes, _MM_HINT_T0);
        low = _mm512_fmadd_pd(x, x, low);
        high = _mm512_fmadd_pd(y, y, high);
    }
    _mm512_storeu_pd(lane, low);
    _mm512_storeu_pd(lane + 8, high);
    for (int64_t q = p; q < n; q++)
        lane[q - p] += (double)kl_row_at(kind, z, q) * (double)kl_row_at(kind, z, q);
    return kl_row_total(lane);
}

AVX512 double kl_avx512_row_square(int64_t n, const kl_row *z, const kl_row *next)
{
    kl_narrow kind = kl_row_kind(z);
    return kind == KL_FLOAT32 ? square(KL_FLOAT32, n, z, next) : kind == KL_INT16 ? square(KL_INT16, n, z, next) : square(KL_BFLOAT16, n, z, next);
}

AVX512 INLINE void add(kl_narrow kind, int64_t n, double factor, const kl_row *z, double *w)
{
    __m512d f = _mm512_set1_pd(factor);
    int64_t p = 0;
    for (; p + STEP <= n; p += STEP)
        UNROLL
        for (int k = 0; k < 2; k++)
            _mm512_storeu_pd(w + p + 8 * k, _mm512_fmadd_pd(f, eight(kind, z, p + 8 * k), _mm512_loadu_pd(w + p + 8 * k)));
    for (; p < n; p++)
        w[p] += factor * (double)kl_row_at(kind, z, p);
}

AVX512 void kl_avx512_row_add(int64_t n, double factor, const kl_row *z, double *w)
{
    kl_narrow kind = kl_row_kind(z);
    if (kind == KL_FLOAT32)
        add(KL_FLOAT32, n, factor, z, w);
    else if (kind == KL_INT16)
        add(KL_INT16, n, factor, z, w);
    else
        add(KL_BFLOAT16, n, factor, z, w);
}

#else

typedef int row_avx512_is_for_x86;

#endif
