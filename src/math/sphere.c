/*
 * sphere.c - phi_d(t) as a weighted mean of cosines, sum_k W_k cos(t u_k) / sum_k W_k: bounded by 1, so that nothing cancels,
 * where the series of 0F1(; d/2; -t^2/4) loses e^(t^2 / 2d).
 *   d odd, d < 15  Gauss-Legendre in u with W (1-u^2)^((d-3)/2), a polynomial; an even number of nodes, of which u > 0 are kept
 *   otherwise      the midpoint rule in theta, u = sin theta, W = cos^(d-2) theta, which is periodic or vanishes at its ends;
 *                  beyond Theta the weight is below e^-40
 */
#include "math/sphere.h"

#include "base/memory.h"

#include <math.h>

enum { GROUP = 16, LEGENDRE_BELOW = 15, MOST_NODES = 1 << 20 };

static const double pi = 3.14159265358979323846;

/* Node number i of n >= 2 in (-1, 1), by Newton's method; the smallest i have the largest nodes. */
static void legendre(int64_t n, int64_t i, double *node, double *weight)
{
    double x = cos(pi * ((double)i + 0.75) / ((double)n + 0.5)), slope = 1;
    for (int step = 0; step < 100; step++) {
        double before = 1, here = x;
        for (int64_t k = 2; k <= n; k++) {
            double next = ((double)(2 * k - 1) * x * here - (double)(k - 1) * before) / (double)k;
            before = here;
            here = next;
        }
        slope = (double)n * (x * here - before) / (x * x - 1);
        x -= here / slope;
        if (fabs(here / slope) < 1e-15)
            break;
    }
    *node = x;
    *weight = 2 / ((1 - x * x) * slope * slope);
}

static void fill_legendre(kl_sphere *s, int64_t d, int64_t used)
{
    for (int64_t i = 0; i < used; i++) {
        legendre(2 * used, i, &s->node[i], &s->weight[i]);
        s->weight[i] *= pow(1 - s->node[i] * s->node[i], 0.5 * (double)(d - 3));
    }
}

static void fill_midpoints(kl_sphere *s, int64_t d, int64_t used, double last)
{
    for (int64_t i = 0; i < used; i++) {
        double theta = ((double)i + 0.5) * last / (double)used;
        s->node[i] = sin(theta);
        s->weight[i] = d == 2 ? 1 : exp((double)(d - 2) * log(cos(theta)));
    }
}

klift_status kl_sphere_new(kl_sphere *s, int64_t d, double most)
{
    bool odd = d % 2 == 1 && d < LEGENDRE_BELOW;
    double width = (double)d, last = d == 2 ? pi / 2 : fmin(pi / 2, sqrt(80 / (width - 2))), wanted, sum = 0;
    if (odd)
        wanted = ceil(0.5 * (32 + ceil(most)));
    else
        wanted = last < pi / 2 ? 8 + ceil(last / pi * (most + 10 * sqrt(width))) : 16 + ceil(0.5 * (most + width));
    *s = (kl_sphere){0};
    if (!(wanted < MOST_NODES))
        return kl_fail(KLIFT_FAILED, "a mean over the sphere at %g needs too many nodes", most);
    int64_t used = (int64_t)wanted;
    s->count = (used + GROUP - 1) / GROUP * GROUP;
    KL_TRY(kl_new(&s->node, s->count, sizeof *s->node, "nodes of the sphere"));
    KL_TRY(kl_new(&s->weight, s->count, sizeof *s->weight, "nodes of the sphere"));
    if (odd)
        fill_legendre(s, d, used);
    else
        fill_midpoints(s, d, used, last);
    for (int64_t i = 0; i < used; i++)
        sum += s->weight[i];
    for (int64_t i = 0; i < used; i++)
        s->weight[i] /= sum;
    return KLIFT_OK;
}

void kl_sphere_clear(kl_sphere *s)
{
    kl_free(s->node);
    kl_free(s->weight);
    *s = (kl_sphere){0};
}

double kl_sphere_value(const kl_sphere *s, double t)
{
    double sum = 0;
    for (int64_t k = 0; k < s->count; k++)
        sum += s->weight[k] * cos(t * s->node[k]);
    return sum;
}

/* Angles i step u_k of GROUP nodes: each is the one before, rotated. */
static void climb(const double *node, const double *weight, double step, double factor, int64_t count, double *out)
{
    double cosine[GROUP], sine[GROUP], turn_cosine[GROUP], turn_sine[GROUP], part[GROUP];
    for (int k = 0; k < GROUP; k++) {
        turn_cosine[k] = cos(step * node[k]);
        turn_sine[k] = sin(step * node[k]);
        cosine[k] = factor * weight[k];
        sine[k] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < GROUP / 2; k++)
            part[k] = cosine[k] + cosine[k + GROUP / 2];
        out[i] += ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        for (int k = 0; k < GROUP; k++) {
            double c = cosine[k] * turn_cosine[k] - sine[k] * turn_sine[k];
            sine[k] = cosine[k] * turn_sine[k] + sine[k] * turn_cosine[k];
            cosine[k] = c;
        }
    }
}

void kl_sphere_ladder(const kl_sphere *s, double step, double factor, int64_t count, double *out)
{
    for (int64_t k = 0; k < s->count; k += GROUP)
        climb(s->node + k, s->weight + k, step, factor, count, out);
}
