/* passes.h - features of all rows for learners that want them several times, in any order: kept in memory where they take at most
 * half of max-memory; otherwise made again from rows that are kept, where those take at most a quarter; otherwise in a temporary
 * file, as for rows that can be read once only and turn out to be too many. The same numbers in all cases. */
#ifndef KL_FEATURE_PASSES_H
#define KL_FEATURE_PASSES_H

#include "data/gather.h"
#include "model/lift.h"

typedef struct kl_feature_passes {
    kl_passes passes; /* what the learner sees */
    const klift_map *lift;
    kl_gather gather;
    kl_keep keep;   /* nothing: features are in the file */
    int64_t block;  /* rows of one */
    float **z;      /* kept features: every block; otherwise one, used again */
    int64_t blocks, room;
    kl_rows raw, chosen;
    int file;
} kl_feature_passes;

/* Rows of the reader from where it stands, all observed by the learner. Call close also after a failure. */
klift_status kl_passes_open(kl_feature_passes *p, const klift_map *lift, kl_reader *reader, kl_learner *learner, klift_run *run);
void kl_passes_close(kl_feature_passes *p);
/* One block from the reader: z (block, n_out), observed by the learner, kept in raw when that is not NULL, lifted when z is not NULL. */
klift_status kl_passes_fill(const klift_map *lift, kl_gather *gather, kl_learner *learner, int64_t block, kl_rows *raw, float *z, klift_run *run, int64_t *rows);

#endif
