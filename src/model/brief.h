/*
 * brief.h - the class of a row by a glance at its features (math/glance.h): weights in float32 and how far their scores may be from those of float64. A class that
 * leads by more than that is the class; of the others nothing is said. Made of a model's weights, not stored.
 */
#ifndef KL_BRIEF_H
#define KL_BRIEF_H

#include "learn/learner.h"

typedef struct kl_brief {
    float *w;     /* as kl_glance has them; NULL: there is none */
    double *slip; /* (outputs) error of a score, by the length of the features */
} kl_brief;

/* Leaves it empty where it is of no use: numbers are predicted, classes are decoded from bits, features are not whole lanes. */
klift_status kl_brief_make(const kl_weights *weights, kl_brief *brief);
/* z (features) -> its class, or -1: it takes float64 to say. score: (outputs + 1) */
int64_t kl_brief_class(const kl_brief *brief, const kl_weights *weights, const float *z, float *score);
void kl_brief_clear(kl_brief *brief);

#endif
