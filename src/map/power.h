/*
 * power.h - what maps of (gamma <x, y> + offset)^degree share: tensor-sketch and tree. With
 * x' = (sqrt(gamma) x, sqrt(offset)) the kernel is <x', y'>^degree; offset 0 adds no coordinate.
 */
#ifndef KL_POWER_H
#define KL_POWER_H

#include "map/map.h"

/* Moments of a pair (x', y'): all that a variance depends on. */
typedef struct kl_power_pair {
    double s;      /* <x', y'> */
    double norms;  /* |x'|^2 |y'|^2 */
    double shared; /* sum of x'_i^2 y'_i^2 */
} kl_power_pair;

int64_t kl_power_degree(const kl_map *map);
int64_t kl_power_columns(const kl_map *map); /* of x' */
kl_power_pair kl_power_moments(const kl_map *map, const kl_pair *pair);
/* The map of `auto`: by closed forms for a typical pair of rows of length 1, and by operations. */
const char *kl_power_choose(const kl_kernel *kernel, int64_t features, int64_t n_in, double nonzeros);
/* Degree 0 is the constant 1, and degree 1 is x' itself where it fits into the features: other columns are 0. */
bool kl_power_exact(const kl_map *map);
klift_status kl_power_apply_exact(const kl_map *map, const kl_batch *x, const kl_output *z);
/* row (kl_power_columns) = scale x', with zeros; how many entries are none, about: a CSR row may have entries of 0. */
klift_status kl_power_row(const kl_map *map, const kl_batch *x, int64_t i, double scale, float *row, int64_t *nonzeros);
/* The nonzeros of scale x' as (column, value), at most kl_power_columns of them; *count says how many.
 * KLIFT_DATA when |x'|^degree is beyond float32. */
klift_status kl_power_entries(const kl_map *map, const kl_batch *x, int64_t row, double scale, int32_t *column, float *value, int64_t *count);

#endif
