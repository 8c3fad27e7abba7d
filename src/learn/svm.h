/*
 * svm.h - what the learner svm knows, for its files: svm_problem.c (what is solved), svm.c (training) and svm_folds.c (rows held out),
 * and for the references (reference.h), which solve the same problem by other libraries. Call order: read_loss in begin; start when all rows are observed;
 * c by cost; row per row and output.
 */
#ifndef KL_SVM_H
#define KL_SVM_H

#include "learn/dual.h"
#include "learn/learner.h"
#include "learn/targets.h"

typedef struct kl_svm {
    kl_targets targets;
    kl_loss loss;
    const int64_t *column; /* of outputs: the class or target */
    double *factor;        /* (classes) of their rows' weights; NULL: 1 */
    double c;
    int32_t *fold;         /* (rows) when folds are to be held out */
    int64_t fold_room;
    int held;              /* the fold whose rows do not count now, -1: none */
    kl_held *scores;       /* where the scores of rows held out are left; NULL: nowhere */
} kl_svm;

/* Rows of a pass, and room for those of one call. */
typedef struct kl_svm_tour {
    kl_passes *passes;
    int32_t *order;  /* (rows) */
    kl_row *z;       /* (passes->at_most) */
} kl_svm_tour;

/* The loss by its place in auto|hinge|squared-hinge|epsilon|squared-epsilon; read_loss: KLIFT_USAGE when it does not fit the goal. */
kl_loss kl_svm_loss(kl_goal goal, int word);
klift_status kl_svm_read_loss(kl_learner *learner, int word);
/* Class weights, the weights' head, and the column of each output, which the state borrows: (outputs), to be freed whatever happens. */
klift_status kl_svm_start(kl_learner *learner, kl_weights *weights, int64_t **column);
kl_dual_row kl_svm_row(const void *svm, int64_t row, int64_t output); /* what an output is told about a row */
bool kl_svm_holds_out(const kl_learn_spec *spec); /* a part of the training is done without some rows */
void kl_svm_plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to);
void kl_svm_clear(kl_learner *learner);
double kl_svm_own_weight(const kl_svm *svm, int64_t row); /* times its class's factor */
double kl_svm_weight(const kl_svm *svm, int64_t row);     /* that, 0 while its fold is held out */
double kl_svm_weights(const kl_svm *svm);                 /* their sum */
/* A machine without weights yet; it is to be cleared. */
klift_status kl_svm_begin(const kl_learner *learner, int64_t outputs, kl_dual *d);
/* Trains it on the rows that count now, from the weights that it has. */
klift_status kl_svm_solve(const kl_learner *learner, const kl_svm_tour *t, double c, double tolerance, klift_run *run, kl_dual *d);
double kl_svm_tolerance(const kl_learner *learner);
double kl_svm_cost(const kl_learn_spec *spec, double weights); /* C as given or by lambda, for rows of that weight; otherwise 1 */
/* The error of rows under machines that did not see them; *c: that of the least error, when there is a path to choose it from. */
klift_status kl_svm_validate(const kl_learner *learner, const kl_svm_tour *t, int64_t outputs, klift_run *run, kl_weights *weights, double *c);

#endif
