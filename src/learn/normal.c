/*
 * normal.c - the normal equations of a model of some sets at one lambda, assembled, factored and solved:
 *   m = S/n, ybar = T/n, (G - n m m' + lambda n I) w = B - m T', b = ybar - m'w
 * float64, or a float32 factor where the search allows it. When the factorisation fails, jitter 1e-12 trace / D is
 * added and grows tenfold until it does not; it is reported.
 */
#include "learn/ridge.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

double kl_ridge_weight(const kl_statistics *s, int without)
{
    double sum = 0;
    for (int f = 0; f < s->sets; f++)
        if (f != without)
            sum += s->fold[f].weight;
    return sum;
}

double kl_ridge_spread(const kl_statistics *s)
{
    double total = 0, n = kl_ridge_weight(s, -1);
    for (int64_t p = 0; p < s->features; p++) {
        double square = 0, sum = 0;
        for (int f = 0; f < s->sets; f++) {
            square += kl_tiles_get(&s->fold[f].gram, p, p);
            sum += s->fold[f].sum[p];
        }
        total += square - sum * sum / n;
    }
    return total / n;
}

typedef struct assembly {
    const kl_ridge *r;
    int without;
    bool single; /* into float32 */
    double n, ridge;
} assembly;

/* Row p of tile (i, j) of G - n m m' + ridge I over the sets in the model: line (edge). */
static void assemble_row(const assembly *as, int64_t i, int64_t j, int64_t p, double *line)
{
    const kl_statistics *s = as->r->s;
    const double *m = as->r->mean;
    int64_t edge = as->r->a.edge, n = as->r->a.n, columns = n - j * edge < edge ? n - j * edge : edge;
    memset(line, 0, (size_t)edge * sizeof *line);
    for (int f = 0; f < s->sets; f++) {
        const double *g = kl_tiles_at(&s->fold[f].gram, i, j) + p * edge;
        for (int64_t q = 0; f != as->without && q < edge; q++)
            line[q] += g[q];
    }
    if (i * edge + p >= n)
        return;
    double scaled = as->n * m[i * edge + p];
    for (int64_t q = 0; q < columns; q++)
        line[q] -= scaled * m[j * edge + q];
    if (i == j)
        line[p] += as->ridge;
}

static klift_status assemble_task(void *context, int64_t task, int worker)
{
    (void)worker;
    const assembly *as = context;
    const kl_tiles *a = &as->r->a;
    int64_t i = 0, edge = a->edge;
    while ((i + 1) * (i + 2) / 2 <= task)
        i++;
    for (int64_t p = 0; p < edge; p++) {
        double line[KL_TILE], *out = as->single ? line : a->value + (task * edge + p) * edge;
        assemble_row(as, i, task - i * (i + 1) / 2, p, out);
        for (int64_t q = 0; as->single && q < edge; q++)
            ((float *)a->value)[(task * edge + p) * edge + q] = (float)line[q];
    }
    return KLIFT_OK;
}

/* Factors the assembled matrix; on failure adds jitter and assembles again. */
static klift_status factor(kl_ridge *r, assembly *as, klift_run *run)
{
    int64_t tiles = r->a.count * (r->a.count + 1) / 2, failed;
    double jitter = 0, unit = 1e-12 * kl_ridge_spread(r->s) * as->n / (double)r->s->features, ridge = as->ridge;
    for (int tries = 0; tries < 12; tries++) {
        as->ridge = ridge + jitter;
        KL_TRY(kl_run_parallel(run, tiles, assemble_task, as));
        KL_TRY(kl_tiles_factor(&r->a, run, &failed));
        if (failed < 0) {
            r->jitter = fmax(r->jitter, jitter / as->n);
            return KLIFT_OK;
        }
        jitter = jitter == 0 ? fmax(unit, 1e-300) : jitter * 10;
    }
    return kl_fail(KLIFT_FAILED, "the normal equations cannot be factored (column %lld); use a larger lambda", (long long)failed);
}

/* w := A^-1 w with a factor in float32, in the memory of the float64 one; *done is false when that did not do. */
static klift_status solve_single(kl_ridge *r, assembly *as, klift_run *run, bool *done)
{
    kl_tiles32 a = {r->a.n, r->a.edge, r->a.count, (float *)r->a.value};
    int64_t count = r->s->features * r->outputs, failed;
    float *w = NULL;
    klift_status status = KLIFT_OK;
    as->single = true;
    KL_GO(kl_new(&w, count, sizeof *w, "the weights"));
    KL_GO(kl_run_parallel(run, a.count * (a.count + 1) / 2, assemble_task, as));
    KL_GO(kl_tiles32_factor(&a, run, &failed));
    *done = failed < 0;
    for (int64_t p = 0; p < count; p++)
        w[p] = (float)r->w[p];
    if (*done)
        KL_GO(kl_tiles32_solve(&a, r->outputs, w, run));
    for (int64_t p = 0; *done && p < count; p++)
        r->w[p] = (double)w[p];
done:
    kl_free(w);
    as->single = false;
    return status;
}

void kl_ridge_plain(const kl_ridge *r, double *w, double *b)
{
    const kl_statistics *s = r->s;
    for (int64_t o = 0; o < r->outputs; o++) {
        b[o] = r->b[o] + (s->goal == KL_REGRESS ? s->target_shift[r->column[o]] : 0);
        for (int64_t p = 0; p < s->features; p++) {
            w[o * s->features + p] = r->w[p * r->outputs + o];
            b[o] -= (double)s->shift[p] * w[o * s->features + p];
        }
    }
}

klift_status kl_ridge_model(kl_ridge *r, int without, double lambda, klift_run *run)
{
    const kl_statistics *s = r->s;
    double n = kl_ridge_weight(s, without);
    assembly as = {r, without, false, n, lambda * n};
    bool solved = false;
    if (!(n > 0))
        return kl_fail(KLIFT_DATA, "no rows are left outside a fold: too few different rows to cross-validate; say lambda=NUMBER or search=gcv");
    for (int64_t p = 0; p < s->features; p++) {
        double sum = 0;
        for (int f = 0; f < s->sets; f++)
            sum += f == without ? 0 : s->fold[f].sum[p];
        r->mean[p] = sum / n;
    }
    for (int64_t o = 0; o < r->outputs; o++) {
        double total = 0;
        for (int f = 0; f < s->sets; f++)
            total += f == without ? 0 : s->fold[f].target_sum[r->column[o]];
        r->b[o] = total / n;
        for (int64_t p = 0; p < s->features; p++) {
            double cross = -r->mean[p] * total;
            for (int f = 0; f < s->sets; f++)
                cross += f == without ? 0 : s->fold[f].cross[r->column[o]][p];
            r->w[p * r->outputs + o] = cross;
        }
    }
    if (r->single)
        KL_TRY(solve_single(r, &as, run, &solved));
    if (!solved) {
        KL_TRY(factor(r, &as, run));
        KL_TRY(kl_tiles_solve(&r->a, r->outputs, r->w, run));
    }
    for (int64_t p = 0; p < s->features; p++)
        for (int64_t o = 0; o < r->outputs; o++)
            r->b[o] -= r->mean[p] * r->w[p * r->outputs + o];
    return KLIFT_OK;
}
