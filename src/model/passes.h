/* passes.h - features of all rows for learners that want them several times, in any order: kept in memory where they take at most
 * half of max-memory; otherwise made again from rows that are kept, where those take at most a quarter; otherwise in a temporary
 * file, or made again from rows that are in one, where those take less than half as much. Rows that can be read once only go to memory,
 * and as features to a file when they turn out to be too many. Dense or CSR (lift->entries). The same numbers in all cases.
 * A learner by parts has the features of one copy of a map at a time, always made from rows. */
#ifndef KL_FEATURE_PASSES_H
#define KL_FEATURE_PASSES_H

#include "data/gather.h"
#include "model/lift.h"
#include "model/row_file.h"

/* Features of some rows: one of dense, half, or the three of CSR. */
typedef struct kl_feature_block {
    float *dense;   /* (block, features) */
    uint16_t *half; /* 16 bits (block, line): a row, and at the end of its line its scale */
    int64_t *start;
    int32_t *column;
    float *value;
} kl_feature_block;

typedef struct kl_feature_passes {
    kl_passes passes; /* what the learner sees */
    const klift_map *lift;
    kl_gather gather;
    kl_kept keep;
    bool sparse;    /* features are CSR */
    kl_narrow narrow; /* what they are rounded to */
    int64_t block;  /* rows of one */
    int64_t width;  /* features of a row that are made at a time: all, or those of a part */
    int64_t line;   /* of half */
    kl_feature_block *kept; /* every block, with keep = features */
    int64_t blocks, room, bytes; /* bytes: in them */
    float *made;    /* features on their way, dense (block, features); none where they become half */
    kl_rows entries; /* the same, CSR */
    uint16_t *half;  /* a block of it on its way to the file */
    kl_row *row;    /* (at_most) rows on their way to a part of their features */
    kl_rows raw, chosen;
    kl_row_file file;
} kl_feature_passes;

/* Rows of the reader from where it stands, all observed by the learner, and counted by seen unless it is NULL. Call close also after a
 * failure. */
klift_status kl_passes_open(kl_feature_passes *p, const klift_map *lift, kl_reader *reader, kl_learner *learner, kl_seen *seen, klift_run *run);
void kl_passes_close(kl_feature_passes *p);

/* Where the rows of a block go, each NULL or behind what is there: raw rows, features (block, n_out), features as CSR. half (block, line):
 * features narrowed, in the place of dense. */
typedef struct kl_passes_sink {
    kl_rows *raw;
    float *dense;
    kl_rows *sparse;
    uint16_t *half;
    kl_narrow narrow;
} kl_passes_sink;

/* One block from the reader, observed by the learner. */
klift_status kl_passes_fill(const klift_map *lift, kl_gather *gather, kl_learner *learner, int64_t block, const kl_passes_sink *to, klift_run *run, int64_t *rows);

#endif
