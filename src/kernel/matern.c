/*
 * matern.c - K(x, y) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) |x - y| / length. nu = 1/2 is exp(-t); nu to
 * infinity is the Gaussian with gamma = 1 / (2 length^2). Spectral density: multivariate t with 2 nu degrees of freedom,
 * w = g / length sqrt(nu / G), one G ~ Gamma(nu, 1) per frequency. The Bessel function by the trapezoid rule on
 * K_nu(t) = int_0^inf exp(-t cosh u) cosh(nu u) du, which converges geometrically. auto: length = median distance.
 */
#include "kernel/kernel.h"

#include "math/exponential.h"
#include "math/gamma.h"

#include <math.h>

enum { NU, LENGTH };

static const kl_param params[] = {
    {"nu", KL_REAL, "1.5", 0, 1000, true, NULL, "smoothness: 0.5, 1.5, 2.5, ... or any positive number"},
    {"length", KL_REAL, "auto", 0, 1e30, true, "auto|search", "length scale; auto: median distance; search: 7 values around it by cross-validation"},
    {0}};

static klift_status fit(kl_kernel *kernel, const kl_survey *survey)
{
    double median;
    if (kernel->value[LENGTH].word < 0)
        return KLIFT_OK;
    KL_TRY(kl_bandwidth_median(survey, false, &median));
    kernel->value[LENGTH] = (kl_value){median, -1};
    return KLIFT_OK;
}

/* log of the normalised profile; the integrand is divided by its largest value, so that nothing overflows */
static double profile(double nu, double t)
{
    double peak = asinh(nu / t), step = 0.02, sum = 0; /* where -t cosh u + nu u is largest */
    double top = -t * cosh(peak) + nu * peak;
    for (int i = 0;; i++) {
        double u = i * step, up = -t * cosh(u) + nu * u - top, down = -t * cosh(u) - nu * u - top;
        sum += (i == 0 ? 0.5 : 1.0) * 0.5 * (exp(up) + exp(down));
        if (u > peak && up < -40)
            break;
    }
    return (1 - nu) * log(2.0) - kl_log_gamma(nu) + nu * log(t) + top + log(sum * step);
}

/* K at t = sqrt(2 nu) distance / length, any nu */
static double general(double nu, double t)
{
    if (t < 1e-9)
        return 1;
    return t > 700 ? 0 : fmin(exp(profile(nu, t)), 1);
}

/* nu = 1/2, 3/2, 5/2: exp(-t) times what stands here */
static double factor(double nu, double t)
{
    return nu == 0.5 ? 1 : nu == 1.5 ? 1 + t : 1 + t + t * t / 3;
}

static bool is_simple(double nu)
{
    return nu == 0.5 || nu == 1.5 || nu == 2.5;
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    double nu = kernel->value[NU].number, t = sqrt(2 * nu) * scale * kl_pair_distance(pair) / kernel->value[LENGTH].number;
    return is_simple(nu) ? factor(nu, t) * exp(-t) : general(nu, t);
}

static void of_distances(const kl_kernel *kernel, int64_t count, const double *s, double *k)
{
    enum { AT_ONCE = 64 };
    double nu = kernel->value[NU].number, by = sqrt(2 * nu) / kernel->value[LENGTH].number, t[AT_ONCE], power[AT_ONCE];
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        int64_t here = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (int64_t i = 0; i < here; i++) {
            t[i] = by * sqrt(s[first + i]);
            power[i] = -t[i];
        }
        if (is_simple(nu))
            kl_exponentials(here, power, power);
        for (int64_t i = 0; i < here; i++)
            k[first + i] = is_simple(nu) ? factor(nu, t[i]) * power[i] : general(nu, t[i]);
    }
}

static double spread(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows)
{
    (void)rows;
    kl_random mixture = {from->seed, from->stream, KL_DRAW_MIXTURE};
    double nu = kernel->value[NU].number;
    return sqrt(nu / kl_random_gamma(&mixture, row, nu)) / kernel->value[LENGTH].number;
}

static void frequency(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w)
{
    double width = spread(kernel, from, row, rows);
    kl_random_normals(from, row, n, w);
    for (int64_t i = 0; i < n; i++)
        w[i] *= width;
}

const kl_kernel_type kl_kernel_matern = {
    .name = "matern",
    .summary = "Matern of smoothness nu; nu=0.5 is exp(-|x-y|/length)",
    .params = params,
    .offers = KL_SPECTRUM | KL_ROTATION | KL_RADIAL,
    .fit = fit,
    .value = value,
    .of_distances = of_distances,
    .frequency = frequency,
    .spread = spread,
};
