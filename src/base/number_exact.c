/*
 * number_exact.c - decimal digits against the middle of two doubles, in whole numbers.
 *
 * With D the digits as one number, D * 10^e is compared with (2 m + 1) * 2^(s - 1), the middle between the double
 * m * 2^s and its successor: D * 5^e * 2^e against (2 m + 1) * 2^(s - 1), powers on the side where they are positive
 * (Clinger 1990, "How to read floating point numbers accurately", with both sides exact). A guess walks from double to
 * double until the value lies between the middles on its two sides; it starts next to the result.
 * No middle has more than 767 significant digits, so all behind the first 780 are one digit that is not zero.
 */
#include "base/number_exact.h"

#include "base/number_wide.h"

#include <stdbool.h>

/* Near the guess both sides are alike: below 10^782 or 2^54 * 5^1107, 2625 bits, and a spare word to shift into. */
enum { KEPT_DIGITS = 780, WORDS = 48 };

#define INFINITE_BITS (UINT64_C(0x7ff) << 52)

/* A whole number, lowest word first. */
typedef struct whole {
    int count;
    uint64_t word[WORDS];
} whole;

static void multiply_add(whole *a, uint64_t factor, uint64_t carry)
{
    for (int i = 0; i < a->count; i++) {
        kl_wide product = kl_wide_product(a->word[i], factor);
        a->word[i] = product.low + carry;
        carry = product.high + (a->word[i] < carry);
    }
    if (carry != 0)
        a->word[a->count++] = carry;
}

static void multiply_five(whole *a, int64_t power)
{
    const uint64_t five_27 = UINT64_C(7450580596923828125); /* the largest in a word */
    for (; power >= 27; power -= 27)
        multiply_add(a, five_27, 0);
    uint64_t rest = 1;
    for (; power > 0; power--)
        rest *= 5;
    multiply_add(a, rest, 0);
}

static void shift(whole *a, int64_t bits)
{
    multiply_add(a, UINT64_C(1) << (bits % 64), 0);
    int words = (int)(bits / 64);
    for (int i = a->count - 1; i >= 0; i--)
        a->word[i + words] = a->word[i];
    for (int i = 0; i < words; i++)
        a->word[i] = 0;
    a->count += words;
}

static int compare(const whole *a, const whole *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* digits * 10^exponent less (-1), equal (0) or more (1) than the middle between the double and its successor. */
static int compare_middle(const whole *digits, int64_t exponent, uint64_t bits)
{
    int biased = (int)(bits >> 52);
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(biased > 0) << 52;
    int64_t two = (biased > 0 ? biased : 1) - 1075 - 1 - exponent; /* s - 1, and 2^exponent taken over from the left */
    whole left = *digits, right = {1, {2 * mantissa + 1}};
    multiply_five(exponent >= 0 ? &left : &right, exponent >= 0 ? exponent : -exponent);
    shift(two >= 0 ? &right : &left, two >= 0 ? two : -two);
    return compare(&left, &right);
}

/* The digits as one number without zeros in front; *exponent becomes that of the last digit taken. */
static whole gather(const char *first, const char *last, int64_t *exponent)
{
    whole digits = {0, {0}};
    uint64_t group = 0, scale = 1;
    int kept = 0;
    bool dropped = false;
    for (const char *p = first; p < last; p++) {
        if (*p == '.')
            continue;
        uint64_t digit = (uint64_t)(*p - '0');
        if (kept == KEPT_DIGITS) {
            dropped = dropped || digit != 0;
            ++*exponent;
            continue;
        }
        kept += kept > 0 || digit != 0;
        group = group * 10 + digit;
        scale *= 10;
        if (scale == UINT64_C(10000000000000000000)) {
            multiply_add(&digits, scale, group);
            group = 0;
            scale = 1;
        }
    }
    multiply_add(&digits, scale, group);
    if (dropped) {
        multiply_add(&digits, 10, 1);
        --*exponent;
    }
    return digits;
}

uint64_t kl_number_settle(const char *first, const char *last, int64_t exponent, uint64_t guess)
{
    whole digits = gather(first, last, &exponent);
    uint64_t bits = guess;
    for (; bits < INFINITE_BITS; bits++) {
        int side = compare_middle(&digits, exponent, bits);
        if (side < 0 || (side == 0 && bits % 2 == 0))
            break;
    }
    for (; bits > 0 && bits <= guess; bits--) {
        int side = compare_middle(&digits, exponent, bits - 1);
        if (side > 0 || (side == 0 && bits % 2 == 0))
            break;
    }
    return bits;
}
