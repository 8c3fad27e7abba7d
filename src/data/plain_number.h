/*
 * plain_number.h - the fast half of reading numbers from text: [+-]digits[.digits], up to eight digits at a time inside
 * one 64-bit word. Whatever is of another form goes to kl_number_read; both give the same bits. The caller's text has
 * KL_PLAIN_PADDING readable bytes behind its end, and a byte that is no digit before that.
 */
#ifndef KL_PLAIN_NUMBER_H
#define KL_PLAIN_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KL_PLAIN_PADDING = 64 };

#define KL_EXACT_WHOLE (UINT64_C(1) << 53) /* whole numbers up to here are doubles */
#define KL_FLOAT_LIMIT 0x1.ffffffp127      /* the smallest double that rounds to infinity as a float */

/* Eight bytes, the first one lowest on every host. */
static inline uint64_t kl_plain_load(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 |
           (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

/* How many of the eight bytes, from the first on, are digits. */
static inline int kl_plain_count(uint64_t word)
{
    uint64_t t = word ^ UINT64_C(0x3030303030303030); /* digits become 0 .. 9 */
    uint64_t other = ((t + UINT64_C(0x7676767676767676)) | t) & UINT64_C(0x8080808080808080);
    return other == 0 ? 8 : __builtin_ctzll(other) >> 3; /* a carry spoils only bytes behind the first other one */
}

/* The value of the first count digits: pairs, then fours, then eight, by multiplication (Mula, Lemire). */
static inline uint64_t kl_plain_digits(uint64_t word, int count)
{
    if (count == 0)
        return 0;
    uint64_t t = (word ^ UINT64_C(0x3030303030303030)) << (64 - 8 * count);
    t = t * 10 + (t >> 8);
    return ((t & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) + ((t >> 16) & UINT64_C(0xff000000ff)) * UINT64_C(0x271000000001)) >> 32;
}

/* The byte behind the number at p, or NULL when it has too many digits; the caller looks whether the token ends there
 * (an exponent does not). Up to 15 digits are an exact double, and so is the power of ten: one rounding. With single,
 * up to 19 digits will do: each of the two roundings, and that of the right double, moves the value by at most 2^-53 of
 * it, so the float is certain when both ends of a wider margin have the same. */
static inline const char *kl_plain_number(const char *p, bool single, char point, double *value)
{
    static const uint64_t whole_power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    bool negative = *p == '-';
    p += negative || *p == '+';
    uint64_t word, digits = (uint64_t)*p - '0';
    int count = 1, places = 0;
    if (digits > 9 || (unsigned char)(p[1] - '0') < 10) { /* not one digit, the common case */
        word = kl_plain_load(p);
        count = kl_plain_count(word);
        digits = kl_plain_digits(word, count);
    }
    p += count;
    if (*p == point) {
        for (int more = 8; more == 8 && places <= 16; places += more) {
            word = kl_plain_load(p + 1 + places);
            more = kl_plain_count(word);
            digits = digits * whole_power[more] + kl_plain_digits(word, more); /* wraps beyond 19 digits: not used then */
        }
        p += 1 + places;
    }
    if (count + places == 0 || count + places > (single ? 19 : 15))
        return NULL;
    double size;
    if (count + places > 15) {
        size = (double)digits / power[places];
        if ((float)(size * (1 - 0x1p-50)) != (float)(size * (1 + 0x1p-50)))
            return NULL;
    } else
        size = places == 0 ? (double)(int64_t)digits : (double)(int64_t)digits / power[places];
    *value = negative ? -size : size;
    return p;
}

/* Digits alone above 2^53: distinct names that would become one number. */
static inline bool kl_plain_loses_digits(const char *p, const char *end)
{
    uint64_t whole = 0;
    p += p < end && (*p == '-' || *p == '+');
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return false;
        if (whole <= KL_EXACT_WHOLE)
            whole = whole * 10 + (uint64_t)(*p - '0');
    }
    return whole > KL_EXACT_WHOLE;
}

#endif
