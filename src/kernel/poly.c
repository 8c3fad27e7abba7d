/*
 * poly.c - K(x, y) = (gamma <x, y> + offset)^degree; homogeneous when offset = 0. a_n = C(degree, n) gamma^n offset^(degree - n).
 * A negative offset is no kernel: some a_n would be negative. Degree 0 is the constant 1. On rows of length 1
 * Pennington's (1 - |x - y|^2 / a^2)^p (2015) is degree = p, gamma = 2 / a^2, offset = 1 - 2 / a^2.
 */
#include "kernel/kernel.h"

#include "math/gamma.h"

#include <math.h>

enum { DEGREE, GAMMA, OFFSET };

static const kl_param params[] = {
    {"degree", KL_WHOLE, "3", 0, 1000, false, NULL, "the power; 0 is the constant kernel"},
    {"gamma", KL_REAL, "1", 0, 1e30, true, NULL, "factor of the inner product"},
    {"offset", KL_REAL, "1", 0, 1e30, false, NULL, "what is added to it; 0: homogeneous. Large offsets stress low degrees"},
    {0}};

static kl_power power(const kl_kernel *kernel)
{
    return (kl_power){(int64_t)kernel->value[DEGREE].number, kernel->value[GAMMA].number, kernel->value[OFFSET].number};
}

static double of_product(const kl_power *p, double t)
{
    return pow(p->gamma * t + p->offset, (double)p->degree);
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    kl_power p = power(kernel);
    return of_product(&p, scale * scale * pair->xy);
}

static void of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    kl_power p = power(kernel);
    (void)xx;
    (void)yy;
    for (int64_t i = 0; i < count; i++)
        k[i] = of_product(&p, xy[i]);
}

static double log_coefficient(const kl_kernel *kernel, int64_t n)
{
    kl_power p = power(kernel);
    double degree = (double)p.degree, rest = (double)(p.degree - n);
    if (n > p.degree)
        return -INFINITY;
    double log_offset = rest > 0 ? rest * log(p.offset) : 0; /* 0^0 = 1, otherwise the log of 0 stays -INFINITY */
    return kl_log_gamma(degree + 1) - kl_log_gamma((double)n + 1) - kl_log_gamma(rest + 1) + (double)n * log(p.gamma) + log_offset;
}

static int64_t degree(const kl_kernel *kernel)
{
    return power(kernel).degree;
}

const kl_kernel_type kl_kernel_poly = {
    .name = "poly",
    .summary = "(gamma <x, y> + offset)^degree",
    .params = params,
    .offers = KL_SERIES | KL_POWER | KL_RADIAL,
    .value = value,
    .of_products = of_products,
    .log_coefficient = log_coefficient,
    .degree = degree,
    .power = power,
};
