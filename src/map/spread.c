/*
 * spread.c - the variance over the units. Units of one Hadamard block are dependent and, mostly, repel each other.
 *   counted  sum over n of b_n w_n^2 (E q_n^2 - s^2n) + sum over pairs of a block of w_n w_m (E q_n q_m - s^(n+m))
 *   drawn    (sum over n of c_n^2 E q_n^2 / P(n) - k^2) / T + (pairs / T^2) (sum over n, m of c_n c_m E q_n q_m - k^2),
 *            k = sum over n of c_n s^n, T units; a block holds units in the order of their drawing, so that their degrees
 *            are independent
 */
#include "map/spread.h"

#include <math.h>

/* Units first .. end-1 that have the degree of the first. */
static int64_t run_end(const kl_rademacher *r, int64_t first, int64_t end)
{
    int64_t k = first;
    while (k < end && r->degree[k] == r->degree[first])
        k++;
    return k;
}

static double covariance(const kl_rademacher *r, const kl_moments *m, int64_t n, int64_t other, double factor)
{
    int64_t low = n < other ? n : other, high = n < other ? other : n;
    return kl_moments_shared(m, r->complex_signs, r->block, low, high, factor) - kl_moments_mean(m, low + high, factor);
}

static double block_covariance(const kl_rademacher *r, const kl_moments *m, int64_t first, int64_t end, const double *log_weight)
{
    double sum = 0;
    for (int64_t k = first, k_end; k < end; k = k_end) {
        k_end = run_end(r, k, end);
        for (int64_t l = first, l_end; l < end; l = l_end) {
            l_end = run_end(r, l, end);
            double pairs = (double)(k_end - k) * (double)(l_end - l - (k == l));
            if (pairs > 0)
                sum += pairs * covariance(r, m, r->degree[k], r->degree[l], log_weight[r->degree[k]] + log_weight[r->degree[l]]);
        }
    }
    return sum;
}

static int64_t block_end(const kl_rademacher *r, int64_t first)
{
    return first + r->block < r->units ? first + r->block : r->units;
}

static double of_counted(const kl_degrees *g, const kl_rademacher *r, const kl_kernel *kernel, const kl_moments *m)
{
    double log_weight[KL_DEGREES_MOST + 1], sum = 0;
    kl_degrees_weights(g, kernel, 0, log_weight);
    for (int64_t n = g->exact + 1; n <= g->last; n++)
        if (g->count[n] > 0)
            sum += (double)g->count[n] * (kl_moments_square(m, g->complex_signs, n, 2 * log_weight[n]) - kl_moments_mean(m, 2 * n, 2 * log_weight[n]));
    for (int64_t first = 0; r->block > 1 && first < r->units; first += r->block)
        sum += block_covariance(r, m, first, block_end(r, first), log_weight);
    return sum;
}

static double of_drawn(const kl_degrees *g, const kl_rademacher *r, const kl_kernel *kernel, double ratio, const kl_moments *m)
{
    double share[KL_DEGREES_MOST + 1], log_c[KL_DEGREES_MOST + 1], squares = 0, mean = 0, together = 0, pairs = 0, units = (double)g->units;
    kl_degrees_shares(g, ratio, share);
    for (int64_t n = g->exact + 1; n <= g->last; n++) {
        log_c[n] = kl_degrees_log(g, kernel, n);
        if (!(log_c[n] > -INFINITY))
            continue;
        squares += kl_moments_square(m, g->complex_signs, n, 2 * log_c[n] - share[n]);
        mean += kl_moments_mean(m, n, log_c[n]);
        for (int64_t low = g->exact + 1; low <= n && r->block > 1; low++)
            if (log_c[low] > -INFINITY)
                together += (low < n ? 2 : 1) * covariance(r, m, low, n, log_c[low] + log_c[n]);
    }
    for (int64_t first = 0; r->block > 1 && first < r->units; first += r->block) {
        double here = (double)(block_end(r, first) - first);
        pairs += here * (here - 1);
    }
    return (squares - mean * mean) / units + pairs / (units * units) * together;
}

double kl_spread(const kl_degrees *g, const kl_rademacher *r, const kl_kernel *kernel, double ratio, const kl_moments *m)
{
    if (g->units == 0)
        return 0;
    return ratio > 0 ? of_drawn(g, r, kernel, ratio, m) : of_counted(g, r, kernel, m);
}
