/*
 * product.c - weights packed once in panels of columns, rows packed 64 at a time in groups; a panel stays in the first
 * cache while the groups pass by it. The block itself is micro.h's.
 */
#include "math/product.h"

#include "base/memory.h"

#include <string.h>

enum { ROWS = 64 };

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
        return kl_fail(KLIFT_MEMORY, "%lld x %lld weights are too many", (long long)n, (long long)k);
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

int64_t kl_product_scratch(int64_t k)
{
    return ROWS * k * (int64_t)sizeof(float);
}

/* Rows in groups of `left`: (count / left, k, left); missing rows of the last group are zero. */
static void pack(int64_t count, int64_t k, int left, const float *x, int64_t stride, float *packed)
{
    for (int64_t i = 0; i < count; i += left)
        for (int r = 0; r < left; r++) {
            const float *row = x + (i + r) * stride;
            float *out = packed + i * k + r;
            bool there = i + r < count;
            for (int64_t p = 0; p < k; p++)
                out[p * left] = there ? row[p] : 0.0f;
        }
}

/* One block into out, through a copy where it reaches over the edge. */
static void block(const kl_micro *micro, const kl_panels *w, int64_t panel, const float *a, int64_t rows, float *out, int64_t out_stride)
{
    const float *b = w->packed + panel * w->k * w->width;
    int64_t first = panel * w->width, width = w->n - first < w->width ? w->n - first : w->width;
    if (rows >= micro->left && width == w->width) {
        micro->product32(w->k, a, b, out + first, out_stride);
        return;
    }
    float edge[KL_MICRO_LEFT * KL_MICRO_WIDEST];
    micro->product32(w->k, a, b, edge, w->width);
    for (int64_t r = 0; r < rows && r < micro->left; r++)
        memcpy(out + r * out_stride + first, edge + r * w->width, (size_t)width * sizeof *out);
}

void kl_product_dense(const kl_panels *w, int64_t rows, const float *x, int64_t stride, float *out, int64_t out_stride, void *scratch)
{
    const kl_micro *micro = kl_micro_get();
    for (int64_t i = 0; i < rows; i += ROWS) {
        int64_t count = rows - i < ROWS ? rows - i : ROWS;
        pack(count, w->k, micro->left, x + i * stride, stride, scratch);
        for (int64_t q = 0; q < panel_count(w); q++)
            for (int64_t r = 0; r < count; r += micro->left)
                block(micro, w, q, (const float *)scratch + r * w->k, count - r, out + (i + r) * out_stride, out_stride);
    }
}

void kl_product_sparse(const kl_panels *w, int64_t rows, const int64_t *start, const int32_t *column, const float *value, float *out, int64_t out_stride)
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
            memcpy(out + i * out_stride + first, sum, (size_t)width * sizeof *out);
        }
    }
}
