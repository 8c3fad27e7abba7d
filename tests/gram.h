/* gram.h - errors of a map over all entries of the Gram matrix of SYN rows, diagonal included, over fixed seeds. */
#ifndef TEST_GRAM_H
#define TEST_GRAM_H

#include "map/map.h"

typedef struct gram_case {
    int64_t d;
    const char *map, *kernel;
    int64_t features;
    int seeds;
} gram_case;

typedef struct gram_errors {
    double mse, mse_error;   /* mean over the seeds, and its standard error */
    double bias, bias_error; /* of the signed error */
    double mae;
    double stated; /* mean of the map's variance() over the pairs */
    int64_t outputs;
} gram_errors;

enum { GRAM_ROWS = 200 };

/* A map made for rows of d columns with norm 1 at most, from a survey of SYN rows. */
kl_map *gram_map(const char *text, const char *kernel, int64_t d, int64_t features, uint64_t seed, uint32_t stream);
/* z (rows, n_out), to be freed */
float *gram_lift(const kl_map *map, const klift_batch *x);
double gram_product(int64_t n, const float *x, const float *y);
gram_errors gram_measure(const gram_case *c);
gram_errors gram_measure_only(const gram_case *c); /* without asking variance(): stated is NaN */
/* Measures, prints, and asserts that the mean squared error and the bias are within 5 of their own standard errors. */
gram_errors gram_check(const gram_case *c);
gram_errors gram_check_bias(const gram_case *c); /* of a map that states no variance, which is asserted */
/* Every byte of what a map stores, spoilt in three ways behind the checksums' back: refused, or a map that can be applied to
 * x. Counts are added to. */
void gram_damage(const kl_map *map, const klift_batch *x, int64_t *tried, int64_t *refused);
/* The status of making such a map; the message is in kl_error_text(). */
klift_status gram_try(const char *text, const char *kernel, int64_t d, int64_t features);

#endif
