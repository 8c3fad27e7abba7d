/*
 * descent.h - the minimum of a smooth convex function of many variables, each look at which is a pass over all rows.
 * trust_region.c is the way to it; it knows of no rows.
 */
#ifndef KL_DESCENT_H
#define KL_DESCENT_H

#include "learn/keep.h"

typedef struct kl_smooth {
    int64_t size;
    void *user;
    /* value and gradient (size) at w (size) */
    klift_status (*look)(void *user, const double *w, double *value, double *gradient);
    /* product (size) = second derivative at w, times s (size) */
    klift_status (*curve)(void *user, const double *w, const double *s, double *product);
    klift_status (*tell)(void *user, int64_t passes, double value); /* (optional) after every pass; a failure ends it */
} kl_smooth;

typedef struct kl_descent {
    double tolerance; /* of the gradient's length, relative to that at the start */
    double from;      /* the gradient's length that it is relative to instead; 0: that at the start */
    int64_t most;     /* passes */
    kl_keep *keep;    /* of the way so far, between passes: w and what belongs to it; NULL: nobody */
    int64_t passes;   /* made */
    double value, slope; /* at the end; slope: the gradient's length relative to that at the start */
} kl_descent;

/* From w to the minimum, in place. Passes that end before the tolerance is met are no failure: slope tells. */
klift_status kl_trust_region(const kl_smooth *problem, double *w, kl_descent *way);

#endif
