/*
 * gaussian.c - K(x, y) = exp(-gamma |x - y|^2).
 * Spectral density N(0, 2 gamma I) (Rahimi and Recht 2007; the slides' density is misprinted). auto: gamma = 1 / (2 m^2),
 * m the median distance of pairs of sample rows. A sigma of the literature is gamma = 1 / (2 sigma^2).
 */
#include "kernel/kernel.h"

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
    KL_TRY(kl_bandwidth_median(survey, &median));
    kernel->value[GAMMA] = (kl_value){1 / (2 * median * median), -1};
    return KLIFT_OK;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    double distance = 0; /* from the differences: never negative, no cancellation */
    for (int64_t i = 0; i < pair->n; i++)
        distance += (pair->x[i] - pair->y[i]) * (pair->x[i] - pair->y[i]);
    return exp(-kernel->value[GAMMA].number * scale * scale * distance);
}

static void frequency(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t n, double *w)
{
    double spread = sqrt(2 * kernel->value[GAMMA].number);
    kl_random_normals(from, row, n, w);
    for (int64_t i = 0; i < n; i++)
        w[i] *= spread;
}

const kl_kernel_type kl_kernel_gaussian = {
    .name = "gaussian",
    .summary = "exp(-gamma |x-y|^2)",
    .params = params,
    .offers = KL_SPECTRUM,
    .fit = fit,
    .value = value,
    .frequency = frequency,
};
