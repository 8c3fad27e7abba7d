/* series.h - random Maclaurin features made from rows, and their errors over all pairs against closed forms. */
#ifndef TEST_SERIES_H
#define TEST_SERIES_H

#include "map/map.h"

typedef struct series_rows {
    int64_t n, d;
    double *x;    /* (n, d) */
    float *dense; /* the same */
    kl_survey survey;
} series_rows;

/* SYN rows times length. */
void series_rows_new(series_rows *b, int64_t n, int64_t d, double length);
void series_rows_free(series_rows *b);
klift_status series_try(const series_rows *b, const char *text, const char *kernel_text, int64_t features, uint64_t seed, kl_map **map);
kl_map *series_map(const series_rows *b, const char *text, const char *kernel, int64_t features, uint64_t seed);
/* Over all pairs, exact (n, n) being the kernel. */
double series_mean_square(const kl_map *map, const series_rows *b, const double *exact);
/* The mean of variance plus squared bias over all pairs; exact (n, n) becomes the kernel, or is NULL. */
double series_closed_form(const kl_map *map, const series_rows *b, double *exact);
/* The closed form of such a map. */
double series_stated(const series_rows *b, const char *text, const char *kernel, int64_t features);
/* The mean over seeds is within 5 standard errors of the closed form, that within 5 table_se of the table (0: none), a mean of
 * prototypes. Answers the closed form. */
double series_check(const series_rows *b, const char *text, const char *kernel, int64_t features, int seeds, double table, double table_se);
bool series_close(double a, double b, double relative);

#endif
