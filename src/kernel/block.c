/*
 * block.c - exact kernel values of all pairs of two sets of rows, by the form in which the kernel can say itself:
 *   of_distances  |x-y|^2 = |x|^2 + |y|^2 - 2 <x,y>, by one product in float64; where that would cancel, from the differences
 *   of_products   the same product
 *   of_panel      coordinate by coordinate, 16 rows side by side
 *   otherwise     value(), pair by pair
 */
#include "kernel/block.h"

#include "math/product64.h"

#include <math.h>
#include <string.h>

enum { PANEL = KL_KERNEL_PANEL, PART = 256, TOGETHER = 8, WIDE = 1 << 14 };

/* Below this share of |x|^2 + |y|^2 a squared distance is computed again: it would have lost half of its digits. */
static const double cancelled = 1e-7;

/* ---- rows ---- */

/* The entries of a row, dense or not: columns ascend. */
typedef struct entries {
    const float *value;
    const int32_t *column; /* NULL: 0, 1, 2, ... */
    int64_t at, end;
} entries;

static entries entries_of(const kl_batch *rows, int64_t i)
{
    if (rows->start != NULL)
        return (entries){rows->value, rows->column, rows->start[i], rows->start[i + 1]};
    return (entries){rows->dense + i * rows->stride, NULL, 0, rows->columns};
}

static int64_t column_at(const entries *e)
{
    return e->at >= e->end ? INT64_MAX : e->column == NULL ? e->at : e->column[e->at];
}

static double term(double difference, bool taxicab)
{
    return taxicab ? fabs(difference) : difference * difference;
}

double kl_block_distance(const kl_batch *x, int64_t i, const kl_batch *y, int64_t j, bool taxicab)
{
    entries a = entries_of(x, i), b = entries_of(y, j);
    double sum = 0;
    if (a.column == NULL && b.column == NULL) {
        for (; a.at < a.end; a.at++)
            sum += term((double)a.value[a.at] - (double)b.value[a.at], taxicab);
        return sum;
    }
    while (a.at < a.end || b.at < b.end) {
        int64_t left = column_at(&a), right = column_at(&b);
        double difference = (left <= right ? (double)a.value[a.at] : 0) - (right <= left ? (double)b.value[b.at] : 0);
        a.at += left <= right;
        b.at += right <= left;
        sum += term(difference, taxicab);
    }
    return sum;
}

void kl_block_norms(const kl_batch *rows, double *out)
{
    for (int64_t i = 0; i < rows->rows; i++) {
        double sum = 0;
        for (entries e = entries_of(rows, i); e.at < e.end; e.at++)
            sum += (double)e.value[e.at] * (double)e.value[e.at];
        out[i] = sum;
    }
}

/* ---- products ---- */

/* Rows of y that are spread out together: more than one is room for each column, of which there may be millions. */
static int64_t together(int64_t columns)
{
    return columns <= WIDE ? TOGETHER : 1;
}

static int64_t dense_doubles(int64_t x_rows, int64_t y_rows)
{
    return (x_rows + y_rows) * PART;
}

bool kl_block_has_products(const kl_kernel *kernel)
{
    return kernel->type->of_distances != NULL || kernel->type->of_products != NULL;
}

int64_t kl_block_scratch(const kl_kernel *kernel, int64_t x_rows, int64_t y_rows, int64_t columns)
{
    int64_t row = columns * (int64_t)sizeof(double);
    if (!kl_block_has_products(kernel))
        return 2 * row + columns * PANEL * (int64_t)sizeof(float);
    int64_t dense = dense_doubles(x_rows, y_rows) * (int64_t)sizeof(double) + kl_product64_scratch(x_rows, y_rows);
    int64_t sparse = row * together(columns);
    return dense > sparse ? dense : sparse;
}

/* Columns from .. from+count-1 of dense rows as doubles: (rows, PART) */
static kl_matrix64 widen(const kl_batch *rows, int64_t from, int64_t count, double *out)
{
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t p = 0; p < count; p++)
            out[i * PART + p] = (double)rows->dense[i * rows->stride + from + p];
    return (kl_matrix64){out, rows->rows, PART};
}

static void dense_products(const kl_batch *x, const kl_batch *y, int64_t columns, double *k, int64_t stride, double *work)
{
    double *right = work + x->rows * PART, *scratch = work + dense_doubles(x->rows, y->rows);
    for (int64_t i = 0; i < x->rows; i++)
        memset(k + i * stride, 0, (size_t)y->rows * sizeof *k);
    for (int64_t from = 0; from < columns; from += PART) {
        int64_t count = columns - from < PART ? columns - from : PART;
        kl_matrix64 a = widen(x, from, count, work), b = widen(y, from, count, right);
        kl_product64(a, b, count, 1, k, stride, scratch);
    }
}

/* Rows j .. j+count-1 of y side by side: (columns, TOGETHER) */
static void spread(const kl_batch *y, int64_t j, int64_t count, int64_t columns, double *out)
{
    memset(out, 0, (size_t)(columns * TOGETHER) * sizeof *out);
    for (int64_t r = 0; r < count; r++)
        for (entries e = entries_of(y, j + r); e.at < e.end; e.at++)
            out[column_at(&e) * TOGETHER + r] = (double)e.value[e.at];
}

/* The products of a row's entries with those: sums in the order of its columns, each by itself */
static void products_together(entries e, const double *rows, double sum[TOGETHER])
{
    for (int r = 0; r < TOGETHER; r++)
        sum[r] = 0;
    for (; e.at < e.end; e.at++) {
        const double *at = rows + column_at(&e) * TOGETHER;
        double value = (double)e.value[e.at];
        for (int r = 0; r < TOGETHER; r++)
            sum[r] += value * at[r];
    }
}

/* Some rows of y at a time spread out: each row of x then costs its own entries. */
static void sparse_products(const kl_batch *x, const kl_batch *y, int64_t columns, double *k, int64_t stride, double *row)
{
    int64_t j = 0;
    for (; together(columns) > 1 && j + 1 < y->rows; j += TOGETHER) {
        int64_t count = y->rows - j < TOGETHER ? y->rows - j : TOGETHER;
        spread(y, j, count, columns, row);
        for (int64_t i = 0; i < x->rows; i++) {
            double sum[TOGETHER];
            products_together(entries_of(x, i), row, sum);
            memcpy(k + i * stride + j, sum, (size_t)count * sizeof *k);
        }
    }
    for (; j < y->rows; j++) {
        kl_batch_row_doubles(y, j, columns, row);
        for (int64_t i = 0; i < x->rows; i++) {
            double sum = 0;
            for (entries e = entries_of(x, i); e.at < e.end; e.at++)
                sum += (double)e.value[e.at] * row[column_at(&e)];
            k[i * stride + j] = sum;
        }
    }
}

/* Products of row i of x in k (y rows) become squared distances. */
static void to_distances(const kl_side *x, int64_t i, const kl_side *y, double *k)
{
    double xx = x->norm[i];
    for (int64_t j = 0; j < y->rows.rows; j++) {
        double all = xx + y->norm[j], s = all - 2 * k[j];
        k[j] = s > cancelled * all ? s : kl_block_distance(&x->rows, i, &y->rows, j, false);
    }
}

static void by_products(const kl_kernel *kernel, const kl_side *x, const kl_side *y, int64_t columns, double *k, int64_t stride, void *scratch)
{
    int64_t count = y->rows.rows;
    if (x->rows.dense != NULL && y->rows.dense != NULL)
        dense_products(&x->rows, &y->rows, columns, k, stride, scratch);
    else
        sparse_products(&x->rows, &y->rows, columns, k, stride, scratch);
    for (int64_t i = 0; i < x->rows.rows; i++) {
        double *row = k + i * stride;
        if (kernel->type->of_distances != NULL) {
            to_distances(x, i, y, row);
            kernel->type->of_distances(kernel, count, row, row);
        } else
            kernel->type->of_products(kernel, count, row, x->norm[i], y->norm, row);
    }
}

/* ---- panels ---- */

void kl_block_panel(const kl_batch *rows, int64_t first, int64_t columns, float *panel)
{
    memset(panel, 0, (size_t)(columns * PANEL) * sizeof *panel);
    for (int64_t w = 0; w < PANEL && first + w < rows->rows; w++)
        for (entries e = entries_of(rows, first + w); e.at < e.end; e.at++)
            panel[column_at(&e) * PANEL + w] = e.value[e.at];
}

void kl_block_of_panel(const kl_kernel *kernel, int64_t columns, const double *x, const float *panel, double *work, double k[KL_KERNEL_PANEL])
{
    if (kernel->type->of_panel != NULL) {
        kernel->type->of_panel(kernel, columns, x, panel, k);
        return;
    }
    for (int w = 0; w < PANEL; w++) {
        kl_pair pair;
        for (int64_t p = 0; p < columns; p++)
            work[p] = (double)panel[p * PANEL + w];
        kl_pair_set(&pair, columns, x, work);
        k[w] = kl_kernel_value(kernel, &pair);
    }
}

static void by_panels(const kl_kernel *kernel, const kl_batch *x, const kl_batch *y, int64_t columns, double *k, int64_t stride, void *scratch)
{
    double *row = scratch, *work = row + columns;
    float *panel = (float *)(row + 2 * columns);
    for (int64_t first = 0; first < y->rows; first += PANEL) {
        int64_t here = y->rows - first < PANEL ? y->rows - first : PANEL;
        kl_block_panel(y, first, columns, panel);
        for (int64_t i = 0; i < x->rows; i++) {
            double values[PANEL];
            kl_batch_row_doubles(x, i, columns, row);
            kl_block_of_panel(kernel, columns, row, panel, work, values);
            memcpy(k + i * stride + first, values, (size_t)here * sizeof *k);
        }
    }
}

void kl_block_values(const kl_kernel *kernel, const kl_side *x, const kl_side *y, int64_t columns, double *k, int64_t stride, void *scratch)
{
    if (kl_block_has_products(kernel))
        by_products(kernel, x, y, columns, k, stride, scratch);
    else
        by_panels(kernel, &x->rows, &y->rows, columns, k, stride, scratch);
}

void kl_block_diagonal(const kl_kernel *kernel, const kl_side *x, int64_t columns, double *k, void *scratch)
{
    for (int64_t i = 0; i < x->rows.rows; i++) {
        kl_side one = {kl_batch_part(&x->rows, i, 1), x->norm + i};
        kl_block_values(kernel, &one, &one, columns, k + i, 1, scratch);
    }
}
