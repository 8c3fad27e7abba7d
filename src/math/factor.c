/*
 * factor.c - Cholesky factorisation and solves over tiles (right-looking, float64).
 *   for k: L_kk = chol(A_kk);  L_ik = A_ik L_kk^-T (i > k);  A_ij -= L_ik L_jk' (i >= j > k)
 * The tiles of one step are the pool's tasks; inside a tile everything is blocked by 64 and built on one packed
 * product, subtract(). The last tile is padded by an identity, so that every tile is full.
 */
#include "math/tiles.h"

#include "base/memory.h"
#include "math/micro.h"

#include <math.h>

enum { BLOCK = 64, GROUP = KL_MICRO_GROUP };

typedef struct work {
    kl_tiles *a;
    int64_t step;
    double *scratch; /* per worker: 2 edge^2 */
    int64_t failed;
} work;

/* Rows of a row-major operand (m, k) in panels of `width` rows: (m / width, k, width). m is a multiple of 16: tiles are. */
static void pack(int64_t m, int64_t k, const double *a, int64_t stride, int64_t width, double *panel)
{
    for (int64_t i = 0; i < m; i += width)
        for (int64_t r = 0; r < width; r++)
            for (int64_t p = 0; p < k; p++)
                panel[i * k + p * width + r] = a[(i + r) * stride + p];
}

/* c (m, n) -= a (m, k) b (n, k)' */
static void subtract(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c, int64_t stride, double *scratch)
{
    const kl_micro *micro = kl_micro_get();
    if (k == 0 || m == 0)
        return;
    double *left = scratch, *right = scratch + m * k;
    pack(m, k, a, stride, micro->left64, left);
    pack(n, k, b, stride, micro->width64, right);
    for (int64_t top = 0; top < m; top += BLOCK) /* whose operand stays in the second cache while all columns pass by */
        for (int64_t j = 0; j < n; j += micro->width64)
            for (int64_t i = top; i < m && i < top + BLOCK; i += micro->left64)
                micro->add64(k, left + i * k, right + j * k, -1, c + i * stride + j, stride);
}

/* x (m, n) := x l^-T for a small lower triangular l (n, n): GROUP rows at a time, transposed, by forward substitution */
static void divide_block(int64_t m, int64_t n, const double *l, double *x, int64_t stride)
{
    double columns[BLOCK * GROUP];
    for (int64_t i = 0; i < m; i += GROUP) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t g = 0; g < GROUP; g++)
                columns[j * GROUP + g] = x[(i + g) * stride + j];
        kl_micro_get()->forward64(n, l, stride, columns);
        for (int64_t j = 0; j < n; j++)
            for (int64_t g = 0; g < GROUP; g++)
                x[(i + g) * stride + j] = columns[j * GROUP + g];
    }
}

/* Unblocked Cholesky of the leading n columns; the column that fails, or -1. */
static int64_t factor_block(int64_t n, double *a, int64_t stride)
{
    for (int64_t j = 0; j < n; j++) {
        double pivot = a[j * stride + j];
        for (int64_t p = 0; p < j; p++)
            pivot -= a[j * stride + p] * a[j * stride + p];
        if (!(pivot > 0) || !isfinite(pivot))
            return j;
        pivot = sqrt(pivot);
        a[j * stride + j] = pivot;
        for (int64_t i = j + 1; i < n; i++) {
            double sum = a[i * stride + j];
            for (int64_t p = 0; p < j; p++)
                sum -= a[i * stride + p] * a[j * stride + p];
            a[i * stride + j] = sum / pivot;
        }
    }
    return -1;
}

static int64_t factor_tile(double *a, int64_t edge, double *scratch)
{
    for (int64_t b = 0; b < edge; b += BLOCK) {
        int64_t width = edge - b < BLOCK ? edge - b : BLOCK, below = edge - b;
        subtract(below, width, b, a + b * edge, a + b * edge, a + b * edge + b, edge, scratch);
        int64_t failed = factor_block(width, a + b * edge + b, edge);
        if (failed >= 0)
            return b + failed;
        divide_block(below - width, width, a + b * edge + b, a + (b + width) * edge + b, edge);
    }
    return -1;
}

static klift_status divide_task(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t edge = w->a->edge, k = w->step, i = k + 1 + index;
    double *scratch = w->scratch + worker * 2 * edge * edge;
    const double *l = kl_tiles_at(w->a, k, k);
    double *x = kl_tiles_at(w->a, i, k);
    for (int64_t b = 0; b < edge; b += BLOCK) {
        int64_t width = edge - b < BLOCK ? edge - b : BLOCK;
        subtract(edge, width, b, x, l + b * edge, x + b, edge, scratch);
        divide_block(edge, width, l + b * edge + b, x + b, edge);
    }
    return KLIFT_OK;
}

static klift_status update_task(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t edge = w->a->edge, k = w->step, row = 0;
    while ((row + 1) * (row + 2) / 2 <= index)
        row++;
    int64_t i = k + 1 + row, j = k + 1 + index - row * (row + 1) / 2;
    subtract(edge, edge, edge, kl_tiles_at(w->a, i, k), kl_tiles_at(w->a, j, k), kl_tiles_at(w->a, i, j), edge, w->scratch + worker * 2 * edge * edge);
    return KLIFT_OK;
}

/* Ones on the diagonal behind the matrix: the padding factors to itself. */
static void pad(kl_tiles *a)
{
    double *last = kl_tiles_at(a, a->count - 1, a->count - 1);
    for (int64_t r = a->n - (a->count - 1) * a->edge; r < a->edge; r++)
        last[r * a->edge + r] = 1;
}

klift_status kl_tiles_factor(kl_tiles *a, klift_run *run, int64_t *failed)
{
    work w = {.a = a};
    klift_status status = KLIFT_OK;
    *failed = -1;
    if (a->count == 0)
        return KLIFT_OK;
    KL_TRY(kl_new(&w.scratch, kl_run_threads(run) * 2 * a->edge * a->edge, sizeof *w.scratch, "the factorisation"));
    pad(a);
    for (w.step = 0; w.step < a->count && *failed < 0; w.step++) {
        int64_t left = a->count - 1 - w.step;
        *failed = factor_tile(kl_tiles_at(a, w.step, w.step), a->edge, w.scratch);
        if (*failed >= 0) {
            *failed += w.step * a->edge;
            break;
        }
        KL_GO(kl_run_parallel(run, left, divide_task, &w));
        KL_GO(kl_run_parallel(run, left * (left + 1) / 2, update_task, &w));
    }
done:
    kl_free(w.scratch);
    return status;
}

typedef struct solving {
    const kl_tiles *a;
    int64_t m;
    double *b;         /* (n, m) */
    double *columns;   /* per worker: (padded n, GROUP) */
    double *partial;   /* per task: its share of a trace */
    const double *x;   /* (n, m) for products */
} solving;

/* x_i -= L_ij x_j for a group of columns */
static void forward_tile(const double *l, int64_t edge, const double *xj, double *xi)
{
    for (int64_t r = 0; r < edge; r++)
        for (int64_t p = 0; p < edge; p++)
            for (int g = 0; g < GROUP; g++)
                xi[r * GROUP + g] -= l[r * edge + p] * xj[p * GROUP + g];
}

static void forward(const kl_tiles *a, int64_t first_tile, double *x)
{
    int64_t edge = a->edge;
    for (int64_t i = first_tile; i < a->count; i++) {
        for (int64_t j = first_tile; j < i; j++)
            forward_tile(kl_tiles_at(a, i, j), edge, x + j * edge * GROUP, x + i * edge * GROUP);
        kl_micro_get()->forward64(edge, kl_tiles_at(a, i, i), edge, x + i * edge * GROUP);
    }
}

/* x_j -= L_ij' x_i, then the transposed diagonal, from the last tile up */
static void backward(const kl_tiles *a, double *x)
{
    int64_t edge = a->edge;
    for (int64_t i = a->count - 1; i >= 0; i--) {
        double *xi = x + i * edge * GROUP;
        const double *l = kl_tiles_at(a, i, i);
        for (int64_t r = edge - 1; r >= 0; r--) {
            for (int g = 0; g < GROUP; g++)
                xi[r * GROUP + g] /= l[r * edge + r];
            for (int64_t p = 0; p < r; p++)
                for (int g = 0; g < GROUP; g++)
                    xi[p * GROUP + g] -= l[r * edge + p] * xi[r * GROUP + g];
        }
        for (int64_t j = 0; j < i; j++) {
            const double *lij = kl_tiles_at(a, i, j);
            double *xj = x + j * edge * GROUP;
            for (int64_t r = 0; r < edge; r++)
                for (int64_t p = 0; p < edge; p++)
                    for (int g = 0; g < GROUP; g++)
                        xj[p * GROUP + g] -= lij[r * edge + p] * xi[r * GROUP + g];
        }
    }
}

static klift_status solve_task(void *context, int64_t index, int worker)
{
    solving *s = context;
    int64_t n = s->a->n, padded = s->a->count * s->a->edge, first = index * GROUP;
    int64_t width = s->m - first < GROUP ? s->m - first : GROUP;
    double *x = s->columns + worker * padded * GROUP;
    for (int64_t r = 0; r < padded; r++)
        for (int g = 0; g < GROUP; g++)
            x[r * GROUP + g] = r < n && g < width ? s->b[r * s->m + first + g] : 0;
    forward(s->a, 0, x);
    backward(s->a, x);
    for (int64_t r = 0; r < n; r++)
        for (int g = 0; g < width; g++)
            s->b[r * s->m + first + g] = x[r * GROUP + g];
    return KLIFT_OK;
}

static klift_status over_columns(const kl_tiles *a, int64_t tasks, kl_task task, solving *s, klift_run *run)
{
    KL_TRY(kl_new(&s->columns, kl_run_threads(run) * a->count * a->edge * GROUP, sizeof *s->columns, "a triangular solve"));
    klift_status status = kl_run_parallel(run, tasks, task, s);
    kl_free(s->columns);
    return status;
}

klift_status kl_tiles_solve(const kl_tiles *a, int64_t m, double *b, klift_run *run)
{
    solving s = {.a = a, .m = m, .b = b};
    return over_columns(a, (m + GROUP - 1) / GROUP, solve_task, &s, run);
}

/* GROUP columns of L^-1: they start at their own tile */
static klift_status trace_task(void *context, int64_t index, int worker)
{
    solving *s = context;
    int64_t padded = s->a->count * s->a->edge, first = index * GROUP;
    double *x = s->columns + worker * padded * GROUP, sum = 0;
    for (int64_t r = 0; r < padded * GROUP; r++)
        x[r] = 0;
    for (int g = 0; g < GROUP && first + g < s->a->n; g++)
        x[(first + g) * GROUP + g] = 1;
    forward(s->a, first / s->a->edge, x);
    for (int64_t r = first; r < s->a->n; r++)
        for (int g = 0; g < GROUP; g++)
            sum += x[r * GROUP + g] * x[r * GROUP + g];
    s->partial[index] = sum;
    return KLIFT_OK;
}

klift_status kl_tiles_inverse_trace(const kl_tiles *a, klift_run *run, double *trace)
{
    int64_t tasks = (a->n + GROUP - 1) / GROUP;
    solving s = {.a = a};
    klift_status status = KLIFT_OK;
    *trace = 0;
    KL_TRY(kl_new(&s.partial, tasks, sizeof *s.partial, "a trace"));
    KL_GO(over_columns(a, tasks, trace_task, &s, run));
    for (int64_t i = 0; i < tasks; i++)
        *trace += s.partial[i];
done:
    kl_free(s.partial);
    return status;
}

/* One row of tiles of y = A x: left of the diagonal as stored, right of it transposed. */
static klift_status multiply_task(void *context, int64_t index, int worker)
{
    (void)worker;
    solving *s = context;
    int64_t edge = s->a->edge, n = s->a->n, m = s->m;
    for (int64_t r = index * edge; r < n && r < (index + 1) * edge; r++)
        for (int64_t g = 0; g < m; g++)
            s->b[r * m + g] = 0;
    for (int64_t j = 0; j < s->a->count; j++) {
        bool stored = j <= index;
        const double *tile = stored ? kl_tiles_at(s->a, index, j) : kl_tiles_at(s->a, j, index);
        for (int64_t r = 0; r < edge && index * edge + r < n; r++)
            for (int64_t c = 0; c < edge && j * edge + c < n; c++) {
                bool below = j == index ? c <= r : stored;
                double v = below ? tile[r * edge + c] : tile[c * edge + r];
                for (int64_t g = 0; g < m; g++)
                    s->b[(index * edge + r) * m + g] += v * s->x[(j * edge + c) * m + g];
            }
    }
    return KLIFT_OK;
}

klift_status kl_tiles_multiply(const kl_tiles *a, int64_t m, const double *x, double *y, klift_run *run)
{
    solving s = {.a = a, .m = m, .b = y, .x = x};
    return kl_run_parallel(run, a->count, multiply_task, &s);
}
