/*
 * glance.h - scores in float32, where a bound of their error is enough to know the largest: half the memory of float64 weights to read, and half the products.
 * Sums are in KL_GLANCE_LANES lanes, each a chain of n / KL_GLANCE_LANES products.
 */
#ifndef KL_GLANCE_H
#define KL_GLANCE_H

#include <stdint.h>

enum { KL_GLANCE_LANES = 16 };

/* out[o] = z'w_o for o < count, one at least, and out[count] = z'z; w (n / KL_GLANCE_LANES, count, KL_GLANCE_LANES), n whole lanes. */
void kl_glance(int64_t n, const float *z, int64_t count, const float *w, float *out);
void kl_portable_glance(int64_t n, const float *z, int64_t count, const float *w, float *out); /* the reference, for the tables */

/* |out[o] - z'w_o| <= this |w_o| |z|, where w_o was rounded to float32, for lanes of any table, fused or not; 1 % above what the sums may err by. Numbers that are
 * too small for float32 come on top: n 2^-124 (1 + |z|). */
static inline double kl_glance_error(int64_t n)
{
    return 1.01 * 0x1p-24 * (double)(n / KL_GLANCE_LANES + 8);
}

static inline float kl_glance_total(const float lane[KL_GLANCE_LANES])
{
    float eight[8];
    for (int k = 0; k < 8; k++)
        eight[k] = lane[k] + lane[8 + k];
    for (int k = 0; k < 4; k++)
        eight[k] += eight[4 + k];
    return (eight[0] + eight[2]) + (eight[1] + eight[3]);
}

#endif
