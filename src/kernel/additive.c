/*
 * additive.c - kernels of rows without negative values, a sum over the columns of a k homogeneous of degree 1 (Vedaldi and Zisserman
 * 2012): k(x, y) = sqrt(x y) E cos(l ln(x / y)) for a law of l that is the kernel's signature. Laws are of |l|: they are even.
 *   intersection    min(x, y)                                               (4 / pi) / (1 + 4 l^2)
 *   chi2            2 x y / (x + y)                                         2 sech(pi l)
 *   jensen-shannon  (x/2) log2((x + y) / x) + (y/2) log2((x + y) / y)       (2 / ln 2) sech(pi l) / (1 + 4 l^2)
 * k(x, 0) = 0 and k(x, x) = x in all of them, so that K(x, x) is the sum of the row.
 */
#include "kernel/kernel.h"

#include "math/quadrature.h"

#include <math.h>

static const kl_param params[] = {{0}};
static const double pi = 3.14159265358979323846, ln_2 = 0.69314718055994530942;

/* A column with nothing on one side adds nothing. */
static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    double sum = 0;
    for (int64_t i = 0; i < pair->n; i++)
        if (pair->x[i] > 0 && pair->y[i] > 0)
            sum += kernel->type->of_column(pair->x[i], pair->y[i]);
    return scale * sum;
}

static void of_panel(const kl_kernel *kernel, int64_t n, const double *x, const float *y, double *k)
{
    enum { WIDTH = KL_KERNEL_PANEL };
    for (int w = 0; w < WIDTH; w++)
        k[w] = 0;
    for (int64_t i = 0; i < n; i++, y += WIDTH)
        for (int w = 0; x[i] > 0 && w < WIDTH; w++)
            if (y[w] > 0)
                k[w] += kernel->type->of_column(x[i], (double)y[w]);
}

/* ---- intersection ---- */

static double smaller(double x, double y)
{
    return x < y ? x : y;
}

static double intersection_law(const kl_kernel *kernel, double l)
{
    (void)kernel;
    return 4 / pi / (1 + 4 * l * l);
}

/* Clamped where a float32 phase could not follow: the share of what lies beyond is 3e-6. */
static double intersection_quantile(const kl_kernel *kernel, double u)
{
    (void)kernel;
    return fmin(0.5 * tan(0.5 * pi * u), 1e5);
}

/* ---- chi2 ---- */

static double harmonic(double x, double y)
{
    return 2 * x * (y / (x + y));
}

static double chi2_law(const kl_kernel *kernel, double l)
{
    (void)kernel;
    return 2 / cosh(pi * l);
}

static double chi2_quantile(const kl_kernel *kernel, double u)
{
    (void)kernel;
    return asinh(tan(0.5 * pi * u)) / pi;
}

/* ---- Jensen-Shannon ---- */

static double shared_bits(double x, double y)
{
    return (x * log1p(y / x) + y * log1p(x / y)) / (2 * ln_2);
}

static double jensen_shannon_law(const kl_kernel *kernel, double l)
{
    (void)kernel;
    return 2 / ln_2 / cosh(pi * l) / (1 + 4 * l * l);
}

static double law_at(double l, const void *context)
{
    return jensen_shannon_law(context, l);
}

/* No closed form: steps to the piece that holds it, then Newton inside. Beyond 12 there is less than 1e-17. */
static double jensen_shannon_quantile(const kl_kernel *kernel, double u)
{
    const double step = 0.25, end = 12;
    double low = 0, below = 0, l;
    for (; low < end; low += step) {
        double piece = kl_quadrature(law_at, kernel, low, low + step, 1);
        if (below + piece >= u)
            break;
        below += piece;
    }
    l = low;
    for (int i = 0; i < 50 && low < end; i++) {
        double miss = below + kl_quadrature(law_at, kernel, low, l, 1) - u, next = l - miss / jensen_shannon_law(kernel, l);
        next = fmin(fmax(next, low), low + step);
        if (fabs(next - l) < 1e-14)
            break;
        l = next;
    }
    return l;
}

const kl_kernel_type kl_kernel_intersection = {
    .name = "intersection",
    .summary = "sum min(x_i, y_i), for rows without negative values",
    .params = params,
    .offers = KL_SIGNATURE,
    .domain = KL_NON_NEGATIVE,
    .value = value,
    .of_panel = of_panel,
    .of_column = smaller,
    .law = intersection_law,
    .quantile = intersection_quantile,
};

const kl_kernel_type kl_kernel_chi2 = {
    .name = "chi2",
    .summary = "sum 2 x_i y_i / (x_i + y_i), for rows without negative values",
    .params = params,
    .offers = KL_SIGNATURE,
    .domain = KL_NON_NEGATIVE,
    .value = value,
    .of_panel = of_panel,
    .of_column = harmonic,
    .law = chi2_law,
    .quantile = chi2_quantile,
};

const kl_kernel_type kl_kernel_jensen_shannon = {
    .name = "jensen-shannon",
    .summary = "sum of (x_i/2) log2(1 + y_i/x_i) + (y_i/2) log2(1 + x_i/y_i), for rows without negative values",
    .params = params,
    .offers = KL_SIGNATURE,
    .domain = KL_NON_NEGATIVE,
    .value = value,
    .of_panel = of_panel,
    .of_column = shared_bits,
    .law = jensen_shannon_law,
    .quantile = jensen_shannon_quantile,
};
