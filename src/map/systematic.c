/*
 * systematic.c - the variance of waves whose radii are drawn systematically. Given u, radius j stands n_j times among m; the counts
 * are shuffled over directions that are orthogonal in blocks. With phi_j = phi_d(r_j z):
 *   (1/m^2) (sum_j n_j ((1 + phi_d(2 r_j z))/2 - phi_j^2) + pairs that share a block: phi_d(sqrt(r_j^2 + r_k^2) z) - phi_j phi_k)
 * averaged over u, and the variance over u of the mean sum_j n_j phi_j / m. The counts change at as many u as there are radii.
 */
#include "map/systematic.h"

#include <math.h>

enum { MOST_STRATA = 64 };

/* Moments of the waves of one pair: of every radius by itself, and of two in a block. */
typedef struct strata {
    int64_t count;
    double mean[MOST_STRATA], own[MOST_STRATA], together[MOST_STRATA][MOST_STRATA];
} strata;

static void measure(const kl_law *law, const kl_sphere *sphere, double z, strata *t)
{
    const double *r = law->radius;
    t->count = law->count;
    for (int64_t j = 0; j < t->count; j++) {
        t->mean[j] = kl_sphere_value(sphere, r[j] * z);
        t->own[j] = (1 + kl_sphere_value(sphere, 2 * r[j] * z)) / 2 - t->mean[j] * t->mean[j];
    }
    for (int64_t j = 0; j < t->count; j++)
        for (int64_t k = 0; k <= j; k++)
            t->together[j][k] = t->together[k][j] = kl_sphere_value(sphere, sqrt(r[j] * r[j] + r[k] * r[k]) * z) - t->mean[j] * t->mean[k];
}

/* Of m frequencies with n_j of radius j, over directions and over who shares a block; *mean: their mean */
static double given_counts(const strata *t, const kl_directions *d, const double *n, double *mean)
{
    double m = (double)d->count, own = 0, pairs = 0;
    *mean = 0;
    for (int64_t j = 0; j < t->count; j++) {
        *mean += n[j] * t->mean[j] / m;
        own += n[j] * t->own[j];
        for (int64_t k = 0; k < t->count; k++)
            pairs += n[j] * (n[k] - (j == k)) * t->together[j][k];
    }
    return (own + (m > 1 ? kl_directions_together(d) * pairs / (m * (m - 1)) : 0)) / (m * m);
}

/* Systematic places (u + k) / m: up to radius j there are floor(m C_j) of them, and one more while u is below the fraction. */
static double over_places(const kl_law *law, const kl_directions *d, const strata *t)
{
    double m = (double)d->count, all_shares = kl_law_random(law), edge[MOST_STRATA + 1], up_to[MOST_STRATA], n[MOST_STRATA], sum = 0;
    double within = 0, mean = 0, square = 0;
    int64_t edges = t->count;
    for (int64_t j = 0; j < t->count; j++) {
        sum += law->share[j] / all_shares;
        up_to[j] = j == t->count - 1 ? m : fmin(m * sum, m);
        double fraction = up_to[j] - floor(up_to[j]);
        int64_t at = j;
        for (; at > 0 && edge[at - 1] > fraction; at--)
            edge[at] = edge[at - 1];
        edge[at] = fraction;
    }
    edge[edges] = 1;
    for (int64_t e = 0; e <= edges; e++) {
        double from = e > 0 ? edge[e - 1] : 0, wide = edge[e] - from, u = from + wide / 2, before = 0, here;
        if (!(wide > 0))
            continue;
        for (int64_t j = 0; j < t->count; j++) {
            double all = floor(up_to[j]) + (u < up_to[j] - floor(up_to[j]));
            n[j] = all - before;
            before = all;
        }
        within += wide * given_counts(t, d, n, &here);
        mean += wide * here;
        square += wide * here * here;
    }
    return within + fmax(0, square - mean * mean);
}

double kl_systematic_variance(const kl_law *law, const kl_sphere *sphere, const kl_directions *d, double z)
{
    strata t;
    if (law->cell > 0 || law->count > MOST_STRATA)
        return NAN;
    measure(law, sphere, z, &t);
    return over_places(law, d, &t);
}
