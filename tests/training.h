/*
 * training.h - what tests share that train through klift.h: settings and runs from pairs of words, rows in memory, trainings, and
 * whether two models are the same. What answers no status must succeed.
 */
#ifndef TEST_TRAINING_H
#define TEST_TRAINING_H

#include "support.h"

/* Keys and values in turn; a key that is NULL ends them. */
#define PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL})
klift_spec *spec_of(const char *const *pairs);
klift_run *run_of(const char *const *pairs);

/* All rows of a reader in memory of our own. */
typedef struct table {
    int64_t n, d, t;
    float *x;  /* (n, d) */
    double *y; /* (n, t) */
} table;
klift_data *synthetic(const char *name, const char *options); /* such as "rings", "rows=500,seed=3" */
table load(const char *name, const char *options);
klift_batch rows_of(const table *t, int64_t first, int64_t count);
void table_free(table *t);

klift_status train_rows(const klift_spec *spec, const klift_batch *rows, klift_run *run, klift_model **model);
klift_model *train_data(const klift_spec *spec, klift_data *data, klift_run *run); /* data are freed */
/* Statistics of these rows, under a map that was fitted. */
klift_stats *stats_of(const klift_map *map, const klift_spec *spec, const klift_batch *rows, klift_run *run);
klift_map *map_of(const klift_spec *spec, const klift_batch *rows, klift_run *run);

void *bytes_of(const klift_model *model, int64_t *count); /* to be freed */
void assert_same_bytes(const klift_model *a, const klift_model *b);
double largest_score_difference(const klift_model *a, const klift_model *b, const klift_batch *x);
double described(const klift_model *model, const char *key); /* a number of klift_model_describe */

#endif
