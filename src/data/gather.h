/* gather.h - a stated number of rows at a time from a reader whose batches come in any size. */
#ifndef KL_GATHER_H
#define KL_GATHER_H

#include "data/reader.h"

typedef struct kl_gather {
    kl_reader *reader;
    int64_t width; /* rows must fit it: dense ones exactly, sparse ones at most */
    kl_rows store;
} kl_gather;

/* Exactly `want` rows, fewer only at the end; a view into the reader's batch when that is large enough. */
klift_status kl_gather_next(kl_gather *gather, int64_t want, klift_run *run, kl_batch *batch);
void kl_gather_clear(kl_gather *gather);
/* KLIFT_DATA when batch does not have the width of the model. */
klift_status kl_gather_check_width(const kl_batch *batch, int64_t width, const char *what);

#endif
