/*
 * whole.h - products of whole numbers of 12 bits and a sign, two rows of them to a step: what the tables of micro.h have as add16. A sum of
 * KL_WHOLE_ROWS products fits 32 bits, so every sum is exact and all tables have the same bits. Twice as many products to an
 * instruction as float32 has, where the CPU multiplies and adds pairs at once (VNNI).
 *   c (left32, width32) += unit sum_p a_p0 b_p0' + a_p1 b_p1',  a (pairs, left32, 2), b (pairs, width32, 2)
 */
#ifndef KL_WHOLE_H
#define KL_WHOLE_H

#include <stdint.h>

enum { KL_WHOLE_MOST = 2047, KL_WHOLE_ROWS = 512 }; /* 512 x 2047^2 < 2^31 */

/* x, of at most KL_WHOLE_MOST, to the nearest whole number, ties to even, without a branch: a sum of this size has no places behind the point. */
static inline float kl_whole_round(float x)
{
    const float large = 0x1.8p23f;
    return (x + large) - large;
}

/* The reference, for blocks of any size. */
void kl_whole_add(int left, int width, int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride);

#endif
