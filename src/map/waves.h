/* waves.h - what maps of paired cosines and sines share: fourier, orthogonal, fastfood. */
#ifndef KL_WAVES_H
#define KL_WAVES_H

#include "map/map.h"

/* z (rows, 2 count): the right half holds turns w_j.x / 2 pi; becomes sqrt(1/count) [cos ..., sin ...]. */
void kl_waves_finish(int64_t rows, int64_t count, float *z, int64_t stride);
/* Of independent frequencies: (1 + K(2d) - 2 K(d)^2) / D. */
double kl_waves_variance(const kl_map *map, const kl_pair *pair);
/* Frequencies of a map whose outputs come in pairs: odd numbers of features are rounded up. */
int64_t kl_waves_count(const kl_map *map);

extern const double kl_waves_turn; /* 1 / 2 pi */

#endif
