/*
 * exponential.c - e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln(2) / 2, e^r by its series to degree 13, without branches,
 * so that compilers turn the loop into vectors, of whatever width they are told: a quarter of the time of libm's, and the same bits everywhere.
 */
#include "math/exponential.h"

#include "math/micro.h"
#if defined(__x86_64__)
#include "math/simd.h"
#else
#define INLINE static inline
#endif

#include <string.h>

enum { AT_ONCE = KL_RAISE };

INLINE double power_of_two(double shifted)
{
    uint64_t bits;
    double power;
    memcpy(&bits, &shifted, sizeof bits); /* its low bits are n */
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return power;
}

INLINE void raise_all(const double *restrict x, double *restrict out)
{
    const double lowest = -708, highest = 709, shift = 0x1.8p52, inverse = 0x1.71547652b82fep0;
    const double high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33; /* ln 2 in two parts: n times the first is exact */
    for (int64_t i = 0; i < AT_ONCE; i++) {
        double at = x[i] < lowest ? lowest : x[i] > highest ? highest : x[i];
        double shifted = at * inverse + shift, n = shifted - shift, r = (at - n * high) - n * low;
        double sum = 1.0 / 6227020800;
        sum = sum * r + 1.0 / 479001600;
        sum = sum * r + 1.0 / 39916800;
        sum = sum * r + 1.0 / 3628800;
        sum = sum * r + 1.0 / 362880;
        sum = sum * r + 1.0 / 40320;
        sum = sum * r + 1.0 / 5040;
        sum = sum * r + 1.0 / 720;
        sum = sum * r + 1.0 / 120;
        sum = sum * r + 1.0 / 24;
        sum = sum * r + 1.0 / 6;
        sum = sum * r + 0.5;
        sum = sum * r + 1;
        sum = sum * r + 1;
        double value = sum * power_of_two(shifted);
        out[i] = x[i] < lowest ? 0 : value;
    }
}

void kl_portable_raise(const double *x, double *out)
{
    raise_all(x, out);
}

#if defined(__x86_64__)
AVX2 void kl_avx2_raise(const double *x, double *out)
{
    raise_all(x, out);
}
#endif

void kl_exponentials(int64_t count, const double *x, double *out)
{
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        double from[AT_ONCE] = {0}, to[AT_ONCE]; /* copies: out may be x */
        size_t bytes = (size_t)(count - first < AT_ONCE ? count - first : AT_ONCE) * sizeof *x;
        memcpy(from, x + first, bytes);
        kl_micro_get()->raise(from, to);
        memcpy(out + first, to, bytes);
    }
}
