/*
 * sigmoid.c - K(x, y) = tanh(gamma <x, y> + offset), the kernel of two-layer networks. Never positive definite: its series has
 * negative coefficients whatever gamma and offset are (Smola, Ovari and Williamson 2000), so it offers no series.
 */
#include "kernel/kernel.h"

#include <math.h>

enum { GAMMA, OFFSET };

static const kl_param params[] = {
    {"gamma", KL_REAL, "1", 0, 1e30, true, NULL, "factor of the inner product"},
    {"offset", KL_REAL, "0", -1e30, 1e30, false, NULL, "what is added to it; gamma + offset must be above 0 on rows of length 1, or K(x, x) is not"},
    {0}};

static double of_product(const kl_kernel *kernel, double t)
{
    return tanh(kernel->value[GAMMA].number * t + kernel->value[OFFSET].number);
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

const kl_kernel_type kl_kernel_sigmoid = {
    .name = "sigmoid",
    .summary = "tanh(gamma <x, y> + offset); not positive definite",
    .params = params,
    .offers = KL_RADIAL,
    .indefinite = true,
    .value = value,
    .of_products = of_products,
};
