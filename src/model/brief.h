/*
 * brief.h - the class of a row by a glance at its features: with weights in float32 (math/glance.h), or, where features have a known size, with features and weights as
 * whole numbers (math/glance_whole.h); and how far such scores may be from those of float64. A class that leads by more than that is the class; of the others nothing
 * is said. Made of a model's weights, not stored.
 */
#ifndef KL_BRIEF_H
#define KL_BRIEF_H

#include "learn/learner.h"

typedef struct kl_brief {
    float *w;       /* as kl_glance has them, or NULL */
    int16_t *whole; /* as kl_glance_whole has them, or NULL: of one output its weights, of more what those behind the first are above it; neither: a glance says nothing */
    double *unit;   /* of whole, for each of its vectors: what 1 of a sum is of a score */
    float scale;    /* of whole: what features are multiplied by */
    double *slip;   /* (outputs) error of a score; of w: by the length of the features */
} kl_brief;

/* reach: no feature is larger; 0: unknown. Leaves it empty where it is of no use: numbers are predicted, classes are decoded from bits, features are not whole lanes. */
klift_status kl_brief_make(const kl_weights *weights, double reach, kl_brief *brief);
bool kl_brief_is_there(const kl_brief *brief);
/* z (features) -> its class, or -1: it takes float64 to say. score: (2 outputs + 1) */
int64_t kl_brief_class(const kl_brief *brief, const kl_weights *weights, const float *z, double *score);
void kl_brief_clear(kl_brief *brief);

#endif
