/*
 * homogeneous.c - features of additive kernels, K(x, y) = sum of k(x_i, y_i), k(x, y) = sqrt(x y) E cos(l ln(x / y)), column by column
 * (Vedaldi and Zisserman 2012; they take l from a grid, which has a bias, here it is drawn):
 *   D >= 2 d  n pairs for every column, sqrt(x_i w_j) [cos(l_j ln x_i) ..., sin(l_j ln x_i) ...]; what D / 2 leaves over goes to the
 *             columns with the largest means. even: l_j is drawn from the j-th of n parts of its law, which begin at the quantiles
 *             1 - (1 - j/n)^2.5: narrower towards the law's tail, where cosines vary most; w_j is the part's probability
 *   D < 2 d   pair j draws its column from the j-th of D/2 equal parts of all columns' shares, sqrt(x_i / (p_i D/2)) [cos, sin]
 * Variance of a column: x y sum_j w_j^2 ((1 + C_j(2)) / 2 - C_j(1)^2), C_j(t) the mean of cos(t l ln(x / y)) over part j.
 * x_i = 0 gives nothing: sparse rows cost their entries and have sparse features.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/shares.h"
#include "map/waves.h"
#include "math/quadrature.h"
#include "math/trig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS };
enum { EVEN, INDEPENDENT };
enum { MOST_PIECES = 10000 };

static const kl_param params[] = {
    {"draws", KL_WORD, "even", 0, 0, false, "even|independent", "the frequencies of a column; even: one from each part of their law, far less variance; independent: each by itself"},
    {0}};

/* The law of |l| in n parts. */
typedef struct cut {
    double *start;  /* (n + 1) of |l|; the last part has no end */
    double *weight; /* (n) */
    float *root;    /* (n) of the weights, times sqrt(n) */
} cut;

typedef struct state {
    float *share;   /* (n_in) stored */
    double *edge;   /* (n_in + 1) D < 2d: the columns' parts of [0, 1] */
    int64_t *first; /* (n_in + 1) the pairs of each column */
    float *gain;    /* (n_in) what multiplies sqrt(x_i) */
    float *turn;    /* (pairs) l / 2 pi */
    cut even[2];    /* even: of columns with the least number of pairs, and with one more */
} state;

static int64_t pairs_of(const kl_map *map)
{
    return (map->features + 1) / 2;
}

static klift_status fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    (void)run;
    return kl_shares_fit(survey, map->n_in, false, &s->share);
}

/* ---- draw ---- */

typedef struct ranked {
    float share;
    int64_t column;
} ranked;

static int larger_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

/* Every column has pairs / n_in of them, the largest one more. */
static klift_status share_pairs(kl_map *map, int64_t pairs)
{
    state *s = map->state;
    ranked *order = NULL;
    int64_t base = pairs / map->n_in, extra = pairs % map->n_in;
    KL_TRY(kl_new(&order, map->n_in, sizeof *order, "columns"));
    for (int64_t i = 0; i < map->n_in; i++)
        order[i] = (ranked){s->share[i], i};
    qsort(order, (size_t)map->n_in, sizeof *order, larger_first);
    for (int64_t r = 0; r < map->n_in; r++)
        s->first[order[r].column + 1] = base + (r < extra);
    kl_free(order);
    for (int64_t i = 0; i < map->n_in; i++) {
        s->gain[i] = (float)sqrt(1 / (double)s->first[i + 1]);
        s->first[i + 1] += s->first[i];
    }
    return KLIFT_OK;
}

/* Every pair draws its column, from left to right: they come in the order of the columns. */
static klift_status draw_columns(kl_map *map, int64_t pairs)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_BUCKET};
    KL_TRY(kl_new(&s->edge, map->n_in + 1, sizeof *s->edge, "shares of columns"));
    kl_shares_edges(s->share, map->n_in, s->edge);
    for (int64_t j = 0; j < pairs; j++) {
        double u;
        kl_random_uniforms(&from, (uint32_t)j, 1, &u);
        s->first[kl_shares_find(s->edge, map->n_in, ((double)j + u) / (double)pairs) + 1]++;
    }
    for (int64_t i = 0; i < map->n_in; i++) {
        s->gain[i] = (float)sqrt(1 / ((double)pairs * (s->edge[i + 1] - s->edge[i])));
        s->first[i + 1] += s->first[i];
    }
    return KLIFT_OK;
}

static double part_start(int64_t j, int64_t n)
{
    return 1 - pow((double)(n - j) / (double)n, 2.5);
}

static klift_status cut_law(const kl_kernel *kernel, int64_t n, cut *c)
{
    KL_TRY(kl_new(&c->start, n + 1, sizeof *c->start, "parts of a law"));
    KL_TRY(kl_new(&c->weight, n, sizeof *c->weight, "parts of a law"));
    KL_TRY(kl_new(&c->root, n, sizeof *c->root, "parts of a law"));
    for (int64_t j = 0; j < n; j++) {
        c->start[j] = kernel->type->quantile(kernel, part_start(j, n));
        c->weight[j] = part_start(j + 1, n) - part_start(j, n);
        c->root[j] = (float)sqrt(c->weight[j] * (double)n);
    }
    c->start[n] = INFINITY;
    return KLIFT_OK;
}

static bool is_even(const kl_map *map)
{
    return map->value[DRAWS].word == EVEN && pairs_of(map) >= map->n_in;
}

static void draw_turns(kl_map *map)
{
    state *s = map->state;
    const kl_kernel *kernel = map->kernel;
    kl_random from = {map->seed, map->stream, KL_DRAW_FREQUENCY};
    for (int64_t i = 0; i < map->n_in; i++) {
        int64_t n = s->first[i + 1] - s->first[i];
        for (int64_t j = 0; j < n; j++) {
            double u;
            kl_random_uniforms(&from, (uint32_t)(s->first[i] + j), 1, &u);
            if (is_even(map))
                u = part_start(j, n) + u * (part_start(j + 1, n) - part_start(j, n));
            s->turn[s->first[i] + j] = (float)(kl_waves_turn * kernel->type->quantile(kernel, u));
        }
    }
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t pairs = pairs_of(map);
    (void)run;
    KL_TRY(kl_map_set_outputs(map, 2 * pairs));
    KL_TRY(kl_new(&s->first, map->n_in + 1, sizeof *s->first, "pairs of columns"));
    KL_TRY(kl_new(&s->gain, map->n_in, sizeof *s->gain, "scales"));
    KL_TRY(kl_new(&s->turn, pairs, sizeof *s->turn, "frequencies"));
    KL_TRY(pairs < map->n_in ? draw_columns(map, pairs) : share_pairs(map, pairs));
    for (int64_t k = 0; is_even(map) && k < 2; k++)
        KL_TRY(cut_law(map->kernel, pairs / map->n_in + k, &s->even[k]));
    draw_turns(map);
    return KLIFT_OK;
}

/* ---- apply ---- */

/* The parts of a column's law, NULL when its pairs are alike. */
static const cut *cut_of(const kl_map *map, int64_t n)
{
    const state *s = map->state;
    return is_even(map) ? &s->even[n - pairs_of(map) / map->n_in] : NULL;
}

/* The 2 n features of one entry; turns: (pairs of a column) */
static void apply_entry(const kl_map *map, int64_t column, float value, float *turns, float *out)
{
    const state *s = map->state;
    int64_t first = s->first[column], n = s->first[column + 1] - first;
    if (!(value > 0)) {
        memset(out, 0, (size_t)(2 * n) * sizeof *out);
        return;
    }
    float logarithm = (float)log((double)value);
    for (int64_t j = 0; j < n; j++)
        turns[j] = logarithm * s->turn[first + j];
    kl_trig_pairs(n, turns, sqrtf(value) * s->gain[column], out, out + n);
    const cut *c = cut_of(map, n);
    for (int64_t j = 0; c != NULL && j < n; j++) {
        out[j] *= c->root[j];
        out[n + j] *= c->root[j];
    }
}

static void apply_sparse(const kl_map *map, const kl_batch *x, const kl_output *z, float *turns)
{
    const state *s = map->state;
    int64_t at = 0;
    z->start[0] = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        for (int64_t p = x->start[i]; p < x->start[i + 1]; p++) {
            int64_t column = x->column[p], count = 2 * (s->first[column + 1] - s->first[column]);
            apply_entry(map, column, x->value[p], turns, z->value + at);
            for (int64_t k = 0; k < count; k++)
                z->column[at + k] = (int32_t)(2 * s->first[column] + k);
            at += count;
        }
        z->start[i + 1] = at;
    }
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    if (x->dense == NULL) {
        apply_sparse(map, x, z, scratch);
        return KLIFT_OK;
    }
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < map->n_in; j++)
            apply_entry(map, j, x->dense[i * x->stride + j], scratch, z->dense + i * z->stride + 2 * s->first[j]);
    return KLIFT_OK;
}

static int64_t nonzeros(const kl_map *map, const kl_batch *x)
{
    const state *s = map->state;
    int64_t room = 0;
    if (x->start == NULL)
        return -1;
    for (int64_t p = x->start[0]; p < x->start[x->rows]; p++)
        room += 2 * (s->first[x->column[p] + 1] - s->first[x->column[p]]);
    return room;
}

static int64_t memory(const kl_map *map)
{
    int64_t pairs = pairs_of(map), edges = pairs < map->n_in ? map->n_in + 1 : 5 * (pairs / map->n_in) + 5;
    return pairs * (int64_t)sizeof(float) + (map->n_in + 1) * (int64_t)(sizeof(int64_t) + 2 * sizeof(float) + sizeof(ranked)) + edges * (int64_t)sizeof(double);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    (void)rows;
    return pairs_of(map) * (int64_t)sizeof(float); /* one column may have all pairs */
}

/* ---- variance ---- */

/* E cos(l ln(x / y)) = k(x, y) / sqrt(x y); of the squares it is that of twice the logarithm */
static double correlation(const kl_kernel *kernel, double x, double y)
{
    return kernel->type->of_column(x, y) / sqrt(x * y);
}

typedef struct wave {
    const kl_kernel *kernel;
    double rate;
} wave;

static double wave_at(double l, const void *context)
{
    const wave *w = context;
    return w->kernel->type->law(w->kernel, l) * cos(l * w->rate);
}

/* C_j: the mean of cos(l rate) over a part that has an end */
static double part_mean(const kl_kernel *kernel, const cut *c, int64_t j, double rate)
{
    wave w = {kernel, rate};
    double width = c->start[j + 1] - c->start[j], pieces = 1 + width * (0.5 * fabs(rate) + 4 / (1 + c->start[j]));
    return kl_quadrature(wave_at, &w, c->start[j], c->start[j + 1], (int)fmin(pieces, MOST_PIECES)) / c->weight[j];
}

/* The means over all parts must add up to the kernel: that leaves the one over the last part. */
static double column_variance(const kl_map *map, int64_t i, double x, double y)
{
    const state *s = map->state;
    int64_t n = s->first[i + 1] - s->first[i];
    const cut *c = cut_of(map, n);
    double once = correlation(map->kernel, x, y), twice = correlation(map->kernel, x * x, y * y), rate = log(x / y), sum = 0;
    if (c == NULL)
        return x * y * (0.5 * (1 + twice) - once * once) / (double)n;
    for (int64_t j = 0; j < n; j++) {
        double weight = c->weight[j], one = j + 1 < n ? part_mean(map->kernel, c, j, rate) : once / weight, two = j + 1 < n ? part_mean(map->kernel, c, j, 2 * rate) : twice / weight;
        sum += weight * weight * (0.5 * (1 + two) - one * one);
        once -= weight * one;
        twice -= weight * two;
    }
    return x * y * sum;
}

/* Of pairs that draw their columns: each from its own part of the shares. */
static double drawn_variance(const kl_map *map, const kl_pair *pair)
{
    const double *edge = ((const state *)map->state)->edge;
    double pairs = (double)pairs_of(map), sum = 0;
    int64_t i = 0;
    for (int64_t j = 0; j < pairs_of(map); j++) {
        double low = (double)j / pairs, high = (double)(j + 1) / pairs, mean = 0, square = 0;
        for (; i < map->n_in && edge[i] < high; i++) {
            double x = pair->x[i], y = pair->y[i], p = edge[i + 1] - edge[i], inside = pairs * (fmin(high, edge[i + 1]) - fmax(low, edge[i]));
            if (x > 0 && y > 0 && inside > 0) {
                double size = sqrt(x * y) / (pairs * p);
                mean += inside * size * correlation(map->kernel, x, y);
                square += inside * size * size * 0.5 * (1 + correlation(map->kernel, x * x, y * y));
            }
            if (edge[i + 1] > high)
                break; /* its rest belongs to the next part */
        }
        sum += square - mean * mean;
    }
    return sum;
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    double sum = 0;
    if (pairs_of(map) < map->n_in)
        return drawn_variance(map, pair);
    for (int64_t i = 0; i < pair->n; i++)
        if (pair->x[i] > 0 && pair->y[i] > 0)
            sum += column_variance(map, i, pair->x[i], pair->y[i]);
    return sum;
}

static double cost(const kl_map *map, int64_t entries)
{
    return (double)entries * (20 + 11 * (double)pairs_of(map) / (double)map->n_in); /* a logarithm and a root; a product, cosine and sine */
}

/* ---- save, load ---- */

static void save(const kl_map *map, kl_record_writer *to)
{
    kl_shares_save(((const state *)map->state)->share, map->n_in, to);
}

static klift_status load(kl_map *map, kl_record_reader *from)
{
    return kl_shares_load(from, map->n_in, &((state *)map->state)->share);
}

static float *weights(kl_map *map, int64_t *count)
{
    *count = pairs_of(map);
    return ((state *)map->state)->turn;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_free(s->share);
    kl_free(s->edge);
    kl_free(s->first);
    kl_free(s->gain);
    kl_free(s->turn);
    for (int k = 0; k < 2; k++) {
        kl_free(s->even[k].start);
        kl_free(s->even[k].weight);
        kl_free(s->even[k].root);
    }
}

const kl_map_type kl_map_homogeneous = {
    .name = "homogeneous",
    .summary = "waves of each column's logarithm, for additive kernels of rows without negative values",
    .params = params,
    .needs = KL_SIGNATURE,
    .domain = KL_NON_NEGATIVE,
    .accuracy = KL_UNBIASED,
    .state_size = sizeof(state),
    .fit = fit,
    .fit_without_data = true,
    .draw = draw,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .nonzeros = nonzeros,
    .variance = variance,
    .cost = cost,
    .save = save,
    .load = load,
    .weights = weights,
    .clear = clear,
};
