/*
 * maclaurin.c - random Maclaurin features (Kar and Karnick 2012) for K(x, y) = p(x) f(<x, y>) p(y), f(t) = sum of a_n t^n, a_n >= 0.
 * A feature of degree n, sqrt(weight) prod_{j=1..n} <w_j, x>, has the mean a_n <x, y>^n when the weights of a degree add up to a_n.
 *   optimal    so many features of each degree that the variance is least (degrees.c); the lowest degrees exact (monomials.c)
 *   signal     so many of each degree as it adds to K between different rows; craft then keeps degrees apart
 *   geometric  every feature draws its degree, P(n) ~ p^-(n+1) over the degrees that there are: as published, normalised rightly
 *   truncated  the same without the degrees whose sum stays below a bound (their section 4.2)
 * Signs 1, i, -1, -i instead of +-1 make real and imaginary part two columns, of less variance: 2 2^n instead of 3^n.
 * A kernel of differences (gaussian) is expanded about the mean of the sample, where its series is shortest.
 * Columns: exact ones by degree; real parts; imaginary parts; zeros where pairs do not fill up.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/degrees.h"
#include "map/frame.h"
#include "map/monomials.h"
#include "map/rademacher.h"
#include "map/spread.h"
#include "map/waves.h"
#include "math/hadamard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNS, LAW, RATIO, BOUND, H01, EXACT, PROJECTION };
enum { COMPLEX_SIGNS, REAL_SIGNS };
enum { H01_AUTO, H01_TRUE, H01_FALSE };
enum { PROJECT_AUTO, PROJECT_HADAMARD, PROJECT_DENSE };
enum { TOGETHER = 32 }; /* rows that are centred before a dense projection */

static const kl_param params[] = {
    {"signs", KL_WORD, "complex", 0, 0, false, "complex|real", "complex: 1, i, -1, -i, two columns a feature, less variance; real: +-1, as published"},
    {"law", KL_WORD, "optimal", 0, 0, false, "optimal|geometric|truncated|signal", "how features get their degrees; optimal: least variance on the sample; signal: as a degree adds to K between different rows of it, for few features in craft; geometric: drawn, as published; truncated: drawn, without the series' end"},
    {"p", KL_REAL, "2", 1, 1e6, true, NULL, "of the drawn laws: degree n has a share of p^-(n+1)"},
    {"bound", KL_REAL, "0.001", 0, 1, true, NULL, "law=truncated: the most that is cut off, relative to K of the longest row"},
    {"h01", KL_WORD, "auto", 0, 0, false, "auto|true|false", "degrees 0 and 1 exact; auto: when that leaves less variance"},
    {"exact", KL_WHOLE, "auto", 0, KL_DEGREES_MOST, false, "auto", "degrees up to this one exact, as products of columns; auto: as many as leave the least variance"},
    {"projection", KL_WORD, "auto", 0, 0, false, "auto|hadamard|dense", "hadamard: by Walsh-Hadamard transforms; dense: independent signs; auto: fewer operations"},
    {0}};

typedef struct state {
    kl_frame frame;
    kl_degrees degrees;
    kl_rademacher random;
    float *scale;  /* exact columns, then units: what multiplies a product of columns, every factor of a unit, or a constant unit */
} state;

/* ---- fit ---- */

/* Of drawn degrees; 0: they are counted. */
static double drawn_ratio(const kl_map *map)
{
    return kl_law_draws((kl_law)map->value[LAW].word) ? map->value[RATIO].number : 0;
}

static klift_status read_wish(const kl_map *map, kl_degrees_wish *wish)
{
    int h01 = map->value[H01].word;
    double exact = map->value[EXACT].number;
    *wish = (kl_degrees_wish){.map = map->type->name, .law = (kl_law)map->value[LAW].word, .ratio = map->value[RATIO].number, .bound = map->value[BOUND].number,
                              .complex_signs = map->value[SIGNS].word == COMPLEX_SIGNS, .exact = KL_DEGREES_AUTO, .columns = map->features, .n_in = map->n_in};
    if ((h01 == H01_TRUE && exact < 1) || (h01 == H01_FALSE && exact > 0))
        return kl_fail(KLIFT_USAGE, "map maclaurin: h01=%s and exact=%.0f contradict each other; give one of them", h01 == H01_TRUE ? "true" : "false", exact);
    if (!isnan(exact))
        wish->exact = (int64_t)exact;
    else if (h01 == H01_TRUE)
        wish->exact = 1;
    else if (h01 == H01_FALSE)
        wish->exact = kl_law_draws(wish->law) ? -1 : 0; /* a constant needs no chance; as published it has */
    return KLIFT_OK;
}

/* ---- which unit has which degree: by the counts, or drawn ---- */

static int descending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Degrees of all units; block -1: hadamard or dense by the parameter, or by counting operations. Blocks of drawn degrees
 * keep the units in the order in which they were drawn, so that what a block holds does not depend on the other blocks. */
static klift_status lay_out(kl_map *map, const kl_degrees_wish *wish, double nonzeros, int64_t block)
{
    state *s = map->state;
    kl_rademacher *r = &s->random;
    int64_t size = kl_hadamard_size(map->n_in);
    bool drawn = kl_law_draws(wish->law);
    kl_random from = {map->seed, map->stream, KL_DRAW_DEGREE};
    *r = (kl_rademacher){.n_in = map->n_in, .units = s->degrees.units, .complex_signs = s->degrees.complex_signs};
    KL_TRY(kl_new(&r->degree, r->units, sizeof *r->degree, "degrees"));
    kl_degrees_lay_out(&s->degrees, &from, drawn ? wish->ratio : 0, r->degree);
    if (block < 0) {
        int word = map->value[PROJECTION].word;
        bool fewer = kl_rademacher_cost(r, size, nonzeros) < kl_rademacher_cost(r, 0, nonzeros);
        block = word == PROJECT_HADAMARD || (word == PROJECT_AUTO && fewer) ? size : 0;
    }
    r->block = block;
    for (int64_t first = 0, step = block > 0 ? block : r->units; drawn && first < r->units; first += step) {
        int64_t here = r->units - first < step ? r->units - first : step;
        qsort(r->degree + first, (size_t)here, sizeof *r->degree, descending);
    }
    return KLIFT_OK;
}

static klift_status fit_wish(kl_map *map, const kl_degrees_wish *wish, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    kl_frame_pairs pairs = {0};
    klift_status status;
    double nonzeros = survey != NULL && survey->rows > 0 && survey->nonzeros > 0 ? (double)survey->nonzeros / (double)survey->rows : (double)map->n_in;
    s->frame = (kl_frame){.kernel = map->kernel, .n_in = map->n_in};
    KL_GO(kl_frame_fit(&s->frame, survey, &pairs));
    s->degrees.length = s->frame.length;
    KL_GO(kl_degrees_fit(&s->degrees, map->kernel, wish, &pairs));
    if (s->degrees.left_out > 1e-6)
        kl_run_say(run, KLIFT_EVENT_NOTE, "map", "maclaurin leaves out some degrees of the series: at most %.2g of K", s->degrees.left_out);
    KL_GO(lay_out(map, wish, s->frame.mean != NULL ? (double)map->n_in : nonzeros, -1));
done:
    kl_frame_pairs_clear(&pairs);
    return status;
}

static klift_status fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    kl_degrees_wish wish;
    KL_TRY(read_wish(map, &wish));
    return fit_wish(map, &wish, survey, run);
}

/* ---- draw ---- */

static klift_status draw_scales(kl_map *map)
{
    state *s = map->state;
    const kl_degrees *g = &s->degrees;
    double *factor = NULL, log_weight[KL_DEGREES_MOST + 1];
    int64_t at = 0;
    klift_status status;
    KL_GO(kl_new(&s->scale, g->columns + g->units, sizeof *s->scale, "scales"));
    KL_GO(kl_new(&factor, g->columns, sizeof *factor, "scales"));
    for (int64_t n = 0; n <= g->exact; n++) {
        if (g->count[n] == 0)
            continue;
        double root = exp(0.5 * kl_degrees_log(g, map->kernel, n));
        KL_GO(kl_monomials_factors(map->n_in, n, factor));
        for (int64_t i = 0; i < g->count[n]; i++)
            s->scale[at++] = (float)(root * factor[i]);
    }
    kl_degrees_weights(g, map->kernel, drawn_ratio(map), log_weight);
    for (int64_t k = 0; k < g->units; k++) {
        int32_t n = s->random.degree[k];
        s->scale[at++] = (float)(n == 0 ? exp(0.5 * log_weight[0]) : exp(0.5 * log_weight[n] / n) / g->length);
    }
done:
    kl_free(factor);
    return status;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    KL_TRY(kl_map_set_outputs(map, map->features));
    KL_TRY(draw_scales(map));
    return kl_rademacher_draw(&s->random, map->seed, map->stream, run);
}

/* ---- apply ---- */

/* Scratch: a row as the projections want it, two more of that size, products of columns, and (dense) rows and a product's own. */
typedef struct room {
    int64_t size; /* of a row: n_in, or the block */
    float *row, *work, *products, *rows;
    void *product;
    int64_t bytes;
} room;

static int64_t products_count(const kl_map *map)
{
    const state *s = map->state;
    double count = 0;
    for (int64_t n = 0; n <= s->degrees.exact; n++)
        count += kl_monomials_count(map->n_in, n);
    return (int64_t)count;
}

static room divide(const kl_map *map, void *scratch)
{
    const state *s = map->state;
    room r = {.size = s->random.block > 0 ? s->random.block : map->n_in, .row = scratch};
    bool dense = s->random.block == 0 && s->random.units > 0;
    int64_t products = (products_count(map) + 15) / 16 * 16, row = (r.size + 15) / 16 * 16, rows = dense && s->frame.mean != NULL ? TOGETHER * row : 0;
    int64_t floats = 3 * row + products + rows;
    r.bytes = floats * (int64_t)sizeof(float) + (dense ? kl_product_scratch(map->n_in) : 0);
    if (scratch == NULL)
        return r;
    r.work = r.row + row;
    r.products = r.work + 2 * row;
    r.rows = r.products + products;
    r.product = r.rows + rows;
    return r;
}

/* Row i as floats, centred, filled with zeros; answers its prefactor. */
static float take_row(const kl_map *map, const kl_batch *x, int64_t i, const room *r, float *row)
{
    const state *s = map->state;
    double square = 0;
    kl_waves_row(x, i, r->size, row);
    for (int64_t j = 0; s->frame.mean != NULL && j < map->n_in; j++)
        row[j] = (float)((double)row[j] - s->frame.mean[j]);
    if (map->kernel->type->log_prefactor == NULL)
        return 1.0f;
    for (int64_t j = 0; j < map->n_in; j++)
        square += (double)row[j] * (double)row[j];
    return (float)exp(kl_frame_prefactor(&s->frame, square));
}

static void write_exact(const kl_map *map, const float *row, float prefactor, float *products, float *z)
{
    const state *s = map->state;
    const kl_degrees *g = &s->degrees;
    const float *from = products, *scale = s->scale;
    if (g->exact < 0)
        return;
    kl_monomials_row(map->n_in, g->exact, row, (float)(1 / g->length), products);
    for (int64_t n = 0; n <= g->exact; n++) {
        for (int64_t i = 0; i < g->count[n]; i++)
            z[i] = prefactor * scale[i] * from[i];
        z += g->count[n];
        scale += g->count[n];
        from += (int64_t)kl_monomials_count(map->n_in, n);
    }
}

/* What the factors are multiplied into, and zeros behind the last unit. */
static void begin_units(const kl_map *map, float prefactor, float *z)
{
    const state *s = map->state;
    const kl_rademacher *r = &s->random;
    const float *g = s->scale + s->degrees.columns;
    for (int64_t k = 0; k < r->units; k++)
        z[k] = prefactor;
    for (int64_t first = 0, step = r->block > 0 ? r->block : r->units; first < r->units; first += step) /* constant ones are the last of a block */
        for (int64_t k = r->units - first < step ? r->units : first + step; k > first && r->degree[k - 1] == 0; k--)
            z[k - 1] *= g[k - 1];
    memset(z + r->units, 0, (size_t)(map->n_out - s->degrees.columns - r->units) * sizeof *z);
}

/* Dense projections of some rows: of x as it is, or of the centred copies. */
static void project(const kl_map *map, const kl_batch *x, int64_t first, int64_t count, const room *r, float *z, int64_t stride)
{
    const state *s = map->state;
    kl_batch part = kl_batch_part(x, first, count);
    if (s->frame.mean != NULL)
        part = (kl_batch){.size = sizeof part, .rows = count, .columns = map->n_in, .dense = r->rows, .stride = r->size};
    kl_rademacher_rows(&s->random, &part, s->scale + s->degrees.columns, z, stride, r->product);
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    room r = divide(map, scratch);
    bool dense = s->random.block == 0 && s->random.units > 0;
    for (int64_t first = 0; first < x->rows; first += TOGETHER) {
        int64_t count = x->rows - first < TOGETHER ? x->rows - first : TOGETHER;
        for (int64_t i = 0; i < count; i++) {
            float *row = dense && s->frame.mean != NULL ? r.rows + i * r.size : r.row, *out = z->dense + (first + i) * z->stride, *units = out + s->degrees.columns;
            float prefactor = take_row(map, x, first + i, &r, row);
            write_exact(map, row, prefactor, r.products, out);
            begin_units(map, prefactor, units);
            if (s->random.block > 0)
                kl_rademacher_row(&s->random, row, s->scale + s->degrees.columns, units, r.work);
        }
        if (dense)
            project(map, x, first, count, &r, z->dense + first * z->stride + s->degrees.columns, z->stride);
    }
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    const state *s = map->state;
    int64_t mean = s->frame.mean != NULL ? map->n_in * (int64_t)sizeof(double) : 0;
    return kl_rademacher_bytes(&s->random) + s->degrees.units * (int64_t)(sizeof(float) + sizeof(int32_t)) + s->degrees.columns * (int64_t)(sizeof(float) + 5 * sizeof(double)) + mean;
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    (void)rows;
    return divide(map, NULL).bytes;
}

/* ---- what it does, in numbers ---- */

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    kl_moments m;
    double log_both = kl_frame_measure(&s->frame, pair->x, pair->y, &m);
    return exp(2 * log_both) * kl_spread(&s->degrees, &s->random, map->kernel, drawn_ratio(map), &m);
}

/* Exactly: what the degrees that are left out would have added. */
static double bias(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    const kl_degrees *g = &s->degrees;
    kl_moments m;
    double log_both = kl_frame_measure(&s->frame, pair->x, pair->y, &m), sum = 0;
    for (int64_t n = 0; n <= g->last; n++)
        sum += kl_moments_mean(&m, n, kl_degrees_log(g, map->kernel, n));
    return fabs(kl_kernel_value(map->kernel, pair) - exp(log_both) * sum);
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    double nonzeros = s->frame.mean != NULL ? (double)map->n_in : (double)entries;
    return 2 * (double)products_count(map) + (s->random.units > 0 ? kl_rademacher_cost(&s->random, s->random.block, nonzeros) : 0);
}

/* ---- save, load ---- */

static void save(const kl_map *map, kl_record_writer *to)
{
    const state *s = map->state;
    kl_degrees_save(&s->degrees, to);
    kl_record_put_u32(to, s->random.block > 0);
    kl_record_put_u32(to, s->frame.mean != NULL);
    kl_record_put_doubles(to, s->frame.mean, s->frame.mean != NULL ? map->n_in : 0);
}

static klift_status load(kl_map *map, kl_record_reader *from)
{
    state *s = map->state;
    kl_degrees_wish wish;
    uint32_t hadamard, centred;
    KL_TRY(read_wish(map, &wish));
    KL_TRY(kl_degrees_load(&s->degrees, map->kernel, &wish, from));
    s->frame = (kl_frame){.kernel = map->kernel, .n_in = map->n_in, .length = s->degrees.length};
    KL_TRY(kl_record_get_u32(from, &hadamard));
    KL_TRY(kl_record_get_u32(from, &centred));
    KL_TRY(kl_record_get_doubles(from, &s->frame.mean, centred != 0 ? map->n_in : 0));
    return lay_out(map, &wish, 0, hadamard != 0 ? kl_hadamard_size(map->n_in) : 0);
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    *count = s->degrees.columns + s->degrees.units;
    return s->scale;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_degrees_clear(&s->degrees);
    kl_rademacher_clear(&s->random);
    kl_frame_clear(&s->frame);
    kl_free(s->scale);
}

static int64_t exact_columns(const kl_map *map)
{
    return ((const state *)map->state)->degrees.columns;
}

/* Of the degrees that were found to be better exact, 0 and 1 stay so, or those that were asked for: each copy makes them anew. */
static klift_status resize(kl_map *map, const kl_survey *survey, int64_t columns, klift_run *run)
{
    state *s = map->state;
    kl_degrees_wish wish;
    int64_t exact = s->degrees.exact;
    double made = 0;
    if (isnan(map->value[EXACT].number) && exact > 1)
        exact = 1;
    for (int64_t n = 0; n <= exact; n++)
        made += kl_degrees_log(&s->degrees, map->kernel, n) > -INFINITY ? kl_monomials_count(map->n_in, n) : 0;
    map->features = (int64_t)made + columns;
    KL_TRY(read_wish(map, &wish));
    wish.exact = exact;
    clear(map);
    *s = (state){0};
    return fit_wish(map, &wish, survey, run);
}

/* law=signal: one degree's real or imaginary parts. Of other laws degrees may be mixed, which has less variance. */
static int64_t alike(const kl_map *map, int64_t column, const kl_pair *pair, double *part)
{
    const state *s = map->state;
    const kl_degrees *g = &s->degrees;
    int64_t unit = column - g->columns, parts = s->random.complex_signs ? 2 : 1;
    kl_moments m;
    *part = 0;
    if (map->value[LAW].word != KL_LAW_SIGNAL)
        return 0;
    if (unit >= parts * s->random.units) /* zeros */
        return map->n_out - column;
    int64_t degree = s->random.degree[unit % s->random.units];
    if (pair != NULL) {
        double log_both = kl_frame_measure(&s->frame, pair->x, pair->y, &m);
        *part = exp(log_both) * kl_moments_mean(&m, degree, kl_degrees_log(g, map->kernel, degree)) / (double)parts;
    }
    return g->count[degree];
}

const kl_map_type kl_map_maclaurin = {
    .name = "maclaurin",
    .summary = "products of random projections, for kernels of the inner product; the lowest degrees exact",
    .params = params,
    .needs = KL_SERIES,
    .accuracy = KL_UNBIASED,
    .state_size = sizeof(state),
    .fit = fit,
    .fit_without_data = true,
    .draw = draw,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .variance = variance,
    .bias = bias,
    .cost = cost,
    .save = save,
    .load = load,
    .weights = weights,
    .exact_columns = exact_columns,
    .resize = resize,
    .alike = alike,
    .clear = clear,
};
