/* bfloat16.c - see bfloat16.h. Loops over whole numbers, which every compiler makes vectors of: no variant beside them. */
#include "math/bfloat16.h"

/* The upper half stays, the lower one is zero. */
static inline uint32_t rounded(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t up = bits + 0x7fffu + (bits >> 16 & 1u);
    return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : up) & 0xffff0000u;
}

void kl_bfloat16_narrow(int64_t count, const float *from, uint16_t *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (uint16_t)(rounded(from[i]) >> 16);
}

void kl_bfloat16_widen(int64_t count, const uint16_t *from, float *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = kl_bfloat16_value(from[i]);
}

void kl_bfloat16_round(int64_t count, float *value)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = rounded(value[i]);
        memcpy(&value[i], &bits, sizeof bits);
    }
}
