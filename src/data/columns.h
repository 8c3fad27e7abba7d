/*
 * columns.h - what the columns of all rows so far add up to, and how long each row of the last batch is. Zeroed is empty;
 * call order: { widen, add, ... }, clear. Every sum is in the order of the rows, so that neither the batches, the threads nor
 * the form of the rows (dense or CSR) change a bit of it.
 */
#ifndef KL_COLUMNS_H
#define KL_COLUMNS_H

#include "base/run.h"
#include "data/batch.h"

typedef struct kl_columns {
    int64_t count;
    double *sum, *square; /* (count): of weight x and weight x^2 */
    double *low, *high;   /* (count): of the nonzeros, and of some zeros; infinite where there was neither */
    int64_t *nonzeros;    /* (count) */
    double *norm;         /* (rows of the last batch) */
    int64_t *entries;     /* (rows of the last batch): nonzeros */
    int64_t room, norm_room, entries_room;
} kl_columns;

/* At least so many columns; limit in bytes: one large index in a short file must not take all memory. */
klift_status kl_columns_widen(kl_columns *columns, int64_t count, int64_t limit);
/* Adds rows of finite values and weights, which are not wider; the run's threads share the work when there is enough of it. */
klift_status kl_columns_add(kl_columns *columns, const kl_batch *batch, klift_run *run);
void kl_columns_clear(kl_columns *columns);

#endif
