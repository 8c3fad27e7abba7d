/*
 * svm.h - what the learner svm knows, for its files: svm_problem.c (what is solved), svm_solve.c (one machine), svm_folds.c (rows held
 * out), svm_keep.c (the state as bytes) and svm.c (training), and for the references (reference.h), which solve the same problem by
 * other libraries. Call order: read_loss in begin; start when all rows are observed; c by cost; row per row and output.
 */
#ifndef KL_SVM_H
#define KL_SVM_H

#include "learn/dual.h"
#include "learn/learner.h"
#include "learn/newton.h"
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

/* What a solve does next: a sweep, a look at all rows, the few variables that move by themselves (dual_core.h), Newton's method and a look at what
 * it gave; SOLVED: nothing more. */
typedef enum { KL_SVM_START, KL_SVM_SWEEP, KL_SVM_LOOK, KL_SVM_CORE, KL_SVM_NEWTON, KL_SVM_LOOK_AGAIN, KL_SVM_SOLVED } kl_svm_phase;

/* Where the solve under way is, beside what its machine knows. */
typedef struct kl_svm_place {
    kl_svm_phase phase;
    int64_t next;          /* the row that the pass goes on with, -1: it has not begun */
    int64_t before, steps; /* passes and Newton's steps of the machine when the solve began */
    int64_t end;           /* passes of the machine at which it gives up */
    double first, looked;  /* sweeps of the machine when it began, or Newton's method ended; and at the last look */
    double gap;            /* the last one */
    kl_newton_place newton; /* its output: that of the core, too */
} kl_svm_place;

/* Rows of a pass, and room for those of one call. */
typedef struct kl_svm_tour {
    kl_passes *passes;
    int32_t *order;  /* (rows) */
    uint32_t *work;  /* (rows) while they are put in order */
    kl_row *z;       /* (passes->at_most) */
    kl_svm_place *place;
    kl_keeping *keeping;
} kl_svm_tour;

/* Errors of rows held out: weights of the wrong ones, or squares over all targets. Weights are the rows' own. */
typedef struct kl_svm_error {
    double error, weight;
    int64_t rows;
} kl_svm_error;

/* Rows held out: what is known so far, and machines of the folds, which go on with the next C from the weights that they have. */
typedef struct kl_svm_search {
    int folds;
    int64_t outputs;
    kl_dual *machine; /* (folds) */
    int64_t tried;    /* values of C */
    double error[KL_COSTS_MAX]; /* theirs */
    int worse;        /* of the last ones, how many had a larger error than the best */
    double c;         /* the best */
    kl_svm_error sum, best; /* sum: of the C that is tried now */
    int64_t passes;   /* of the fold that took most, at the last C */
    kl_held scores;   /* of the best C, while others are tried */
    bool under_way, done; /* under_way: a C is being tried; done: no more will be */
} kl_svm_search;

/* All that is kept. */
typedef struct kl_svm_state {
    const kl_learner *learner;
    kl_svm_search search;
    kl_svm_place place;
    kl_dual machine; /* of all rows */
} kl_svm_state;

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
/* Trains it on the rows that count now, from the weights that it has, or goes on where the tour's place is. That is then SOLVED, until
 * the caller sets it to START. */
klift_status kl_svm_solve(const kl_learner *learner, const kl_svm_tour *t, double c, double tolerance, klift_run *run, kl_dual *d);
double kl_svm_tolerance(const kl_learner *learner);
int64_t kl_svm_passes(const kl_learner *learner);
bool kl_svm_is_joint(const kl_learner *learner); /* all classes in one problem */
double kl_svm_cost(const kl_learn_spec *spec, double weights); /* C as given or by lambda, for rows of that weight; otherwise 1 */
/* The error of rows under machines that did not see them; *c: that of the least error, when there is a path to choose it from. */
klift_status kl_svm_validate(const kl_learner *learner, const kl_svm_tour *t, kl_svm_search *search, klift_run *run, kl_weights *weights, double *c);
void kl_svm_search_clear(kl_svm_search *search);
/* The state between two parts of the work: a kl_svm_state; load: into one whose search has room for its machines. */
void kl_svm_save(const void *state, kl_record_writer *to);
klift_status kl_svm_load(kl_svm_state *state, kl_keep *keep);

#endif
