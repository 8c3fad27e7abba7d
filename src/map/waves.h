/* waves.h - what maps of paired cosines and sines share: fourier, orthogonal, fastfood. */
#ifndef KL_WAVES_H
#define KL_WAVES_H

#include "map/map.h"

/* z (rows, 2 count) = sqrt(1/count) [cos ..., sin ...], made from turns w_j.x / 2 pi as they come. */
typedef struct kl_waves {
    const kl_output *z;
    int64_t count;
    float scale;
} kl_waves;

/* Row of x as (size) floats, zeros filled in: what a transform in place starts from. */
void kl_waves_row(const kl_batch *x, int64_t row, int64_t size, float *out);

kl_waves kl_waves_begin(const kl_map *map, const kl_output *z);
/* Turns of frequencies column .. column+count-1 of a row; the context is a kl_waves, as kl_product_out's take wants it. */
void kl_waves_take(const void *context, int64_t row, int64_t column, int64_t count, const float *turns);
void kl_waves_end(const kl_waves *waves);
/* Of independent frequencies: (1 + K(2d) - 2 K(d)^2) / D. */
double kl_waves_variance(const kl_map *map, const kl_pair *pair);
/* Frequencies of a map whose outputs come in pairs: odd numbers of features are rounded up. */
int64_t kl_waves_count(const kl_map *map);

extern const double kl_waves_turn; /* 1 / 2 pi */

#endif
