/*
 * sgd.h - what the learner sgd knows, for its files: sgd.c (the learner, and one pass as rows come) and sgd_passes.c (several passes, with rows held out).
 */
#ifndef KL_SGD_H
#define KL_SGD_H

#include "learn/early.h"
#include "learn/online.h"
#include "learn/targets.h"

enum { KL_SGD_NOBODY, KL_SGD_FIRST_CLASS }; /* outputs for classes; those for numbers are the targets */

typedef struct kl_sgd {
    kl_targets targets; /* streaming: of the block to come; otherwise of all rows */
    kl_online online;
    kl_early early;     /* several passes: rows held out */
    int64_t passes;
    kl_row *z;          /* (a block) */
    int64_t z_room;
} kl_sgd;

klift_status kl_sgd_add_outputs(kl_sgd *sgd); /* for the classes that have come since */
double kl_sgd_mean_loss(const kl_sgd *sgd);
klift_status kl_sgd_give_weights(const kl_learner *learner, double rows, kl_weights *weights);
klift_status kl_sgd_learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights);

#endif
