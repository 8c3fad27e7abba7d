/*
 * number_wide.h - what reading and printing numbers share: products of 128 bits and the powers of ten.
 * 10^p = t(p) * 2^(e - 127) * (1 + d), e = kl_power_exponent(p), t(p) = kl_power_of_ten(p), 0 <= d < 2^-127.
 */
#ifndef KL_NUMBER_WIDE_H
#define KL_NUMBER_WIDE_H

#include <stdint.h>

typedef struct kl_wide {
    uint64_t high, low;
} kl_wide;

enum { KL_POWER_LOW = -342, KL_POWER_HIGH = 324, KL_POWER_EXACT = 55 }; /* d = 0 for p = 0 .. 55 */
extern const kl_wide kl_powers_of_ten[KL_POWER_HIGH - KL_POWER_LOW + 1];

static inline kl_wide kl_power_of_ten(int power)
{
    return kl_powers_of_ten[power - KL_POWER_LOW];
}

/* floor(log2 10^power): right for every power of the table; the shift rounds down. */
static inline int kl_power_exponent(int power)
{
    return (power * 1741647) >> 19;
}

/* a * b by four products of 32 bits, for compilers without a type of 128. */
static inline kl_wide kl_wide_product_parts(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xffffffff);
    return (kl_wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (low & 0xffffffff)};
}

#if defined __SIZEOF_INT128__ && !defined KL_WITHOUT_INT128
__extension__ typedef unsigned __int128 kl_uint128;
static inline kl_wide kl_wide_product(uint64_t a, uint64_t b)
{
    kl_uint128 product = (kl_uint128)a * b;
    return (kl_wide){(uint64_t)(product >> 64), (uint64_t)product};
}
#else
static inline kl_wide kl_wide_product(uint64_t a, uint64_t b)
{
    return kl_wide_product_parts(a, b);
}
#endif

#endif
