/*
 * product.c - products of scalar features, for compose(outer, inner): K = f(k), f(t) = sum of a_n t^n (Kar and Karnick 2012, section 5).
 * A feature of degree n, sqrt(weight) W_1(x) ... W_n(x) with independent W of the inner kernel (scalars.c), has the mean a_n k^n
 * when the weights of a degree add up to a_n.
 *   optimal    the constant a_0 exact, so many features of each degree that the variance is least on the sample (degrees.c)
 *   geometric  every feature draws its degree, P(n) ~ p^-(n+1): as published
 * Where the inner kernel has a spectral density, fourier and orthogonal add up frequencies instead, which is better.
 * Variance: that of degrees.c and spread.c with E q^2 = E W(x)^2 W(y)^2. Columns: the constant, then features by descending degree.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/degrees.h"
#include "map/scalars.h"
#include "map/shares.h"
#include "map/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAW, RATIO, COLUMNS };
enum { WEIGHTED, UNIFORM };
enum { MOST_ROWS = 128, LEAST_ROWS = 16, MOST_NUMBERS = 200000 }; /* of the sample, for the variances of degrees */

static const kl_param params[] = {
    {"law", KL_WORD, "optimal", 0, 0, false, "optimal|geometric", "how features get their degrees; optimal: least variance on the sample; geometric: drawn, as published"},
    {"p", KL_REAL, "2", 1, 1e6, true, NULL, "law=geometric: degree n has a share of p^-(n+1)"},
    {"columns", KL_WORD, "weighted", 0, 0, false, "weighted|uniform", "of an additive inner kernel; weighted: drawn half evenly, half by their means; uniform: evenly, as published"},
    {0}};

typedef struct state {
    kl_degrees degrees; /* of features in units of the root of the largest k(x, x) */
    kl_scalars factor;
    int32_t *degree;    /* (units), descending */
    int64_t *start;     /* (levels + 1) factors of level j: those of the first start[j+1] - start[j] features */
    int64_t levels;
    float *gain;        /* (units) of every factor; of a feature of degree 0 itself */
} state;

static double drawn_ratio(const kl_map *map)
{
    return map->value[LAW].word == KL_LAW_OPTIMAL ? 0 : map->value[RATIO].number;
}

static kl_degrees_wish make_wish(const kl_map *map)
{
    bool optimal = map->value[LAW].word == KL_LAW_OPTIMAL;
    return (kl_degrees_wish){.map = map->type->name, .law = optimal ? KL_LAW_OPTIMAL : KL_LAW_GEOMETRIC, .ratio = map->value[RATIO].number, .exact = optimal ? 0 : -1,
                             .columns = map->features, .n_in = map->n_in};
}

/* ---- fit ---- */

/* k and E W^2 W'^2 as degrees.c wants the moments of real signs: E q^2 = N + 2 s^2 - 2 A. */
static kl_moments measure(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    double unit = s->degrees.length * s->degrees.length, k = kl_kernel_value(map->kernel->inner, pair) / unit;
    return (kl_moments){.s = k, .n = kl_scalars_square(&s->factor, pair) / (unit * unit) - 2 * k * k, .a = 0};
}

static double longest(const kl_kernel *inner, int64_t count, int64_t n_in, const double *rows)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        kl_pair pair;
        kl_pair_set(&pair, n_in, rows + i * n_in, rows + i * n_in);
        most = fmax(most, kl_kernel_value(inner, &pair));
    }
    return most > 0 ? sqrt(most) : 1;
}

static klift_status take_pairs(kl_map *map, int64_t count, const double *rows, kl_frame_pairs *pairs)
{
    int64_t n = map->n_in;
    KL_TRY(kl_new(&pairs->pair, count * (count + 1) / 2, sizeof *pairs->pair, "pairs"));
    KL_TRY(kl_new(&pairs->weight, count * (count + 1) / 2, sizeof *pairs->weight, "pairs"));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) {
            kl_pair pair;
            kl_pair_set(&pair, n, rows + i * n, rows + j * n);
            pairs->pair[pairs->count] = measure(map, &pair);
            pairs->weight[pairs->count++] = i == j ? 1 : 2;
        }
    return KLIFT_OK;
}

static klift_status choose_degrees(kl_map *map, const kl_survey *survey)
{
    state *s = map->state;
    kl_batch sample = survey != NULL ? kl_rows_view(&survey->sample) : (kl_batch){0};
    kl_degrees_wish wish = make_wish(map);
    kl_frame_pairs pairs = {0};
    int64_t most = MOST_NUMBERS / map->n_in, count;
    double *rows = NULL;
    klift_status status;
    most = most < LEAST_ROWS ? LEAST_ROWS : most > MOST_ROWS ? MOST_ROWS : most;
    count = sample.rows < most ? sample.rows : most;
    KL_GO(kl_new(&rows, count * map->n_in, sizeof *rows, "sample rows"));
    for (int64_t i = 0; i < count; i++)
        kl_batch_row_doubles(&sample, i, map->n_in, rows + i * map->n_in);
    s->degrees.length = longest(map->kernel->inner, count, map->n_in, rows);
    KL_GO(take_pairs(map, count, rows, &pairs));
    KL_GO(kl_degrees_fit(&s->degrees, map->kernel->outer, &wish, &pairs));
done:
    kl_free(rows);
    kl_frame_pairs_clear(&pairs);
    return status;
}

static int descending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Level j has the j-th factors: of all features with a higher degree, which are the first ones. */
static klift_status lay_out(kl_map *map)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_DEGREE};
    int64_t units = s->degrees.units;
    KL_TRY(kl_new(&s->degree, units, sizeof *s->degree, "degrees"));
    kl_degrees_lay_out(&s->degrees, &from, drawn_ratio(map), s->degree);
    qsort(s->degree, (size_t)units, sizeof *s->degree, descending);
    s->levels = units > 0 ? s->degree[0] : 0;
    KL_TRY(kl_new(&s->start, s->levels + 1, sizeof *s->start, "levels"));
    for (int64_t j = 0, with = units; j < s->levels; j++) {
        while (s->degree[with - 1] <= j)
            with--;
        s->start[j + 1] = s->start[j] + with;
    }
    s->factor.count = s->start[s->levels];
    return KLIFT_OK;
}

static void begin(kl_map *map)
{
    state *s = map->state;
    s->factor = (kl_scalars){.kernel = map->kernel->inner, .n_in = map->n_in};
}

static klift_status fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    begin(map);
    if (kl_scalars_by_columns(map->kernel->inner))
        KL_TRY(kl_shares_fit(survey, map->n_in, map->value[COLUMNS].word == UNIFORM, &s->factor.share));
    KL_TRY(choose_degrees(map, survey));
    if (s->degrees.left_out > 1e-6)
        kl_run_say(run, KLIFT_EVENT_NOTE, "map", "product leaves out some degrees of the series: at most %.2g of K", s->degrees.left_out);
    return lay_out(map);
}

/* ---- draw ---- */

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    double log_weight[KL_DEGREES_MOST + 1];
    KL_TRY(kl_map_set_outputs(map, map->features));
    KL_TRY(kl_new(&s->gain, s->degrees.units, sizeof *s->gain, "scales"));
    kl_degrees_weights(&s->degrees, map->kernel->outer, drawn_ratio(map), log_weight);
    for (int64_t k = 0; k < s->degrees.units; k++) {
        int32_t n = s->degree[k];
        s->gain[k] = (float)(n == 0 ? exp(0.5 * log_weight[0]) : exp(0.5 * log_weight[n] / n) / s->degrees.length);
    }
    return kl_scalars_draw(&s->factor, map->seed, map->stream, run);
}

/* ---- apply ---- */

typedef struct multiplying {
    const state *s;
    const kl_output *z;
} multiplying;

/* Factors of a row into its features: parts of one level or of several. */
static void multiply(const void *context, int64_t row, int64_t first, int64_t count, const float *values)
{
    const multiplying *m = context;
    const state *s = m->s;
    float *z = m->z->dense + row * m->z->stride + s->degrees.columns;
    int64_t level = 0;
    while (s->start[level + 1] <= first)
        level++;
    for (int64_t done = 0; done < count; level++) {
        int64_t unit = first + done - s->start[level], left = s->start[level + 1] - first - done, here = left < count - done ? left : count - done;
        for (int64_t i = 0; i < here; i++)
            z[unit + i] *= s->gain[unit + i] * values[done + i];
        done += here;
    }
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    const multiplying m = {s, z};
    const kl_degrees *g = &s->degrees;
    float constant = g->columns > 0 ? (float)exp(0.5 * kl_degrees_log(g, map->kernel->outer, 0)) : 0.0f;
    for (int64_t i = 0; i < x->rows; i++) {
        float *row = z->dense + i * z->stride, *units = row + g->columns;
        if (g->columns > 0)
            row[0] = constant;
        for (int64_t k = 0; k < g->units; k++)
            units[k] = s->degree[k] == 0 ? s->gain[k] : 1.0f;
        memset(units + g->units, 0, (size_t)(map->n_out - g->columns - g->units) * sizeof *units);
    }
    if (s->factor.count > 0)
        kl_scalars_rows(&s->factor, x, multiply, &m, scratch);
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    const state *s = map->state;
    return kl_scalars_bytes(&s->factor) + s->degrees.units * (int64_t)(sizeof(float) + sizeof(int32_t)) + (s->levels + 1) * (int64_t)sizeof(int64_t);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    (void)rows;
    return kl_scalars_scratch(&((const state *)map->state)->factor);
}

/* ---- what it does, in numbers ---- */

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    const kl_rademacher independent = {0};
    kl_moments m = measure(map, pair);
    return kl_spread(&s->degrees, &independent, map->kernel->outer, drawn_ratio(map), &m);
}

/* Exactly: what the degrees that are left out would have added. */
static double bias(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    kl_moments m = measure(map, pair);
    double sum = 0;
    for (int64_t n = 0; n <= s->degrees.last; n++)
        sum += kl_moments_mean(&m, n, kl_degrees_log(&s->degrees, map->kernel->outer, n));
    return fabs(kl_kernel_value(map->kernel, pair) - sum);
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    return kl_scalars_cost(&s->factor, entries) + 2 * (double)s->factor.count;
}

/* ---- save, load ---- */

static void save(const kl_map *map, kl_record_writer *to)
{
    const state *s = map->state;
    kl_degrees_save(&s->degrees, to);
    if (kl_scalars_by_columns(map->kernel->inner))
        kl_shares_save(s->factor.share, map->n_in, to);
}

static klift_status load(kl_map *map, kl_record_reader *from)
{
    state *s = map->state;
    kl_degrees_wish wish = make_wish(map);
    begin(map);
    KL_TRY(kl_degrees_load(&s->degrees, map->kernel->outer, &wish, from));
    if (s->degrees.complex_signs || s->degrees.exact > 0)
        return kl_record_damaged("the degrees of map product are of another map");
    if (kl_scalars_by_columns(map->kernel->inner))
        KL_TRY(kl_shares_load(from, map->n_in, &s->factor.share));
    return lay_out(map);
}

static float *weights(kl_map *map, int64_t *count)
{
    kl_scalars *f = &((state *)map->state)->factor;
    *count = f->turn != NULL ? f->count : kl_panels_floats(&f->frequency);
    return f->turn != NULL ? f->turn : f->frequency.packed;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_degrees_clear(&s->degrees);
    kl_scalars_clear(&s->factor);
    kl_free(s->degree);
    kl_free(s->start);
    kl_free(s->gain);
}

const kl_map_type kl_map_product = {
    .name = "product",
    .summary = "products of scalar features, for compose(outer, inner) with an inner kernel that is additive or has a spectral density",
    .params = params,
    .needs = KL_SCALAR,
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
    .clear = clear,
};
