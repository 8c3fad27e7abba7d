/* passes.h - features of all rows for learners that want them several times: kept in memory where the plan has room for them,
 * otherwise made again from the rows, which are read again; those of rows that can be read once only go to a temporary file
 * when they outgrow their part of memory. The same numbers in all cases. */
#ifndef KL_PASSES_H
#define KL_PASSES_H

#include "data/gather.h"
#include "model/lift.h"

typedef struct kl_feature_passes {
    kl_passes passes; /* what the learner sees */
    const klift_map *lift;
    kl_gather gather;
    int64_t block, rows, at; /* rows of a block; of all; of this pass so far */
    bool kept;
    float **z;      /* kept: every block; otherwise one, used again */
    int64_t blocks, room;
    int file;       /* of all blocks, -1: none */
} kl_feature_passes;

/* Rows of the reader from where it stands, all observed by the learner; their features are kept or can be had again. Call close
 * also after a failure. */
klift_status kl_passes_open(kl_feature_passes *p, const klift_map *lift, kl_reader *reader, kl_learner *learner, klift_run *run);
void kl_passes_close(kl_feature_passes *p);
/* One block from the reader: z (block, n_out), observed when learner is not NULL, lifted when z is not NULL. */
klift_status kl_passes_fill(const klift_map *lift, kl_gather *gather, kl_learner *learner, int64_t block, float *z, klift_run *run, int64_t *rows);

#endif
