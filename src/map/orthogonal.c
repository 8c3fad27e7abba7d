/*
 * orthogonal.c - random Fourier features whose directions are orthogonal in blocks: less variance than independent ones,
 * for kernels whose spectral density is rotation-invariant (Yu et al. 2016). Every row keeps its own chi length, which
 * makes it exactly a normal vector: unlike the published constant length it is unbiased.
 *   hadamard  w = spread chi_P y,  y = H(s3 o H(s2 o H(s1 o x))) P^(-3/2), P = max(32, power of two >= d): O(D log P) a row
 *   dense     rows of a Haar rotation times chi_d: the better for d <= 32, where rows of H D H D H D are not uniform
 * Variance: that of independent frequencies + (sum_b n_b (n_b - 1) / m^2) (c_B - K^2), c_B the kernel's block_moment.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/waves.h"
#include "math/hadamard.h"
#include "math/orthonormal.h"
#include "math/product.h"

#include <math.h>

enum { DIRECTIONS };
enum { AUTO, HADAMARD, DENSE };
enum { SMALLEST = 32, WIDEST_DENSE = 1024 }; /* a rotation costs d^3, and hadamard is as good long before */

static const kl_param params[] = {
    {"directions", KL_WORD, "auto", 0, 0, false, "auto|hadamard|dense", "hadamard: products of sign changes and Walsh-Hadamard transforms; dense: rotations; auto: dense up to 32 columns"},
    {0}};

typedef struct state {
    int64_t block;       /* directions of a block: P, or d for dense ones */
    kl_panels frequency; /* dense: (frequencies, n_in) in turns */
    float *sign;         /* hadamard: (blocks, 3, P) */
    float *length;       /* hadamard: (frequencies), everything that multiplies y, in turns */
} state;

static bool is_dense(const kl_map *map)
{
    int word = map->value[DIRECTIONS].word;
    return word == DENSE || (word == AUTO && map->n_in <= SMALLEST);
}

static double row_length(const kl_map *map, int64_t j, int64_t freedom)
{
    kl_random lengths = {map->seed, map->stream, KL_DRAW_LENGTH}, from = {map->seed, map->stream, KL_DRAW_FREQUENCY};
    return map->kernel->type->spread(map->kernel, &from, (uint32_t)j, kl_waves_count(map)) * kl_random_chi(&lengths, (uint32_t)j, (double)freedom) * kl_waves_turn;
}

static klift_status draw_dense(kl_map *map, int64_t count, klift_run *run)
{
    state *s = map->state;
    int64_t n = map->n_in;
    kl_random from = {map->seed, map->stream, KL_DRAW_MATRIX};
    double *q = NULL;
    klift_status status = KLIFT_OK;
    if (n > WIDEST_DENSE)
        return kl_fail(KLIFT_USAGE, "map orthogonal: directions=dense is for at most %d columns, there are %lld; use hadamard", WIDEST_DENSE, (long long)n);
    s->block = n;
    KL_GO(kl_panels_new(&s->frequency, count, n));
    KL_GO(kl_new(&q, n * n, sizeof *q, "a rotation"));
    for (int64_t j = 0; j < count; j++) {
        KL_GO(j % n == 0 ? kl_run_check(run) : KLIFT_OK);
        if (j % n == 0)
            KL_GO(kl_orthonormal_draw(&from, (uint32_t)(j / n), n, q));
        double length = row_length(map, j, n), *row = q + j % n * n;
        for (int64_t i = 0; i < n; i++)
            row[i] *= length;
        kl_panels_set(&s->frequency, j, row);
    }
done:
    kl_free(q);
    return status;
}

/* Directions of a block of the Hadamard form, and how many blocks there are. */
static int64_t block_size(const kl_map *map, int64_t count, int64_t *blocks)
{
    int64_t size = kl_hadamard_size(map->n_in < SMALLEST ? SMALLEST : map->n_in);
    *blocks = (count + size - 1) / size;
    return size;
}

static klift_status draw_hadamard(kl_map *map, int64_t count)
{
    state *s = map->state;
    int64_t blocks, size = block_size(map, count, &blocks);
    kl_random from = {map->seed, map->stream, KL_DRAW_SIGN};
    s->block = size;
    KL_TRY(kl_new(&s->sign, blocks * 3 * size, sizeof *s->sign, "signs"));
    KL_TRY(kl_new(&s->length, count, sizeof *s->length, "lengths"));
    for (int64_t r = 0; r < 3 * blocks; r++)
        kl_random_signs(&from, (uint32_t)r, size, s->sign + r * size);
    for (int64_t j = 0; j < count; j++)
        s->length[j] = (float)(row_length(map, j, size) * pow((double)size, -1.5));
    return KLIFT_OK;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    int64_t count = kl_waves_count(map);
    KL_TRY(kl_map_set_outputs(map, kl_waves_outputs(map)));
    return is_dense(map) ? draw_dense(map, count, run) : draw_hadamard(map, count);
}

/* The turns of one row, block by block. */
static void apply_row(const state *s, const kl_batch *x, int64_t row, int64_t count, const kl_waves *waves, float *work)
{
    int64_t size = s->block;
    for (int64_t first = 0; first < count; first += size) {
        const float *sign = s->sign + first * 3;
        int64_t used = count - first < size ? count - first : size;
        kl_waves_row(x, row, size, work);
        for (int k = 0; k < 3; k++)
            kl_hadamard(size, sign + k * size, work);
        for (int64_t i = 0; i < used; i++)
            work[i] *= s->length[first + i];
        kl_waves_take(waves, row, first, used, work);
    }
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    const kl_waves waves = kl_waves_begin(map, z);
    const kl_product_out to = {.take = kl_waves_take, .context = &waves};
    if (s->length != NULL)
        for (int64_t i = 0; i < x->rows; i++)
            apply_row(s, x, i, waves.count, &waves, scratch);
    else if (x->dense != NULL)
        kl_product_dense(&s->frequency, x->rows, x->dense, x->stride, &to, scratch);
    else
        kl_product_sparse(&s->frequency, x->rows, x->start, x->column, x->value, &to);
    kl_waves_end(&waves, x->rows);
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    int64_t blocks, count = kl_waves_count(map), size = block_size(map, count, &blocks), square;
    if (!is_dense(map))
        return (blocks * 3 * size + count) * (int64_t)sizeof(float);
    if (kl_multiply(map->n_in * (int64_t)sizeof(double), map->n_in, &square) || square > INT64_MAX / 4)
        return INT64_MAX / 2; /* more than any limit */
    return kl_panels_bytes(count, map->n_in) + square;
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const state *s = map->state;
    (void)rows;
    return s->length != NULL ? s->block * (int64_t)sizeof(float) : kl_product_scratch(map->n_in);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    const kl_kernel *kernel = map->kernel;
    if (kernel->type->block_moment == NULL)
        return NAN;
    double once = kernel->type->value(kernel, pair, 1), count = (double)(map->n_out / 2), together = 0;
    for (int64_t first = 0; first < map->n_out / 2; first += s->block) {
        double used = fmin((double)s->block, count - (double)first);
        together += used * (used - 1);
    }
    return kl_waves_variance(map, pair) + together / (count * count) * (kernel->type->block_moment(kernel, pair, s->block) - once * once);
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    double count = (double)(map->n_out / 2), blocks = ceil(count / (double)s->block);
    double project = s->length != NULL ? 3 * blocks * (double)s->block * log2((double)s->block) : count * 2 * (double)entries;
    return project + 10 * (double)map->n_out;
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    *count = s->length != NULL ? map->n_out / 2 : kl_panels_floats(&s->frequency);
    return s->length != NULL ? s->length : s->frequency.packed;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_panels_clear(&s->frequency);
    kl_free(s->sign);
    kl_free(s->length);
}

const kl_map_type kl_map_orthogonal = {
    .name = "orthogonal",
    .summary = "Fourier features with orthogonal directions: the best data-free map for rotation-invariant kernels",
    .params = params,
    .needs = KL_SPECTRUM | KL_ROTATION,
    .accuracy = KL_UNBIASED,
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
