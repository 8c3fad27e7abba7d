/*
 * reference.h - what the learners liblinear and libsvm share: svm's problem (svm.h), solved by a library that everybody knows, for
 * comparison. Each is there when its library's header was found by the compiler; make WITHOUT="liblinear libsvm" leaves them out. The
 * library is opened by the learner that asks for it, not linked: it brings a BLAS with threads and C++'s run-time along.
 * All rows are gathered in the form that both libraries read, 16 bytes per value. Call order: begin, open; observe ...; learn.
 */
#ifndef KL_REFERENCE_H
#define KL_REFERENCE_H

#include "learn/svm.h"

#if !defined(KLIFT_WITHOUT_LIBLINEAR) && __has_include(<linear.h>)
#define KL_HAS_LIBLINEAR
#endif
#if !defined(KLIFT_WITHOUT_LIBSVM) && __has_include(<libsvm/svm.h>)
#define KL_HAS_LIBSVM
#endif

typedef struct kl_reference_library {
    const char *file, *package; /* "liblinear.so.4", and where Debian has it */
    const char *version_name;   /* of its variable */
    int version;                /* of the header: only a library of the same one is taken */
} kl_reference_library;

typedef struct kl_reference_function {
    const char *name;
    void *pointer; /* the address of the pointer to it */
} kl_reference_function;

/* Finds the functions, the last of which has no name. */
klift_status kl_reference_open(const kl_reference_library *library, const kl_reference_function *function);

/* LIBLINEAR's feature_node and LIBSVM's svm_node. */
typedef struct kl_reference_node {
    int index; /* from 1; -1 behind the last */
    double value;
} kl_reference_node;

/* One output's problem: min |w|^2 / 2 + sum cost loss. */
typedef struct kl_reference_problem {
    int rows, features;
    double bias;            /* B of a constant feature behind the others, 0: none */
    double *y;              /* (rows) */
    double cost[2];         /* of rows whose y is -1, +1; regression: both are that of all rows */
    kl_reference_node **row; /* (rows) */
    kl_reference_node *node; /* all of them */
    int32_t *index;          /* (rows): their numbers among those observed */
} kl_reference_problem;

/* w (features), zero at first, and the intercept b of one output. */
typedef klift_status (*kl_reference_solve)(const kl_learner *learner, const kl_reference_problem *problem, klift_run *run, double *w, double *b);

/* The sides that have rows, label -1 or +1, and their costs: both libraries print when told of one that has none. */
int kl_reference_sides(const kl_reference_problem *problem, int *label, double *cost);
/* begin for every reference; loss: see kl_svm_read_loss. */
klift_status kl_reference_begin(kl_learner *learner, int loss);
klift_status kl_reference_observe(kl_learner *learner, const kl_batch *x);
/* learn: one problem after the other. bias, epsilon: of the loss and of the constant feature, see kl_dual. */
klift_status kl_reference_learn(kl_learner *learner, kl_passes *passes, double bias, double epsilon, kl_reference_solve solve, klift_run *run, kl_weights *weights);
void kl_reference_plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to);

#endif
