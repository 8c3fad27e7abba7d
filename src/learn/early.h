/*
 * early.h - rows that no pass learns from, and by their error the weights of the best pass and when to end. Which rows: a share by a
 * seeded hash of their content, so that copies of a row stay together and neither order nor format counts.
 * Call order: observe ..., split, { test, keep }, best, clear.
 */
#ifndef KL_EARLY_H
#define KL_EARLY_H

#include "learn/targets.h"

typedef struct kl_early {
    double share;       /* 0: nothing is held out */
    int64_t patience;   /* rounds that were no better before it ends; 0: it never does */
    uint64_t seed;
    const kl_class_weight *by_class; /* factors that the weights have, and errors do not count; borrowed */
    int32_t *held;      /* (rows) their numbers */
    int64_t rows, room;
    double weight;      /* of them */
    int64_t round, best_round; /* from 1 */
    kl_weights best;
} kl_early;

/* Rows of x, the last ones that targets have. */
klift_status kl_early_observe(kl_early *e, const kl_targets *targets, const kl_batch *x);
/* The numbers of all other rows, ascending: (targets->count) has room. KLIFT_DATA when nothing is left or held out. */
klift_status kl_early_split(kl_early *e, const kl_targets *targets, int32_t *others, int64_t *count);
/* Sets cv_error and cv_rows of weights. */
klift_status kl_early_test(const kl_early *e, const kl_targets *targets, kl_passes *passes, klift_run *run, kl_weights *weights);
/* Takes the weights of a round: kept where their error is the least so far. */
void kl_early_keep(kl_early *e, kl_weights *weights);
bool kl_early_over(const kl_early *e); /* it is time to end */
/* The rounds so far, as bytes; load takes weights like those of a round, whose numbers are replaced. */
void kl_early_save(const kl_early *e, kl_record_writer *to);
klift_status kl_early_load(kl_early *e, kl_record_reader *from, kl_weights *weights);
void kl_early_clear(kl_early *e);

#endif
