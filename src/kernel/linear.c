/* linear.c - K(x, y) = <x, y>. */
#include "kernel/kernel.h"

static const kl_param params[] = {{0}};

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    (void)kernel;
    return scale * scale * pair->xy;
}

const kl_kernel_type kl_kernel_linear = {
    .name = "linear",
    .summary = "<x, y>",
    .params = params,
    .offers = KL_LINEAR,
    .value = value,
};
