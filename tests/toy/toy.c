/*
 * toy.c - z(x)_j = s_j x_j with random signs s_j, exact for the linear kernel: the signs cancel in <z(x), z(y)>.
 * It is of no use but to show what a map is made of. Sparse rows stay sparse.
 */
#include "map/map.h"

#include "base/memory.h"

enum { FLIP };
enum { DRAW_SIGNS = 1 << 16 }; /* the purpose of these numbers: one that math/random.h does not use */

static const kl_param params[] = {
    {"flip", KL_REAL, "0.5", 0, 1, false, NULL, "share of the columns whose sign is turned"},
    {0}};

typedef struct state {
    float *sign; /* (n_in) */
} state;

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, DRAW_SIGNS};
    (void)run;
    map->n_out = map->n_in;
    KL_TRY(kl_new(&s->sign, map->n_in, sizeof *s->sign, "signs"));
    for (int64_t j = 0; j < map->n_in; j++) {
        double u;
        kl_random_uniforms(&from, (uint32_t)j, 1, &u);
        s->sign[j] = u < map->value[FLIP].number ? -1.0f : 1.0f;
    }
    return KLIFT_OK;
}

static void apply_dense(const kl_map *map, const kl_batch *x, const kl_output *z)
{
    const state *s = map->state;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < map->n_in; j++)
            z->dense[i * z->stride + j] = s->sign[j] * x->dense[i * x->stride + j];
}

/* x may be a part of a larger batch: its first entry is at start[0], that of z at 0. */
static void apply_sparse(const kl_map *map, const kl_batch *x, const kl_output *z)
{
    const state *s = map->state;
    int64_t at = 0;
    z->start[0] = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        for (int64_t p = x->start[i]; p < x->start[i + 1]; p++, at++) {
            z->column[at] = x->column[p];
            z->value[at] = s->sign[x->column[p]] * x->value[p];
        }
        z->start[i + 1] = at;
    }
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    (void)scratch;
    if (x->dense != NULL)
        apply_dense(map, x, z);
    else
        apply_sparse(map, x, z);
    return KLIFT_OK;
}

static int64_t nonzeros(const kl_map *map, const kl_batch *x)
{
    (void)map;
    if (x->start == NULL)
        return -1; /* a dense x has a dense z */
    return x->rows > 0 ? x->start[x->rows] - x->start[0] : 0;
}

static double cost(const kl_map *map, int64_t entries)
{
    (void)map;
    return (double)entries;
}

static float *weights(kl_map *map, int64_t *count)
{
    *count = map->n_in;
    return ((state *)map->state)->sign;
}

static void clear(kl_map *map)
{
    kl_free(((state *)map->state)->sign);
}

const kl_map_type kl_map_toy = {
    .name = "toy",
    .summary = "x with random signs: an example, exact for the linear kernel",
    .params = params,
    .needs = KL_LINEAR,
    .accuracy = KL_EXACT,
    .state_size = sizeof(state),
    .draw = draw,
    .apply = apply,
    .nonzeros = nonzeros,
    .cost = cost,
    .weights = weights,
    .clear = clear,
};
