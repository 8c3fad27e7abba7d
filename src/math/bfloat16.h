/* bfloat16.h - the upper half of a float32: its sign, its exponent and 7 of its 23 bits, rounded to the nearest, ties to even: a
 * number changes by at most 2^-8 of itself. NaN stays NaN. */
#ifndef KL_BFLOAT16_H
#define KL_BFLOAT16_H

#include <stdint.h>
#include <string.h>

static inline float kl_bfloat16_value(uint16_t half) /* exact */
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void kl_bfloat16_narrow(int64_t count, const float *from, uint16_t *to);
void kl_bfloat16_widen(int64_t count, const uint16_t *from, float *to); /* exact */
void kl_bfloat16_round(int64_t count, float *value);                    /* both, in place */

#endif
