/* gather.h - a stated number of rows at a time from a reader whose batches come in any size. */
#ifndef KL_GATHER_H
#define KL_GATHER_H

#include "data/reader.h"
#include "data/seen.h"

typedef struct kl_gather {
    kl_reader *reader;
    int64_t width; /* rows must fit it: dense ones exactly, sparse ones at most */
    kl_rows store;
    kl_seen *seen; /* counts the rows that are given; NULL: nobody counts them */
    kl_rows ahead; /* fetched before they are asked for */
    int64_t ahead_at;
    bool fetched;
} kl_gather;

/* Exactly `want` rows, fewer only at the end; a view into the reader's batch when that is large enough. */
klift_status kl_gather_next(kl_gather *gather, int64_t want, klift_run *run, kl_batch *batch);
/* Reads `want` rows, which kl_gather_next gives then, and none behind them until the next fetch: whoever must not be stopped half-way has
 * all rows before it begins. */
klift_status kl_gather_fetch(kl_gather *gather, int64_t want, klift_run *run);
void kl_gather_clear(kl_gather *gather);
/* KLIFT_DATA when batch does not have the width of the model. */
klift_status kl_gather_check_width(const kl_batch *batch, int64_t width, const char *what);

#endif
