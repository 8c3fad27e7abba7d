/* waves.c - cosine and sine of each frequency, all cosines first: z(x).z(y) is the mean of cos(w_j.(x - y)); or cosines with phases. */
#include "map/waves.h"

#include "math/trig.h"

#include <math.h>
#include <string.h>

const double kl_waves_turn = 0.159154943091895335769;

void kl_waves_row(const kl_batch *x, int64_t row, int64_t size, float *out)
{
    int64_t filled = x->dense != NULL ? x->columns : 0;
    if (filled > 0)
        memcpy(out, x->dense + row * x->stride, (size_t)filled * sizeof *out);
    memset(out + filled, 0, (size_t)(size - filled) * sizeof *out);
    for (int64_t p = x->dense != NULL ? 0 : x->start[row]; x->dense == NULL && p < x->start[row + 1]; p++)
        out[x->column[p]] = x->value[p];
}

kl_waves kl_waves_begin(const kl_map *map, const kl_output *z)
{
    int64_t count = map->n_out / 2; /* the constant's column is the odd one */
    return (kl_waves){.z = z, .count = count, .scale = (float)sqrt(kl_waves_height(map) / (double)count), .last = map->n_out - 1, .constant = (float)sqrt(kl_waves_constant(map))};
}

double kl_waves_reach(const kl_map *map)
{
    return sqrt(2 * kl_waves_height(map) / (double)(map->n_out > 1 ? map->n_out - 1 : 1)); /* of pairs and of phases, with or without the constant's column */
}

/* Stores past the caches take whole lines. Where a row does not begin with one, the lines at the ends of its parts are written the usual way, for
 * which they are read first: those of a row to come, now. */
static void fetch_ends(const kl_waves *waves, const float *cosine, int64_t count)
{
    enum { LINE = 64, AHEAD = 2 };
    const float *later = cosine + AHEAD * waves->z->stride;
    if ((uintptr_t)later % LINE == 0)
        return;
    __builtin_prefetch(later, 1);
    __builtin_prefetch(later + count, 1);
    __builtin_prefetch(later + waves->count, 1);
    __builtin_prefetch(later + waves->count + count, 1);
}

void kl_waves_take(const void *context, int64_t row, int64_t column, int64_t count, const float *turns)
{
    const kl_waves *waves = context;
    float *cosine = waves->z->dense + row * waves->z->stride + column;
    if (waves->phase != NULL)
        kl_trig_cosines(count, turns, waves->phase + column, waves->scale, cosine);
    else if (waves->z->past) {
        fetch_ends(waves, cosine, count);
        kl_trig_pairs_past(count, turns, waves->scale, cosine, cosine + waves->count);
    } else
        kl_trig_pairs(count, turns, waves->scale, cosine, cosine + waves->count);
}

kl_product_out kl_waves_out(const kl_waves *waves)
{
    kl_product_out to = {.take = kl_waves_take, .context = waves};
    if (waves->phase == NULL && waves->z->past)
        to.pairs = (kl_pairs){waves->z->dense, waves->z->stride, waves->count, waves->scale};
    return to;
}

void kl_waves_end(const kl_waves *waves, int64_t rows)
{
    for (int64_t i = 0; waves->constant > 0 && i < rows; i++)
        waves->z->dense[i * waves->z->stride + waves->last] = waves->constant;
    if (waves->z->past)
        kl_trig_drain();
}

kl_waves_moments kl_waves_measure(const kl_map *map, const kl_pair *pair, int64_t rows)
{
    const kl_kernel *kernel = map->kernel;
    double height = kl_waves_height(map), constant = kl_waves_constant(map);
    double once = (kernel->type->value(kernel, pair, 1) - constant) / height, twice = (kernel->type->value(kernel, pair, 2) - constant) / height;
    return (kl_waves_moments){height, twice, kernel->type->mean_square != NULL ? kernel->type->mean_square(kernel, pair, rows) : once * once};
}

double kl_waves_variance(const kl_map *map, const kl_pair *pair)
{
    int64_t count = kl_waves_count(map);
    kl_waves_moments m = kl_waves_measure(map, pair, count);
    return m.height * m.height * (1 + m.twice - 2 * m.squares) / (2 * (double)count);
}

double kl_waves_constant(const kl_map *map)
{
    return map->kernel->type->constant != NULL ? map->kernel->type->constant(map->kernel) : 0;
}

double kl_waves_height(const kl_map *map)
{
    return map->kernel->type->height != NULL ? map->kernel->type->height(map->kernel) : 1;
}

int64_t kl_waves_count(const kl_map *map)
{
    int64_t columns = map->features - (kl_waves_constant(map) > 0);
    return columns > 0 ? (columns + 1) / 2 : 1;
}

int64_t kl_waves_outputs(const kl_map *map)
{
    return 2 * kl_waves_count(map) + (kl_waves_constant(map) > 0);
}
