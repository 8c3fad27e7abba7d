/*
 * identity.c - z(x) = x, exact for the linear kernel: the linear model that every other map is compared with.
 * Sparse rows stay sparse.
 */
#include "map/map.h"

#include <string.h>

static const kl_param params[] = {{0}};

static klift_status draw(kl_map *map, klift_run *run)
{
    (void)run;
    return kl_map_set_outputs(map, map->n_in);
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    (void)scratch;
    if (x->dense != NULL) {
        for (int64_t i = 0; i < x->rows; i++)
            memcpy(z->dense + i * z->stride, x->dense + i * x->stride, (size_t)map->n_out * sizeof(float));
        return KLIFT_OK;
    }
    int64_t base = x->rows > 0 ? x->start[0] : 0;
    for (int64_t i = 0; i <= x->rows; i++)
        z->start[i] = x->rows > 0 ? x->start[i] - base : 0;
    if (z->start[x->rows] > 0) {
        memcpy(z->column, x->column + base, (size_t)z->start[x->rows] * sizeof *z->column);
        memcpy(z->value, x->value + base, (size_t)z->start[x->rows] * sizeof *z->value);
    }
    return KLIFT_OK;
}

static int64_t nonzeros(const kl_map *map, const kl_batch *x)
{
    (void)map;
    if (x->start == NULL)
        return -1;
    return x->rows > 0 ? x->start[x->rows] - x->start[0] : 0;
}

static double cost(const kl_map *map, int64_t entries)
{
    (void)map;
    return (double)entries;
}

const kl_map_type kl_map_identity = {
    .name = "identity",
    .summary = "x itself: exact for the linear kernel",
    .params = params,
    .needs = KL_LINEAR,
    .accuracy = KL_EXACT,
    .draw = draw,
    .apply = apply,
    .nonzeros = nonzeros,
    .cost = cost,
};
