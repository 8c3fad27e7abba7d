/* sample.h - the rows with the smallest keys: a random sample that neither order, batch nor shard changes. */
#ifndef KL_SAMPLE_H
#define KL_SAMPLE_H

#include "base/record.h"
#include "data/rows.h"

typedef struct kl_sample {
    int64_t limit;
    bool merge_equal; /* rows of one key are one row, their weights added */
    kl_rows rows;
    kl_rows other; /* room that the next settling copies into */
    uint64_t *key; /* (rows) */
    int64_t key_room;
    uint64_t highest; /* keys above it need not be offered once the limit was reached */
    bool full;
} kl_sample;

klift_status kl_sample_offer(kl_sample *sample, const kl_batch *batch, int64_t row, uint64_t key);
/* Leaves the limit's smallest keys, in ascending order. */
klift_status kl_sample_settle(kl_sample *sample);
/* sample_keep.c, for rows with labels and weights. load: into an empty one of the same limit; width: of the rows there are */
void kl_sample_save(const kl_sample *sample, kl_record_writer *to);
klift_status kl_sample_load(kl_sample *sample, int64_t width, kl_record_reader *from);
void kl_sample_clear(kl_sample *sample);

#endif
