/* narrow.h - a row of float32 in 16 bits a number, half the memory to read:
 *   bfloat16   every number by itself (bfloat16.h), 8 bits of it
 *   int16      whole numbers times a scale of the row, a power of two: the largest number has 15 or 16 bits, the others as many
 *              places: each changes by at most 2^-15 of the largest. A row with a number that is not finite becomes infinite.
 * Scales are powers of two so that sums can be scaled instead of numbers, with the same bits.
 */
#ifndef KL_NARROW_H
#define KL_NARROW_H

#include "math/bfloat16.h"

typedef enum { KL_FLOAT32, KL_BFLOAT16, KL_INT16 } kl_narrow;

/* Returns the scale of the row (n), 0 for bfloat16. */
float kl_narrow_row(kl_narrow kind, int64_t n, const float *from, uint16_t *to);
void kl_narrow_round(kl_narrow kind, int64_t n, float *value); /* to what that row holds, in place; float32: nothing */

#endif
