/*
 * compose.c - K(x, y) = f(k(x, y)): a kernel of the inner product, f(t) = sum of a_n t^n, of the features of another kernel k (Kar and
 * Karnick 2012, section 5). compose(exp, gaussian) is exp(k(x, y) / sigma^2) with sigma=auto the mean distance of features.
 * Over a k with a spectral density and k(0) = 1, k^n has the density of w_1 + ... + w_n: K is the constant a_0 and frequencies that are
 * sums of N of k's, P(N = n) = a_n / (f(1) - a_0), n >= 1. Row j of m draws its N from the j-th of m equal parts of that law. Sums of
 * normal vectors are one, as long as the root of the sum of squares: what is rotation-invariant stays so.
 * Over an additive k there are scalar draws, which the map product multiplies; over any other its values.
 */
#include "kernel/kernel.h"

#include "base/memory.h"

#include <math.h>

enum { MOST_SUMMANDS = 10000, MOST_ROWS = 200 };
static const double largest = 1e30; /* of K, as for every series */

static const kl_param params[] = {{0}};

/* ---- values ---- */

static double of_inner(const kl_kernel *kernel, double t)
{
    return kl_expansion_value(kernel->outer, t, t, t);
}

static double value(const kl_kernel *kernel, const kl_pair *pair, double scale)
{
    return of_inner(kernel, kernel->inner->type->value(kernel->inner, pair, scale));
}

static void apply_outer(const kl_kernel *kernel, int64_t count, double *k)
{
    kernel->outer->type->of_products(kernel->outer, count, k, 0, k, k);
}

static void of_distances(const kl_kernel *kernel, int64_t count, const double *s, double *k)
{
    kernel->inner->type->of_distances(kernel->inner, count, s, k);
    apply_outer(kernel, count, k);
}

static void of_products(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k)
{
    kernel->inner->type->of_products(kernel->inner, count, xy, xx, yy, k);
    apply_outer(kernel, count, k);
}

static void of_panel(const kl_kernel *kernel, int64_t n, const double *x, const float *y, double *k)
{
    kernel->inner->type->of_panel(kernel->inner, n, x, y, k);
    apply_outer(kernel, KL_KERNEL_PANEL, k);
}

/* ---- fit ---- */

/* The largest k(x, x) of the sample: 1 where k(0) = 1. */
static klift_status find_ceiling(const kl_kernel *inner, const kl_survey *survey, double *ceiling)
{
    kl_batch rows = kl_rows_view(&survey->sample);
    double *x = NULL;
    KL_TRY(kl_new(&x, survey->columns, sizeof *x, "a row"));
    *ceiling = 0;
    for (int64_t i = 0; i < rows.rows; i++) {
        kl_pair pair;
        kl_batch_row_doubles(&rows, i, survey->columns, x);
        kl_pair_set(&pair, survey->columns, x, x);
        *ceiling = fmax(*ceiling, kl_kernel_value(inner, &pair));
    }
    kl_free(x);
    return KLIFT_OK;
}

/* The mean distance of the inner kernel's features: sqrt(k(x, x) + k(y, y) - 2 k(x, y)) over pairs of sample rows. */
static klift_status mean_distance(const kl_kernel *inner, const kl_survey *survey, double *mean)
{
    kl_batch rows = kl_rows_view(&survey->sample);
    int64_t n = rows.rows < MOST_ROWS ? rows.rows : MOST_ROWS, d = survey->columns;
    double *x = NULL, *self = NULL, sum = 0;
    klift_status status;
    KL_GO(kl_new(&x, n * d, sizeof *x, "sample rows"));
    KL_GO(kl_new(&self, n, sizeof *self, "sample rows"));
    for (int64_t i = 0; i < n; i++)
        kl_batch_row_doubles(&rows, i, d, x + i * d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i;; j--) { /* the row itself first */
            kl_pair pair;
            kl_pair_set(&pair, d, x + i * d, x + j * d);
            double k = kl_kernel_value(inner, &pair);
            if (j == i)
                self[i] = k;
            sum += sqrt(fmax(self[i] + self[j] - 2 * k, 0));
            if (j == 0)
                break;
        }
    *mean = n > 1 ? sum / (0.5 * (double)n * (double)(n - 1)) : 0;
done:
    kl_free(x);
    kl_free(self);
    return status;
}

/* The outer kernel's own fit, on two rows at that distance: they stand for all features. */
static klift_status fit_outer(kl_kernel *outer, double distance)
{
    float row[2] = {0, (float)distance};
    kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 1, .dense = row, .stride = 1};
    kl_survey survey = {.rows = 2, .columns = 1, .complete = true, .norm_max = distance, .norm_mean = distance / 2};
    klift_status status = kl_rows_add(&survey.sample, &rows, 0, 2);
    if (status == KLIFT_OK)
        status = outer->type->fit(outer, &survey);
    kl_rows_clear(&survey.sample);
    return status;
}

static klift_status check_ceiling(const kl_kernel *kernel, double ceiling, klift_status status)
{
    const char *outer = kernel->outer->type->name, *inner = kernel->inner->type->name, *param = kernel->outer->type->params[0].name;
    double radius = kl_expansion_radius(kernel->outer), top = of_inner(kernel, ceiling);
    if (!(ceiling < radius))
        return kl_fail(status, "kernel compose: %s is for values below %g, and %s reaches %g; raise %s above that%s", outer, radius, inner, ceiling, param,
                       status == KLIFT_DATA ? ", or make the rows smaller" : "");
    if (!(top < largest))
        return kl_fail(status, "kernel compose: %s of %s is as large as %.3g, too large for float32 features (at most %g); change %s%s", outer, inner, top, largest, param,
                       status == KLIFT_DATA ? ", or make the rows smaller" : "");
    return KLIFT_OK;
}

static klift_status fit(kl_kernel *kernel, const kl_survey *survey)
{
    double distance, ceiling;
    KL_TRY(kl_kernel_fit(kernel->inner, survey));
    if (kl_kernel_ready(kernel->outer) != KLIFT_OK) {
        KL_TRY(mean_distance(kernel->inner, survey, &distance));
        KL_TRY(fit_outer(kernel->outer, distance));
    }
    KL_TRY(find_ceiling(kernel->inner, survey, &ceiling));
    return check_ceiling(kernel, ceiling, KLIFT_DATA);
}

/* Of a kernel with k(0) = 1 the ceiling is known before any row is. */
static klift_status check(const kl_kernel *kernel)
{
    if (kl_expansion_degree(kernel->outer) == 0)
        return kl_fail(KLIFT_USAGE, "kernel compose: %s is constant here, whatever %s is; give it a higher degree", kernel->outer->type->name, kernel->inner->type->name);
    bool known = kernel->inner->type->offers & KL_SPECTRUM && kernel->inner->inner == NULL;
    return known && kl_kernel_ready(kernel->outer) == KLIFT_OK ? check_ceiling(kernel, 1, KLIFT_USAGE) : KLIFT_OK;
}

/* ---- spectrum ---- */

static double coefficient(const kl_kernel *kernel, int64_t n)
{
    return exp(kernel->outer->type->log_coefficient(kernel->outer, n));
}

static double constant(const kl_kernel *kernel)
{
    return coefficient(kernel, 0);
}

static double height(const kl_kernel *kernel)
{
    return of_inner(kernel, 1) - constant(kernel);
}

static int64_t last_degree(const kl_kernel *kernel)
{
    int64_t degree = kl_expansion_degree(kernel->outer);
    return degree < 0 || degree > MOST_SUMMANDS ? MOST_SUMMANDS : degree;
}

/* How many frequencies row number `row` of `rows` adds up. */
static int64_t summands(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows)
{
    kl_random degrees = {from->seed, from->stream, KL_DRAW_DEGREE};
    int64_t last = last_degree(kernel), n = 0;
    double u, sum = 0;
    kl_random_uniforms(&degrees, row, 1, &u);
    double at = ((double)row + u) / (double)rows * height(kernel);
    for (int64_t m = 1; m <= last && sum < at; m++) {
        double a = coefficient(kernel, m);
        sum += a;
        n = a > 0 ? m : n;
        if (a < 1e-18 * at && m > 64 && sum > 0.5 * at)
            break; /* rounding has taken the rest */
    }
    return n;
}

/* A source of its own for each summand of each row. */
static kl_random summand(const kl_random *from, uint32_t row, int64_t k)
{
    kl_random keys = {from->seed, from->stream, KL_DRAW_SUMMAND};
    return (kl_random){kl_random_key(&keys, (uint64_t)row << 32 | (uint64_t)k), from->stream, from->purpose};
}

static double spread(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows)
{
    double sum = 0;
    for (int64_t k = summands(kernel, from, row, rows); k > 0; k--) {
        kl_random own = summand(from, row, k);
        double s = kernel->inner->type->spread(kernel->inner, &own, row, rows);
        sum += s * s;
    }
    return sqrt(sum);
}

static void frequency_of_normals(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w)
{
    double width = spread(kernel, from, row, rows);
    kl_random_normals(from, row, n, w);
    for (int64_t i = 0; i < n; i++)
        w[i] *= width;
}

/* Added up in blocks of columns: the caller has room for one frequency only. */
static void frequency_of_sums(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w)
{
    enum { LENGTH = 64 };
    int64_t count = summands(kernel, from, row, rows);
    double part[LENGTH];
    for (int64_t first = 0; first < n; first += LENGTH) {
        int64_t here = n - first < LENGTH ? n - first : LENGTH;
        for (int64_t i = 0; i < here; i++)
            w[first + i] = 0;
        for (int64_t k = count; k > 0; k--) {
            kl_random own = summand(from, row, k);
            own.seed += (uint64_t)first; /* columns are independent: every block has numbers of its own */
            kernel->inner->type->frequency(kernel->inner, &own, row, rows, here, part);
            for (int64_t i = 0; i < here; i++)
                w[first + i] += part[i];
        }
    }
}

/* (E cos(w_row.d))^2 averaged over the rows: each mixes the powers k^n whose parts of the law its own part holds. */
static double mean_square(const kl_kernel *kernel, const kl_pair *pair, int64_t rows)
{
    const double full = 1 - 1e-12; /* of the law: what is left is rounding */
    double k = kl_kernel_value(kernel->inner, pair), all = height(kernel), sum = 0, end = 0, power = 1, low = 0;
    int64_t n = 0, last = last_degree(kernel);
    for (int64_t j = 0; j < rows; j++) {
        double high = (double)(j + 1) / (double)rows, mean = 0, from = low;
        while (from < high) {
            if (end <= from && n < last && end < full) { /* the next degree begins */
                end += coefficient(kernel, ++n) / all;
                power *= k;
                continue;
            }
            double to = n >= last || end >= full ? high : fmin(end, high);
            mean += (to - from) * power;
            from = to;
        }
        mean *= (double)rows;
        sum += mean * mean;
        low = high;
    }
    return sum / (double)rows;
}

/* ---- which of all this there is ---- */

#define COMPOSED .name = "compose", .summary = "outer(K of inner): exp, poly, vovk, vovk-infinite or series of any kernel, as in compose(exp, gaussian)", \
                 .params = params, .check = check, .fit = fit, .value = value
#define WAVES .constant = constant, .height = height, .mean_square = mean_square

static const kl_kernel_type of_rotation_distances = {COMPOSED, WAVES, .offers = KL_SPECTRUM | KL_ROTATION | KL_SCALAR, .of_distances = of_distances, .frequency = frequency_of_normals, .spread = spread};
static const kl_kernel_type of_spectrum_panels = {COMPOSED, WAVES, .offers = KL_SPECTRUM | KL_SCALAR, .of_panel = of_panel, .frequency = frequency_of_sums};
static const kl_kernel_type of_signature = {COMPOSED, .offers = KL_SCALAR, .of_panel = of_panel};
static const kl_kernel_type of_values_distances = {COMPOSED, .of_distances = of_distances};
static const kl_kernel_type of_values_products = {COMPOSED, .of_products = of_products};
static const kl_kernel_type of_values_panels = {COMPOSED, .of_panel = of_panel};
static const kl_kernel_type of_values = {COMPOSED};

static const kl_kernel_type *compose(const kl_kernel *outer, const kl_kernel *inner)
{
    const kl_kernel_type *of = inner->type;
    if (!(outer->type->offers & KL_SERIES) || outer->type->log_prefactor != NULL || outer->type->of_products == NULL) {
        kl_fail(KLIFT_USAGE, "kernel compose: %s is no function of the inner product alone; the outer kernel may be poly, exp, vovk, vovk-infinite or series", outer->type->name);
        return NULL;
    }
    if (of->offers & KL_LINEAR) {
        kl_fail(KLIFT_USAGE, "kernel compose: %s of %s is %s itself; say kernel=%s", outer->type->name, of->name, outer->type->name, outer->type->name);
        return NULL;
    }
    if (of->offers & KL_SIGNATURE && of->of_panel != NULL)
        return &of_signature;
    if (of->offers & KL_SPECTRUM && inner->inner == NULL && (of->offers & KL_ROTATION ? of->of_distances != NULL : of->of_panel != NULL))
        return of->offers & KL_ROTATION ? &of_rotation_distances : &of_spectrum_panels;
    return of->of_distances != NULL ? &of_values_distances : of->of_products != NULL ? &of_values_products : of->of_panel != NULL ? &of_values_panels : &of_values;
}

const kl_kernel_type kl_kernel_compose = {
    COMPOSED,
    .offers = KL_SPECTRUM | KL_ROTATION | KL_SCALAR,
    .compose = compose,
};
