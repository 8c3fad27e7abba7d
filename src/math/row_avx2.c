/* row_avx2.c - a row in float32 or bfloat16 against float64 and float32 vectors for AVX2: sums in four registers, up to three
 * vectors at a time. The table of AVX-512 has them too: they are bound by loads. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/row_avx2.h"

enum { STEP = 16 };

AVX2 INLINE __m256d four(bool half, const kl_row *z, int64_t p)
{
    if (half)
        return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadu_si64(z->half + p)), 16)));
    return _mm256_cvtps_pd(_mm_loadu_ps(z->value + p));
}

/* half and count are constants where it is called */
AVX2 INLINE void dots(bool half, int64_t n, const kl_row *z, const kl_row *next, int count, const double *w, int64_t stride, double *out)
{
    __m256d sum[3][4];
    int64_t p = 0;
    UNROLL
    for (int o = 0; o < count; o++)
        UNROLL
        for (int k = 0; k < 4; k++)
            sum[o][k] = _mm256_setzero_pd();
    for (; p + STEP <= n; p += STEP) {
        _mm_prefetch(place(half, next, p), _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 4; k++) {
            __m256d x = four(half, z, p + 4 * k);
            UNROLL
            for (int o = 0; o < count; o++)
                sum[o][k] = _mm256_fmadd_pd(x, _mm256_loadu_pd(w + o * stride + p + 4 * k), sum[o][k]);
        }
    }
    UNROLL
    for (int o = 0; o < count; o++) {
        double lane[STEP];
        UNROLL
        for (int k = 0; k < 4; k++)
            _mm256_storeu_pd(lane + 4 * k, sum[o][k]);
        for (int64_t q = p; q < n; q++)
            lane[q - p] += (double)kl_row_at(z, q) * w[o * stride + q];
        out[o] = kl_row_total(lane);
    }
}

AVX2 INLINE void all_dots(bool half, int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
{
    int64_t o = 0;
    for (; o + 3 <= count; o += 3)
        dots(half, n, z, next, 3, w + o * stride, stride, out + o);
    if (o + 2 == count)
        dots(half, n, z, next, 2, w + o * stride, stride, out + o);
    else if (o + 1 == count)
        dots(half, n, z, next, 1, w + o * stride, stride, out + o);
}

AVX2 void kl_avx2_row_dots(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
{
    if (z->half != NULL)
        all_dots(true, n, z, next, count, w, stride, out);
    else
        all_dots(false, n, z, next, count, w, stride, out);
}

AVX2 INLINE void add(bool half, int64_t n, double factor, const kl_row *z, double *w)
{
    __m256d f = _mm256_set1_pd(factor);
    int64_t p = 0;
    for (; p + STEP <= n; p += STEP)
        UNROLL
        for (int k = 0; k < 4; k++)
            _mm256_storeu_pd(w + p + 4 * k, _mm256_fmadd_pd(f, four(half, z, p + 4 * k), _mm256_loadu_pd(w + p + 4 * k)));
    for (; p < n; p++)
        w[p] += factor * (double)kl_row_at(z, p);
}

AVX2 void kl_avx2_row_add(int64_t n, double factor, const kl_row *z, double *w)
{
    if (z->half != NULL)
        add(true, n, factor, z, w);
    else
        add(false, n, factor, z, w);
}

/* a b + c with one rounding, as the vectors above have it */
AVX2 INLINE double fused(double a, double b, double c)
{
    return _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(a), _mm_set_sd(b), _mm_set_sd(c)));
}

/* Entries of columns that the loops above take sixteen at a time; those behind them are rounded twice. */
AVX2 INLINE int64_t in_steps(const kl_row *z, int64_t n)
{
    int64_t count = z->count;
    while (count > 0 && z->column[count - 1] >= n / STEP * STEP)
        count--;
    return count;
}

AVX2 void kl_avx2_sparse_dots(const kl_row *z, int64_t n, int64_t count, const double *w, int64_t stride, double *out)
{
    int64_t whole = in_steps(z, n);
    for (int64_t o = 0; o < count; o++, w += stride) {
        double lane[STEP] = {0};
        for (int64_t p = 0; p < whole; p++)
            lane[z->column[p] % STEP] = fused((double)z->value[p], w[z->column[p]], lane[z->column[p] % STEP]);
        for (int64_t p = whole; p < z->count; p++)
            lane[z->column[p] % STEP] += (double)z->value[p] * w[z->column[p]];
        out[o] = kl_row_total(lane);
    }
}

AVX2 void kl_avx2_sparse_add(const kl_row *z, int64_t n, double factor, double *w)
{
    int64_t whole = in_steps(z, n);
    for (int64_t p = 0; p < whole; p++)
        w[z->column[p]] = fused(factor, (double)z->value[p], w[z->column[p]]);
    for (int64_t p = whole; p < z->count; p++)
        w[z->column[p]] += factor * (double)z->value[p];
}

/* ---- float32 ---- */

enum { STEP32 = 32 };

AVX2 INLINE float fused32(float a, float b, float c)
{
    return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}

/* half and count are constants where it is called */
AVX2 INLINE void dots32(bool half, int64_t n, const kl_row *z, const kl_row *next, int count, const float *w, int64_t stride, double *out)
{
    __m256 sum[3][4];
    int64_t p = 0;
    UNROLL
    for (int o = 0; o < count; o++)
        UNROLL
        for (int k = 0; k < 4; k++)
            sum[o][k] = _mm256_setzero_ps();
    for (; p + STEP32 <= n; p += STEP32) {
        _mm_prefetch(place(half, next, p), _MM_HINT_T0);
        if (!half)
            _mm_prefetch(place(half, next, p + 16), _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 4; k++) {
            __m256 x = eight(half, z, p + 8 * k);
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
            lane[q - p] = fused32(kl_row_at(z, q), w[o * stride + q], lane[q - p]);
        out[o] = kl_row_total32(lane);
    }
}

AVX2 INLINE void all_dots32(bool half, int64_t n, const kl_row *z, const kl_row *next, int64_t count, const float *w, int64_t stride, double *out)
{
    int64_t o = 0;
    for (; o + 3 <= count; o += 3)
        dots32(half, n, z, next, 3, w + o * stride, stride, out + o);
    if (o + 2 == count)
        dots32(half, n, z, next, 2, w + o * stride, stride, out + o);
    else if (o + 1 == count)
        dots32(half, n, z, next, 1, w + o * stride, stride, out + o);
}

AVX2 void kl_avx2_row_dots32(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const float *w, int64_t stride, double *out)
{
    if (z->half != NULL)
        all_dots32(true, n, z, next, count, w, stride, out);
    else
        all_dots32(false, n, z, next, count, w, stride, out);
}

AVX2 INLINE void add32(bool half, int64_t n, float factor, const kl_row *z, float *copy, float *delta)
{
    __m256 f = _mm256_set1_ps(factor);
    int64_t p = 0;
    for (; p + 8 <= n; p += 8) {
        __m256 change = _mm256_mul_ps(f, eight(half, z, p));
        _mm256_storeu_ps(copy + p, _mm256_add_ps(_mm256_loadu_ps(copy + p), change));
        _mm256_storeu_ps(delta + p, _mm256_add_ps(_mm256_loadu_ps(delta + p), change));
    }
    for (; p < n; p++) {
        float change = factor * kl_row_at(z, p);
        copy[p] += change;
        delta[p] += change;
    }
}

AVX2 void kl_avx2_row_add32(int64_t n, float factor, const kl_row *z, float *copy, float *delta)
{
    if (z->half != NULL)
        add32(true, n, factor, z, copy, delta);
    else
        add32(false, n, factor, z, copy, delta);
}

AVX2 void kl_avx2_sparse_dots32(const kl_row *z, int64_t count, const float *w, int64_t stride, double *out)
{
    for (int64_t o = 0; o < count; o++, w += stride) {
        float lane[STEP32] = {0};
        for (int64_t p = 0; p < z->count; p++)
            lane[z->column[p] % STEP32] = fused32(z->value[p], w[z->column[p]], lane[z->column[p] % STEP32]);
        out[o] = kl_row_total32(lane);
    }
}

#else

typedef int row_avx2_is_for_x86;

#endif
