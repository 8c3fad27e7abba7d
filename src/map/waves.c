/* waves.c - cosine and sine of each frequency, all cosines first: z(x).z(y) is the mean of cos(w_j.(x - y)). */
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
    int64_t count = map->n_out / 2;
    return (kl_waves){z, count, (float)sqrt(1.0 / (double)count)};
}

void kl_waves_take(const void *context, int64_t row, int64_t column, int64_t count, const float *turns)
{
    const kl_waves *waves = context;
    float *cosine = waves->z->dense + row * waves->z->stride + column;
    if (waves->z->past)
        kl_trig_pairs_past(count, turns, waves->scale, cosine, cosine + waves->count);
    else
        kl_trig_pairs(count, turns, waves->scale, cosine, cosine + waves->count);
}

void kl_waves_end(const kl_waves *waves)
{
    if (waves->z->past)
        kl_trig_drain();
}

double kl_waves_variance(const kl_map *map, const kl_pair *pair)
{
    const kl_kernel *kernel = map->kernel;
    double once = kernel->type->value(kernel, pair, 1), twice = kernel->type->value(kernel, pair, 2);
    return (1 + twice - 2 * once * once) / (double)map->n_out;
}

int64_t kl_waves_count(const kl_map *map)
{
    return (map->features + 1) / 2;
}
