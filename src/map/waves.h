/* waves.h - what maps of paired cosines and sines share: fourier, orthogonal, fastfood, spherical. */
#ifndef KL_WAVES_H
#define KL_WAVES_H

#include "map/map.h"
#include "math/product.h"

/* z (rows, 2 count) = sqrt(height/count) [cos ..., sin ...], made from turns w_j.x / 2 pi as they come; with phases (count), in
 * turns, z (rows, count) = sqrt(2 height/count) cos(w_j.x + phase_j). Behind them a column for the kernel's constant when it has one. */
typedef struct kl_waves {
    const kl_output *z;
    int64_t count;
    float scale;
    int64_t last;   /* column */
    float constant; /* in it, 0: there is none */
    const float *phase; /* or NULL: cosine and sine of each */
} kl_waves;

/* Of frequencies w of one pair of rows, d = x - y. */
typedef struct kl_waves_moments {
    double height;  /* what multiplies the waves: K(0) - constant */
    double twice;   /* E cos(2 w.d) */
    double squares; /* the mean over the frequencies of (E cos(w.d))^2 */
} kl_waves_moments;

/* Row of x as (size) floats, zeros filled in: what a transform in place starts from. */
void kl_waves_row(const kl_batch *x, int64_t row, int64_t size, float *out);

kl_waves kl_waves_begin(const kl_map *map, const kl_output *z);
/* Turns of frequencies column .. column+count-1 of a row; the context is a kl_waves, as kl_product_out's take wants it. */
void kl_waves_take(const void *context, int64_t row, int64_t column, int64_t count, const float *turns);
kl_product_out kl_waves_out(const kl_waves *waves); /* which is not to be moved before its end */
void kl_waves_end(const kl_waves *waves, int64_t rows);
kl_waves_moments kl_waves_measure(const kl_map *map, const kl_pair *pair, int64_t rows);
/* Of independent frequencies: (1 + K(2d) - 2 K(d)^2) / D for a kernel without a constant, K(0) = 1. */
double kl_waves_variance(const kl_map *map, const kl_pair *pair);
/* Frequencies of a map whose outputs come in pairs: odd numbers of features are rounded up. */
int64_t kl_waves_count(const kl_map *map);
int64_t kl_waves_outputs(const kl_map *map); /* with the constant's column */
double kl_waves_constant(const kl_map *map);
double kl_waves_height(const kl_map *map);
double kl_waves_reach(const kl_map *map); /* no wave is higher; the constant's column, which is the same in every row, may be */

extern const double kl_waves_turn; /* 1 / 2 pi */

#endif
