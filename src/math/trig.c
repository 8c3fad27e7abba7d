/*
 * trig.c - cosine and sine in turns: a = t - rint(t) is exact, so range reduction is one rounding.
 *   cos = S(1/4 - |a|),  sin = sign(a) S(min(|a|, 1/2 - |a|)),  S(p) = p (c0 + c1 p^2 + ... + c4 p^8) = sin(2 pi p), |p| <= 1/4
 * Degree 9, largest error 1.7e-7. Plain C: the reference that faster variants are compared with.
 */
#include "math/trig.h"

#include <math.h>

static inline float sine_of(float p)
{
    float q = p * p;
    float s = 39.53670606f;
    s = s * q - 76.54978229f;
    s = s * q + 81.60100407f;
    s = s * q - 41.34165503f;
    s = s * q + 6.283185160f;
    return s * p;
}

/* Rounds to the nearest integer by the float's own precision; exact for |t| < 2^22, an integer beyond. */
static inline float fraction(float t)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 */
    float nearest = fabsf(t) < 4194304.0f ? (t + magic) - magic : rintf(t);
    return t - nearest;
}

void kl_trig_pairs(int64_t count, const float *turns, float scale, float *cosine, float *sine)
{
    for (int64_t i = 0; i < count; i++) {
        float a = fraction(turns[i]), size = fabsf(a), rest = 0.5f - size;
        cosine[i] = scale * sine_of(0.25f - size);
        sine[i] = scale * copysignf(sine_of(size < rest ? size : rest), a);
    }
}

void kl_trig_cosines(int64_t count, const float *turns, const float *phase, float scale, float *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = scale * sine_of(0.25f - fabsf(fraction(turns[i] + phase[i])));
}
