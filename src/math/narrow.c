/* narrow.c - see narrow.h. Plain loops, which compilers make vectors of. */
#include "math/narrow.h"

#include <float.h>
#include <math.h>

enum { LARGEST = INT16_MAX };

/* The least power of two by which no number is above LARGEST once it is rounded. */
static float scale_of(int64_t n, const float *value)
{
    uint32_t most = 0; /* the bits of a number without its sign are in its order */
    int power;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    float largest;
    memcpy(&largest, &most, sizeof largest);
    if (!isfinite(largest))
        return INFINITY;
    if (largest < FLT_MIN * (1 << 16))
        return FLT_MIN;
    float part = frexpf(largest, &power);
    return ldexpf(1, rintf(part * (LARGEST + 1)) > LARGEST ? power - 14 : power - 15);
}

/* Rounded to the nearest, ties to even: the sum's last bits are those of the whole number. */
static inline int16_t whole_of(float value)
{
    float sum = value + 0x1.8p23f;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int16_t)(bits & UINT16_MAX);
}

static float narrow_whole(int64_t n, const float *from, uint16_t *to)
{
    float scale = scale_of(n, from), per = 1 / scale;
    if (isinf(scale)) {
        for (int64_t i = 0; i < n; i++)
            to[i] = 1;
        return scale;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint16_t)whole_of(from[i] * per);
    return scale;
}

float kl_narrow_row(kl_narrow kind, int64_t n, const float *from, uint16_t *to)
{
    if (kind == KL_INT16)
        return narrow_whole(n, from, to);
    kl_bfloat16_narrow(n, from, to);
    return 0;
}

void kl_narrow_round(kl_narrow kind, int64_t n, float *value)
{
    if (kind == KL_BFLOAT16)
        kl_bfloat16_round(n, value);
    if (kind != KL_INT16)
        return;
    float scale = scale_of(n, value), per = 1 / scale;
    for (int64_t i = 0; i < n; i++)
        value[i] = isinf(scale) ? scale : scale * (float)whole_of(value[i] * per);
}
