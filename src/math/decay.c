/*
 * decay.c - e^(-rate s), s = xx + norm - 2 product, rounded to float32: what a Gaussian kernel makes of products with landmarks.
 *   t = -s rate / ln 2, n = round(t), e^(-rate s) = 2^n 2^(t - n)
 * Distances and t are float64, since t - n is what cancels; the rest of it, in [-1/2, 1/2], is rounded to float32, and 2^rest is a
 * series there: half the numbers to a vector. The reference; decay_avx2.c and decay_avx512.c have the same steps, fused.
 */
#include "math/decay.h"

#include "math/micro.h"

#include <string.h>

/* 2^n for -126 <= n <= 127 */
static float power_of_two(int32_t n)
{
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static float decay_of(double s, double rate)
{
    const double shift = 0x1.8p52;
    double t = s * rate;
    t = t < KL_DECAY_LOWEST ? KL_DECAY_LOWEST : t > KL_DECAY_HIGHEST ? KL_DECAY_HIGHEST : t;
    if (!(t >= KL_DECAY_LOWEST))
        return (float)t; /* no number, and no power of two either */
    double n = (t + shift) - shift;
    float r = (float)(t - n), sum = KL_DECAY_6;
    sum = sum * r + KL_DECAY_5;
    sum = sum * r + KL_DECAY_4;
    sum = sum * r + KL_DECAY_3;
    sum = sum * r + KL_DECAY_2;
    sum = sum * r + KL_DECAY_1;
    sum = sum * r + 1;
    int32_t half = (int32_t)n >> 1; /* in two steps, of which only the second can leave the normal numbers */
    return sum * power_of_two(half) * power_of_two((int32_t)n - half);
}

bool kl_portable_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out)
{
    bool any = false;
    for (int64_t j = 0; j < count; j++) {
        double all = xx + norm[j], s = all - 2 * (double)product[j];
        any |= s < near * all;
        out[j] = decay_of(s, rate);
    }
    return any;
}

bool kl_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out)
{
    return kl_micro_get()->decay(count, product, xx, norm, -rate * 0x1.71547652b82fep0, near, out);
}
