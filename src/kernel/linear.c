/* linear.c - K(x, y) = <x, y>. */
#include "kernel/kernel.h"

#include <string.h>

static const kl_param params[] = {{0}};

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    (void)kernel;
    return scale * scale * pair->xy;
}

static void of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    (void)kernel;
    (void)xx;
    (void)yy;
    memmove(k, xy, (size_t)count * sizeof *k);
}

const kl_kernel_type kl_kernel_linear = {
    .name = "linear",
    .summary = "<x, y>",
    .params = params,
    .offers = KL_LINEAR,
    .value = value,
    .of_products = of_products,
};
