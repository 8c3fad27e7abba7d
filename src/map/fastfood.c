/*
 * fastfood.c - Fastfood (Le, Sarlos and Smola 2013), correctly scaled, for rotation-invariant kernels:
 *   w.x = spread chi_P y,  y = H(G o Pi H(B o x)) / (sqrt(P) |G|), P = max(32, power of two >= d)
 * B signs, Pi a permutation, G normal, |G| the norm of that block's G: rows of unit length. Its variance is about 1.4 times
 * that of independent frequencies; `orthogonal` is better at the same cost. Kept to reproduce published rows.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/waves.h"
#include "math/hadamard.h"

#include <math.h>

enum { SMALLEST = 32 };

static const kl_param params[] = {{0}};

typedef struct state {
    int64_t block;
    float *sign;    /* B (blocks, P) */
    float *normal;  /* G (blocks, P) */
    int32_t *order; /* Pi (blocks, P) */
    float *length;  /* (frequencies), everything that multiplies H(...), in turns */
} state;

static klift_status draw_block(kl_map *map, int64_t block, double *g)
{
    state *s = map->state;
    int64_t size = s->block, first = block * size, count = kl_waves_count(map);
    kl_random signs = {map->seed, map->stream, KL_DRAW_SIGN}, matrix = {map->seed, map->stream, KL_DRAW_MATRIX};
    kl_random orders = {map->seed, map->stream, KL_DRAW_ORDER}, lengths = {map->seed, map->stream, KL_DRAW_LENGTH}, from = {map->seed, map->stream, KL_DRAW_FREQUENCY};
    double norm = 0;
    kl_random_signs(&signs, (uint32_t)block, size, s->sign + first);
    kl_random_permutation(&orders, (uint32_t)block, size, s->order + first);
    kl_random_normals(&matrix, (uint32_t)block, size, g);
    for (int64_t i = 0; i < size; i++) {
        s->normal[first + i] = (float)g[i];
        norm += g[i] * g[i];
    }
    double scale = kl_waves_turn / (sqrt((double)size) * sqrt(norm));
    for (int64_t j = first; j < first + size && j < count; j++)
        s->length[j] = (float)(scale * map->kernel->type->spread(map->kernel, &from, (uint32_t)j, count) * kl_random_chi(&lengths, (uint32_t)j, (double)size));
    return KLIFT_OK;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t count = kl_waves_count(map), size = kl_hadamard_size(map->n_in < SMALLEST ? SMALLEST : map->n_in), blocks = (count + size - 1) / size;
    double *g = NULL;
    klift_status status = KLIFT_OK;
    (void)run;
    KL_TRY(kl_map_set_outputs(map, kl_waves_outputs(map)));
    s->block = size;
    KL_GO(kl_new(&s->sign, blocks * size, sizeof *s->sign, "signs"));
    KL_GO(kl_new(&s->normal, blocks * size, sizeof *s->normal, "normals"));
    KL_GO(kl_new(&s->order, blocks * size, sizeof *s->order, "permutations"));
    KL_GO(kl_new(&s->length, count, sizeof *s->length, "lengths"));
    KL_GO(kl_new(&g, size, sizeof *g, "normals"));
    for (int64_t b = 0; b < blocks; b++)
        KL_GO(draw_block(map, b, g));
done:
    kl_free(g);
    return status;
}

static void apply_row(const state *s, const kl_batch *x, int64_t row, int64_t count, const kl_waves *waves, float *work)
{
    int64_t size = s->block;
    float *mixed = work + size;
    for (int64_t first = 0; first < count; first += size) {
        kl_waves_row(x, row, size, work);
        kl_hadamard(size, s->sign + first, work);
        for (int64_t i = 0; i < size; i++)
            mixed[i] = s->normal[first + i] * work[s->order[first + i]];
        kl_hadamard(size, NULL, mixed);
        int64_t used = count - first < size ? count - first : size;
        for (int64_t i = 0; i < used; i++)
            mixed[i] *= s->length[first + i];
        kl_waves_take(waves, row, first, used, mixed);
    }
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const kl_waves waves = kl_waves_begin(map, z);
    for (int64_t i = 0; i < x->rows; i++)
        apply_row(map->state, x, i, waves.count, &waves, scratch);
    kl_waves_end(&waves, x->rows);
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    int64_t count = kl_waves_count(map), size = kl_hadamard_size(map->n_in < SMALLEST ? SMALLEST : map->n_in), blocks = (count + size - 1) / size;
    return blocks * size * (int64_t)(2 * sizeof(float) + sizeof(int32_t)) + count * (int64_t)sizeof(float) + size * (int64_t)sizeof(double);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    (void)rows;
    return 2 * ((const state *)map->state)->block * (int64_t)sizeof(float);
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    double count = (double)(map->n_out / 2), blocks = ceil(count / (double)s->block);
    (void)entries;
    return blocks * (double)s->block * (2 * log2((double)s->block) + 3) + 10 * (double)map->n_out;
}

static float *weights(kl_map *map, int64_t *count)
{
    *count = map->n_out / 2;
    return ((state *)map->state)->length;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_free(s->sign);
    kl_free(s->normal);
    kl_free(s->order);
    kl_free(s->length);
}

const kl_map_type kl_map_fastfood = {
    .name = "fastfood",
    .summary = "Fastfood as published, correctly scaled: for comparison, orthogonal is better",
    .params = params,
    .needs = KL_SPECTRUM | KL_ROTATION,
    .accuracy = KL_UNBIASED,
    .reach = kl_waves_reach,
    .state_size = sizeof(state),
    .draw = draw,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .cost = cost,
    .weights = weights,
    .clear = clear,
};
