/*
 * vovk.c - Vovk's kernels, geometric series of t = <x, y>.
 *   vovk           (1 - t^degree) / (1 - t) = 1 + t + ... + t^(degree-1), by Horner: the quotient is 0/0 at t = 1
 *   vovk-infinite  1 / (1 - t / scale), a_n = scale^-n, for |x| |y| < scale; from t = scale on the series has no value: infinite
 */
#include "kernel/kernel.h"

#include <math.h>

enum { DEGREE, SCALE = 0 };

static const kl_param finite_params[] = {
    {"degree", KL_WHOLE, "5", 1, 1000, false, NULL, "number of terms: powers 0 to degree - 1; 1 is the constant kernel"},
    {0}};
static const kl_param infinite_params[] = {
    {"scale", KL_REAL, "2", 0, 1e30, true, NULL, "above the largest |x|^2 of the data"},
    {0}};

static double of_product(const kl_kernel *kernel, double t)
{
    double sum = 1;
    for (int64_t n = (int64_t)kernel->value[DEGREE].number; n > 1; n--)
        sum = 1 + t * sum;
    return sum;
}

static double infinite_of_product(const kl_kernel *kernel, double t)
{
    double scale = kernel->value[SCALE].number;
    return t < scale ? scale / (scale - t) : INFINITY;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    return of_product(kernel, scale * scale * pair->xy);
}

static double infinite_value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    return infinite_of_product(kernel, scale * scale * pair->xy);
}

static void of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    (void)xx;
    (void)yy;
    for (int64_t i = 0; i < count; i++)
        k[i] = of_product(kernel, xy[i]);
}

static void infinite_of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    (void)xx;
    (void)yy;
    for (int64_t i = 0; i < count; i++)
        k[i] = infinite_of_product(kernel, xy[i]);
}

static double log_coefficient(const kl_kernel *kernel, int64_t n)
{
    return n < (int64_t)kernel->value[DEGREE].number ? 0 : -INFINITY;
}

static double infinite_log_coefficient(const kl_kernel *kernel, int64_t n)
{
    return -(double)n * log(kernel->value[SCALE].number);
}

static int64_t degree(const kl_kernel *kernel)
{
    return (int64_t)kernel->value[DEGREE].number - 1;
}

static double radius(const kl_kernel *kernel)
{
    return kernel->value[SCALE].number;
}

const kl_kernel_type kl_kernel_vovk = {
    .name = "vovk",
    .summary = "1 + t + ... + t^(degree-1), t = <x, y>",
    .params = finite_params,
    .offers = KL_SERIES | KL_RADIAL,
    .value = value,
    .of_products = of_products,
    .log_coefficient = log_coefficient,
    .degree = degree,
};

const kl_kernel_type kl_kernel_vovk_infinite = {
    .name = "vovk-infinite",
    .summary = "1 / (1 - <x, y> / scale), for rows with |x|^2 < scale",
    .params = infinite_params,
    .offers = KL_SERIES | KL_RADIAL,
    .value = infinite_value,
    .of_products = infinite_of_products,
    .log_coefficient = infinite_log_coefficient,
    .radius = radius,
};
