/* targets.h - what rows are to be, in their order: classes by name or targets, and weights. What every learner observes first. */
#ifndef KL_TARGETS_H
#define KL_TARGETS_H

#include "learn/learner.h"

typedef struct kl_targets {
    kl_goal goal;
    kl_names classes;    /* in the order in which they came */
    int64_t columns;     /* classes so far, or targets of a row */
    int64_t count, room; /* rows */
    double *target;      /* (count, columns) for regression; (count) numbers of classes */
    double *weight;      /* (count) */
    bool weighted;       /* some weight was not 1 */
    const kl_class_weight *by_class; /* multiplies weight by class; NULL: nothing does. Borrowed */
    double *factor;      /* (classes) by_class of them */
    int64_t factors, factor_room;
} kl_targets;

/* Appends those of the rows of x. */
klift_status kl_targets_observe(kl_targets *targets, const kl_batch *x);
/* The name of the class of a row; NULL for regression. */
const char *kl_targets_class(const kl_targets *targets, int64_t row);
/* Sorted classes into weights, the number of outputs, and which column each of them is: (outputs), to be freed. */
klift_status kl_targets_outputs(const kl_targets *targets, kl_weights *weights, int64_t **column);
/* KLIFT_DATA when there is nothing to learn from: weight is the sum of weights. */
klift_status kl_targets_check(const kl_targets *targets, double weight, bool allow_one_class);
/* KLIFT_DATA when rows are too many to be numbered in an order; learner: who orders them. */
klift_status kl_targets_check_order(const kl_targets *targets, const char *learner);
/* The error of the scores f (outputs) of a row: 1 for a wrong class, the mean square over targets. column: as of kl_targets_outputs. */
double kl_targets_error(const kl_targets *targets, const int64_t *column, int64_t row, int64_t outputs, const double *f);
double kl_targets_weight(const kl_targets *targets); /* the sum of the weights */
/* Where classes are to be balanced and could not be before all rows were known: ends that; and multiplies the weights. */
klift_status kl_targets_factors(const kl_targets *targets, kl_class_weight *class_weight);
klift_status kl_targets_balance(kl_targets *targets, kl_class_weight *class_weight);
/* The classes or the number of targets, and whether rows were weighted: what rows to come depend on. load: after begin, before a row. */
void kl_targets_save(const kl_targets *targets, kl_record_writer *to);
klift_status kl_targets_load(kl_targets *targets, kl_record_reader *from);
void kl_targets_clear(kl_targets *targets);

#endif
