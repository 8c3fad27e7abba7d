/*
 * micro_portable.c - the reference in plain C: blocks of 4 x 8 (float32) and 4 x 4 (float64), and the cosine in turns.
 *   a = t - rint(t) is exact, so range reduction is one rounding;
 *   cos = S(1/4 - |a|),  sin = sign(a) S(min(|a|, 1/2 - |a|)),  S(p) = p (c0 + c1 p^2 + ... + c4 p^8) = sin(2 pi p), |p| <= 1/4
 * Degree 9, largest error 1.7e-7.
 */
#include "math/hadamard.h"
#include "math/micro.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { LEFT = 4, WIDTH32 = 8, WIDTH64 = 4, GROUP = KL_MICRO_GROUP };

static void sum32(int64_t k, const float *restrict a, const float *restrict b, float sum[LEFT][WIDTH32])
{
    for (int64_t p = 0; p < k; p++)
        for (int i = 0; i < LEFT; i++)
            for (int j = 0; j < WIDTH32; j++)
                sum[i][j] += a[p * LEFT + i] * b[p * WIDTH32 + j];
}

static void product32(int64_t k, const float *a, const float *b, bool on, float *c, int64_t stride)
{
    float sum[LEFT][WIDTH32] = {{0}};
    for (int i = 0; on && i < LEFT; i++)
        for (int j = 0; j < WIDTH32; j++)
            sum[i][j] = c[i * stride + j];
    sum32(k, a, b, sum);
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < WIDTH32; j++)
            c[i * stride + j] = sum[i][j];
}

static void add32(int64_t k, const float *a, const float *b, double *c, int64_t stride)
{
    float sum[LEFT][WIDTH32] = {{0}};
    sum32(k, a, b, sum);
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < WIDTH32; j++)
            c[i * stride + j] += (double)sum[i][j];
}

static void add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    kl_whole_add(LEFT, WIDTH32, pairs, a, b, unit, c, stride);
}

static void add64(int64_t k, const double *restrict a, const double *restrict b, double sign, double *c, int64_t stride)
{
    double sum[LEFT][WIDTH64] = {{0}};
    for (int64_t p = 0; p < k; p++)
        for (int i = 0; i < LEFT; i++)
            for (int j = 0; j < WIDTH64; j++)
                sum[i][j] += a[p * LEFT + i] * b[p * WIDTH64 + j];
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < WIDTH64; j++)
            c[i * stride + j] += sign * sum[i][j];
}

static void sparse32(int64_t count, const int32_t *column, const float *value, const float *panel, int64_t panel_stride, int panels, float *out)
{
    for (int q = 0; q < panels; q++) {
        float sum[WIDTH32] = {0};
        const float *w = panel + q * panel_stride;
        for (int64_t p = 0; p < count; p++)
            for (int j = 0; j < WIDTH32; j++)
                sum[j] += value[p] * w[(int64_t)column[p] * WIDTH32 + j];
        for (int j = 0; j < WIDTH32; j++)
            out[q * WIDTH32 + j] = sum[j];
    }
}

static void forward64(int64_t n, const double *l, int64_t stride, double *x)
{
    for (int64_t r = 0; r < n; r++) {
        double sum[GROUP];
        for (int g = 0; g < GROUP; g++)
            sum[g] = x[r * GROUP + g];
        for (int64_t p = 0; p < r; p++)
            for (int g = 0; g < GROUP; g++)
                sum[g] -= l[r * stride + p] * x[p * GROUP + g];
        for (int g = 0; g < GROUP; g++)
            x[r * GROUP + g] = sum[g] / l[r * stride + r];
    }
}

static void forward32(int64_t n, const float *l, int64_t stride, float *x)
{
    for (int64_t r = 0; r < n; r++) {
        float sum[GROUP];
        for (int g = 0; g < GROUP; g++)
            sum[g] = x[r * GROUP + g];
        for (int64_t p = 0; p < r; p++)
            for (int g = 0; g < GROUP; g++)
                sum[g] -= l[r * stride + p] * x[p * GROUP + g];
        for (int g = 0; g < GROUP; g++)
            x[r * GROUP + g] = sum[g] / l[r * stride + r];
    }
}

static void stage(int64_t h, int64_t n, float *x)
{
    for (int64_t i = 0; i < n; i += 2 * h)
        for (int64_t j = i; j < i + h; j++) {
            float a = x[j], b = x[j + h];
            x[j] = a + b;
            x[j + h] = a - b;
        }
}

static void hadamard(int64_t n, const float *sign, const float *from, float *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = sign != NULL ? from[i] * sign[i] : from[i];
    int64_t h[KL_HADAMARD_STAGES];
    int count = kl_hadamard_order(n, h);
    for (int s = 0; s < count; s++)
        stage(h[s], n, x);
}

static void add_group(float value, const float *row, float *x)
{
    for (int t = 0; t < KL_SCATTER_GROUP; t++)
        x[t] += value * row[t];
}

static void scatter(int64_t count, const int32_t *column, const float *value, const uint32_t *code, float *x)
{
    for (int64_t q = 0; q < count; q++) {
        uint32_t c = code[column[q]];
        add_group(value[q], kl_scatter_row[c & 15], x + (int64_t)(c >> 4) * KL_SCATTER_GROUP);
    }
}

static void collect(const kl_scatter *s, const float *row, float *x)
{
    const uint32_t *entry = s->entry;
    const int32_t *group = s->group;
    for (int64_t many = 0; many <= s->most; many++)
        for (int64_t i = 0; i < s->run[many]; i++, group++) {
            float sum[KL_SCATTER_GROUP] = {0};
            for (int64_t q = 0; q < many; q++, entry++)
                add_group(row[*entry >> 8], kl_scatter_row[0] + (*entry & 255), sum);
            memcpy(x + *group, sum, sizeof sum);
        }
}

static void multiply(int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out)
{
    float scale = c != NULL ? c->scale : 1, cosine[4] = {scale, 0, -scale, 0}, sine[4] = {0, scale, 0, -scale};
    for (int64_t k = 0; k < n; k++) {
        float re = a.re[k], im = a.im[k];
        if (b.re != NULL) {
            re = a.re[k] * b.re[k] - a.im[k] * b.im[k];
            im = a.re[k] * b.im[k] + a.im[k] * b.re[k];
        }
        out.re[k] = c != NULL ? re * cosine[c->code[k]] - im * sine[c->code[k]] : re;
        out.im[k] = c != NULL ? re * sine[c->code[k]] + im * cosine[c->code[k]] : im;
    }
}

static void finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    for (int64_t h = KL_SCATTER_GROUP; h < n; h *= 2) {
        stage(h, n, x.re);
        stage(h, n, x.im);
    }
    if (a != NULL) {
        multiply(kept, *a, x, NULL, out);
        return;
    }
    memcpy(out.re, x.re, (size_t)kept * sizeof *x.re);
    memcpy(out.im, x.im, (size_t)kept * sizeof *x.im);
}

static void interleave(int64_t n, kl_complex a, float *pairs)
{
    for (int64_t k = 0; k < n; k++) {
        pairs[2 * k] = a.re[k];
        pairs[2 * k + 1] = a.im[k];
    }
}

static void gather(int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out)
{
    for (int64_t k = 0; k < n; k++) {
        float re = pairs[2 * (int64_t)index[k]], im = pairs[2 * (int64_t)index[k] + 1];
        kl_complex one = {&re, &im}, left = {0};
        kl_roots root = {0};
        if (a.re != NULL)
            left = (kl_complex){a.re + k, a.im + k};
        if (c != NULL)
            root = (kl_roots){c->code + k, c->scale};
        multiply(1, a.re != NULL ? left : one, a.re != NULL ? one : left, c != NULL ? &root : NULL, (kl_complex){out.re + k, out.im + k});
    }
}

/* In parts that do not wait for each other. */
static void times(int64_t n, const float *by, float *x)
{
    for (int64_t j = 0; j < n; j++)
        x[j] *= by[j];
}

static int64_t scaled(int64_t n, float factor, const float *from, float *to, float *square)
{
    enum { PARTS = 16 };
    float part[PARTS] = {0}, sum = 0;
    int32_t zeros = 0;
    int64_t j = 0;
    for (; j + PARTS <= n; j += PARTS)
        for (int k = 0; k < PARTS; k++)
            part[k] += from[j + k] * from[j + k];
    for (; j < n; j++)
        sum += from[j] * from[j];
    for (int k = 0; k < PARTS; k++)
        sum += part[k];
    for (j = 0; j < n; j++) {
        to[j] = factor * from[j];
        zeros += from[j] == 0;
    }
    *square = sum;
    return n - zeros;
}

static void multiply_picked(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z)
{
    for (int64_t k = 0; t.im == NULL && k < n; k++)
        z.re[k] *= g[k] * t.re[order[k]];
    for (int64_t k = 0; t.im != NULL && k < n; k++) {
        float a = g[k] * t.re[order[k]], b = g[k] * t.im[order[k]], re = z.re[k], im = z.im[k];
        z.re[k] = re * a - im * b;
        z.im[k] = re * b + im * a;
    }
}

static void add_product(int64_t n, const float *a, const float *b, float *y)
{
    for (int64_t k = 0; k < n; k++)
        y[k] += a[k] * b[k];
}

static inline float sine_of(float p)
{
    float q = p * p;
    float s = 39.53670606f;
    s = s * q - 76.54978229f;
    s = s * q + 81.60100407f;
    s = s * q - 41.34165503f;
    s = s * q + 6.283185160f;
    return s * p;
}

/* Rounds to the nearest integer by the float's own precision; exact for |t| < 2^22, an integer beyond. */
static inline float fraction(float t)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 */
    float nearest = fabsf(t) < 4194304.0f ? (float)(t + magic) - magic : rintf(t); /* the cast: where float is computed in double */
    return t - nearest;
}

static void pairs(int64_t count, const float *turns, float scale, bool past, float *cosine, float *sine)
{
    (void)past;
    for (int64_t i = 0; i < count; i++) {
        float a = fraction(turns[i]), size = fabsf(a), rest = 0.5f - size;
        cosine[i] = scale * sine_of(0.25f - size);
        sine[i] = scale * copysignf(sine_of(size < rest ? size : rest), a);
    }
}

static void drain(void)
{
}

static void cosines(int64_t count, const float *turns, const float *phase, float scale, float *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = scale * sine_of(0.25f - fabsf(fraction(turns[i] + phase[i])));
}

static void row_dots(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out)
{
    kl_narrow kind = kl_row_kind(z);
    (void)next;
    for (int64_t o = 0; o < count; o++) {
        double lane[16] = {0};
        int64_t p = 0;
        for (; p + 16 <= n; p += 16)
            for (int k = 0; k < 16; k++)
                lane[k] += (double)kl_row_at(kind, z, p + k) * w[o * stride + p + k];
        for (int64_t q = p; q < n; q++)
            lane[q - p] += (double)kl_row_at(kind, z, q) * w[o * stride + q];
        out[o] = kl_row_total(lane);
    }
}

static double row_square(int64_t n, const kl_row *z, const kl_row *next)
{
    kl_narrow kind = kl_row_kind(z);
    double lane[16] = {0};
    (void)next;
    for (int64_t p = 0; p < n; p++)
        lane[p % 16] += (double)kl_row_at(kind, z, p) * (double)kl_row_at(kind, z, p);
    return kl_row_total(lane);
}

static void row_add(int64_t n, double factor, const kl_row *z, double *w)
{
    kl_narrow kind = kl_row_kind(z);
    for (int64_t p = 0; p < n; p++)
        w[p] += factor * (double)kl_row_at(kind, z, p);
}

static void sparse_dots(const kl_row *z, int64_t n, int64_t count, const double *w, int64_t stride, double *out)
{
    (void)n;
    for (int64_t o = 0; o < count; o++) {
        double lane[16] = {0};
        for (int64_t p = 0; p < z->count; p++)
            lane[z->column[p] % 16] += (double)z->value[p] * w[o * stride + z->column[p]];
        out[o] = kl_row_total(lane);
    }
}

static void sparse_add(const kl_row *z, int64_t n, double factor, double *w)
{
    (void)n;
    for (int64_t p = 0; p < z->count; p++)
        w[z->column[p]] += factor * (double)z->value[p];
}

static void group_dots(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner)
{
    kl_narrow kind = kl_row_kind(z[0]);
    float dot[KL_GROUP][KL_GROUP_LANES] = {{0}}, pair[KL_GROUP_PAIRS][KL_GROUP_LANES] = {{0}};
    (void)next;
    for (int64_t p = 0; p < n; p++) {
        int k = (int)(p % KL_GROUP_LANES), q = 0;
        for (int g = 0; g < KL_GROUP; g++) {
            dot[g][k] = fmaf(kl_row_at(kind, z[g], p), w[p], dot[g][k]);
            for (int h = 0; h < g; h++, q++)
                pair[q][k] = fmaf(kl_row_at(kind, z[h], p), kl_row_at(kind, z[g], p), pair[q][k]);
        }
    }
    for (int g = 0; g < KL_GROUP; g++)
        f[g] = kl_group_total(dot[g]);
    for (int k = 0; k < KL_GROUP_PAIRS; k++)
        inner[k] = kl_group_total(pair[k]);
}

static void group_add(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta)
{
    kl_narrow kind = kl_row_kind(z[0]);
    for (int64_t p = 0; p < n; p++) {
        float sum = 0;
        for (int g = 0; g < KL_GROUP; g++)
            sum = fmaf(factor[g], kl_row_at(kind, z[g], p), sum);
        copy[p] += sum;
        delta[p] += sum;
    }
}

static void group_settle(int64_t n, double *w, float *copy, float *delta)
{
    for (int64_t p = 0; p < n; p++) {
        w[p] += (double)delta[p];
        copy[p] = (float)w[p];
        delta[p] = 0;
    }
}

const kl_micro kl_micro_portable = {
    .name = "portable",
    .left32 = LEFT,
    .left64 = LEFT,
    .width32 = WIDTH32,
    .width64 = WIDTH64,
    .product32 = product32,
    .add32 = add32,
    .add16 = add16,
    .add64 = add64,
    .sparse32 = sparse32,
    .forward64 = forward64,
    .forward32 = forward32,
    .below64 = kl_portable_below64,
    .above64 = kl_portable_above64,
    .below32 = kl_portable_below32,
    .above32 = kl_portable_above32,
    .hadamard = hadamard,
    .finish = finish,
    .scatter = scatter,
    .collect = collect,
    .multiply = multiply,
    .interleave = interleave,
    .gather = gather,
    .multiply_picked = multiply_picked,
    .add_product = add_product,
    .scaled = scaled,
    .times = times,
    .are_finite = kl_portable_are_finite,
    .bucket_add = kl_portable_bucket_add,
    .bucket_take = kl_portable_bucket_take,
    .triangle = kl_portable_triangle,
    .row_dots = row_dots,
    .row_add = row_add,
    .row_square = row_square,
    .glance = kl_portable_glance,
    .glance_whole = kl_portable_glance_whole,
    .sparse_dots = sparse_dots,
    .sparse_add = sparse_add,
    .group_dots = group_dots,
    .group_add = group_add,
    .group_settle = group_settle,
    .raise = kl_portable_raise,
    .decay = kl_portable_decay,
    .pairs = pairs,
    .drain = drain,
    .cosines = cosines,
};
