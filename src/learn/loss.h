/*
 * loss.h - what a score f costs: value and slope in f. y is -1 or 1 for classes, the target for numbers; squared takes both.
 *   hinge max(0, 1 - y f), squared-hinge its square, logistic ln(1 + exp(-y f)), squared (f - y)^2 / 2
 *   huber: squared up to |f - y| = epsilon, straight beyond; epsilon max(0, |f - y| - epsilon)
 * None is below 0.
 */
#ifndef KL_LOSS_H
#define KL_LOSS_H

#include "base/error.h"

#include <stdbool.h>

typedef double (*kl_loss_at)(double y, double f, double epsilon);

typedef struct kl_loss_type {
    const char *name;
    bool classes, numbers; /* what it is for */
    double reach;          /* times loss / slope^2: how far f is from no loss, 1 for straight lines, 2 for squares */
    double curvature;      /* the largest there is; 0: it has corners */
    kl_loss_at value, slope;
} kl_loss_type;

enum { KL_LOSS_HINGE, KL_LOSS_SQUARED_HINGE, KL_LOSS_LOGISTIC, KL_LOSS_SQUARED, KL_LOSS_HUBER, KL_LOSS_EPSILON, KL_LOSSES };
#define KL_LOSS_WORDS "hinge|squared-hinge|logistic|squared|huber|epsilon"

extern const kl_loss_type kl_loss_types[KL_LOSSES];

/* KLIFT_USAGE for a loss that is not for classes, or not for numbers; learner: who was asked for it. */
klift_status kl_loss_check(const kl_loss_type *loss, bool classes, const char *learner);

#endif
