/*
 * copies.c - independent copies of another map, side by side: copies(inner):each=E has T = features / E of them, copy t drawn from
 * stream t,
 *   z(x) = (z_1(x), ..., z_T(x)) / sqrt(T)
 * so that z(x).z(y) is the mean of T estimates: their expectation and bias, and a T-th of their variance. For learners that take
 * new features at every step (Dai, Xie, He, Liang, Raj, Balcan and Song 2014) and ask for one copy at a time. Nothing is stored but what data
 * decided for the inner map, which is the same for all copies.
 * The map in the parentheses is fitted and never drawn: it is what the copies are made after.
 */
#include "map/map.h"

#include "base/memory.h"

#include <math.h>

enum { EACH };
enum { MOST_COPIES = 1 << 16 };

static const kl_param params[] = {
    {"each", KL_WHOLE, "1024", 1, 1 << 24, false, NULL, "features of a copy, at most"},
    {0}};

typedef struct state {
    kl_map **copy; /* (copies) owned */
    int64_t copies;
} state;

static int64_t count_of(const kl_map *map)
{
    int64_t each = (int64_t)map->value[EACH].number;
    return (map->features + each - 1) / each;
}

static klift_status wrap(kl_map *map)
{
    kl_map *inner = map->inner;
    int64_t copies = count_of(map);
    if (inner->type == map->type)
        return kl_fail(KLIFT_USAGE, "map copies: copies of copies are copies: leave one of both out");
    if (inner->type->accuracy == KL_EXACT || inner->type->variance == NULL || inner->type->nonzeros != NULL)
        return kl_fail(KLIFT_USAGE, "map copies: %s has no independent copies; it is for random maps like fourier, orthogonal, spherical, maclaurin and tensor-sketch", inner->type->name);
    if (copies > MOST_COPIES)
        return kl_fail(KLIFT_USAGE, "map copies: %lld features with each=%g are more than %d copies; raise each", (long long)map->features, map->value[EACH].number, MOST_COPIES);
    inner->features = (map->features + copies - 1) / copies;
    return KLIFT_OK;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t copies = count_of(map);
    KL_TRY(kl_new(&s->copy, copies, sizeof *s->copy, "copies of a map"));
    for (; s->copies < copies; s->copies++) {
        KL_TRY(kl_run_check(run));
        KL_TRY(kl_map_stream(map->inner, map->stream * (uint32_t)copies + (uint32_t)s->copies, run, &s->copy[s->copies]));
        if (s->copy[s->copies]->n_out != s->copy[0]->n_out) {
            kl_map_free(s->copy[s->copies]);
            return kl_fail(KLIFT_FAILED, "map copies: copies of %s have different numbers of features; use another map", map->inner->type->name);
        }
    }
    return kl_map_set_outputs(map, copies * s->copy[0]->n_out);
}

static kl_map *part(const kl_map *map, int64_t index)
{
    const state *s = map->state;
    return index < s->copies ? s->copy[index] : NULL;
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    int64_t each = s->copy[0]->n_out;
    float scale = (float)sqrt(1 / (double)s->copies);
    for (int64_t t = 0; t < s->copies; t++)
        KL_TRY(kl_map_apply_dense(s->copy[t], x, z->dense + t * each, z->stride, false, scratch));
    for (int64_t i = 0; s->copies > 1 && i < x->rows; i++)
        for (int64_t j = 0; j < map->n_out; j++)
            z->dense[i * z->stride + j] *= scale;
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    int64_t all;
    if (kl_multiply(count_of(map), kl_map_memory(map->inner) + (int64_t)(sizeof(kl_map) + sizeof(kl_map *)), &all) || all > INT64_MAX / 2)
        return INT64_MAX / 2; /* more than any limit */
    return all;
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    return kl_map_scratch(((const state *)map->state)->copy[0], rows);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    return s->copy[0]->type->variance(s->copy[0], pair) / (double)s->copies;
}

static double bias(const kl_map *map, const kl_pair *pair)
{
    const kl_map *first = ((const state *)map->state)->copy[0];
    return first->type->bias != NULL ? first->type->bias(first, pair) : 0;
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    const kl_map *first = s->copy[0];
    return (double)s->copies * (first->type->cost != NULL ? first->type->cost(first, entries) : 0) + (s->copies > 1 ? (double)map->n_out : 0);
}

static float *weights(kl_map *map, int64_t *count)
{
    kl_map *first = ((state *)map->state)->copy[0];
    return first->type->weights != NULL ? first->type->weights(first, count) : NULL;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    for (int64_t t = 0; t < s->copies; t++)
        kl_map_free(s->copy[t]);
    kl_free(s->copy);
}

const kl_map_type kl_map_copies = {
    .name = "copies",
    .summary = "independent copies of a random map side by side, copies(map): for doubly stochastic gradients",
    .params = params,
    .accuracy = KL_UNBIASED,
    .state_size = sizeof(state),
    .wraps = true,
    .wrap = wrap,
    .draw = draw,
    .part = part,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .variance = variance,
    .bias = bias,
    .cost = cost,
    .weights = weights,
    .clear = clear,
};
