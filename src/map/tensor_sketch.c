/*
 * tensor_sketch.c - the Tensor Sketch of Pham and Pagh (2013) over the group Z_2^k instead of Z_D, with signs from
 * {1, i, -1, -i}, for K = (gamma <x, y> + offset)^degree = <x', y'>^r:
 *   C_c[h_c(j)] += s_c(j) x'_j,  F = product over c = 1..r of H C_c,  z = (Re F, Im F) / sqrt(m),  m = D / 2
 * H is the Walsh-Hadamard transform over p >= m buckets, p a power of two, of which the first m rows are kept: any subset
 * is unbiased. Turning back is left out: H / sqrt(p) is orthogonal.
 * Variance: ((s^2 + N - A)^r + (2 s^2 - A)^r - 2 s^(2r)) / D with s = <x', y'>, N = |x'|^2 |y'|^2, A = sum x'_j^2 y'_j^2:
 * the leading term of the published sketch, without its remainder; real signs over this group would have 4 times as much at
 * degree 7. The scale goes into every factor, so that partial products stay between 1 and the result.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/power.h"
#include "math/complex.h"
#include "math/hadamard.h"

#include <math.h>
#include <string.h>

enum { APART = 16 }; /* floats between the two parts: no stride of a multiple of a page */

static const kl_param params[] = {{0}};

typedef struct state {
    int64_t buckets; /* p */
    int64_t columns; /* of x' */
    int32_t *place;  /* (degree, columns) into the real part, or the imaginary one behind it */
    float *sign;     /* (degree, columns) */
} state;

static int64_t pairs(const kl_map *map)
{
    return (map->features + 1) / 2;
}

static void draw_factor(kl_map *map, int64_t factor)
{
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_BUCKET};
    int32_t *place = s->place + factor * s->columns;
    float *sign = s->sign + factor * s->columns;
    for (int64_t j = 0; j < s->columns; j++) {
        uint32_t bits[4]; /* two of them to a column */
        if (j % 2 == 0)
            kl_random_block(&from, (uint32_t)factor, (uint32_t)(j / 2), bits);
        int64_t bucket = bits[j % 2 * 2] & (uint32_t)(s->buckets - 1);
        uint32_t code = bits[j % 2 * 2 + 1];
        place[j] = (int32_t)(code & 1 ? s->buckets + APART + bucket : bucket);
        sign[j] = code & 2 ? -1.0f : 1.0f;
    }
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t degree = kl_power_degree(map);
    if (kl_power_exact(map))
        return kl_map_set_outputs(map, map->features);
    KL_TRY(kl_map_set_outputs(map, 2 * pairs(map)));
    s->buckets = kl_hadamard_size(pairs(map));
    s->columns = kl_power_columns(map);
    KL_TRY(kl_new(&s->place, degree * s->columns, sizeof *s->place, "buckets"));
    KL_TRY(kl_new(&s->sign, degree * s->columns, sizeof *s->sign, "signs"));
    for (int64_t c = 0; c < degree; c++) {
        KL_TRY(kl_run_check(run));
        draw_factor(map, c);
    }
    return KLIFT_OK;
}

typedef struct work {
    float *sketch;   /* (p + APART + p) */
    int32_t *column; /* (columns + 1) entries of a row */
    float *value;
} work;

static work split(const state *s, void *scratch)
{
    float *sketch = scratch, *value = sketch + 2 * s->buckets + APART;
    return (work){sketch, (int32_t *)(value + s->columns + 1), value};
}

static klift_status apply_row(const kl_map *map, const kl_batch *x, int64_t row, float *z, const work *w)
{
    const state *s = map->state;
    int64_t degree = kl_power_degree(map), kept = map->n_out / 2, count;
    kl_complex sketch = {w->sketch, w->sketch + s->buckets + APART}, out = {z, z + kept};
    KL_TRY(kl_power_entries(map, x, row, pow((double)kept, -0.5 / (double)degree), w->column, w->value, &count));
    for (int64_t c = 0; c < degree; c++) {
        const int32_t *place = s->place + c * s->columns;
        const float *sign = s->sign + c * s->columns;
        memset(w->sketch, 0, (size_t)(2 * s->buckets + APART) * sizeof *w->sketch);
        for (int64_t q = 0; q < count; q++)
            w->sketch[place[w->column[q]]] += sign[w->column[q]] * w->value[q];
        kl_hadamard(s->buckets, NULL, sketch.re);
        kl_hadamard(s->buckets, NULL, sketch.im);
        if (c > 0) {
            kl_complex_multiply(kept, out, sketch, NULL, out);
            continue;
        }
        memcpy(out.re, sketch.re, (size_t)kept * sizeof *z);
        memcpy(out.im, sketch.im, (size_t)kept * sizeof *z);
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
    return kl_power_exact(map) ? 0 : kl_power_degree(map) * kl_power_columns(map) * (int64_t)(sizeof(int32_t) + sizeof(float));
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const state *s = map->state;
    (void)rows;
    return s->sign == NULL ? 0 : (2 * s->buckets + APART + 2 * (s->columns + 1)) * (int64_t)sizeof(float);
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
    double degree = (double)kl_power_degree(map), buckets = (double)s->buckets;
    if (kl_power_exact(map))
        return (double)entries;
    return degree * (double)(entries + 1) + degree * 2 * buckets * log2(buckets) + 3 * (degree - 1) * (double)map->n_out;
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    *count = s->sign != NULL ? kl_power_degree(map) * s->columns : 0;
    return s->sign;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_free(s->place);
    kl_free(s->sign);
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
