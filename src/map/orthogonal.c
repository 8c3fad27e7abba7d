/*
 * orthogonal.c - random Fourier features whose directions are orthogonal in blocks: less variance than independent ones,
 * for kernels whose spectral density is rotation-invariant (Yu et al. 2016). Every row keeps its own chi length, which
 * makes it exactly a normal vector: unlike the published constant length it is unbiased.
 *   hadamard  w = spread chi_P y,  y = H(s3 o H(s2 o H(s1 o x))) P^(-3/2), P = max(32, power of two >= d): O(D log P) a row
 *   dense     rows of a Haar rotation times chi_d: the better for d <= 32, where rows of H D H D H D are not uniform
 * Variance: that of independent frequencies + (sum_b n_b (n_b - 1) / m^2) (c_B - K^2), c_B the kernel's block_moment.
 */
#include "map/directions.h"

#include "base/memory.h"
#include "map/waves.h"

#include <math.h>

enum { DIRECTIONS };
enum { AUTO, HADAMARD, DENSE };

static const kl_param params[] = {
    {"directions", KL_WORD, "auto", 0, 0, false, "auto|hadamard|dense", "hadamard: products of sign changes and Walsh-Hadamard transforms; dense: rotations; auto: dense up to 32 columns"},
    {0}};

typedef struct state {
    kl_directions directions;
} state;

static kl_directions_kind kind(const kl_map *map)
{
    int word = map->value[DIRECTIONS].word;
    return word == DENSE || (word == AUTO && map->n_in <= KL_DIRECTIONS_SMALLEST) ? KL_DIRECTIONS_DENSE : KL_DIRECTIONS_HADAMARD;
}

static double row_length(const kl_map *map, int64_t j, int64_t freedom)
{
    kl_random lengths = {map->seed, map->stream, KL_DRAW_LENGTH}, from = {map->seed, map->stream, KL_DRAW_FREQUENCY};
    return map->kernel->type->spread(map->kernel, &from, (uint32_t)j, kl_waves_count(map)) * kl_random_chi(&lengths, (uint32_t)j, (double)freedom) * kl_waves_turn;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t count = kl_waves_count(map), freedom = kl_directions_freedom(kind(map), map->n_in);
    double *length = NULL;
    klift_status status;
    KL_TRY(kl_map_set_outputs(map, kl_waves_outputs(map)));
    KL_GO(kl_new(&length, count, sizeof *length, "lengths"));
    for (int64_t j = 0; j < count; j++)
        length[j] = row_length(map, j, freedom);
    status = kl_directions_draw(&s->directions, map, kind(map), count, length, run);
done:
    kl_free(length);
    return status;
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    const kl_waves waves = kl_waves_begin(map, z);
    const kl_product_out to = kl_waves_out(&waves);
    kl_directions_apply(&s->directions, x, &to, scratch);
    kl_waves_end(&waves, x->rows);
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    int64_t count = kl_waves_count(map);
    return kl_directions_memory(kind(map), map->n_in, count) + count * (int64_t)sizeof(double);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const state *s = map->state;
    (void)rows;
    return kl_directions_scratch(&s->directions, map->n_in);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    const kl_kernel *kernel = map->kernel;
    if (kernel->type->block_moment == NULL)
        return NAN;
    double once = kernel->type->value(kernel, pair, 1), count = (double)(map->n_out / 2), together = kl_directions_together(&s->directions);
    return kl_waves_variance(map, pair) + together / (count * count) * (kernel->type->block_moment(kernel, pair, s->directions.block) - once * once);
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    return kl_directions_cost(&s->directions, entries) + 10 * (double)map->n_out;
}

static float *weights(kl_map *map, int64_t *count)
{
    const state *s = map->state;
    return kl_directions_weights(&s->directions, count);
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_directions_clear(&s->directions);
}

const kl_map_type kl_map_orthogonal = {
    .name = "orthogonal",
    .summary = "Fourier features with orthogonal directions: the best data-free map for rotation-invariant kernels",
    .params = params,
    .needs = KL_SPECTRUM | KL_ROTATION,
    .accuracy = KL_UNBIASED,
    .reach = kl_waves_reach,
    .state_size = sizeof(state),
    .draw = draw,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .variance = variance,
    .cost = cost,
    .weights = weights,
    .clear = clear,
};
