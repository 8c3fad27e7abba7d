/*
 * craft.c - CRAFTMaps (Hamid, Xiao, Gittens and DeCoste 2014): many random features, D = up E of them, folded down to E.
 *   fold   y[(k + o_b) mod E] += e_bk z_b[k] / sqrt(up)  for copies b = 1..up of the inner map at E features, each from its own
 *          stream, with signs e and a random rotation o_b; none where runs of columns have laws of their own. No array is longer than E.
 *   srht   y = sqrt(1/E) R H S z, as published: z of one inner map with D features, S signs, R random coordinates
 *   jl     y = sqrt(1/E) Q z with Q of signs: D E operations a row, to compare with
 * Exact first columns of the inner map (degrees 0 and 1 of maclaurin's h01) would lose by being folded up times: fold takes them out,
 * mixes them once by an SRHT and adds that; the copies then have E random columns beside them.
 * Variance of fold: V/up + (1 - 1/up)(R(x,x) R(y,y) + R(x,y)^2)/E, V and R variance and kernel of the inner map's random columns, the
 * second term for every run of E columns of one law: the rotations make it exact for every inner map. Mixed columns add their own
 * variance and that of their products with the rest.
 */
#include "map/map.h"

#include "base/memory.h"
#include "math/hadamard.h"
#include "math/micro.h"

#include <math.h>
#include <string.h>

enum { UP, DOWN };
enum { FOLD, SRHT, JL };
enum { MOST_UP = 1 << 16, BLOCK = 1 << 16, MOST_ROWS = 16, LONGEST = 1 << 24 };
enum { DRAW_FOLD, DRAW_ROTATION, DRAW_MIX, DRAW_ROWS, DRAW_JL }; /* rows of random numbers, MOST_UP apart */

static const kl_param params[] = {
    {"up", KL_WHOLE, "8", 1, MOST_UP, false, NULL, "features made for every one that is kept"},
    {"down", KL_WORD, "fold", 0, 0, false, "fold|srht|jl", "fold: copies with signs, added up; srht: a randomised Hadamard transform, as published; jl: a matrix of signs"},
    {0}};

typedef struct state {
    kl_map **copy;    /* (copies) the first is map->inner; the others are owned */
    int64_t copies;
    int64_t exact;    /* columns of the inner map that are mixed, fold only */
    float *sign;      /* fold: (copies, n_out) with the scale; srht: (size) */
    int64_t runs;     /* fold: of columns that are alike */
    int64_t *run;     /* (runs + 1) where they begin */
    int64_t *turn;    /* (copies) rotations; 0 where there are several runs */
    int64_t size;     /* of the mixing transform, 0: none */
    float *mix;       /* fold: (size) signs of exact columns, with the scale */
    int32_t *order;   /* the coordinates of the transform that are taken: (n_out) */
} state;

static int64_t up(const kl_map *map)
{
    return (int64_t)map->value[UP].number;
}

static klift_status wrap(kl_map *map)
{
    kl_map *inner = map->inner;
    int64_t all;
    if (inner->type->wraps)
        return kl_fail(KLIFT_USAGE, "map craft: %s in craft is one craft with the product of both up's", inner->type->name);
    if (inner->type->accuracy != KL_UNBIASED || inner->type->nonzeros != NULL)
        return kl_fail(KLIFT_USAGE, "map craft: %s has no random features to add up; it is for maps like maclaurin, tensor-sketch, tree and fourier", inner->type->name);
    if (kl_multiply(map->features, up(map), &all) || all > LONGEST)
        return kl_fail(KLIFT_USAGE, "map craft: %lld features times up=%lld are more than %d; lower one of them", (long long)map->features, (long long)up(map), LONGEST);
    /* the inner map decides on exact columns by all the features there will be */
    if (map->value[DOWN].word != FOLD || inner->type->exact_columns != NULL)
        inner->features = all;
    inner->stream = map->stream * (uint32_t)up(map);
    return KLIFT_OK;
}

static klift_status fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    kl_map *inner = map->inner;
    if (map->value[DOWN].word != FOLD || inner->type->exact_columns == NULL)
        return KLIFT_OK;
    KL_TRY(inner->type->resize(inner, survey, map->features, run));
    s->exact = inner->type->exact_columns(inner);
    return KLIFT_OK;
}

static klift_status draw_copies(kl_map *map, klift_run *run)
{
    state *s = map->state;
    kl_map *inner = map->inner;
    int64_t copies = map->value[DOWN].word == FOLD ? up(map) : 1;
    KL_TRY(kl_new(&s->copy, copies, sizeof *s->copy, "copies of a map"));
    KL_TRY(inner->type->draw(inner, run));
    s->copy[0] = inner;
    for (s->copies = 1; s->copies < copies; s->copies++) {
        KL_TRY(kl_run_check(run));
        KL_TRY(kl_map_stream(inner, inner->stream + (uint32_t)s->copies, run, &s->copy[s->copies]));
    }
    return KLIFT_OK;
}

/* Signs (size) times the scale, and the coordinates (count) that are taken of H (signs o .). */
static klift_status draw_transform(kl_map *map, int64_t size, int64_t count, float **sign)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_FOLD};
    s->size = size;
    KL_TRY(kl_new(sign, size, sizeof **sign, "signs"));
    KL_TRY(kl_new(&s->order, size, sizeof *s->order, "coordinates"));
    kl_random_signs(&from, DRAW_MIX * MOST_UP, size, *sign);
    for (int64_t i = 0; i < size; i++)
        (*sign)[i] *= (float)sqrt(1 / (double)count);
    kl_random_permutation(&from, DRAW_ROWS * MOST_UP, size, s->order);
    return KLIFT_OK;
}

static klift_status find_runs(kl_map *map, int64_t columns)
{
    state *s = map->state;
    const kl_map *inner = map->inner;
    double part;
    KL_TRY(kl_new(&s->run, columns + 1, sizeof *s->run, "runs of columns"));
    for (int64_t at = 0; at < columns;) {
        int64_t here = inner->type->alike != NULL ? inner->type->alike(inner, s->exact + at, NULL, &part) : 0;
        s->run[s->runs++] = at;
        at = here > 0 ? at + here : columns;
    }
    s->run[s->runs] = columns;
    return KLIFT_OK;
}

static klift_status draw_fold(kl_map *map)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_FOLD};
    int64_t columns = map->inner->n_out - s->exact;
    KL_TRY(kl_map_set_outputs(map, columns));
    KL_TRY(kl_new(&s->sign, s->copies * columns, sizeof *s->sign, "signs"));
    KL_TRY(find_runs(map, columns));
    KL_TRY(kl_new(&s->turn, s->copies, sizeof *s->turn, "rotations"));
    for (int64_t b = 0; b < s->copies; b++) {
        double u;
        kl_random_signs(&from, (uint32_t)b, columns, s->sign + b * columns);
        kl_random_uniforms(&from, (uint32_t)(DRAW_ROTATION * MOST_UP + b), 1, &u);
        s->turn[b] = s->runs > 1 ? 0 : (int64_t)(u * (double)columns);
    }
    for (int64_t i = 0; i < s->copies * columns; i++)
        s->sign[i] *= (float)sqrt(1 / (double)s->copies);
    return s->exact > 0 ? draw_transform(map, kl_hadamard_size(s->exact > columns ? s->exact : columns), columns, &s->mix) : KLIFT_OK;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t made;
    KL_TRY(draw_copies(map, run));
    made = map->inner->n_out;
    if (s->exact >= made)
        return kl_fail(KLIFT_MODEL, "the file is damaged: map craft has %lld exact columns of %lld; copy or train it again", (long long)s->exact, (long long)made);
    if (map->value[DOWN].word == FOLD)
        return draw_fold(map);
    KL_TRY(kl_map_set_outputs(map, map->features));
    return map->value[DOWN].word == SRHT ? draw_transform(map, kl_hadamard_size(made), map->features, &s->sign) : KLIFT_OK;
}

/* Rows whose features are made together: the tables of a copy are read once for all of them. */
static int64_t together(const kl_map *map)
{
    const state *s = map->state;
    int64_t length = s->size > map->inner->n_out ? s->size : map->inner->n_out, rows = BLOCK / length;
    return rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : rows;
}

typedef struct work {
    float *z;     /* (together, n_out of the inner map), or (together, size) for srht */
    float *mixed; /* (size), or signs (n_out) for jl */
    void *inner;
} work;

static int64_t stride_of(const kl_map *map)
{
    const state *s = map->state;
    int64_t length = map->value[DOWN].word == SRHT ? s->size : map->inner->n_out;
    return (length + 15) / 16 * 16;
}

static int64_t mixed_floats(const kl_map *map)
{
    const state *s = map->state;
    int64_t length = map->value[DOWN].word == FOLD ? s->size : map->value[DOWN].word == JL ? map->n_out : 0;
    return (length + 15) / 16 * 16;
}

static work split(const kl_map *map, void *scratch)
{
    float *z = scratch, *mixed = z + together(map) * stride_of(map);
    return (work){z, mixed, mixed + mixed_floats(map)};
}

/* y += sign o z, turned by `turn` columns. */
static void fold(int64_t columns, int64_t turn, const float *sign, const float *z, float *y)
{
    const kl_micro *micro = kl_micro_get();
    int64_t head = columns - turn;
    micro->add_product(head, sign, z, y + turn);
    micro->add_product(turn, sign + head, z + head, y);
}

static void mix(const kl_map *map, const float *exact, float *mixed, float *y)
{
    const state *s = map->state;
    memcpy(mixed, exact, (size_t)s->exact * sizeof *mixed);
    memset(mixed + s->exact, 0, (size_t)(s->size - s->exact) * sizeof *mixed);
    kl_hadamard(s->size, s->mix, mixed);
    for (int64_t k = 0; k < map->n_out; k++)
        y[k] += mixed[s->order[k]];
}

static klift_status apply_fold(const kl_map *map, const kl_batch *x, float *y, int64_t y_stride, const work *w)
{
    const state *s = map->state;
    int64_t stride = stride_of(map);
    for (int64_t i = 0; i < x->rows; i++)
        memset(y + i * y_stride, 0, (size_t)map->n_out * sizeof *y);
    for (int64_t b = 0; b < s->copies; b++) {
        KL_TRY(kl_map_apply_dense(s->copy[b], x, w->z, stride, false, w->inner));
        for (int64_t i = 0; i < x->rows; i++)
            fold(map->n_out, s->turn[b], s->sign + b * map->n_out, w->z + i * stride + s->exact, y + i * y_stride);
        for (int64_t i = 0; b == 0 && s->exact > 0 && i < x->rows; i++)
            mix(map, w->z + i * stride, w->mixed, y + i * y_stride);
    }
    return KLIFT_OK;
}

static klift_status apply_srht(const kl_map *map, const kl_batch *x, float *y, int64_t y_stride, const work *w)
{
    const state *s = map->state;
    int64_t stride = stride_of(map), made = map->inner->n_out;
    KL_TRY(kl_map_apply_dense(map->inner, x, w->z, stride, false, w->inner));
    for (int64_t i = 0; i < x->rows; i++) {
        float *z = w->z + i * stride;
        memset(z + made, 0, (size_t)(s->size - made) * sizeof *z);
        kl_hadamard(s->size, s->sign, z);
        for (int64_t k = 0; k < map->n_out; k++)
            y[i * y_stride + k] = z[s->order[k]];
    }
    return KLIFT_OK;
}

/* Column j of Q is drawn when its turn comes: the matrix would not fit. */
static klift_status apply_jl(const kl_map *map, const kl_batch *x, float *y, int64_t y_stride, const work *w)
{
    kl_random from = {map->seed, map->stream, KL_DRAW_FOLD};
    int64_t stride = stride_of(map);
    float scale = (float)sqrt(1 / (double)map->n_out);
    KL_TRY(kl_map_apply_dense(map->inner, x, w->z, stride, false, w->inner));
    for (int64_t i = 0; i < x->rows; i++)
        memset(y + i * y_stride, 0, (size_t)map->n_out * sizeof *y);
    for (int64_t j = 0; j < map->inner->n_out; j++) {
        kl_random_signs(&from, (uint32_t)(DRAW_JL * MOST_UP + j), map->n_out, w->mixed);
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t k = 0; k < map->n_out; k++)
                y[i * y_stride + k] += scale * w->z[i * stride + j] * w->mixed[k];
    }
    return KLIFT_OK;
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    int down = map->value[DOWN].word;
    int64_t rows = together(map);
    work w = split(map, scratch);
    for (int64_t first = 0; first < x->rows; first += rows) {
        kl_batch part = kl_batch_part(x, first, x->rows - first < rows ? x->rows - first : rows);
        float *y = z->dense + first * z->stride;
        KL_TRY(down == FOLD ? apply_fold(map, &part, y, z->stride, &w) : down == SRHT ? apply_srht(map, &part, y, z->stride, &w) : apply_jl(map, &part, y, z->stride, &w));
    }
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    const state *s = map->state;
    int64_t copies = map->value[DOWN].word == FOLD ? up(map) : 1, all, size = kl_hadamard_size(s->exact > map->inner->features ? s->exact : map->inner->features);
    if (kl_multiply(copies, kl_map_memory(map->inner) + (int64_t)sizeof(kl_map), &all) || all > INT64_MAX / 4)
        return INT64_MAX / 2; /* more than any limit */
    return all + (copies + 1) * (map->features + 1) * (int64_t)(sizeof(float) + sizeof(int64_t)) + 2 * size * (int64_t)sizeof(float);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    int64_t most = together(map);
    return (most * stride_of(map) + mixed_floats(map)) * (int64_t)sizeof(float) + kl_map_scratch(map->inner, rows < most ? rows : most);
}

/* Exact columns of both rows of a pair, as the inner map makes them: w (2, exact). */
static klift_status exact_columns(const kl_map *map, const kl_pair *pair, float **w)
{
    const kl_map *inner = map->inner;
    float *rows = NULL;
    unsigned char *scratch = NULL;
    klift_status status;
    KL_GO(kl_new(&rows, 2 * pair->n, sizeof *rows, "a pair"));
    KL_GO(kl_new(w, 2 * inner->n_out, sizeof **w, "a pair"));
    for (int64_t j = 0; j < pair->n; j++) {
        rows[j] = (float)pair->x[j];
        rows[pair->n + j] = (float)pair->y[j];
    }
    kl_batch both = {.size = sizeof both, .rows = 2, .columns = pair->n, .dense = rows, .stride = pair->n};
    KL_GO(kl_new(&scratch, kl_map_dense_scratch(inner, &both) + 1, 1, "a pair"));
    status = kl_map_apply_dense(inner, &both, *w, inner->n_out, false, scratch);
done:
    kl_free(rows);
    kl_free(scratch);
    return status;
}

typedef struct mixture {
    double xy, xx, yy, shared; /* products of the exact columns, and the sum of their squares' products */
} mixture;

static bool measure(const kl_map *map, const kl_pair *pair, mixture *m)
{
    const state *s = map->state;
    float *w = NULL;
    bool made = exact_columns(map, pair, &w) == KLIFT_OK;
    for (int64_t k = 0; made && k < s->exact; k++) {
        double x = (double)w[k], y = (double)w[map->inner->n_out + k];
        m->xy += x * y;
        m->xx += x * x;
        m->yy += y * y;
        m->shared += x * x * y * y;
    }
    kl_free(w);
    return made;
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    const kl_map *inner = map->inner;
    kl_pair x = {pair->n, pair->x, pair->x, pair->xx, pair->xx, pair->xx}, y = {pair->n, pair->y, pair->y, pair->yy, pair->yy, pair->yy};
    mixture m = {0};
    if (map->value[DOWN].word != FOLD || inner->type->variance == NULL || (s->exact > 0 && !measure(map, pair, &m)))
        return NAN;
    double copies = (double)s->copies, columns = (double)map->n_out, size = (double)s->size;
    double xy = kl_kernel_value(map->kernel, pair) - m.xy, xx = kl_kernel_value(map->kernel, &x) - m.xx, yy = kl_kernel_value(map->kernel, &y) - m.yy;
    double sum = inner->type->variance(inner, pair) / copies;
    for (int64_t r = 0; r < s->runs; r++) {
        double both = xy, first = xx, second = yy; /* one run: what the mixed columns leave, with all of its rounding */
        if (s->runs > 1) {
            inner->type->alike(inner, s->exact + s->run[r], pair, &both);
            inner->type->alike(inner, s->exact + s->run[r], &x, &first);
            inner->type->alike(inner, s->exact + s->run[r], &y, &second);
        }
        sum += (1 - 1 / copies) * (first * second + both * both) / (double)(s->run[r + 1] - s->run[r]);
    }
    if (s->exact > 0 && size > 1) /* coordinates of a transform without replacement, and products with the folded columns */
        sum += (m.xx * m.yy + m.xy * m.xy - 2 * m.shared) * (size - columns) / (columns * (size - 1));
    return sum + (m.xx * yy + xx * m.yy + 2 * m.xy * xy) / columns;
}

static double bias(const kl_map *map, const kl_pair *pair)
{
    return map->inner->type->bias != NULL ? map->inner->type->bias(map->inner, pair) : 0;
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    const kl_map *inner = map->inner;
    double copies = (double)s->copies, made = (double)inner->n_out, kept = (double)map->n_out, size = (double)s->size;
    double down = map->value[DOWN].word == FOLD ? 2 * copies * kept : map->value[DOWN].word == JL ? 2 * made * kept : 0;
    return copies * (inner->type->cost != NULL ? inner->type->cost(inner, entries) : 0) + down + (size > 0 ? size * log2(size) + kept : 0);
}

static void save(const kl_map *map, kl_record_writer *to)
{
    kl_record_put_i64(to, ((const state *)map->state)->exact);
}

static klift_status load(kl_map *map, kl_record_reader *from)
{
    state *s = map->state;
    bool may = map->value[DOWN].word == FOLD && map->inner->type->exact_columns != NULL;
    KL_TRY(kl_record_get_i64(from, 0, may ? LONGEST : 0, &s->exact));
    if (may)
        map->inner->features = s->exact + map->features;
    return KLIFT_OK;
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    if (s->sign == NULL)
        return map->inner->type->weights != NULL ? map->inner->type->weights(map->inner, count) : NULL;
    *count = map->value[DOWN].word == FOLD ? s->copies * map->n_out : s->size;
    return s->sign;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    for (int64_t b = 1; b < s->copies; b++)
        kl_map_free(s->copy[b]);
    kl_free(s->copy);
    kl_free(s->sign);
    kl_free(s->run);
    kl_free(s->turn);
    kl_free(s->mix);
    kl_free(s->order);
}

const kl_map_type kl_map_craft = {
    .name = "craft",
    .summary = "CRAFTMaps, craft(map): many features of the map in parentheses folded down to few",
    .params = params,
    .accuracy = KL_UNBIASED,
    .state_size = sizeof(state),
    .wraps = true,
    .wrap = wrap,
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
