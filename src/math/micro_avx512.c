/*
 * micro_avx512.c - the same loops for AVX-512: blocks of two vectors by 14 rows (float32: 28 of the 32 registers are sums)
 * or 8 (float64, so that they divide a tile). Every number is made by the operations of micro_avx2.c in their order, so
 * that both have the same bits. The loops over rows are to be unrolled whole: then the sums stay in registers.
 */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/block_avx512.h"

enum { LEFT64 = 8, WIDTH64 = 16, GROUP = KL_MICRO_GROUP };

AVX512 static void product32(int64_t k, const float *a, const float *b, bool on, float *c, int64_t stride)
{
    block32 sum = zeros();
    if (on) {
        UNROLL
        for (int i = 0; i < LEFT32; i++)
            for (int j = 0; j < 2; j++)
                sum.c[i][j] = _mm512_loadu_ps(c + i * stride + 16 * j);
    }
    sum = sum32(LEFT32, k, a, b, sum);
    UNROLL
    for (int i = 0; i < LEFT32; i++)
        for (int j = 0; j < 2; j++)
            _mm512_storeu_ps(c + i * stride + 16 * j, sum.c[i][j]);
}

AVX512 INLINE void add_half(__m256 sum, double *c)
{
    _mm512_storeu_pd(c, _mm512_add_pd(_mm512_loadu_pd(c), _mm512_cvtps_pd(sum)));
}

AVX512 static void add32(int64_t k, const float *a, const float *b, double *c, int64_t stride)
{
    fetch_block(LEFT32, c, stride);
    block32 sum = sum32(LEFT32, k, a, b, zeros());
    UNROLL
    for (int i = 0; i < LEFT32; i++)
        for (int j = 0; j < 2; j++) {
            add_half(_mm512_castps512_ps256(sum.c[i][j]), c + i * stride + 16 * j);
            add_half(_mm512_extractf32x8_ps(sum.c[i][j], 1), c + i * stride + 16 * j + 8);
        }
}

AVX512 static void add64(int64_t k, const double *a, const double *b, double sign, double *c, int64_t stride)
{
    __m512d sum[LEFT64][2], s = _mm512_set1_pd(sign);
    for (int i = 0; i < LEFT64; i++) {
        _mm_prefetch((const char *)(c + i * stride), _MM_HINT_T0);
        _mm_prefetch((const char *)(c + i * stride + 8), _MM_HINT_T0);
    }
    UNROLL
    for (int i = 0; i < LEFT64; i++)
        sum[i][0] = sum[i][1] = _mm512_setzero_pd();
    FOUR_STEPS
    for (int64_t p = 0; p < k; p++, a += LEFT64, b += WIDTH64) {
        __m512d b0 = _mm512_loadu_pd(b), b1 = _mm512_loadu_pd(b + 8);
        UNROLL
        for (int i = 0; i < LEFT64; i++) {
            __m512d x = _mm512_set1_pd(a[i]);
            sum[i][0] = _mm512_fmadd_pd(x, b0, sum[i][0]);
            sum[i][1] = _mm512_fmadd_pd(x, b1, sum[i][1]);
        }
    }
    UNROLL
    for (int i = 0; i < LEFT64; i++)
        for (int j = 0; j < 2; j++) {
            double *at = c + i * stride + 8 * j;
            _mm512_storeu_pd(at, _mm512_fmadd_pd(s, sum[i][j], _mm512_loadu_pd(at)));
        }
}

/* `panels` is a constant where it is called: the sums stay in registers. */
AVX512 INLINE void sparse_panels(int64_t count, const int32_t *column, const float *value, const float *panel, int64_t panel_stride, int panels, float *out)
{
    __m512 sum[KL_MICRO_PANELS][2];
    UNROLL
    for (int q = 0; q < panels; q++)
        sum[q][0] = sum[q][1] = _mm512_setzero_ps();
    for (int64_t p = 0; p < count; p++) {
        const float *w = panel + (int64_t)column[p] * WIDTH32;
        __m512 x = _mm512_set1_ps(value[p]);
        UNROLL
        for (int q = 0; q < panels; q++, w += panel_stride) {
            sum[q][0] = _mm512_fmadd_ps(x, _mm512_loadu_ps(w), sum[q][0]);
            sum[q][1] = _mm512_fmadd_ps(x, _mm512_loadu_ps(w + 16), sum[q][1]);
        }
    }
    UNROLL
    for (int q = 0; q < panels; q++)
        for (int j = 0; j < 2; j++)
            _mm512_storeu_ps(out + q * WIDTH32 + 16 * j, sum[q][j]);
}

AVX512 static void sparse32(int64_t count, const int32_t *column, const float *value, const float *panel, int64_t panel_stride, int panels, float *out)
{
    if (panels == KL_MICRO_PANELS)
        sparse_panels(count, column, value, panel, panel_stride, KL_MICRO_PANELS, out);
    else
        for (int q = 0; q < panels; q++)
            sparse_panels(count, column, value, panel + q * panel_stride, panel_stride, 1, out + q * WIDTH32);
}

AVX512 static void forward64(int64_t n, const double *l, int64_t stride, double *x)
{
    for (int64_t r = 0; r < n; r++) {
        const double *row = l + r * stride;
        __m512d even = _mm512_loadu_pd(x + r * GROUP), odd = _mm512_setzero_pd();
        int64_t p = 0;
        for (; p + 2 <= r; p += 2) { /* two chains: one would wait for itself */
            even = _mm512_fnmadd_pd(_mm512_set1_pd(row[p]), _mm512_loadu_pd(x + p * GROUP), even);
            odd = _mm512_fnmadd_pd(_mm512_set1_pd(row[p + 1]), _mm512_loadu_pd(x + (p + 1) * GROUP), odd);
        }
        if (p < r)
            even = _mm512_fnmadd_pd(_mm512_set1_pd(row[p]), _mm512_loadu_pd(x + p * GROUP), even);
        _mm512_storeu_pd(x + r * GROUP, _mm512_div_pd(_mm512_add_pd(even, odd), _mm512_set1_pd(row[r])));
    }
}

/* Eight floats are half a vector; two rows at once would be another order of sums. */
AVX512 static void forward32(int64_t n, const float *l, int64_t stride, float *x)
{
    for (int64_t r = 0; r < n; r++) {
        const float *row = l + r * stride;
        __m256 a = _mm256_loadu_ps(x + r * GROUP), b = _mm256_setzero_ps(), c = b, d = b;
        int64_t p = 0;
        for (; p + 4 <= r; p += 4) { /* four chains: one would wait for itself */
            a = _mm256_fnmadd_ps(_mm256_broadcast_ss(row + p), _mm256_loadu_ps(x + p * GROUP), a);
            b = _mm256_fnmadd_ps(_mm256_broadcast_ss(row + p + 1), _mm256_loadu_ps(x + (p + 1) * GROUP), b);
            c = _mm256_fnmadd_ps(_mm256_broadcast_ss(row + p + 2), _mm256_loadu_ps(x + (p + 2) * GROUP), c);
            d = _mm256_fnmadd_ps(_mm256_broadcast_ss(row + p + 3), _mm256_loadu_ps(x + (p + 3) * GROUP), d);
        }
        for (; p < r; p++)
            a = _mm256_fnmadd_ps(_mm256_broadcast_ss(row + p), _mm256_loadu_ps(x + p * GROUP), a);
        __m256 sum = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
        _mm256_storeu_ps(x + r * GROUP, _mm256_div_ps(sum, _mm256_set1_ps(row[r])));
    }
}

const kl_micro kl_micro_avx512 = {
    .name = "avx512",
    .left32 = LEFT32,
    .left64 = LEFT64,
    .width32 = WIDTH32,
    .width64 = WIDTH64,
    .product32 = product32,
    .product_pairs = kl_avx512_product_pairs,
    .pairs_ends = kl_avx512_pairs_ends,
    .add32 = add32,
    .add_late = kl_avx512_add_late,
    .late = kl_avx512_late,
    .add16 = kl_avx512_add16,
    .add64 = add64,
    .sparse32 = sparse32,
    .forward64 = forward64,
    .forward32 = forward32,
    .below64 = kl_avx512_below64,
    .above64 = kl_avx512_above64,
    .below32 = kl_avx2_below32,
    .above32 = kl_avx2_above32,
    .hadamard = kl_avx512_hadamard,
    .hadamard_beside = kl_avx512_hadamard_beside,
    .finish = kl_avx512_finish,
    .scatter = kl_avx2_scatter,
    .collect = kl_avx2_collect,
    .multiply = kl_avx512_multiply,
    .interleave = kl_avx512_interleave,
    .gather = kl_avx512_gather,
    .multiply_picked = kl_avx512_multiply_picked,
    .add_product = kl_avx2_add_product,
    .scaled = kl_avx2_scaled,
    .times = kl_avx512_times,
    .are_finite = kl_avx512_are_finite,
    .bucket_add = kl_avx512_bucket_add,
    .bucket_take = kl_avx512_bucket_take,
    .triangle = kl_avx512_triangle,
    .row_dots = kl_avx512_row_dots,
    .row_add = kl_avx512_row_add,
    .row_square = kl_avx512_row_square,
    .glance = kl_avx512_glance,
    .glance_whole = kl_avx512_glance_whole,
    .sparse_dots = kl_avx2_sparse_dots,
    .sparse_add = kl_avx2_sparse_add,
    .group_dots = kl_avx512_group_dots,
    .group_add = kl_avx512_group_add,
    .group_settle = kl_avx2_group_settle,
    .raise = kl_avx512_raise,
    .decay = kl_avx512_decay,
    .pairs = kl_avx512_pairs,
    .drain = kl_avx512_drain,
    .cosines = kl_avx512_cosines,
};

#else

typedef int micro_avx512_is_for_x86;

#endif
