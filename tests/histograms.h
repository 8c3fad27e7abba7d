/* histograms.h - rows without negative values that add up to 1, some entries 0: 60 rows of 16 columns made from SYN. */
#ifndef TEST_HISTOGRAMS_H
#define TEST_HISTOGRAMS_H

#include "map/map.h"

enum { HISTOGRAM_ROWS = 60, HISTOGRAM_COLUMNS = 16 };

typedef struct histograms {
    float dense[HISTOGRAM_ROWS * HISTOGRAM_COLUMNS];
    double x[HISTOGRAM_ROWS * HISTOGRAM_COLUMNS]; /* the same */
    kl_survey survey;
} histograms;

void histograms_new(histograms *h);
void histograms_free(histograms *h);
kl_map *histograms_map(const histograms *h, const char *map, const char *kernel, int64_t features, uint64_t seed);

/* Over all pairs of rows: the mean squared error of `seeds` maps with its standard error, the mean signed error likewise, and the
 * mean of what variance() states. */
typedef struct histograms_errors {
    double mse, mse_error, bias, bias_error, stated;
} histograms_errors;

/* Measures, prints, and asserts that error and bias are within 5 of their standard errors of what is stated. */
histograms_errors histograms_check(const histograms *h, const char *map, const char *kernel, int64_t features, int seeds);

#endif
