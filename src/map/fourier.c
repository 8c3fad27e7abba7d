/*
 * fourier.c - random Fourier features (Rahimi and Recht 2007) for every kernel with a spectral density.
 *   paired  z = sqrt(2/D) [cos(w_j.x) ..., sin(w_j.x) ...], j = 1..D/2   variance (1 + K(2d) - 2 K(d)^2) / D
 *   phase   z = sqrt(2/D) cos(w_j.x + b_j), b_j uniform, j = 1..D        variance (1 + K(2d)/2 - K(d)^2) / D
 * d = x - y, K(0) = 1. Paired is better for every kernel with K(2d)/2 < K(d)^2, always for the Gaussian, and has z(x).z(x) = 1.
 * Frequencies are kept in turns (w / 2 pi): the range reduction of the cosine is then one rounding.
 */
#include "map/map.h"

#include "base/memory.h"
#include "map/waves.h"
#include "math/product.h"

#include <math.h>

enum { FORM };
enum { PAIRED, PHASE };
enum { AT_ONCE = KL_MICRO_WIDEST }; /* frequencies drawn by one task: whole panels, so that tasks share no cache line */

static const kl_param params[] = {
    {"form", KL_WORD, "paired", 0, 0, false, "paired|phase", "paired: cosine and sine of each frequency; phase: cosine with a random phase, as published"},
    {0}};

typedef struct state {
    kl_panels frequency; /* (frequencies, n_in) in turns */
    float *phase;        /* (frequencies) in turns, form phase only */
} state;

static int64_t frequencies(const kl_map *map)
{
    if (map->value[FORM].word == PAIRED)
        return kl_waves_count(map);
    return map->features > 1 && kl_waves_constant(map) > 0 ? map->features - 1 : map->features;
}

typedef struct drawing {
    kl_map *map;
    double *work; /* (threads, n_in) */
} drawing;

/* The frequencies of one panel, in turns. */
static klift_status draw_panel(void *context, int64_t index, int worker)
{
    const drawing *d = context;
    const kl_map *map = d->map;
    state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_FREQUENCY};
    int64_t begin = index * AT_ONCE, end = begin + AT_ONCE < s->frequency.n ? begin + AT_ONCE : s->frequency.n;
    double *w = d->work + worker * map->n_in;
    for (int64_t j = begin; j < end; j++) {
        map->kernel->type->frequency(map->kernel, &from, (uint32_t)j, s->frequency.n, map->n_in, w);
        for (int64_t i = 0; i < map->n_in; i++)
            w[i] *= kl_waves_turn;
        kl_panels_set(&s->frequency, j, w);
    }
    return KLIFT_OK;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t count = frequencies(map);
    kl_random phases = {map->seed, map->stream, KL_DRAW_PHASE};
    drawing d = {.map = map};
    klift_status status = KLIFT_OK;
    KL_TRY(kl_map_set_outputs(map, (map->value[FORM].word == PAIRED ? 2 : 1) * count + (kl_waves_constant(map) > 0)));
    KL_GO(kl_panels_new(&s->frequency, count, map->n_in));
    KL_GO(kl_new(&d.work, kl_run_threads(run) * map->n_in, sizeof *d.work, "frequencies"));
    KL_GO(kl_run_parallel(run, (count + AT_ONCE - 1) / AT_ONCE, draw_panel, &d));
    if (map->value[FORM].word == PHASE) {
        KL_GO(kl_new(&s->phase, count, sizeof *s->phase, "phases"));
        for (int64_t j = 0; j < count; j++) {
            double u;
            kl_random_uniforms(&phases, (uint32_t)j, 1, &u);
            s->phase[j] = (float)u;
        }
    }
done:
    kl_free(d.work);
    return status;
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    kl_waves waves = kl_waves_begin(map, z);
    if (s->phase != NULL) {
        waves.count = s->frequency.n;
        waves.scale = (float)sqrt(2 * kl_waves_height(map) / (double)waves.count);
        waves.phase = s->phase;
    }
    const kl_product_out to = kl_waves_out(&waves);
    if (x->dense != NULL)
        kl_product_dense(&s->frequency, x->rows, x->dense, x->stride, &to, scratch);
    else
        kl_product_sparse(&s->frequency, x->rows, x->start, x->column, x->value, &to);
    kl_waves_end(&waves, x->rows);
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    int64_t count = frequencies(map), phases = map->value[FORM].word == PHASE ? count : 0;
    return kl_panels_bytes(count, map->n_in) + phases * (int64_t)sizeof(float) + map->n_in * (int64_t)sizeof(double);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    (void)rows;
    return kl_product_scratch(map->n_in);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    if (map->value[FORM].word == PAIRED)
        return kl_waves_variance(map, pair);
    kl_waves_moments m = kl_waves_measure(map, pair, frequencies(map));
    return m.height * m.height * (1 + m.twice / 2 - m.squares) / (double)frequencies(map);
}

static double cost(const kl_map *map, int64_t entries)
{
    return (double)frequencies(map) * 2 * (double)entries + (double)map->n_out * 10;
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    *count = kl_panels_floats(&s->frequency);
    return s->frequency.packed;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_panels_clear(&s->frequency);
    kl_free(s->phase);
}

const kl_map_type kl_map_fourier = {
    .name = "fourier",
    .summary = "random Fourier features for kernels with a spectral density",
    .params = params,
    .needs = KL_SPECTRUM,
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
