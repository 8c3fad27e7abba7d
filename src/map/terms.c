/*
 * terms.c - which products of columns a map has, where they go, and what is known about them in numbers.
 *   degree   auto: a polynomial's own; of an endless series the least that leaves out at most 1 % of K(x, x) of the longest row;
 *            in both a mean row must afford it
 *   hashing  z(x).z(y) has the variance (T(x, x) T(y, y) + T(x, y)^2 - 2 S) / B over the hashes: T the sum of the degrees that
 *            are hashed into B columns, S that of their squared terms, sum over e of phi_e(x)^2 phi_e(y)^2
 *   exact    auto: degrees 0 .. h have columns of their own, h the one that leaves the least of it, T^2 / B, on a row of mean length
 * S_k = sum over |e| = k of (k! / prod e_i!)^2 prod u_i^e_i, u_i = (x_i y_i)^2, grows column by column:
 *   S_k <- sum over m of C(k, m)^2 u_i^m S_(k - m).
 */
#include "map/terms.h"

#include "base/memory.h"
#include "map/monomials.h"

#include <float.h>
#include <math.h>

enum { HASH_AUTO, HASH_NEVER };
enum { EXACT_AUTO, EXACT_NONE };
enum { TABLED = 1 << 16 }; /* products: their table stays in a cache */
enum { AFFORDED = 1 << 14, AFFORDED_EXACT = 1 << 20 }; /* products of a mean row that degree=auto allows for: of a series, a polynomial */

const kl_param kl_terms_params[] = {
    {"degree", KL_WHOLE, "auto", 0, KL_TERMS_MOST, false, "auto", "the highest; auto: a polynomial's own, otherwise the least that leaves out at most 1 % of K(x, x), as far as a mean row can afford it"},
    {"hash", KL_WORD, "auto", 0, 0, false, "auto|never", "auto: hash into --features columns what has more; never: as many columns as there are products"},
    {"exact", KL_WHOLE, "auto", 0, KL_TERMS_MOST, false, "auto|none", "when hashed: degrees up to this one keep columns of their own; auto: as many as leave the least variance"},
    {"limit", KL_WHOLE, "67108864", 1, 2147483647, false, NULL, "a row with more products than this is refused"},
    {0}};

/* ---- numbers of products ---- */

int64_t kl_terms_count(const kl_terms *terms, int64_t nonzeros, int64_t first, int64_t last)
{
    int64_t count = 1, sum = first <= 0 && last >= 0 && terms->root[0] > 0;
    for (int64_t k = 1; k <= last; k++) {
        if (__builtin_mul_overflow(count, nonzeros + k - 1, &count))
            return INT64_MAX; /* higher degrees have more: of one nonzero or none it never comes to this */
        count /= k; /* a whole number after every step */
        if (k >= first && terms->root[k] > 0 && __builtin_add_overflow(sum, count, &sum))
            return INT64_MAX;
    }
    return sum;
}

int64_t kl_terms_entries(const kl_terms *t, int64_t nonzeros)
{
    if (nonzeros > t->most)
        return 0;
    int64_t hashed = t->buckets > 0 ? kl_terms_count(t, nonzeros, t->exact + 1, t->degree) : 0;
    return kl_terms_count(t, nonzeros, 0, t->exact) + (hashed < t->buckets ? hashed : t->buckets);
}

/* Columns of all products of the degrees up to one. */
static double count_columns(const kl_map *map, int64_t degree)
{
    double sum = 0;
    for (int64_t k = 0; k <= degree; k++)
        if (map->kernel->type->log_coefficient(map->kernel, k) > -INFINITY)
            sum += kl_monomials_count(map->n_in, k);
    return sum;
}

klift_status kl_terms_refuse(const kl_map *map, int64_t row, const char *of, int64_t nonzeros)
{
    const kl_terms *t = map->state;
    if (nonzeros <= t->most)
        return KLIFT_OK;
    double count = 0;
    for (int64_t k = 0; k <= t->degree; k++)
        count += t->root[k] > 0 ? kl_monomials_count(nonzeros, k) : 0;
    return kl_fail(KLIFT_DATA, "row %lld of %s has %lld nonzeros, and so %.4g products of degree up to %lld, more than map %s's limit=%.0f; use a lower degree (now "
                   "degree=%lld), a higher limit, or another map", (long long)row, of, (long long)nonzeros, count, (long long)t->degree, map->type->name,
                   map->value[KL_TERMS_LIMIT].number, (long long)t->degree);
}

klift_status kl_terms_check(const kl_map *map, int64_t row, int64_t nonzeros)
{
    return kl_terms_refuse(map, row, "the batch", nonzeros);
}

/* ---- terms of the series ---- */

/* log of p(u)^2 a_k u^k, u = |x|^2: what degree k adds to K(x, x) */
static double log_share(const kl_map *map, int64_t k, double u)
{
    const kl_kernel *kernel = map->kernel;
    double prefactor = kernel->type->log_prefactor != NULL ? kernel->type->log_prefactor(kernel, u) : 0;
    return kernel->type->log_coefficient(kernel, k) + (k > 0 ? (double)k * log(u) : 0) + 2 * prefactor;
}

/* The part of K(x, x) that degrees above one have. */
static double left_out(const kl_map *map, int64_t degree, double length)
{
    double u = length * length, sum = 0, whole = kl_expansion_value(map->kernel, u, u, u);
    int64_t last = kl_expansion_degree(map->kernel);
    if (last >= 0 && degree >= last)
        return 0;
    for (int64_t k = 0; k <= degree; k++)
        sum += exp(log_share(map, k, u));
    return fmax(1 - sum / whole, 0);
}

klift_status kl_terms_reach(const kl_map *map, double square, double prefactor)
{
    const kl_terms *t = map->state;
    double sum = 0, power = prefactor * prefactor;
    for (int64_t k = 0; k <= t->degree; k++, power *= square)
        sum += t->root[k] * t->root[k] * power;
    if (sum < 1e36)
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA, "kernel %s: a row with |x| = %.3g is too long for degree %lld: its features leave float32; make the rows shorter, for example with "
                   "prepare=unit or prepare=maxnorm, or lower the degree", map->kernel->type->name, sqrt(square) * t->length, (long long)t->degree);
}

/* ---- fit ---- */

enum { MEAN_ROWS = 256 };

/* Of some rows of the sample; without one, as many as there are columns. */
static int64_t mean_nonzeros(const kl_map *map, const kl_survey *survey)
{
    kl_batch sample = survey != NULL ? kl_rows_view(&survey->sample) : (kl_batch){0};
    int64_t rows = sample.rows < MEAN_ROWS ? sample.rows : MEAN_ROWS, sum = 0;
    for (int64_t i = 0; i < rows; i++)
        sum += kl_batch_row_nonzeros(&sample, i);
    return rows > 0 ? (sum + rows - 1) / rows : map->n_in;
}

static int64_t choose_degree(const kl_map *map, const kl_survey *survey, double length)
{
    int64_t last = kl_expansion_degree(map->kernel), lowest = 0, degree, n = mean_nonzeros(map, survey);
    double count = 1, most = last < 0 ? AFFORDED : AFFORDED_EXACT;
    bool endless = last < 0;
    if (endless || last > KL_TERMS_MOST)
        last = KL_TERMS_MOST;
    while (lowest < last && !(map->kernel->type->log_coefficient(map->kernel, lowest) > -INFINITY))
        lowest++;
    for (degree = 0; degree < last; degree++) {
        count += kl_monomials_count(n, degree + 1);
        if (degree >= lowest && ((degree > 0 && count > most) || (endless && left_out(map, degree, length) <= 0.01)))
            break;
    }
    return degree;
}

/* The degrees that keep their columns: so that the others, in the columns left, have the least variance. */
static int64_t choose_exact(const kl_map *map, int64_t degree, double length)
{
    double least = INFINITY, features = (double)map->features;
    int64_t best = -1;
    for (int64_t h = -1; h < degree && count_columns(map, h) < features; h++) {
        double tail = 0;
        for (int64_t k = h + 1; k <= degree; k++)
            tail += exp(log_share(map, k, length * length));
        double variance = tail * tail / (features - count_columns(map, h));
        if (variance < least) {
            least = variance;
            best = h;
        }
    }
    return best;
}

static klift_status fit_columns(kl_map *map, double mean_length)
{
    kl_terms *t = map->state;
    const char *name = map->type->name;
    double columns = count_columns(map, t->degree), exact = map->value[KL_TERMS_EXACT].number;
    if (columns == 0)
        return kl_fail(KLIFT_USAGE, "map %s: kernel %s has no term up to degree=%lld; use a higher degree", name, map->kernel->type->name, (long long)t->degree);
    t->exact = t->degree;
    if (map->value[KL_TERMS_HASH].word == HASH_NEVER) {
        if (columns > INT32_MAX)
            return kl_fail(KLIFT_USAGE, "map %s of degree %lld makes %.4g columns of %lld, more than the %d that can be numbered; leave hash=never out, so that they are "
                           "hashed into features=N, or use a lower degree", name, (long long)t->degree, columns, (long long)map->n_in, INT32_MAX);
        return KLIFT_OK;
    }
    if (columns <= (double)map->features)
        return KLIFT_OK;
    if (isnan(exact)) {
        t->exact = map->value[KL_TERMS_EXACT].word == EXACT_NONE ? -1 : choose_exact(map, t->degree, mean_length);
        return KLIFT_OK;
    }
    t->exact = (int64_t)exact < t->degree ? (int64_t)exact : t->degree;
    if (count_columns(map, t->exact) >= (double)map->features)
        return kl_fail(KLIFT_USAGE, "map %s: exact=%lld takes %.4g columns, and features=%lld leaves none to hash into; use more features or a lower exact", name,
                       (long long)t->exact, count_columns(map, t->exact), (long long)map->features);
    return KLIFT_OK;
}

static void say_fit(const kl_map *map, klift_run *run)
{
    const kl_terms *t = map->state;
    const char *name = map->type->name;
    double lost = left_out(map, t->degree, t->length), columns = count_columns(map, t->degree);
    double smallest = map->kernel->type->log_prefactor != NULL ? map->kernel->type->log_prefactor(map->kernel, t->length * t->length) : 0;
    if (t->exact < t->degree)
        kl_run_say(run, KLIFT_EVENT_NOTE, "map", "%s: %.4g products of degree up to %lld are hashed into %lld columns%s", name, columns, (long long)t->degree,
                   (long long)map->features, t->exact < 0 ? "" : t->exact == 0 ? ", the constant apart" : ", the lowest degrees apart");
    if (smallest < log((double)FLT_MIN))
        kl_run_say(run, KLIFT_EVENT_WARNING, "map", "%s: rows as long as %.3g become zero: e^%.0f, what multiplies their features, is below float32, and K(x, x) is 0 instead of 1; "
                   "use a smaller gamma, prepare=unit, or map=orthogonal", name, t->length, smallest);
    else if (lost > 0.01)
        kl_run_say(run, lost > 0.1 ? KLIFT_EVENT_WARNING : KLIFT_EVENT_NOTE, "map", "%s: degree %lld leaves out %.2g of K(x, x) on rows as long as %.3g; for less use a higher degree, "
                   "shorter rows (prepare=maxnorm, unit), or another map", name, (long long)t->degree, lost, t->length);
}

klift_status kl_terms_fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    kl_terms *t = map->state;
    double degree = map->value[KL_TERMS_DEGREE].number, mean = survey != NULL && survey->norm_mean > 0 ? survey->norm_mean : 1;
    int64_t last = kl_expansion_degree(map->kernel);
    t->length = survey != NULL && survey->norm_max > 0 ? survey->norm_max : 1;
    t->seen = survey != NULL ? survey->nonzeros_max : 0;
    t->seen_row = survey != NULL ? survey->nonzeros_row : 0;
    t->degree = isnan(degree) ? choose_degree(map, survey, t->length) : (int64_t)degree;
    if (last >= 0 && t->degree > last)
        t->degree = last;
    map->value[KL_TERMS_DEGREE] = (kl_value){(double)t->degree, -1}; /* printed and stored as what it is */
    KL_TRY(fit_columns(map, mean));
    say_fit(map, run);
    return KLIFT_OK;
}

/* ---- draw ---- */

/* Up to this many nonzeros the products stay within the limit. */
static int64_t most_nonzeros(const kl_map *map)
{
    const kl_terms *t = map->state;
    int64_t limit = (int64_t)map->value[KL_TERMS_LIMIT].number, low = 0, high = INT32_MAX;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (kl_terms_count(t, middle, 0, t->degree) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t products_tabled(const kl_map *map)
{
    const kl_terms *t = map->state;
    return (int64_t)count_columns(map, t->tabled) - t->columns;
}

static klift_status make_tables(kl_map *map)
{
    kl_terms *t = map->state;
    KL_TRY(kl_new(&t->root, t->degree + 1, sizeof *t->root, "factors of degrees"));
    KL_TRY(kl_new(&t->square_root, t->degree + 2, sizeof *t->square_root, "square roots"));
    KL_TRY(kl_new(&t->first, t->tabled + 1, sizeof *t->first, "places of degrees"));
    KL_TRY(kl_new(&t->step, t->tabled > 1 ? (t->tabled - 1) * map->n_in : 0, sizeof *t->step, "places of products"));
    KL_TRY(kl_new(&t->hashed, products_tabled(map), sizeof *t->hashed, "hashes of products"));
    KL_TRY(kl_new(&t->entries, KL_TERMS_COUNTED, sizeof *t->entries, "numbers of entries"));
    for (int64_t k = 0; k <= t->degree; k++)
        t->root[k] = exp(0.5 * map->kernel->type->log_coefficient(map->kernel, k) + (double)k * log(t->length));
    for (int64_t k = 0; k <= t->degree + 1; k++)
        t->square_root[k] = sqrt((double)k);
    for (int64_t k = 0; k <= t->tabled; k++)
        t->first[k] = (k == 0 ? 0 : (int64_t)count_columns(map, k - 1)) - (k > t->exact ? t->columns : 0);
    for (int64_t j = 2; j <= t->tabled; j++)
        for (int64_t i = 0; i < map->n_in; i++)
            t->step[(j - 2) * map->n_in + i] = i == 0 ? 0 : (int64_t)kl_monomials_count(i, j);
    return KLIFT_OK;
}

klift_status kl_terms_draw(kl_map *map, klift_run *run)
{
    kl_terms *t = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_BUCKET};
    (void)run;
    t->columns = (int64_t)count_columns(map, t->exact);
    t->buckets = t->exact < t->degree ? map->features - t->columns : 0;
    KL_TRY(kl_map_set_outputs(map, t->columns + t->buckets));
    for (t->tabled = t->exact; t->tabled < t->degree && count_columns(map, t->tabled + 1) - (double)t->columns <= TABLED;)
        t->tabled++;
    if (count_columns(map, t->tabled) <= (double)t->columns) /* degrees without products */
        t->tabled = t->exact;
    KL_TRY(make_tables(map));
    t->key = kl_random_key(&from, 0);
    t->most = most_nonzeros(map);
    KL_TRY(kl_terms_tabulate(t, map->n_in));
    for (int64_t n = 0; n < KL_TERMS_COUNTED; n++)
        t->entries[n] = kl_terms_entries(t, n);
    return t->seen > 0 ? kl_terms_refuse(map, t->seen_row, "the data", t->seen) : KLIFT_OK;
}

int64_t kl_terms_memory(const kl_map *map)
{
    const kl_terms *t = map->state;
    int64_t table = t->tabled > 1 ? t->tabled - 1 : 0;
    return (table * map->n_in + 3 * (t->degree + 2) + KL_TERMS_COUNTED) * (int64_t)sizeof(double) + products_tabled(map) * (int64_t)sizeof *t->hashed;
}

/* ---- what it does, in numbers ---- */

/* Sum over the degrees first .. last of a_k length^2k t^k e^factor, t in units of length^2. */
static double sum_degrees(const kl_map *map, int64_t first, int64_t last, double t, double factor)
{
    const kl_terms *terms = map->state;
    double sum = 0, size = log(fabs(t)), unit = 2 * log(terms->length);
    for (int64_t k = first; k <= last; k++) {
        double term = exp(map->kernel->type->log_coefficient(map->kernel, k) + (k > 0 ? (double)k * (size + unit) : 0) + factor);
        sum += t < 0 && k % 2 == 1 ? -term : term;
    }
    return sum;
}

typedef struct measured {
    double xy, xx, yy;   /* in units of length^2 */
    double log_x, log_y; /* prefactors */
} measured;

static measured measure(const kl_map *map, const kl_pair *pair)
{
    const kl_terms *t = map->state;
    double (*prefactor)(const kl_kernel *, double) = map->kernel->type->log_prefactor;
    double unit = t->length * t->length;
    measured m = {.xy = pair->xy / unit, .xx = pair->xx / unit, .yy = pair->yy / unit};
    if (prefactor != NULL) {
        m.log_x = prefactor(map->kernel, pair->xx);
        m.log_y = prefactor(map->kernel, pair->yy);
    }
    return m;
}

/* Sums of squared terms of each degree (degree + 1), in units of length^4k. */
static void sum_squares(const kl_map *map, const kl_pair *pair, double *square)
{
    const kl_terms *t = map->state;
    for (int64_t k = 0; k <= t->degree; k++)
        square[k] = k == 0;
    for (int64_t i = 0; i < pair->n; i++) {
        double u = pow(pair->x[i] * pair->y[i] / (t->length * t->length), 2);
        for (int64_t k = t->degree; k > 0 && u > 0; k--) {
            double choose = 1, power = 1;
            for (int64_t m = 1; m <= k; m++) {
                choose *= (double)(k - m + 1) / (double)m;
                power *= u;
                square[k] += choose * choose * power * square[k - m];
            }
        }
    }
}

double kl_terms_variance(const kl_map *map, const kl_pair *pair)
{
    const kl_terms *t = map->state;
    double square[KL_TERMS_MOST + 1], shared = 0;
    if (t->buckets == 0)
        return 0;
    measured m = measure(map, pair);
    double both = m.log_x + m.log_y;
    double xy = sum_degrees(map, t->exact + 1, t->degree, m.xy, both);
    double xx = sum_degrees(map, t->exact + 1, t->degree, m.xx, 2 * m.log_x), yy = sum_degrees(map, t->exact + 1, t->degree, m.yy, 2 * m.log_y);
    sum_squares(map, pair, square);
    for (int64_t k = t->exact + 1; k <= t->degree; k++)
        shared += pow(t->root[k], 4) * exp(2 * both) * square[k];
    return fmax(xx * yy + xy * xy - 2 * shared, 0) / (double)t->buckets;
}

/* Exactly: what the degrees that are left out would have added. */
double kl_terms_bias(const kl_map *map, const kl_pair *pair)
{
    const kl_terms *t = map->state;
    measured m = measure(map, pair);
    return fabs(kl_kernel_value(map->kernel, pair) - sum_degrees(map, 0, t->degree, m.xy, m.log_x + m.log_y));
}

/* A multiplication and an addition for each product, a chain of eight operations for its hash. */
double kl_terms_cost(const kl_map *map, int64_t nonzeros)
{
    const kl_terms *t = map->state;
    double cost = 0;
    for (int64_t k = 0; k <= t->degree; k++)
        cost += t->root[k] > 0 ? (k <= t->exact ? 2 : 10) * kl_monomials_count(nonzeros, k) : 0;
    return cost;
}

/* ---- save, load ---- */

void kl_terms_save(const kl_map *map, kl_record_writer *to)
{
    const kl_terms *t = map->state;
    kl_record_put_i64(to, t->exact);
    kl_record_put_f64(to, t->length);
}

klift_status kl_terms_load(kl_map *map, kl_record_reader *from)
{
    kl_terms *t = map->state;
    if (isnan(map->value[KL_TERMS_DEGREE].number))
        return kl_record_damaged("the degree of its map is missing");
    t->degree = (int64_t)map->value[KL_TERMS_DEGREE].number;
    KL_TRY(kl_record_get_i64(from, -1, t->degree, &t->exact));
    KL_TRY(kl_record_get_f64(from, &t->length));
    double most = t->exact < t->degree ? (double)map->features - 1 : (double)INT32_MAX, columns = count_columns(map, t->exact);
    if (!(t->length > 0) || !(columns <= most) || (t->exact == t->degree && columns == 0))
        return kl_record_damaged("degrees and columns of its map contradict each other");
    return KLIFT_OK;
}

void kl_terms_clear(kl_map *map)
{
    kl_terms *t = map->state;
    kl_free(t->first);
    kl_free(t->step);
    kl_free(t->hashed);
    kl_free(t->entries);
    kl_free(t->root);
    kl_free(t->square_root);
}
