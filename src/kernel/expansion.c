/*
 * expansion.c - what kernels with a series share: K(x, y) = p(|x|^2) f(<x, y>) p(|y|^2), f(t) = sum of a_n t^n.
 * Since |<x, y>| <= |x| |y|, everything that can go wrong with f goes wrong first at the longest row with itself.
 */
#include "kernel/kernel.h"

#include <math.h>

int64_t kl_expansion_degree(const kl_kernel *kernel)
{
    return kernel->type->degree != NULL ? kernel->type->degree(kernel) : -1;
}

double kl_expansion_radius(const kl_kernel *kernel)
{
    return kernel->type->radius != NULL ? kernel->type->radius(kernel) : INFINITY;
}

double kl_expansion_value(const kl_kernel *kernel, double xy, double xx, double yy)
{
    double k;
    if (kernel->type->of_products != NULL)
        kernel->type->of_products(kernel, 1, &xy, xx, &yy, &k);
    else { /* of the distance */
        double square = fmax(xx - 2 * xy + yy, 0);
        kernel->type->of_distances(kernel, 1, &square, &k);
    }
    return k;
}

klift_status kl_expansion_check(const kl_kernel *kernel, double norm_max)
{
    const double largest = 1e30; /* sums of squares of thousands of features must stay inside float32, 3e38 */
    const char *name = kernel->type->name;
    double square = norm_max * norm_max, radius = kl_expansion_radius(kernel);
    if (!(square < radius))
        return kl_fail(KLIFT_DATA, "kernel %s is for rows with |x|^2 < %g, and the longest has |x|^2 = %g; make the rows shorter, for example with prepare=unit or "
                       "prepare=maxnorm and a %s above 1, or raise %s above %g", name, radius, square, kernel->type->params[0].name, kernel->type->params[0].name, square);
    double k = kl_expansion_value(kernel, square, square, square);
    if (!(k < largest))
        return kl_fail(KLIFT_DATA, "kernel %s is as large as %.3g on these rows (the longest is %.3g), too large for float32 features (at most %g); make the rows "
                       "shorter, for example with prepare=unit or prepare=maxnorm, or change the kernel's parameters", name, k, norm_max, largest);
    return KLIFT_OK;
}
