/*
 * product.c - reference products: weights packed in panels of KL_PANEL columns, four rows of x at a time, the
 * accumulators of a 4 x 8 block in registers while k runs.
 */
#include "math/product.h"

#include "base/memory.h"

enum { ROWS = 4 };

static int64_t panel_count(const kl_panels *w)
{
    return (w->n + KL_PANEL - 1) / KL_PANEL;
}

klift_status kl_panels_new(kl_panels *w, int64_t n, int64_t k)
{
    int64_t size;
    *w = (kl_panels){.n = n, .k = k};
    if (kl_multiply(panel_count(w) * KL_PANEL, k, &size))
        return kl_fail(KLIFT_MEMORY, "%lld x %lld weights are too many", (long long)n, (long long)k);
    return kl_new(&w->packed, size, sizeof *w->packed, "the map's weights");
}

float *kl_panels_at(kl_panels *w, int64_t row, int64_t column)
{
    return &w->packed[(row / KL_PANEL * w->k + column) * KL_PANEL + row % KL_PANEL];
}

float kl_panels_get(const kl_panels *w, int64_t row, int64_t column)
{
    return w->packed[(row / KL_PANEL * w->k + column) * KL_PANEL + row % KL_PANEL];
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

/* One panel, up to four rows; the rows that are missing repeat the last one and are not stored. */
static void dense_block(int64_t k, const float *restrict panel, const float *const x[ROWS], float sum[ROWS][KL_PANEL])
{
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < KL_PANEL; c++)
            sum[r][c] = 0;
    for (int64_t p = 0; p < k; p++)
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < KL_PANEL; c++)
                sum[r][c] += x[r][p] * panel[p * KL_PANEL + c];
}

static void store(const kl_panels *w, int64_t panel, int rows, float sum[][KL_PANEL], float *out, int64_t out_stride)
{
    int64_t first = panel * KL_PANEL, width = w->n - first < KL_PANEL ? w->n - first : KL_PANEL;
    for (int r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++)
            out[r * out_stride + first + c] = sum[r][c];
}

void kl_product_dense(const kl_panels *w, int64_t rows, const float *x, int64_t stride, float *out, int64_t out_stride)
{
    for (int64_t q = 0; q < panel_count(w); q++)
        for (int64_t i = 0; i < rows; i += ROWS) {
            int here = rows - i < ROWS ? (int)(rows - i) : ROWS;
            const float *row[ROWS];
            float sum[ROWS][KL_PANEL];
            for (int r = 0; r < ROWS; r++)
                row[r] = x + (i + (r < here ? r : here - 1)) * stride;
            dense_block(w->k, w->packed + q * w->k * KL_PANEL, row, sum);
            store(w, q, here, sum, out + i * out_stride, out_stride);
        }
}

void kl_product_sparse(const kl_panels *w, int64_t rows, const int64_t *start, const int32_t *column, const float *value, float *out, int64_t out_stride)
{
    for (int64_t q = 0; q < panel_count(w); q++) {
        const float *panel = w->packed + q * w->k * KL_PANEL;
        for (int64_t i = 0; i < rows; i++) {
            float sum[1][KL_PANEL] = {{0}};
            for (int64_t p = start[i]; p < start[i + 1]; p++)
                for (int c = 0; c < KL_PANEL; c++)
                    sum[0][c] += value[p] * panel[(int64_t)column[p] * KL_PANEL + c];
            store(w, q, 1, sum, out + i * out_stride, out_stride);
        }
    }
}
