/* trig.h - cosine and sine of angles in turns (1 = a full circle), times a scale. */
#ifndef KL_TRIG_H
#define KL_TRIG_H

#include <stdint.h>

/* cosine[i] = scale cos(2 pi turns[i]), sine[i] likewise; within 3e-7 of scale for |turns| < 2^22. */
void kl_trig_pairs(int64_t count, const float *turns, float scale, float *cosine, float *sine);
/* The same into memory that will not be read soon: past the caches, where the places allow it. kl_trig_drain before
 * another thread reads it. */
void kl_trig_pairs_past(int64_t count, const float *turns, float scale, float *cosine, float *sine);
void kl_trig_drain(void);
/* out[i] = scale cos(2 pi (turns[i] + phase[i])) */
void kl_trig_cosines(int64_t count, const float *turns, const float *phase, float scale, float *out);

#endif
