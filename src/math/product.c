/*
 * product.c - weights packed once in panels of columns, rows packed some 96 at a time in groups; a part of a panel stays in
 * the first cache while the groups pass by it. Finished sums of some 64 columns are handed on while they are there,
 * so that a map's cosines are written once. The block itself is micro.h's.
 */
#include "math/product.h"

#include "base/memory.h"

#include <string.h>

/* 98 rows are whole groups of 14; of 6 or 4 they become 96. */
enum { ROWS = 98, PART = 256, WIDE = 8192 };

/* Floats of a row of finished sums. */
static int64_t line(int width)
{
    return KL_MICRO_PANELS * width;
}

static int64_t panel_count(const kl_panels *w)
{
    return (w->n + w->width - 1) / w->width;
}

int64_t kl_panels_bytes(int64_t n, int64_t k)
{
    kl_panels w = {.n = n, .k = k, .width = kl_micro_get()->width32};
    return kl_panels_floats(&w) * (int64_t)sizeof(float);
}

klift_status kl_panels_new(kl_panels *w, int64_t n, int64_t k)
{
    int64_t size;
    *w = (kl_panels){.n = n, .k = k, .width = kl_micro_get()->width32};
    if (kl_multiply(panel_count(w) * w->width, k, &size))
        return kl_fail(KLIFT_MEMORY, "%lld x %lld weights are too many; use fewer features", (long long)n, (long long)k);
    return kl_new(&w->packed, size, sizeof *w->packed, "the map's weights");
}

int64_t kl_panels_floats(const kl_panels *w)
{
    return panel_count(w) * w->width * w->k;
}

float *kl_panels_at(const kl_panels *w, int64_t row, int64_t column)
{
    return &w->packed[(row / w->width * w->k + column) * w->width + row % w->width];
}

void kl_panels_set(kl_panels *w, int64_t row, const double *values)
{
    for (int64_t j = 0; j < w->k; j++)
        *kl_panels_at(w, row, j) = (float)values[j];
}

void kl_panels_clear(kl_panels *w)
{
    kl_free(w->packed);
    *w = (kl_panels){0};
}

/* Rows packed at once, in whole groups: fewer of very long ones, whose panels no cache keeps anyway. */
static int64_t rows_at_once(int64_t k)
{
    int64_t left = kl_micro_get()->left32, most = (k <= WIDE ? ROWS : ROWS * WIDE / k) / left * left;
    return most < left ? left : most;
}

int64_t kl_product_scratch(int64_t k)
{
    return rows_at_once(k) * (k + line(kl_micro_get()->width32)) * (int64_t)sizeof(float);
}

typedef float four __attribute__((vector_size(16)));

static four load(const float *x)
{
    four v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Six rows, four columns at a time: packing by single values takes as long as a fortieth of the product. */
static int64_t pack_six(int64_t k, const float *x, int64_t stride, float *out)
{
    int64_t p = 0;
    for (; p + 4 <= k; p += 4, out += 24) {
        four a = load(x + p), b = load(x + stride + p), c = load(x + 2 * stride + p), d = load(x + 3 * stride + p), e = load(x + 4 * stride + p), f = load(x + 5 * stride + p);
        four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), ef = __builtin_shufflevector(e, f, 0, 4, 1, 5);
        four second = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        four block[6] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ef, second, 0, 1, 4, 5), __builtin_shufflevector(second, ef, 2, 3, 6, 7)};
        ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd = __builtin_shufflevector(c, d, 2, 6, 3, 7), ef = __builtin_shufflevector(e, f, 2, 6, 3, 7);
        second = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        block[3] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        block[4] = __builtin_shufflevector(ef, second, 0, 1, 4, 5);
        block[5] = __builtin_shufflevector(second, ef, 2, 3, 6, 7);
        memcpy(out, block, sizeof block);
    }
    return p;
}

/* Rows in groups of `left`: (count / left, k, left); missing rows of the last group are zero. */
static void pack(int64_t count, int64_t k, int left, const float *x, int64_t stride, float *packed)
{
    for (int64_t i = 0; i < count; i += left) {
        int64_t done = left == 6 && count - i >= 6 ? pack_six(k, x + i * stride, stride, packed + i * k) : 0;
        for (int r = 0; r < left; r++) {
            const float *row = x + (i + r) * stride;
            float *out = packed + i * k + r;
            bool there = i + r < count;
            for (int64_t p = done; p < k; p++)
                out[p * left] = there ? row[p] : 0.0f;
        }
    }
}

/* One panel against the packed rows into c (count rounded up to `left`, stride): the panel in parts that stay in the
 * first cache while the rows pass by, each going on with the sums of the one before. */
static void multiply_panel(const kl_micro *micro, const kl_panels *w, int64_t panel, int64_t count, const float *packed, float *c, int64_t stride)
{
    const float *b = w->packed + panel * w->k * w->width;
    int64_t from = 0;
    do {
        int64_t left = w->k - from, part = left < PART + PART / 2 ? left : PART; /* a short rest goes with the part before it */
        for (int64_t r = 0; r < count; r += micro->left32)
            micro->product32(part, packed + r * w->k + from * micro->left32, b + from * w->width, from > 0, c + r * stride, stride);
        from += part;
    } while (from < w->k);
}

static void give(const kl_product_out *to, int64_t row, int64_t column, int64_t count, const float *sums)
{
    if (to->take != NULL)
        to->take(to->context, row, column, count, sums);
    else
        memcpy(to->out + row * to->stride + column, sums, (size_t)count * sizeof *sums);
}

/* Up to KL_MICRO_PANELS panels against packed rows; straight to out where nobody takes them and nothing is cut off. */
static void multiply_group(const kl_panels *w, int64_t panel, int64_t row, int64_t count, const float *packed, float *sums, const kl_product_out *to)
{
    const kl_micro *micro = kl_micro_get();
    int64_t first = panel * w->width, columns = w->n - first < KL_MICRO_PANELS * w->width ? w->n - first : KL_MICRO_PANELS * w->width;
    bool direct = to->take == NULL && columns % w->width == 0 && count % micro->left32 == 0;
    for (int64_t c = 0; c < columns; c += w->width)
        multiply_panel(micro, w, panel + c / w->width, count, packed, direct ? to->out + row * to->stride + first + c : sums + c, direct ? to->stride : line(w->width));
    for (int64_t r = 0; !direct && r < count; r++)
        give(to, row + r, first, columns, sums + r * line(w->width));
}

void kl_product_dense(const kl_panels *w, int64_t rows, const float *x, int64_t stride, const kl_product_out *to, void *scratch)
{
    const kl_micro *micro = kl_micro_get();
    float *packed = scratch, *sums = packed + rows_at_once(w->k) * w->k;
    int64_t most = rows_at_once(w->k);
    for (int64_t i = 0; i < rows; i += most) {
        int64_t count = rows - i < most ? rows - i : most;
        pack(count, w->k, micro->left32, x + i * stride, stride, packed);
        for (int64_t q = 0; q < panel_count(w); q += KL_MICRO_PANELS)
            multiply_group(w, q, i, count, packed, sums, to);
    }
}

void kl_product_sparse(const kl_panels *w, int64_t rows, const int64_t *start, const int32_t *column, const float *value, const kl_product_out *to)
{
    const kl_micro *micro = kl_micro_get();
    int64_t panels = panel_count(w), panel_stride = w->k * w->width;
    for (int64_t q = 0; q < panels; q += KL_MICRO_PANELS) {
        int here = panels - q < KL_MICRO_PANELS ? (int)(panels - q) : KL_MICRO_PANELS;
        int64_t first = q * w->width, width = w->n - first < here * w->width ? w->n - first : here * w->width;
        for (int64_t i = 0; i < rows; i++) {
            float sum[KL_MICRO_PANELS * KL_MICRO_WIDEST];
            int64_t from = start[i], count = start[i + 1] - from;
            micro->sparse32(count, count > 0 ? column + from : NULL, count > 0 ? value + from : NULL, w->packed + q * panel_stride, panel_stride, here, sum);
            give(to, i, first, width, sum);
        }
    }
}
