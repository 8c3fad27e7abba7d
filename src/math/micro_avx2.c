/*
 * micro_avx2.c - the same loops for AVX2 and FMA: blocks of two vectors by 6 rows (float32) or 4 (float64, so that they
 * divide a tile): two fused multiply-adds per cycle at a latency of four need eight accumulators, and gain from twelve.
 * Against the reference: the product of a multiply-add is not rounded.
 */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LEFT32 = 6, LEFT64 = 4, WIDTH32 = 16, WIDTH64 = 8, GROUP = KL_MICRO_GROUP };

typedef struct block32 {
    __m256 c[LEFT32][2];
} block32;

AVX2 static inline block32 sum32(int64_t k, const float *a, const float *b, block32 s)
{
    __m256 c00 = s.c[0][0], c01 = s.c[0][1], c10 = s.c[1][0], c11 = s.c[1][1], c20 = s.c[2][0], c21 = s.c[2][1];
    __m256 c30 = s.c[3][0], c31 = s.c[3][1], c40 = s.c[4][0], c41 = s.c[4][1], c50 = s.c[5][0], c51 = s.c[5][1];
    FOUR_STEPS
    for (int64_t p = 0; p < k; p++, a += LEFT32, b += WIDTH32) {
        __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8), x;
        x = _mm256_broadcast_ss(a);
        c00 = _mm256_fmadd_ps(x, b0, c00);
        c01 = _mm256_fmadd_ps(x, b1, c01);
        x = _mm256_broadcast_ss(a + 1);
        c10 = _mm256_fmadd_ps(x, b0, c10);
        c11 = _mm256_fmadd_ps(x, b1, c11);
        x = _mm256_broadcast_ss(a + 2);
        c20 = _mm256_fmadd_ps(x, b0, c20);
        c21 = _mm256_fmadd_ps(x, b1, c21);
        x = _mm256_broadcast_ss(a + 3);
        c30 = _mm256_fmadd_ps(x, b0, c30);
        c31 = _mm256_fmadd_ps(x, b1, c31);
        x = _mm256_broadcast_ss(a + 4);
        c40 = _mm256_fmadd_ps(x, b0, c40);
        c41 = _mm256_fmadd_ps(x, b1, c41);
        x = _mm256_broadcast_ss(a + 5);
        c50 = _mm256_fmadd_ps(x, b0, c50);
        c51 = _mm256_fmadd_ps(x, b1, c51);
    }
    return (block32){{{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}, {c40, c41}, {c50, c51}}};
}

AVX2 static inline block32 zeros(void)
{
    const __m256 o = _mm256_setzero_ps();
    return (block32){{{o, o}, {o, o}, {o, o}, {o, o}, {o, o}, {o, o}}};
}

AVX2 static void product32(int64_t k, const float *a, const float *b, bool on, float *c, int64_t stride)
{
    block32 sum = zeros();
    for (int i = 0; on && i < LEFT32; i++)
        for (int j = 0; j < 2; j++)
            sum.c[i][j] = _mm256_loadu_ps(c + i * stride + 8 * j);
    sum = sum32(k, a, b, sum);
    for (int i = 0; i < LEFT32; i++)
        for (int j = 0; j < 2; j++)
            _mm256_storeu_ps(c + i * stride + 8 * j, sum.c[i][j]);
}

AVX2 static void add32(int64_t k, const float *a, const float *b, double *c, int64_t stride)
{
    for (int i = 0; i < LEFT32; i++) { /* far away as a rule, and needed when the sums are done */
        _mm_prefetch((const char *)(c + i * stride), _MM_HINT_T0);
        _mm_prefetch((const char *)(c + i * stride + 8), _MM_HINT_T0);
    }
    block32 sum = sum32(k, a, b, zeros());
    for (int i = 0; i < LEFT32; i++)
        for (int j = 0; j < 4; j++) {
            __m256 v = sum.c[i][j / 2];
            __m128 half = j % 2 == 0 ? _mm256_castps256_ps128(v) : _mm256_extractf128_ps(v, 1);
            double *at = c + i * stride + 4 * j;
            _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), _mm256_cvtps_pd(half)));
        }
}

AVX2 static void add64(int64_t k, const double *a, const double *b, double sign, double *c, int64_t stride)
{
    for (int i = 0; i < LEFT64; i++)
        _mm_prefetch((const char *)(c + i * stride), _MM_HINT_T0);
    __m256d c00 = _mm256_setzero_pd(), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
    FOUR_STEPS
    for (int64_t p = 0; p < k; p++, a += LEFT64, b += WIDTH64) {
        __m256d b0 = _mm256_loadu_pd(b), b1 = _mm256_loadu_pd(b + 4), x;
        x = _mm256_broadcast_sd(a);
        c00 = _mm256_fmadd_pd(x, b0, c00);
        c01 = _mm256_fmadd_pd(x, b1, c01);
        x = _mm256_broadcast_sd(a + 1);
        c10 = _mm256_fmadd_pd(x, b0, c10);
        c11 = _mm256_fmadd_pd(x, b1, c11);
        x = _mm256_broadcast_sd(a + 2);
        c20 = _mm256_fmadd_pd(x, b0, c20);
        c21 = _mm256_fmadd_pd(x, b1, c21);
        x = _mm256_broadcast_sd(a + 3);
        c30 = _mm256_fmadd_pd(x, b0, c30);
        c31 = _mm256_fmadd_pd(x, b1, c31);
    }
    const __m256d sum[LEFT64][2] = {{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}};
    __m256d s = _mm256_set1_pd(sign);
    for (int i = 0; i < LEFT64; i++)
        for (int j = 0; j < 2; j++) {
            double *at = c + i * stride + 4 * j;
            _mm256_storeu_pd(at, _mm256_fmadd_pd(s, sum[i][j], _mm256_loadu_pd(at)));
        }
}

AVX2 static void sparse32(int64_t count, const int32_t *column, const float *value, const float *panel, int64_t panel_stride, int panels, float *out)
{
    __m256 sum[KL_MICRO_PANELS][2];
    for (int q = 0; q < KL_MICRO_PANELS; q++)
        sum[q][0] = sum[q][1] = _mm256_setzero_ps();
    if (panels == KL_MICRO_PANELS) {
        for (int64_t p = 0; p < count; p++) {
            const float *w = panel + (int64_t)column[p] * WIDTH32;
            __m256 x = _mm256_broadcast_ss(value + p);
            for (int q = 0; q < KL_MICRO_PANELS; q++, w += panel_stride) {
                sum[q][0] = _mm256_fmadd_ps(x, _mm256_loadu_ps(w), sum[q][0]);
                sum[q][1] = _mm256_fmadd_ps(x, _mm256_loadu_ps(w + 8), sum[q][1]);
            }
        }
    } else {
        for (int q = 0; q < panels; q++)
            for (int64_t p = 0; p < count; p++) {
                const float *w = panel + q * panel_stride + (int64_t)column[p] * WIDTH32;
                __m256 x = _mm256_broadcast_ss(value + p);
                sum[q][0] = _mm256_fmadd_ps(x, _mm256_loadu_ps(w), sum[q][0]);
                sum[q][1] = _mm256_fmadd_ps(x, _mm256_loadu_ps(w + 8), sum[q][1]);
            }
    }
    for (int q = 0; q < panels; q++)
        for (int j = 0; j < 2; j++)
            _mm256_storeu_ps(out + q * WIDTH32 + 8 * j, sum[q][j]);
}

AVX2 static void forward64(int64_t n, const double *l, int64_t stride, double *x)
{
    for (int64_t r = 0; r < n; r++) {
        double *at = x + r * GROUP;
        __m256d even0 = _mm256_loadu_pd(at), even1 = _mm256_loadu_pd(at + 4), odd0 = _mm256_setzero_pd(), odd1 = odd0;
        int64_t p = 0;
        for (; p + 2 <= r; p += 2) { /* two chains each: one would wait for itself */
            __m256d f = _mm256_broadcast_sd(l + r * stride + p), g = _mm256_broadcast_sd(l + r * stride + p + 1);
            even0 = _mm256_fnmadd_pd(f, _mm256_loadu_pd(x + p * GROUP), even0);
            even1 = _mm256_fnmadd_pd(f, _mm256_loadu_pd(x + p * GROUP + 4), even1);
            odd0 = _mm256_fnmadd_pd(g, _mm256_loadu_pd(x + (p + 1) * GROUP), odd0);
            odd1 = _mm256_fnmadd_pd(g, _mm256_loadu_pd(x + (p + 1) * GROUP + 4), odd1);
        }
        if (p < r) {
            __m256d f = _mm256_broadcast_sd(l + r * stride + p);
            even0 = _mm256_fnmadd_pd(f, _mm256_loadu_pd(x + p * GROUP), even0);
            even1 = _mm256_fnmadd_pd(f, _mm256_loadu_pd(x + p * GROUP + 4), even1);
        }
        __m256d pivot = _mm256_set1_pd(l[r * stride + r]);
        _mm256_storeu_pd(at, _mm256_div_pd(_mm256_add_pd(even0, odd0), pivot));
        _mm256_storeu_pd(at + 4, _mm256_div_pd(_mm256_add_pd(even1, odd1), pivot));
    }
}

AVX2 static void forward32(int64_t n, const float *l, int64_t stride, float *x)
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

AVX2 static inline __m256 sine_of(__m256 p)
{
    __m256 q = _mm256_mul_ps(p, p), s = _mm256_set1_ps(39.53670606f);
    s = _mm256_fmadd_ps(s, q, _mm256_set1_ps(-76.54978229f));
    s = _mm256_fmadd_ps(s, q, _mm256_set1_ps(81.60100407f));
    s = _mm256_fmadd_ps(s, q, _mm256_set1_ps(-41.34165503f));
    s = _mm256_fmadd_ps(s, q, _mm256_set1_ps(6.283185160f));
    return _mm256_mul_ps(s, p);
}

AVX2 static inline __m256 fraction(__m256 t)
{
    return _mm256_sub_ps(t, _mm256_round_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

typedef struct pair {
    __m256 cosine, sine;
} pair;

AVX2 static inline pair pair8(const float *turns, __m256 scale)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 a = fraction(_mm256_loadu_ps(turns)), size = _mm256_andnot_ps(sign, a);
    __m256 c = sine_of(_mm256_sub_ps(_mm256_set1_ps(0.25f), size));
    __m256 s = sine_of(_mm256_min_ps(size, _mm256_sub_ps(_mm256_set1_ps(0.5f), size)));
    return (pair){_mm256_mul_ps(scale, c), _mm256_mul_ps(scale, _mm256_or_ps(s, _mm256_and_ps(sign, a)))};
}

AVX2 static void drain(void)
{
    _mm_sfence();
}

/* Fewer than eight through a whole vector, so that a value does not depend on its place. */
AVX2 static void some_pairs(int64_t count, const float *turns, __m256 scale, float *cosine, float *sine)
{
    float in[8] = {0}, c[8], d[8];
    for (int64_t k = 0; k < count; k++)
        in[k] = turns[k];
    pair p = pair8(in, scale);
    _mm256_storeu_ps(c, p.cosine);
    _mm256_storeu_ps(d, p.sine);
    for (int64_t k = 0; k < count; k++) {
        cosine[k] = c[k];
        sine[k] = d[k];
    }
}

AVX2 static void pairs(int64_t count, const float *turns, float scale, bool past, float *cosine, float *sine)
{
    enum { HALF_LINE = 32 };
    __m256 s = _mm256_set1_ps(scale);
    int64_t i = 0;
    if (past && (uintptr_t)cosine % HALF_LINE == (uintptr_t)sine % HALF_LINE && (uintptr_t)cosine % sizeof(float) == 0) {
        i = (int64_t)(-(uintptr_t)cosine % HALF_LINE / sizeof(float));
        i = i < count ? i : count;
        if (i > 0)
            some_pairs(i, turns, s, cosine, sine);
        for (; i + 8 <= count; i += 8) {
            pair p = pair8(turns + i, s);
            _mm256_stream_ps(cosine + i, p.cosine);
            _mm256_stream_ps(sine + i, p.sine);
        }
    }
    for (; i + 8 <= count; i += 8) {
        pair p = pair8(turns + i, s);
        _mm256_storeu_ps(cosine + i, p.cosine);
        _mm256_storeu_ps(sine + i, p.sine);
    }
    if (i < count)
        some_pairs(count - i, turns + i, s, cosine + i, sine + i);
}

AVX2 static inline __m256 cosine8(const float *turns, const float *phase, __m256 scale)
{
    __m256 a = fraction(_mm256_add_ps(_mm256_loadu_ps(turns), _mm256_loadu_ps(phase)));
    __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
    return _mm256_mul_ps(scale, sine_of(_mm256_sub_ps(_mm256_set1_ps(0.25f), size)));
}

AVX2 static void cosines(int64_t count, const float *turns, const float *phase, float scale, float *out)
{
    __m256 s = _mm256_set1_ps(scale);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(out + i, cosine8(turns + i, phase + i, s));
    if (i < count) {
        float in[8] = {0}, shift[8] = {0}, c[8];
        for (int64_t k = i; k < count; k++) {
            in[k - i] = turns[k];
            shift[k - i] = phase[k];
        }
        _mm256_storeu_ps(c, cosine8(in, shift, s));
        for (int64_t k = i; k < count; k++)
            out[k] = c[k - i];
    }
}

const kl_micro kl_micro_avx2 = {
    .name = "avx2",
    .left32 = LEFT32,
    .left64 = LEFT64,
    .width32 = WIDTH32,
    .width64 = WIDTH64,
    .product32 = product32,
    .add32 = add32,
    .add16 = kl_avx2_add16,
    .add64 = add64,
    .sparse32 = sparse32,
    .forward64 = forward64,
    .forward32 = forward32,
    .below64 = kl_avx2_below64,
    .above64 = kl_avx2_above64,
    .below32 = kl_avx2_below32,
    .above32 = kl_avx2_above32,
    .hadamard = kl_avx2_hadamard,
    .finish = kl_avx2_finish,
    .scatter = kl_avx2_scatter,
    .collect = kl_avx2_collect,
    .multiply = kl_avx2_multiply,
    .interleave = kl_avx2_interleave,
    .gather = kl_avx2_gather,
    .multiply_picked = kl_avx2_multiply_picked,
    .add_product = kl_avx2_add_product,
    .scaled = kl_avx2_scaled,
    .times = kl_avx2_times,
    .are_finite = kl_avx2_are_finite,
    .bucket_add = kl_portable_bucket_add,
    .bucket_take = kl_portable_bucket_take,
    .triangle = kl_portable_triangle,
    .row_dots = kl_avx2_row_dots,
    .row_add = kl_avx2_row_add,
    .row_square = kl_avx2_row_square,
    .glance = kl_avx2_glance,
    .glance_whole = kl_avx2_glance_whole,
    .sparse_dots = kl_avx2_sparse_dots,
    .sparse_add = kl_avx2_sparse_add,
    .group_dots = kl_avx2_group_dots,
    .group_add = kl_avx2_group_add,
    .group_settle = kl_avx2_group_settle,
    .raise = kl_avx2_raise,
    .decay = kl_avx2_decay,
    .pairs = pairs,
    .drain = drain,
    .cosines = cosines,
};

#else

typedef int micro_avx2_is_for_x86;

#endif
