/* tally.h - how much each label weighs: the sum of the weights of its rows, by class name. */
#ifndef KL_TALLY_H
#define KL_TALLY_H

#include "data/batch.h"
#include "data/names.h"

typedef struct kl_tally {
    kl_names classes; /* in the order in which they came */
    double *weight;   /* (classes) */
    int64_t room;
    bool complete;    /* of all rows there are */
} kl_tally;

klift_status kl_tally_add(kl_tally *tally, const kl_batch *x); /* rows without labels count nowhere */
void kl_tally_clear(kl_tally *tally);

#endif
