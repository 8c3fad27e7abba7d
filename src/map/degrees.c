/*
 * degrees.c - the allocation. With V_n the variance of one unit of degree n, averaged over pairs of sample rows, the counts
 * b_n ~ c_n sqrt(V_n) leave the least variance, (sum of c_n sqrt(V_n))^2 / sum of b_n; rounded by largest remainders, at
 * least 1 for every degree, since a degree without a unit is a bias. Exact degrees 0..h take C(d+n-1, n) columns each; h
 * makes the same expression smallest over what is left. Degrees that float32 cannot see are left out.
 * signal: b_n ~ r_n^3, r_n the root mean square of c_n s^n over pairs of different rows; more variance, but few columns then go to
 * the degrees in which rows have something in common, which is what a learner can use (docs/decisions.md).
 * Infinite series end where the rest is at most 1e-3 f / sqrt(D), far below the features' own error.
 */
#include "map/degrees.h"

#include "base/memory.h"
#include "map/monomials.h"

#include <math.h>
#include <string.h>

static const double unseen = 1e-9, largest_log = 69; /* of f, in float32; f itself: sums of squares must stay inside float32 */

enum { MOST_POWERS = 1 << 20 };

typedef struct choosing {
    kl_degrees *g;
    const kl_kernel *kernel;
    const kl_degrees_wish *wish;
    const kl_frame_pairs *pairs;
    double log_f;
    double log_c[KL_DEGREES_MOST + 1];
    double spread[2][KL_DEGREES_MOST + 1]; /* what counts are proportional to, c_n sqrt(V_n) or the signal: of real and of complex signs */
    bool known[2];
} choosing;

bool kl_law_draws(kl_law law)
{
    return law == KL_LAW_GEOMETRIC || law == KL_LAW_TRUNCATED;
}

static double log_term(const kl_kernel *kernel, double length, int64_t n)
{
    double log_a = kernel->type->log_coefficient(kernel, n);
    return n > 0 ? log_a + 2 * (double)n * log(length) : log_a;
}

double kl_degrees_log(const kl_degrees *g, const kl_kernel *kernel, int64_t n)
{
    return g->count[n] > 0 ? log_term(kernel, g->length, n) : -INFINITY;
}

/* The rest of the series behind term n, relative to f. */
static double tail_behind(const choosing *c, int64_t n)
{
    double sum = 0;
    for (int64_t m = KL_DEGREES_MOST; m > n; m--)
        sum += exp(c->log_c[m] - c->log_f);
    return sum;
}

/* Terms and their sum; what lies beyond KL_DEGREES_MOST must not count. */
static klift_status expand(choosing *c)
{
    int64_t degree = kl_expansion_degree(c->kernel);
    double most = -INFINITY, sum = 0;
    for (int64_t n = 0; n <= KL_DEGREES_MOST; n++) {
        c->log_c[n] = degree >= 0 && n > degree ? -INFINITY : log_term(c->kernel, c->g->length, n);
        most = fmax(most, c->log_c[n]);
    }
    for (int64_t n = 0; n <= KL_DEGREES_MOST; n++)
        sum += exp(c->log_c[n] - most);
    c->log_f = most + log(sum);
    if (degree < 0 && c->log_c[KL_DEGREES_MOST] - c->log_f > log(1e-7)) /* far from its end after a thousand terms */
        return kl_fail(KLIFT_DATA, "map %s: on rows as long as %g the series of kernel %s needs more than %d terms; make the rows shorter, for example with "
                       "prepare=unit, or change the kernel's parameters", c->wish->map, c->g->length, c->kernel->type->name, KL_DEGREES_MOST);
    if (c->log_f > largest_log)
        return kl_fail(KLIFT_DATA, "map %s: on rows as long as %g the series of kernel %s reaches e^%.0f, too much for float32 features; make the rows shorter, for "
                       "example with prepare=unit, or %s", c->wish->map, c->g->length, c->kernel->type->name, c->log_f,
                       c->kernel->type->log_prefactor != NULL ? "use a map for narrow kernels (fourier, orthogonal)" : "change the kernel's parameters");
    return KLIFT_OK;
}

static int64_t find_last(const choosing *c)
{
    int64_t degree = kl_expansion_degree(c->kernel), last = 0;
    double bound = c->wish->law == KL_LAW_TRUNCATED ? c->wish->bound : 1e-3 / sqrt((double)c->wish->columns);
    if (c->wish->law == KL_LAW_GEOMETRIC && degree < 0) /* as far as 53 random bits can reach */
        return (int64_t)fmin(KL_DEGREES_MOST, ceil(53 * log(2.0) / log(c->wish->ratio)));
    if (c->wish->law != KL_LAW_TRUNCATED && degree >= 0)
        return degree;
    while (last < KL_DEGREES_MOST && tail_behind(c, last) > bound)
        last++;
    return last;
}

static bool counts(const choosing *c, int64_t n)
{
    if (!kl_law_draws(c->wish->law))
        return c->log_c[n] - c->log_f > log(unseen);
    return c->log_c[n] > -INFINITY;
}

static int64_t degrees_above(const choosing *c, int64_t exact)
{
    int64_t kept = 0;
    for (int64_t n = exact + 1; n <= c->g->last; n++)
        kept += counts(c, n);
    return kept;
}

/* Of an exact degree. */
static double columns_of(int64_t n_in, int64_t n, double log_c)
{
    return log_c > -INFINITY ? kl_monomials_count(n_in, n) : 0;
}

static double columns_up_to(const choosing *c, int64_t exact)
{
    double columns = 0;
    for (int64_t n = 0; n <= exact; n++)
        columns += columns_of(c->wish->n_in, n, c->log_c[n]);
    return columns;
}

/* Pairs of a row with itself, or in one direction, say nothing. Without others: as if rows were at 60 degrees to each other. */
static double in_common(const choosing *c, int64_t step, int64_t n)
{
    double sum = 0, weights = 0, log_size = 2 * (c->log_c[n] - c->log_f);
    for (int64_t i = 0; i < c->pairs->count && log_size > -INFINITY; i += step) {
        const kl_moments *m = &c->pairs->pair[i];
        if (m->s * m->s >= m->n * (1 - 1e-9))
            continue;
        sum += c->pairs->weight[i] * kl_moments_mean(m, 2 * n, log_size);
        weights += c->pairs->weight[i];
    }
    return pow(weights > 0 ? sum / weights : exp(log_size - 2 * (double)n * log(2.0)), 1.5);
}

/* c_n sqrt(V_n) of every degree, or what is to be proportional to counts instead */
static const double *spreads(choosing *c, bool complex_signs)
{
    double *spread = c->spread[complex_signs];
    if (c->known[complex_signs])
        return spread;
    c->known[complex_signs] = true;
    int64_t step = 1 + c->pairs->count * c->g->last / MOST_POWERS; /* hundreds of degrees: fewer pairs will do */
    for (int64_t n = 0; n <= c->g->last; n++) {
        double sum = 0, size = exp(2 * c->log_c[n]);
        if (c->wish->law == KL_LAW_SIGNAL) {
            spread[n] = fmax(in_common(c, step, n), 1e-30);
            continue;
        }
        for (int64_t i = 0; i < c->pairs->count && size > 0; i += step) {
            const kl_moments *m = &c->pairs->pair[i];
            sum += c->pairs->weight[i] * (kl_moments_square(m, complex_signs, n, 2 * c->log_c[n]) - kl_moments_mean(m, 2 * n, 2 * c->log_c[n]));
        }
        double variance = c->pairs->count > 0 ? sum * (double)step / (double)c->pairs->count : size;
        spread[n] = sqrt(fmax(variance, 1e-12 * size)); /* one column: no variance at all, and rounding instead of it */
    }
    return spread;
}

/* Complex signs halve the units: given up where a degree would be left without one. */
static bool pairs_fit(const choosing *c, double room, int64_t kept)
{
    return c->wish->complex_signs && room >= 2 * (double)kept;
}

/* The variance that exact degrees up to `exact` leave; INFINITY when they do not fit. */
static double left_variance(choosing *c, int64_t exact)
{
    int64_t kept = degrees_above(c, exact);
    double room = (double)c->wish->columns - columns_up_to(c, exact), sum = 0;
    if (room < (double)kept)
        return INFINITY;
    if (kept == 0)
        return 0;
    bool complex_signs = pairs_fit(c, room, kept);
    const double *spread = spreads(c, complex_signs);
    for (int64_t n = exact + 1; n <= c->g->last; n++)
        sum += counts(c, n) ? spread[n] : 0;
    return sum * sum / (room / (complex_signs ? 2 : 1));
}

/* The same for drawn degrees: mean over the pairs of (sum of c_n^2 E q^2 / share - (sum of c_n s^n)^2) / units. */
static double left_variance_drawn(choosing *c, int64_t exact)
{
    int64_t kept = degrees_above(c, exact);
    double room = (double)c->wish->columns - columns_up_to(c, exact), shares = 0, sum = 0;
    if (room < (kept > 0 ? 1 : 0))
        return INFINITY;
    bool complex_signs = c->wish->complex_signs && room >= 2;
    for (int64_t n = exact + 1; n <= c->g->last; n++)
        shares += counts(c, n) ? pow(c->wish->ratio, -(double)(n + 1)) : 0;
    for (int64_t i = 0; i < (c->pairs->count > 0 ? c->pairs->count : 1); i++) {
        const kl_moments one = {1, 1, 0}, *m = c->pairs->count > 0 ? &c->pairs->pair[i] : &one;
        double squares = 0, mean = 0, weight = c->pairs->count > 0 ? c->pairs->weight[i] : 1;
        for (int64_t n = exact + 1; n <= c->g->last; n++) {
            if (!counts(c, n))
                continue;
            squares += kl_moments_square(m, complex_signs, n, 2 * c->log_c[n]) * shares * pow(c->wish->ratio, (double)(n + 1));
            mean += kl_moments_mean(m, n, c->log_c[n]);
        }
        sum += weight * (squares - mean * mean);
    }
    return sum / (room / (complex_signs ? 2 : 1));
}

static int64_t choose_exact(choosing *c)
{
    if (c->wish->law == KL_LAW_SIGNAL) /* all or nothing: exact low degrees are not what it is for */
        return columns_up_to(c, c->g->last) <= (double)c->wish->columns ? c->g->last : 0;
    bool drawn = kl_law_draws(c->wish->law);
    double best = drawn ? left_variance_drawn(c, -1) : left_variance(c, 0);
    int64_t exact = drawn ? -1 : 0;
    for (int64_t h = 1; h <= (drawn ? 1 : c->g->last) && columns_up_to(c, h) <= (double)c->wish->columns; h++) {
        double left = drawn ? left_variance_drawn(c, h) : left_variance(c, h);
        if (left < best) {
            best = left;
            exact = h;
        }
    }
    while (exact == c->g->last && kl_expansion_degree(c->kernel) < 0 && exact < KL_DEGREES_MOST && c->log_c[exact + 1] - c->log_f > log(unseen) &&
           columns_up_to(c, exact + 1) <= (double)c->wish->columns)
        c->g->last = ++exact; /* nothing is random: what room there is goes to the rest of the series */
    return exact;
}

/* A number of exact degrees that was asked for, or whatever it takes to have none. */
static klift_status check_exact(const choosing *c, int64_t exact)
{
    double columns = columns_up_to(c, exact), kept = (double)degrees_above(c, exact);
    if (columns + (kept > 0 ? 1 : 0) <= (double)c->wish->columns)
        return KLIFT_OK;
    if (exact < 1)
        return kl_fail(KLIFT_USAGE, "map %s: %lld features leave no room beside the constant of kernel %s; use at least 2", c->wish->map, (long long)c->wish->columns, c->kernel->type->name);
    return kl_fail(KLIFT_USAGE, "map maclaurin: exact degrees up to %lld (h01=true is 1) take %.0f of the columns, and there are %lld features for them and %.0f degrees above; use "
                   "more features, or h01=auto and exact=auto", (long long)exact, columns, (long long)c->wish->columns, kept);
}

/* Too few units: the smallest degrees go. */
static void drop(choosing *c, int64_t kept)
{
    kl_degrees *g = c->g;
    for (; kept > g->units; kept--) {
        int64_t least = -1;
        for (int64_t n = g->exact + 1; n <= g->last; n++)
            if (g->count[n] > 0 && (least < 0 || c->log_c[n] < c->log_c[least]))
                least = n;
        g->count[least] = 0;
    }
}

/* Largest remainders, at least 1 each: b = max(1, floor q), then one by one. */
static void share_out(choosing *c)
{
    kl_degrees *g = c->g;
    const double *spread = spreads(c, g->complex_signs);
    double sum = 0, quota[KL_DEGREES_MOST + 1];
    int64_t given = 0;
    for (int64_t n = g->exact + 1; n <= g->last; n++)
        sum += g->count[n] > 0 ? spread[n] : 0;
    for (int64_t n = g->exact + 1; n <= g->last; n++) {
        if (g->count[n] == 0)
            continue;
        quota[n] = (double)g->units * spread[n] / sum;
        g->count[n] = quota[n] > 1 ? (int64_t)quota[n] : 1;
        given += g->count[n];
    }
    for (; given != g->units; given += given < g->units ? 1 : -1) {
        int64_t at = -1;
        double direction = given < g->units ? 1 : -1, far = -INFINITY;
        for (int64_t n = g->exact + 1; n <= g->last; n++)
            if (g->count[n] > (direction > 0 ? 0 : 1) && direction * (quota[n] - (double)g->count[n]) > far) {
                far = direction * (quota[n] - (double)g->count[n]);
                at = n;
            }
        g->count[at] += direction > 0 ? 1 : -1;
    }
}

static klift_status settle(choosing *c)
{
    kl_degrees *g = c->g;
    const kl_degrees_wish *wish = c->wish;
    KL_TRY(check_exact(c, g->exact));
    int64_t kept = degrees_above(c, g->exact);
    double missing = tail_behind(c, g->last);
    g->columns = (int64_t)columns_up_to(c, g->exact);
    int64_t room = wish->columns - g->columns;
    g->complex_signs = !kl_law_draws(wish->law) ? pairs_fit(c, (double)room, kept) : wish->complex_signs && room >= 2;
    g->units = kept > 0 ? room / (g->complex_signs ? 2 : 1) : 0;
    KL_TRY(kl_new(&g->count, g->last + 1, sizeof *g->count, "degrees"));
    for (int64_t n = 0; n <= g->last; n++)
        g->count[n] = n <= g->exact ? (int64_t)columns_of(wish->n_in, n, c->log_c[n]) : counts(c, n);
    if (!kl_law_draws(wish->law) && kept > 0) {
        drop(c, kept);
        share_out(c);
    }
    for (int64_t n = g->exact + 1; n <= g->last; n++)
        missing += g->count[n] > 0 ? 0 : exp(c->log_c[n] - c->log_f);
    g->left_out = missing;
    return KLIFT_OK;
}

klift_status kl_degrees_fit(kl_degrees *g, const kl_kernel *kernel, const kl_degrees_wish *wish, const kl_frame_pairs *pairs)
{
    choosing *c = NULL; /* some 24 KB: not for a stack */
    klift_status status;
    KL_GO(kl_new(&c, 1, sizeof *c, "degrees"));
    c->g = g;
    c->kernel = kernel;
    c->wish = wish;
    c->pairs = pairs;
    KL_GO(expand(c));
    g->last = find_last(c);
    g->exact = wish->exact != KL_DEGREES_AUTO ? wish->exact : choose_exact(c);
    if (g->exact > g->last)
        g->exact = g->last;
    KL_GO(settle(c));
done:
    kl_free(c);
    return status;
}

void kl_degrees_shares(const kl_degrees *g, double ratio, double *log_share)
{
    double sum = 0;
    for (int64_t n = 0; n <= g->last; n++)
        sum += n > g->exact && g->count[n] > 0 ? pow(ratio, -(double)(n + 1)) : 0;
    for (int64_t n = 0; n <= g->last; n++)
        log_share[n] = n > g->exact && g->count[n] > 0 ? -(double)(n + 1) * log(ratio) - log(sum) : -INFINITY;
}

void kl_degrees_weights(const kl_degrees *g, const kl_kernel *kernel, double ratio, double *log_weight)
{
    double share[KL_DEGREES_MOST + 1];
    if (ratio > 0)
        kl_degrees_shares(g, ratio, share);
    for (int64_t n = 0; n <= g->last; n++) {
        double among = ratio > 0 ? share[n] + log((double)g->units) : log((double)g->count[n]);
        log_weight[n] = n <= g->exact || g->count[n] == 0 ? -INFINITY : kl_degrees_log(g, kernel, n) - among;
    }
}

static void draw_degrees(const kl_degrees *g, const kl_random *from, double ratio, int32_t *degree)
{
    double share[KL_DEGREES_MOST + 1];
    kl_degrees_shares(g, ratio, share);
    for (int64_t k = 0; k < g->units; k++) {
        double u, sum = 0;
        int32_t last = 0;
        kl_random_uniforms(from, (uint32_t)k, 1, &u);
        for (int64_t n = 0; n <= g->last && sum < u; n++)
            if (share[n] > -INFINITY) {
                sum += exp(share[n]);
                last = (int32_t)n;
            }
        degree[k] = last;
    }
}

void kl_degrees_lay_out(const kl_degrees *g, const kl_random *from, double ratio, int32_t *degree)
{
    int64_t k = 0;
    if (ratio > 0 && g->units > 0) {
        draw_degrees(g, from, ratio, degree);
        return;
    }
    for (int64_t n = g->last; n > g->exact; n--)
        for (int64_t i = 0; i < g->count[n]; i++)
            degree[k++] = (int32_t)n;
}

void kl_degrees_save(const kl_degrees *g, kl_record_writer *to)
{
    kl_record_put_f64(to, g->length);
    kl_record_put_i64(to, g->exact);
    kl_record_put_i64(to, g->last);
    kl_record_put_u32(to, g->complex_signs);
    kl_record_put_i64(to, g->units);
    for (int64_t n = 0; n <= g->last; n++)
        kl_record_put_i64(to, g->count[n]);
}

/* What was read must be what this kernel and so many columns can have. */
static klift_status check_loaded(kl_degrees *g, const kl_kernel *kernel, const kl_degrees_wish *wish)
{
    double columns = 0;
    int64_t units = 0, kept = 0;
    bool wrong = !(g->length > 0);
    for (int64_t n = 0; n <= g->last && !wrong; n++) {
        double size = log_term(kernel, g->length, n), here = columns_of(wish->n_in, n, size);
        if (n <= g->exact) {
            columns += here;
            wrong = (double)g->count[n] != here;
            continue;
        }
        units += g->count[n];
        kept += g->count[n] > 0;
        wrong = g->count[n] > 0 && !(size > -INFINITY && size < 2 * largest_log);
    }
    wrong = wrong || !(columns + (double)g->units * (g->complex_signs ? 2 : 1) <= (double)wish->columns) || (kept == 0) != (g->units == 0);
    if (wrong || (!kl_law_draws(wish->law) && units != g->units))
        return kl_record_damaged("the degrees of its map do not fit its kernel or its features");
    g->columns = (int64_t)columns;
    return KLIFT_OK;
}

klift_status kl_degrees_load(kl_degrees *g, const kl_kernel *kernel, const kl_degrees_wish *wish, kl_record_reader *from)
{
    uint32_t complex_signs;
    KL_TRY(kl_record_get_f64(from, &g->length));
    KL_TRY(kl_record_get_i64(from, -1, KL_DEGREES_MOST, &g->exact));
    KL_TRY(kl_record_get_i64(from, g->exact < 0 ? 0 : g->exact, KL_DEGREES_MOST, &g->last));
    KL_TRY(kl_record_get_u32(from, &complex_signs));
    g->complex_signs = complex_signs != 0;
    KL_TRY(kl_record_get_i64(from, 0, wish->columns, &g->units));
    KL_TRY(kl_new(&g->count, g->last + 1, sizeof *g->count, "degrees"));
    for (int64_t n = 0; n <= g->last; n++)
        KL_TRY(kl_record_get_i64(from, 0, wish->columns, &g->count[n]));
    return check_loaded(g, kernel, wish);
}

void kl_degrees_clear(kl_degrees *g)
{
    kl_free(g->count);
    *g = (kl_degrees){0};
}
