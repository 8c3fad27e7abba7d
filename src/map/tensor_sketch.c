/*
 * tensor_sketch.c - the Tensor Sketch of Pham and Pagh (2013) over the group Z_2^k instead of Z_D, with signs from
 * {1, i, -1, -i}, for K = (gamma <x, y> + offset)^degree = <x', y'>^r:
 *   C_c[h_c(j)] += s_c(j) x'_j,  F = product over c = 1..r of H C_c,  z = (Re F, Im F) / sqrt(m),  m = D / 2
 * H is the Walsh-Hadamard transform over p >= m buckets, p >= 8 a power of two, of which the first m rows are kept: any subset
 * is unbiased. Turning back is left out: H / sqrt(p) is orthogonal. The scatter does its first stages, the product its last.
 * Variance: ((s^2 + N - A)^r + (2 s^2 - A)^r - 2 s^(2r)) / D with s = <x', y'>, N = |x'|^2 |y'|^2, A = sum x'_j^2 y'_j^2:
 * the leading term of the published sketch, without its remainder; real signs over this group would have 4 times as much at
 * degree 7. The scale goes into every factor, so that partial products stay between 1 and the result.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/power.h"
#include "math/complex.h"
#include "math/hadamard.h"
#include "math/scatter.h"

#include <math.h>

enum { APART = 16 }; /* floats between the two parts: no stride of a multiple of a page */
enum { LINE = 16 };  /* floats of a cache line */

static const kl_param params[] = {{0}};

typedef struct state {
    int64_t buckets;     /* p, at least one group of the scatter */
    int64_t columns;     /* of x' */
    float scale;         /* of x': what makes the product of the factors z */
    kl_scatter *scatter; /* (degree) of x' to the real part, or the imaginary one behind it */
} state;

static int64_t pairs(const kl_map *map)
{
    return (map->features + 1) / 2;
}

static int64_t buckets(const kl_map *map)
{
    int64_t size = kl_hadamard_size(pairs(map));
    return size < KL_SCATTER_GROUP ? KL_SCATTER_GROUP : size;
}

static int64_t groups(const kl_map *map)
{
    return (2 * buckets(map) + APART) / KL_SCATTER_GROUP;
}

static klift_status draw_factor(kl_map *map, int64_t factor)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_BUCKET};
    kl_scatter *scatter = &s->scatter[factor];
    KL_TRY(kl_scatter_new(s->columns, groups(map), scatter));
    for (int64_t j = 0; j < s->columns; j++) {
        uint32_t bits[4]; /* two of them to a column */
        if (j % 2 == 0)
            kl_random_block(&from, (uint32_t)factor, (uint32_t)(j / 2), bits);
        int64_t bucket = bits[j % 2 * 2] & (uint32_t)(s->buckets - 1);
        uint32_t code = bits[j % 2 * 2 + 1];
        scatter->code[j] = kl_scatter_code(code & 1 ? s->buckets + APART + bucket : bucket, (code & 2) != 0);
    }
    return kl_scatter_sort(scatter);
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t degree = kl_power_degree(map);
    if (kl_power_exact(map))
        return kl_map_set_outputs(map, map->features);
    KL_TRY(kl_map_set_outputs(map, 2 * pairs(map)));
    s->buckets = buckets(map);
    s->columns = kl_power_columns(map);
    s->scale = (float)pow((double)pairs(map), -0.5 / (double)degree);
    KL_TRY(kl_new(&s->scatter, degree, sizeof *s->scatter, "buckets"));
    for (int64_t c = 0; c < degree; c++) {
        KL_TRY(kl_run_check(run));
        KL_TRY(draw_factor(map, c));
    }
    return KLIFT_OK;
}

typedef struct work {
    float *sketch;   /* (p + APART + p) of one factor */
    float *product;  /* (p + APART + p) of the factors so far: z itself is written once */
    float *row;      /* (columns + 1) x' dense */
    int32_t *column; /* (columns + 1) or its entries */
    float *value;
    int64_t count;   /* of entries; -1: the row is dense */
} work;

static work split(const state *s, void *scratch)
{
    float *sketch = scratch, *product = sketch + 2 * (s->buckets + APART), *row = product + 2 * (s->buckets + APART), *value = row + s->columns + 1;
    return (work){sketch, product, row, (int32_t *)(value + s->columns + 1), value, 0};
}

static kl_complex behind(const state *s, float *re)
{
    return (kl_complex){re, re + s->buckets + APART};
}

/* A row with entries enough is scattered as a dense one; the features have the same bits either way. */
static bool is_dense(const state *s, int64_t nonzeros)
{
    return 4 * nonzeros >= s->columns && s->scatter->entry != NULL;
}

static klift_status read_row(const kl_map *map, const kl_batch *x, int64_t i, work *w)
{
    const state *s = map->state;
    int64_t nonzeros = x->dense == NULL ? x->start[i + 1] - x->start[i] : s->columns;
    w->count = -1;
    if (is_dense(s, nonzeros))
        KL_TRY(kl_power_row(map, x, i, s->scale, w->row, &nonzeros));
    return is_dense(s, nonzeros) ? KLIFT_OK : kl_power_entries(map, x, i, s->scale, w->column, w->value, &w->count);
}

static klift_status apply_row(const kl_map *map, const kl_batch *x, int64_t row, float *z, work *w)
{
    const state *s = map->state;
    int64_t degree = kl_power_degree(map), kept = map->n_out / 2;
    kl_complex sketch = behind(s, w->sketch), product = behind(s, w->product), out = {z, z + kept};
    KL_TRY(read_row(map, x, row, w));
    for (int64_t c = 0; c < degree; c++) {
        for (int64_t k = map->n_out * c / degree; k < map->n_out * (c + 1) / degree; k += LINE) /* z is on its way while the factors are made */
            __builtin_prefetch(z + k, 1, 2);
        if (w->count < 0)
            kl_scatter_dense(&s->scatter[c], w->row, w->sketch);
        else
            kl_scatter_sparse(&s->scatter[c], w->count, w->column, w->value, w->sketch);
        kl_hadamard_finish(s->buckets, kept, sketch, c > 0 ? &product : NULL, c < degree - 1 ? product : out);
    }
    return KLIFT_OK;
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    if (kl_power_exact(map))
        return kl_power_apply_exact(map, x, z);
    work w = split(map->state, scratch);
    for (int64_t i = 0; i < x->rows; i++)
        KL_TRY(apply_row(map, x, i, z->dense + i * z->stride, &w));
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    return kl_power_exact(map) ? 0 : kl_power_degree(map) * kl_scatter_memory(kl_power_columns(map), groups(map));
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const state *s = map->state;
    (void)rows;
    return s->scatter == NULL ? 0 : (4 * (s->buckets + APART) + 3 * (s->columns + 1)) * (int64_t)sizeof(float);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    kl_power_pair p = kl_power_moments(map, pair);
    double degree = (double)kl_power_degree(map), square = p.s * p.s;
    if (kl_power_exact(map))
        return 0;
    return (pow(square + p.norms - p.shared, degree) + pow(2 * square - p.shared, degree) - 2 * pow(square, degree)) / (double)map->n_out;
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    double degree = (double)kl_power_degree(map), size = (double)s->buckets;
    if (kl_power_exact(map))
        return (double)entries;
    return degree * (double)(entries + 1) + degree * 2 * size * log2(size) + 3 * (degree - 1) * (double)map->n_out;
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    *count = s->scatter != NULL ? 1 : 0; /* buckets and signs are codes: the scale is what there is to spoil */
    return s->scatter != NULL ? &s->scale : NULL;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    for (int64_t c = 0; s->scatter != NULL && c < kl_power_degree(map); c++)
        kl_scatter_clear(&s->scatter[c]);
    kl_free(s->scatter);
}

const kl_map_type kl_map_tensor_sketch = {
    .name = "tensor-sketch",
    .summary = "Tensor Sketch with complex signs for powers of the inner product: rows cost their nonzeros and D log D",
    .params = params,
    .needs = KL_POWER,
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
