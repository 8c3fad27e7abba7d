/* seen.h - which rows went by: their number and one key of all of them in their order, the same for every cut, form and format. */
#ifndef KL_SEEN_H
#define KL_SEEN_H

#include "data/batch.h"

typedef struct kl_seen {
    int64_t rows;
    uint64_t key;
    bool words; /* labels came as texts */
} kl_seen;

void kl_seen_add(kl_seen *seen, const kl_batch *batch);

#endif
