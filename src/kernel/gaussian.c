/*
 * gaussian.c - K(x, y) = exp(-gamma |x - y|^2).
 * Spectral density N(0, 2 gamma I) (Rahimi and Recht 2007; the slides' density is misprinted). auto: gamma = 1 / (2 m^2),
 * m the median distance of pairs of sample rows. A sigma of the literature is gamma = 1 / (2 sigma^2).
 * As a series: exp(-gamma |x|^2) exp(2 gamma <x, y>) exp(-gamma |y|^2), a_n = (2 gamma)^n / n!.
 */
#include "kernel/kernel.h"

#include "math/exponential.h"
#include "math/gamma.h"

#include <math.h>

enum { GAMMA };

static const kl_param params[] = {
    {"gamma", KL_REAL, "auto", 0, 1e30, true, "auto|search", "inverse squared width; auto: median distance; search: 7 values around it by cross-validation"},
    {0}};

static klift_status fit(kl_kernel *kernel, const kl_survey *survey)
{
    double median;
    if (kernel->value[GAMMA].word < 0)
        return KLIFT_OK;
    KL_TRY(kl_bandwidth_median(survey, false, &median));
    kernel->value[GAMMA] = (kl_value){1 / (2 * median * median), -1};
    return KLIFT_OK;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    double distance = scale * kl_pair_distance(pair);
    return exp(-kernel->value[GAMMA].number * distance * distance);
}

static void of_distances(const kl_kernel *kernel, int64_t count, const double *s, double *k)
{
    for (int64_t i = 0; i < count; i++)
        k[i] = -kernel->value[GAMMA].number * s[i];
    kl_exponentials(count, k, k);
}

static double decay(const kl_kernel *kernel)
{
    return kernel->value[GAMMA].number;
}

static double spread(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows)
{
    (void)from;
    (void)row;
    (void)rows;
    return sqrt(2 * kernel->value[GAMMA].number);
}

/* 1F1(B; B/2; -x), x = gamma |d|^2, as e^-x times a series whose terms stay below e^x: absolutely exact */
static double block_moment(const kl_kernel *kernel, const kl_pair *pair, int64_t block)
{
    double distance = kl_pair_distance(pair), x = kernel->value[GAMMA].number * distance * distance, half = 0.5 * (double)block;
    double term = exp(-x), sum = 0;
    for (int k = 0; k < 10000; k++) {
        sum += term;
        term *= (k - half) / (k + half) * x / (k + 1);
        if (k > x && fabs(term) < 1e-17)
            break;
    }
    return sum;
}

static void frequency(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w)
{
    double width = spread(kernel, from, row, rows);
    kl_random_normals(from, row, n, w);
    for (int64_t i = 0; i < n; i++)
        w[i] *= width;
}

static double log_coefficient(const kl_kernel *kernel, int64_t n)
{
    return (double)n * log(2 * kernel->value[GAMMA].number) - kl_log_gamma((double)n + 1);
}

static double log_prefactor(const kl_kernel *kernel, double square)
{
    return -kernel->value[GAMMA].number * square;
}

const kl_kernel_type kl_kernel_gaussian = {
    .name = "gaussian",
    .summary = "exp(-gamma |x-y|^2)",
    .params = params,
    .offers = KL_SPECTRUM | KL_ROTATION | KL_SERIES | KL_RADIAL,
    .fit = fit,
    .value = value,
    .of_distances = of_distances,
    .decay = decay,
    .frequency = frequency,
    .spread = spread,
    .block_moment = block_moment,
    .log_coefficient = log_coefficient,
    .log_prefactor = log_prefactor,
};
