/*
 * nonnegative.c - Lawson and Hanson's algorithm (1974, chapter 23) on the normal equations: the coordinate with the steepest
 * descent joins the active ones, those are solved for, and while one of them would not be positive the step ends where the
 * first becomes zero, which leaves. Every round lowers the objective, so it ends; a handful of coordinates is active.
 */
#include "math/nonnegative.h"

#include "base/memory.h"

#include <math.h>

enum { MOST_ROUNDS = 400, MOST_ACTIVE = 128 };

static const double flat = 1e-12, ridge = 1e-14, nothing = 1e-15;

bool kl_solve_dense(int64_t n, double *a, double *b, double *x)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        if (!(fabs(a[pivot * n + k]) > 0))
            return false;
        for (int64_t j = k; j < n && pivot != k; j++) {
            double kept = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = kept;
        }
        double kept = b[k];
        b[k] = b[pivot];
        b[pivot] = kept;
        for (int64_t i = k + 1; i < n; i++) {
            double by = a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n; j++)
                a[i * n + j] -= by * a[k * n + j];
            b[i] -= by * b[k];
        }
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        double sum = b[k];
        for (int64_t j = k + 1; j < n; j++)
            sum -= a[k * n + j] * x[j];
        x[k] = sum / a[k * n + k];
    }
    return true;
}

typedef struct work {
    int64_t n;
    const double *g, *c;
    double *x;          /* (n) */
    double diagonal;    /* added to that of G */
    int64_t active, at[MOST_ACTIVE];
    double *a, b[MOST_ACTIVE], s[MOST_ACTIVE]; /* a (active, active) */
} work;

/* The coordinate in which the objective falls fastest, or -1. */
static int64_t steepest(const work *w)
{
    int64_t best = -1;
    double most = flat;
    for (int64_t i = 0; i < w->n; i++) {
        double slope = w->c[i];
        bool inside = false;
        for (int64_t k = 0; k < w->active; k++) {
            slope -= w->g[i * w->n + w->at[k]] * w->x[w->at[k]];
            inside = inside || w->at[k] == i;
        }
        if (!inside && slope > most) {
            most = slope;
            best = i;
        }
    }
    return best;
}

/* s := the minimum over the active coordinates, whatever its signs */
static bool solve_active(work *w)
{
    for (int64_t i = 0; i < w->active; i++) {
        for (int64_t j = 0; j < w->active; j++)
            w->a[i * w->active + j] = w->g[w->at[i] * w->n + w->at[j]] + (i == j ? w->diagonal : 0);
        w->b[i] = w->c[w->at[i]];
    }
    return kl_solve_dense(w->active, w->a, w->b, w->s);
}

/* x moves towards s until the first coordinate is zero; those that are leave. false: all of s is positive, x := s */
static bool step_back(work *w)
{
    double share = 1;
    int64_t kept = 0, least = -1;
    for (int64_t k = 0; k < w->active; k++)
        if (w->s[k] <= 0) {
            double x = w->x[w->at[k]], part = x / (x - w->s[k]);
            if (least < 0 || part < share)
                least = k;
            share = fmin(share, part);
        }
    for (int64_t k = 0; k < w->active; k++) {
        int64_t i = w->at[k];
        w->x[i] = least < 0 ? w->s[k] : w->x[i] + share * (w->s[k] - w->x[i]);
        if (k == least || w->x[i] <= nothing)
            w->x[i] = 0;
        else
            w->at[kept++] = i;
    }
    w->active = kept;
    return least >= 0;
}

klift_status kl_nonnegative_solve(int64_t n, const double *g, const double *c, double *x)
{
    work w = {.n = n, .g = g, .c = c, .x = x};
    for (int64_t i = 0; i < n; i++) {
        w.diagonal += ridge * g[i * n + i] / (double)n;
        x[i] = 0;
    }
    KL_TRY(kl_new(&w.a, MOST_ACTIVE * MOST_ACTIVE, sizeof *w.a, "least squares"));
    for (int round = 0; round < MOST_ROUNDS && w.active < MOST_ACTIVE; round++) {
        int64_t joins = steepest(&w);
        if (joins < 0)
            break;
        w.at[w.active++] = joins;
        while (w.active > 0 && solve_active(&w) && step_back(&w)) {
        }
        if (!(x[joins] > 0)) /* it left at once: what is still to gain is rounding */
            break;
    }
    kl_free(w.a);
    return KLIFT_OK;
}
