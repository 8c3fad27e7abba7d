/*
 * exp.c - K(x, y) = exp(<x, y> / sigma^2), a_n = 1 / (n! sigma^2n) (Kar and Karnick 2012).
 * auto: sigma = mean distance of pairs of sample rows, as there.
 */
#include "kernel/kernel.h"

#include "math/gamma.h"

#include <math.h>

enum { SIGMA };

static const kl_param params[] = {
    {"sigma", KL_REAL, "auto", 0, 1e30, true, "auto|search", "width; auto: mean distance; search: 7 values around it by cross-validation"},
    {0}};

static klift_status fit(kl_kernel *kernel, const kl_survey *survey)
{
    double mean;
    if (kernel->value[SIGMA].word < 0)
        return KLIFT_OK;
    KL_TRY(kl_bandwidth_mean(survey, &mean));
    kernel->value[SIGMA] = (kl_value){mean, -1};
    return KLIFT_OK;
}

/* t / sigma^2 in this order: sigma^2 may leave the range of doubles */
static double exponent(const kl_kernel *kernel, double t)
{
    double sigma = kernel->value[SIGMA].number;
    return t / sigma / sigma;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    return exp(exponent(kernel, scale * scale * pair->xy));
}

static void of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    (void)xx;
    (void)yy;
    for (int64_t i = 0; i < count; i++)
        k[i] = exp(exponent(kernel, xy[i])); /* libm's: infinite beyond its range, where kl_exponentials stops */
}

static double log_coefficient(const kl_kernel *kernel, int64_t n)
{
    return -kl_log_gamma((double)n + 1) - 2 * (double)n * log(kernel->value[SIGMA].number);
}

const kl_kernel_type kl_kernel_exp = {
    .name = "exp",
    .summary = "exp(<x, y> / sigma^2)",
    .params = params,
    .offers = KL_SERIES | KL_RADIAL,
    .fit = fit,
    .value = value,
    .of_products = of_products,
    .log_coefficient = log_coefficient,
};
