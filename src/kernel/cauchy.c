/*
 * cauchy.c - K(x, y) = prod_i 1 / (1 + gamma^2 (x_i - y_i)^2). Spectral density: independent Laplace coordinates of scale
 * gamma (Rahimi and Recht 2007; the slides' factor 2 is misprinted). auto: gamma = 1 / median distance.
 */
#include "kernel/kernel.h"

#include <math.h>

enum { GAMMA };

static const kl_param params[] = {
    {"gamma", KL_REAL, "auto", 0, 1e30, true, "auto|search", "inverse width; auto: median distance; search: 7 values around it by cross-validation"},
    {0}};

static klift_status fit(kl_kernel *kernel, const kl_survey *survey)
{
    double median;
    if (kernel->value[GAMMA].word < 0)
        return KLIFT_OK;
    KL_TRY(kl_bandwidth_median(survey, false, &median));
    kernel->value[GAMMA] = (kl_value){1 / median, -1};
    return KLIFT_OK;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    double factor = kernel->value[GAMMA].number * scale, sum = 0; /* logarithms: a product of 10^6 factors underflows late */
    for (int64_t i = 0; i < pair->n; i++) {
        double d = factor * (pair->x[i] - pair->y[i]);
        sum += log1p(d * d);
    }
    return exp(-sum);
}

/* 1 + d^2 multiplied up between two logarithms: a product beyond the largest double is a K of 0. */
static void of_panel(const kl_kernel *kernel, int64_t n, const double *x, const float *y, double *k)
{
    enum { WIDTH = KL_KERNEL_PANEL, FACTORS = 16 };
    double gamma = kernel->value[GAMMA].number, sum[WIDTH] = {0};
    for (int64_t first = 0; first < n; first += FACTORS) {
        double product[WIDTH];
        for (int w = 0; w < WIDTH; w++)
            product[w] = 1;
        for (int64_t i = first; i < n && i < first + FACTORS; i++, y += WIDTH)
            for (int w = 0; w < WIDTH; w++) {
                double d = gamma * (x[i] - (double)y[w]);
                product[w] *= 1 + d * d;
            }
        for (int w = 0; w < WIDTH; w++)
            sum[w] += log(product[w]);
    }
    for (int w = 0; w < WIDTH; w++)
        k[w] = exp(-sum[w]);
}

/* |w_i| is exponential, its sign that of the same uniform: u below 1/2 is one side. */
static void frequency(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w)
{
    double gamma = kernel->value[GAMMA].number;
    (void)rows;
    kl_random_uniforms(from, row, n, w);
    for (int64_t i = 0; i < n; i++)
        w[i] = w[i] < 0.5 ? gamma * log(2 * w[i]) : -gamma * log(2 * (1 - w[i]));
}

const kl_kernel_type kl_kernel_cauchy = {
    .name = "cauchy",
    .summary = "prod 1/(1+gamma^2 (x_i-y_i)^2)",
    .params = params,
    .offers = KL_SPECTRUM,
    .fit = fit,
    .value = value,
    .of_panel = of_panel,
    .frequency = frequency,
};
