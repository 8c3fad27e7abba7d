/*
 * crammer.c - one row at a time: with A = |z|^2 + B^2 and g_k = f_k + 1 - [k = y] - A alpha_k, the best variables are
 *   alpha_k = min(top_k, (beta - g_k) / A), top_k = C for k = y, else 0, and beta such that their sum is 0.
 * beta comes from the values g_k + A top_k in descending order. Outputs depend on each other, so rows are one thread's work.
 * D = sum_i alpha_i^y - sum_k |w_k|^2 / 2.
 */
#include "learn/crammer.h"

#include "base/memory.h"

#include <stdlib.h>

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* What a row needs beside the arrays: all (outputs). */
typedef struct work {
    double *f, *g, *sorted;
} work;

static void best_values(int64_t outputs, int64_t y, double a, double cost, const double *g, double *sorted, double *alpha)
{
    for (int64_t k = 0; k < outputs; k++)
        sorted[k] = g[k] + (k == y ? a * cost : 0);
    qsort(sorted, (size_t)outputs, sizeof *sorted, descending);
    double beta = sorted[0] - a * cost;
    int64_t r = 1;
    for (; r < outputs && beta < (double)r * sorted[r]; r++)
        beta += sorted[r];
    beta /= (double)r;
    for (int64_t k = 0; k < outputs; k++) {
        double value = (beta - g[k]) / a, top = k == y ? cost : 0;
        alpha[k] = value < top ? value : top;
    }
}

static double loss_of(int64_t outputs, int64_t y, const double *f)
{
    double worst = 0;
    for (int64_t k = 0; k < outputs; k++)
        if (k != y && 1 - f[y] + f[k] > worst)
            worst = 1 - f[y] + f[k];
    return worst;
}

static void visit(kl_dual *d, const kl_dual_block *rows, int64_t i, const work *w)
{
    int64_t y = 0, at = rows->index[i];
    kl_dual_row r = {0, 0};
    for (int64_t k = 0; k < d->outputs; k++)
        if ((r = d->row_of(d->user, at, k)).y > 0)
            y = k;
    if (r.cost <= 0)
        return;
    kl_dual_scores(d, &rows->z[i], &rows->z[i + 1 < rows->count ? i + 1 : i], 0, d->outputs, w->f);
    d->sum[0] += r.cost * loss_of(d->outputs, y, w->f);
    if (!rows->sweep || !(d->square[at] > 0))
        return;
    for (int64_t k = 0; k < d->outputs; k++)
        w->g[k] = w->f[k] + (k == y ? 0 : 1) - d->square[at] * d->alpha[k * d->rows + at];
    best_values(d->outputs, y, d->square[at], r.cost, w->g, w->sorted, w->f);
    for (int64_t k = 0; k < d->outputs; k++) {
        double *alpha = &d->alpha[k * d->rows + at], step = w->f[k] - *alpha;
        if (step != 0)
            kl_dual_add(d, &rows->z[i], k, step);
        *alpha = w->f[k];
    }
}

klift_status kl_crammer_visit(kl_dual *d, const kl_dual_block *rows, klift_run *run)
{
    work w = {0};
    KL_TRY(kl_run_check(run));
    KL_TRY(kl_new(&w.f, 3 * d->outputs, sizeof *w.f, "the scores of a row"));
    w.g = w.f + d->outputs;
    w.sorted = w.g + d->outputs;
    if (rows->first)
        KL_TRY(kl_dual_measure(d, rows, run));
    for (int64_t i = 0; i < rows->count; i++)
        visit(d, rows, i, &w);
    kl_free(w.f);
    return KLIFT_OK;
}

double kl_crammer_gap(kl_dual *d, bool exact, double tolerance)
{
    double norm = 0, sum = 0;
    for (int64_t k = 0; k < d->outputs; k++)
        norm += kl_dual_norm(d, k);
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t k = 0; k < d->outputs; k++)
            if (d->alpha[k * d->rows + i] > 0) /* only that of the row's own class may be */
                sum += d->alpha[k * d->rows + i];
    d->primal[0] = norm / 2 + d->sum[0];
    d->dual[0] = sum - norm / 2;
    d->sum[0] = 0;
    double gap = d->primal[0] > 0 ? (d->primal[0] - d->dual[0]) / d->primal[0] : 0;
    for (int64_t k = 0; k < d->outputs; k++)
        d->done[k] = exact && gap <= tolerance;
    return gap > 0 ? gap : 0;
}
