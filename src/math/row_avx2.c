/* row_avx2.c - a row of any kind against float64 vectors for AVX2: sums in four registers, up to three
 * vectors at a time. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/row_avx2.h"

enum { STEP = 16 };

AVX2 INLINE __m256d four(kl_narrow kind, const kl_row *z, int64_t p)
{
    if (kind == KL_FLOAT32)
        return _mm256_cvtps_pd(_mm_loadu_ps(z->value + p));
    __m128i half = _mm_loadu_si64(z->half + p);
    if (kind == KL_INT16)
        return _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(half));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(half), 16)));
}

/* kind and count are constants where it is called */
AVX2 INLINE void dots(kl_narrow kind, int64_t n, const kl_row *z, const kl_row *next, int count, const double *w, int64_t stride, double *out)
{
    __m256d sum[3][4];
    int64_t p = 0;
    UNROLL
    for (int o = 0; o < count; o++)
        UNROLL
        for (int k = 0; k < 4; k++)
            sum[o][k] = _mm256_setzero_pd();
    for (; p + STEP <= n; p += STEP) {
        _mm_prefetch(place(kind, next, p), _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 4; k++) {
            __m256d x = four(kind, z, p + 4 * k);
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
            lane[q - p] += (double)kl_row_at(kind, z, q) * w[o * stride + q];
        out[o] = kl_row_total(lane);
    }
}

AVX2 INLINE void all_dots(kl_narrow kind, int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
{
    int64_t o = 0;
    for (; o + 3 <= count; o += 3)
        dots(kind, n, z, next, 3, w + o * stride, stride, out + o);
    if (o + 2 == count)
        dots(kind, n, z, next, 2, w + o * stride, stride, out + o);
    else if (o + 1 == count)
        dots(kind, n, z, next, 1, w + o * stride, stride, out + o);
}

AVX2 void kl_avx2_row_dots(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
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
AVX2 INLINE double square(kl_narrow kind, int64_t n, const kl_row *z, const kl_row *next)
{
    __m256d sum[4];
    double lane[STEP];
    int64_t p = 0;
    UNROLL
    for (int k = 0; k < 4; k++)
        sum[k] = _mm256_setzero_pd();
    for (; p + STEP <= n; p += STEP) {
        _mm_prefetch(place(kind, next, p), _MM_HINT_T0);
        UNROLL
        for (int k = 0; k < 4; k++) {
            __m256d x = four(kind, z, p + 4 * k);
            sum[k] = _mm256_fmadd_pd(x, x, sum[k]);
        }
    }
    UNROLL
    for (int k = 0; k < 4; k++)
        _mm256_storeu_pd(lane + 4 * k, sum[k]);
    for (int64_t q = p; q < n; q++)
        lane[q - p] += (double)kl_row_at(kind, z, q) * (double)kl_row_at(kind, z, q);
    return kl_row_total(lane);
}

AVX2 double kl_avx2_row_square(int64_t n, const kl_row *z, const kl_row *next)
{
    kl_narrow kind = kl_row_kind(z);
    return kind == KL_FLOAT32 ? square(KL_FLOAT32, n, z, next) : kind == KL_INT16 ? square(KL_INT16, n, z, next) : square(KL_BFLOAT16, n, z, next);
}

AVX2 INLINE void add(kl_narrow kind, int64_t n, double factor, const kl_row *z, double *w)
{
    __m256d f = _mm256_set1_pd(factor);
    int64_t p = 0;
    for (; p + STEP <= n; p += STEP)
        UNROLL
        for (int k = 0; k < 4; k++)
            _mm256_storeu_pd(w + p + 4 * k, _mm256_fmadd_pd(f, four(kind, z, p + 4 * k), _mm256_loadu_pd(w + p + 4 * k)));
    for (; p < n; p++)
        w[p] += factor * (double)kl_row_at(kind, z, p);
}

AVX2 void kl_avx2_row_add(int64_t n, double factor, const kl_row *z, double *w)
{
    kl_narrow kind = kl_row_kind(z);
    if (kind == KL_FLOAT32)
        add(KL_FLOAT32, n, factor, z, w);
    else if (kind == KL_INT16)
        add(KL_INT16, n, factor, z, w);
    else
        add(KL_BFLOAT16, n, factor, z, w);
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

#else

typedef int row_avx2_is_for_x86;

#endif
