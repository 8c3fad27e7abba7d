/*
 * series.c - K(x, y) = a_0 + a_1 t + a_2 t^2 + ..., t = <x, y>, the coefficients given one by one: any polynomial of the
 * inner product with a_n >= 0, which is what makes it a kernel in every dimension (Schoenberg 1942).
 */
#include "kernel/kernel.h"

#include <math.h>

enum { COEFFICIENTS };

static const kl_param params[] = {
    {"coefficients", KL_LIST, "1,1,0.5", 0, 1e300, false, NULL, "a_0, a_1, a_2, ..., at most 64: series:1,1,0.5"},
    {0}};

static int64_t degree(const kl_kernel *kernel)
{
    int64_t n = kl_params_listed(kernel->value, COEFFICIENTS) - 1;
    while (n >= 0 && kernel->value[n].number == 0)
        n--;
    return n;
}

static klift_status check(const kl_kernel *kernel)
{
    if (degree(kernel) < 0)
        return kl_fail(KLIFT_USAGE, "kernel series: all coefficients are 0, so K is 0 everywhere; at least one must be above 0");
    return KLIFT_OK;
}

static double of_product(const kl_kernel *kernel, double t)
{
    double sum = 0;
    for (int64_t n = degree(kernel); n >= 0; n--)
        sum = sum * t + kernel->value[n].number;
    return sum;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    return of_product(kernel, scale * scale * pair->xy);
}

static void of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    (void)xx;
    (void)yy;
    for (int64_t i = 0; i < count; i++)
        k[i] = of_product(kernel, xy[i]);
}

static double log_coefficient(const kl_kernel *kernel, int64_t n)
{
    return n <= degree(kernel) ? log(kernel->value[n].number) : -INFINITY;
}

const kl_kernel_type kl_kernel_series = {
    .name = "series",
    .summary = "a_0 + a_1 t + a_2 t^2 + ..., t = <x, y>",
    .params = params,
    .offers = KL_SERIES | KL_RADIAL,
    .check = check,
    .value = value,
    .of_products = of_products,
    .log_coefficient = log_coefficient,
    .degree = degree,
};
