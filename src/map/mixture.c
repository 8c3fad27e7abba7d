/*
 * mixture.c - the published law (Pennington, Yu and Kumar 2015, equation 4): the density of the radius is
 *   g(w) = max(0, sum_i c_i f_i(w)),  f_i the density of |w| for w ~ N(0, 2 s_i^2 I),  divided by its sum,
 * with c_i of any sign and the s_i free, fitted to K(z) over [0, 2]. Not convex: least squares with c and log s free, by
 * Levenberg's and Marquardt's steps from s_i spread around the kernel's own width and c by linear least squares.
 * f_i in logs: log f = (d-1) log w - w^2 / 4 s^2 - (d/2) log 4 s^2 - log Gamma(d/2) + log 2.
 */
#include "map/law.h"

#include "base/memory.h"
#include "math/gamma.h"
#include "math/nonnegative.h"

#include <math.h>
#include <string.h>

enum { CELLS = 600, POINTS = KL_LAW_POINTS, MOST_TERMS = 20, UNKNOWNS = 2 * MOST_TERMS, STEPS = 60 };

/* of the start: the better of the two wins */
static const double ridges[] = {1e-2, 1e-4};
static const double stretch = 1.8, narrowest = -1.2, widest = 0.5, negligible = 1e-12;

typedef struct work {
    const kl_target *target;
    int64_t terms;
    double step;                     /* width of a cell */
    double phi[CELLS][POINTS];       /* phi_d(w_j z_i) */
    double f[MOST_TERMS][CELLS], p[CELLS];
    double error[POINTS];            /* Khat - K */
    double slope[UNKNOWNS][POINTS];  /* of Khat by c_i, then by log s_i */
    double part[CELLS];
    double h[UNKNOWNS * UNKNOWNS], b[UNKNOWNS], move[UNKNOWNS];
} work;

static double middle(const work *w, int64_t j)
{
    return ((double)j + 0.5) * w->step;
}

static klift_status fill(work *w)
{
    kl_sphere sphere = {0};
    klift_status status;
    KL_GO(kl_sphere_new(&sphere, w->target->d, 2 * w->step * CELLS));
    for (int64_t j = 0; j < CELLS; j++)
        kl_sphere_ladder(&sphere, middle(w, j) * 2 / (POINTS - 1), 1, POINTS, w->phi[j]);
done:
    kl_sphere_clear(&sphere);
    return status;
}

/* out (POINTS) = sum_j v_j phi_d(w_j z_i) */
static void transform(const work *w, const double *v, double *out)
{
    memset(out, 0, POINTS * sizeof *out);
    for (int64_t j = 0; j < CELLS; j++)
        for (int i = 0; i < POINTS && v[j] != 0; i++)
            out[i] += v[j] * w->phi[j][i];
}

/* f, p and the errors at u = (c, log s); the weighted sum of their squares, infinite when nothing is above 0 */
static double evaluate(work *w, const double *u)
{
    double d = (double)w->target->d, all = 0, sum = 0;
    for (int64_t i = 0; i < w->terms; i++) {
        double s = u[w->terms + i], constant = log(2.0) - 0.5 * d * (log(4.0) + 2 * s) - kl_log_gamma(0.5 * d) + log(w->step);
        for (int64_t j = 0; j < CELLS; j++)
            w->f[i][j] = exp((d - 1) * log(middle(w, j)) - pow(middle(w, j), 2) / (4 * exp(2 * s)) + constant);
    }
    for (int64_t j = 0; j < CELLS; j++) {
        double g = 0;
        for (int64_t i = 0; i < w->terms; i++)
            g += u[i] * w->f[i][j];
        w->p[j] = g > 0 ? g : 0;
        all += w->p[j];
    }
    if (!(all > 0) || !isfinite(all))
        return INFINITY;
    for (int64_t j = 0; j < CELLS; j++)
        w->p[j] /= all;
    transform(w, w->p, w->error);
    for (int i = 0; i < POINTS; i++) {
        w->error[i] -= w->target->value[i];
        sum += w->target->weight[i] * w->error[i] * w->error[i];
    }
    return sum;
}

/* Of Khat by unknown number k: the density moves by f_i, or by c_i f_i (w^2 / 2 s^2 - d), where it is above 0. */
static void differentiate(work *w, const double *u, int64_t k)
{
    int64_t i = k % w->terms;
    double s = exp(u[w->terms + i]), all = 0, moved = 0;
    for (int64_t j = 0; j < CELLS; j++) {
        double g = 0;
        for (int64_t l = 0; l < w->terms && w->p[j] > 0; l++)
            g += u[l] * w->f[l][j];
        double by = k < w->terms ? 1 : u[i] * (pow(middle(w, j) / s, 2) / 2 - (double)w->target->d);
        w->part[j] = w->p[j] > 0 ? by * w->f[i][j] : 0;
        all += w->p[j] > 0 ? g : 0;
        moved += w->part[j];
    }
    for (int64_t j = 0; j < CELLS; j++)
        w->part[j] = (w->part[j] - w->p[j] * moved) / all;
    transform(w, w->part, w->slope[k]);
}

/* The step that the normal equations, damped, ask for. */
static bool find_move(work *w, double damping)
{
    int64_t n = 2 * w->terms;
    for (int64_t a = 0; a < n; a++) {
        w->b[a] = 0;
        for (int i = 0; i < POINTS; i++)
            w->b[a] -= w->target->weight[i] * w->slope[a][i] * w->error[i];
        for (int64_t b = 0; b <= a; b++) {
            double sum = 0;
            for (int i = 0; i < POINTS; i++)
                sum += w->target->weight[i] * w->slope[a][i] * w->slope[b][i];
            w->h[a * n + b] = w->h[b * n + a] = sum;
        }
    }
    for (int64_t a = 0; a < n; a++)
        w->h[a * n + a] += damping * (w->h[a * n + a] + 1e-12);
    return kl_solve_dense(n, w->h, w->b, w->move);
}

/* s_i a constant factor apart, c by least squares with a ridge of exp(-s_i^2 z^2) against K */
static void start(work *w, double ridge, double *u)
{
    int64_t n = w->terms;
    double centre = log(fmax(w->target->steepness, 1e-3));
    for (int64_t a = 0; a < n; a++)
        u[n + a] = centre + (n > 1 ? narrowest + (widest - narrowest) * (double)a / (double)(n - 1) : 0);
    memset(w->h, 0, sizeof w->h);
    memset(w->b, 0, sizeof w->b);
    for (int i = 0; i < POINTS; i++) {
        double z = 2.0 * i / (POINTS - 1), value[MOST_TERMS];
        for (int64_t a = 0; a < n; a++) {
            value[a] = exp(-exp(2 * u[n + a]) * z * z);
            w->b[a] += w->target->weight[i] * value[a] * w->target->value[i];
            for (int64_t b = 0; b <= a; b++)
                w->h[a * n + b] += w->target->weight[i] * value[a] * value[b];
        }
    }
    for (int64_t a = 0; a < n; a++) {
        w->h[a * n + a] += ridge;
        for (int64_t b = 0; b < a; b++)
            w->h[b * n + a] = w->h[a * n + b];
    }
    if (!kl_solve_dense(n, w->h, w->b, u))
        for (int64_t a = 0; a < n; a++)
            u[a] = 1 / (double)n;
}

static double descend(work *w, double *u)
{
    double tried[UNKNOWNS], damping = 1e-3, best = evaluate(w, u);
    int64_t n = 2 * w->terms;
    bool fresh = false;
    for (int step = 0; step < STEPS && damping < 1e8; step++) {
        for (int64_t k = 0; k < n && !fresh; k++)
            differentiate(w, u, k);
        fresh = true;
        double error[POINTS], now = INFINITY;
        memcpy(error, w->error, sizeof error);
        bool solved = find_move(w, damping);
        for (int64_t k = 0; k < n; k++)
            tried[k] = u[k] + (solved ? w->move[k] : 0);
        now = solved ? evaluate(w, tried) : INFINITY;
        if (now < best) {
            bool enough = best - now < 1e-4 * best;
            memcpy(u, tried, sizeof tried);
            best = now;
            damping *= 0.2;
            fresh = false;
            if (enough)
                break;
        } else {
            memcpy(w->error, error, sizeof error);
            damping *= 5;
        }
    }
    return best;
}

static klift_status take(kl_law *law, const work *w)
{
    int64_t count = 0, at = 0;
    double sum = 0;
    for (int64_t j = 0; j < CELLS; j++)
        if (w->p[j] > negligible) {
            count++;
            sum += w->p[j];
        }
    KL_TRY(kl_law_new(law, count));
    law->cell = w->step;
    for (int64_t j = 0; j < CELLS; j++)
        if (w->p[j] > negligible) {
            law->radius[at] = middle(w, j);
            law->share[at++] = w->p[j] / sum;
        }
    return KLIFT_OK;
}

klift_status kl_law_fit_gaussians(kl_law *law, const kl_target *t, int64_t terms)
{
    double u[UNKNOWNS] = {0}, best = INFINITY;
    work *w = NULL;
    klift_status status;
    KL_GO(kl_new(&w, 1, sizeof *w, "a fit"));
    w->target = t;
    w->terms = terms;
    w->step = kl_target_radius(t, stretch) / CELLS;
    KL_GO(fill(w));
    for (size_t k = 0; k < sizeof ridges / sizeof ridges[0]; k++) {
        double tried[UNKNOWNS] = {0};
        start(w, ridges[k], tried);
        double error = descend(w, tried);
        if (k == 0 || error < best) {
            best = error;
            memcpy(u, tried, sizeof u);
        }
    }
    evaluate(w, u);
    KL_GO(take(law, w));
    if (law->count == 0)
        KL_GO(kl_fail(KLIFT_DATA, "map spherical: no mixture of %lld Gaussians comes near kernel %s; use fit=shells", (long long)terms, t->kernel->type->name));
    status = kl_law_judge(law, t);
done:
    kl_free(w);
    return status;
}
