/* waves.c - cosine and sine of each frequency, all cosines first: z(x).z(y) is the mean of cos(w_j.(x - y)). */
#include "map/waves.h"

#include "math/trig.h"

#include <math.h>

const double kl_waves_turn = 0.159154943091895335769;

void kl_waves_finish(int64_t rows, int64_t count, float *z, int64_t stride)
{
    float scale = (float)sqrt(1.0 / (double)count);
    for (int64_t i = 0; i < rows; i++)
        kl_trig_pairs(count, z + i * stride + count, scale, z + i * stride, z + i * stride + count);
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
