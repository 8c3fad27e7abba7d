/*
 * glance_whole.h - scores of features that are rounded to whole numbers of 11 bits and a sign against weights rounded to 15: a quarter of the memory of float64
 * weights to read. Every sum is exact, so all tables have the same bits; what rounding does to a score has a bound that is known beforehand (model/brief.c).
 *   out[o] = sum_p q_p w_op,  q_p = z_p scale to the nearest whole number
 * Products are summed in 16 lanes of 32 bits, two neighbours in one: whoever makes the weights sees that sum |w_op| of a lane is at most KL_GLANCE_WHOLE_SUM.
 */
#ifndef KL_GLANCE_WHOLE_H
#define KL_GLANCE_WHOLE_H

#include <stdint.h>

enum { KL_GLANCE_STEP = 32, KL_GLANCE_MOST = 2047, KL_GLANCE_WEIGHT = 32767, KL_GLANCE_WHOLE_SUM = 2147483647 / KL_GLANCE_MOST };

/* w (n / KL_GLANCE_STEP, count, KL_GLANCE_STEP), n whole steps, count one at least. Returns the largest |q|: above KL_GLANCE_MOST, or of what is not finite, sums are wrong. */
int32_t kl_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out);
int32_t kl_portable_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out); /* the reference, for the tables */

/* The lane of a feature. */
static inline int64_t kl_glance_lane(int64_t p)
{
    return p % KL_GLANCE_STEP / 2;
}

#endif
