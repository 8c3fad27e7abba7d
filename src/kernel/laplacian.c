/*
 * laplacian.c - K(x, y) = exp(-gamma |x - y|_1): the sum of absolute differences, not the Euclidean distance (that is
 * matern with nu = 1/2). Spectral density: independent Cauchy coordinates of scale gamma, w_i = gamma tan(pi (u - 1/2)),
 * clamped at 1e5 gamma (probability 6e-6): a float32 phase could not follow beyond. auto: gamma = 1 / median distance.
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
    KL_TRY(kl_bandwidth_median(survey, true, &median));
    kernel->value[GAMMA] = (kl_value){1 / median, -1};
    return KLIFT_OK;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    double distance = 0;
    for (int64_t i = 0; i < pair->n; i++)
        distance += fabs(pair->x[i] - pair->y[i]);
    return exp(-kernel->value[GAMMA].number * scale * distance);
}

static void of_panel(const kl_kernel *kernel, int64_t n, const double *x, const float *y, double *k)
{
    enum { WIDTH = KL_KERNEL_PANEL };
    double sum[WIDTH] = {0};
    for (int64_t i = 0; i < n; i++, y += WIDTH)
        for (int w = 0; w < WIDTH; w++)
            sum[w] += fabs(x[i] - (double)y[w]);
    for (int w = 0; w < WIDTH; w++)
        k[w] = exp(-kernel->value[GAMMA].number * sum[w]);
}

static void frequency(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w)
{
    double gamma = kernel->value[GAMMA].number;
    (void)rows;
    kl_random_uniforms(from, row, n, w);
    for (int64_t i = 0; i < n; i++)
        w[i] = gamma * fmin(fmax(tan(3.14159265358979323846 * (w[i] - 0.5)), -1e5), 1e5);
}

const kl_kernel_type kl_kernel_laplacian = {
    .name = "laplacian",
    .summary = "exp(-gamma sum |x_i-y_i|)",
    .params = params,
    .offers = KL_SPECTRUM,
    .fit = fit,
    .value = value,
    .of_panel = of_panel,
    .frequency = frequency,
};
