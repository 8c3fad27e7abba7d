/*
 * number.c - decimal numbers in. Printing is in number_print.c.
 *
 * The first 19 digits are a whole number w, the value is w * 10^q, or between that and (w + 1) * 10^q when digits were
 * left out. In this order:
 *   w <= 2^53 and |q| <= 22: one operation on two exact doubles is correctly rounded (Clinger 1990).
 *   w times the 128 bits of 10^q: its upper 64 bits decide, except next to the middle of two doubles, where all 192 are
 *   looked at (Eisel and Lemire: Lemire, "Number parsing at a gigabyte per second", 2021). The table is rounded down, so
 *   the product is below the value by less than one unit of its upper 128 bits; where that unit would decide, or where
 *   w and w + 1 part, number_exact.c compares whole numbers.
 * Beyond the table w * 10^-343 is below half the smallest double and 10^309 above the largest.
 */
#include "base/number.h"

#include "base/number_exact.h"
#include "base/number_wide.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WORD_DIGITS = 19, LARGEST_POWER = 308, FIVES_IN_WORD = 27 };
/* Where expressions are wider than double (x87) the one operation would be rounded twice: no power is exact. */
enum { EXACT_POWER = FLT_EVAL_METHOD == 0 ? 22 : -1 };

#define INFINITE_BITS (UINT64_C(0x7ff) << 52)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* nan or inf in any case, so that the caller can say so; *after is set behind the word. */
static bool read_word(const char *text, const char *end, const char **after)
{
    static const char *const words[] = {"infinity", "inf", "nan"};
    for (int w = 0; w < 3; w++) {
        size_t length = strlen(words[w]), i = 0;
        while (i < length && text + i < end && (text[i] | 0x20) == words[w][i])
            i++;
        if (i == length) {
            *after = text + length;
            return true;
        }
    }
    return false;
}

/* Eight digits at p as a number, by pairs, fours and eight inside one word; false when one of them is no digit. */
static bool read_eight(const char *p, uint64_t *value)
{
    uint64_t t = 0;
    for (int i = 0; i < 8; i++) /* one load where the lowest byte is first */
        t |= (uint64_t)(unsigned char)p[i] << (8 * i);
    t ^= UINT64_C(0x3030303030303030); /* digits become 0 .. 9 */
    if (((t | (t + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0)) != 0)
        return false;
    t = (t * 10 + (t >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    t = (t * 100 + (t >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *value = (t * 10000 + (t >> 32)) & UINT64_C(0xffffffff);
    return true;
}

/* Appends the digits at p to *value, which wraps; returns the byte behind them. */
static const char *read_digits(const char *p, const char *end, uint64_t *value)
{
    for (; p < end && is_digit(*p); p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    return p;
}

/* The same behind the point, where eight and more digits are common. */
static const char *read_places(const char *p, const char *end, uint64_t *value)
{
    uint64_t eight;
    for (; end - p >= 8 && read_eight(p, &eight); p += 8)
        *value = *value * 100000000 + eight;
    return read_digits(p, end, value);
}

/* The exponent part "e+12" at p; returns the byte behind it, or p when there is none. */
static const char *read_exponent(const char *p, const char *end, int64_t *exponent)
{
    if (p >= end || (*p | 0x20) != 'e')
        return p;
    const char *q = p + 1;
    bool negative = false;
    if (q < end && (*q == '+' || *q == '-'))
        negative = *q++ == '-';
    if (q >= end || !is_digit(*q))
        return p;
    int64_t value = 0;
    for (; q < end && is_digit(*q); q++)
        if (value < INT64_C(1000000000000000)) /* more than any number of digits makes up for */
            value = value * 10 + (*q - '0');
    *exponent += negative ? -value : value;
    return q;
}

/* The first 19 digits from the first that is not zero, and the exponent they have; true when others are not zero. */
static bool shorten(const char *first, const char *last, uint64_t *digits, int64_t *exponent)
{
    const char *p = first;
    *digits = 0;
    for (int count = 0; p < last && count < WORD_DIGITS; p++)
        if (*p != '.') {
            *digits = *digits * 10 + (uint64_t)(*p - '0');
            count += *digits != 0;
        }
    int64_t rest = last - p;
    *exponent += rest - (rest > 0 && memchr(p, '.', (size_t)rest) != NULL);
    while (p < last && (*p == '0' || *p == '.'))
        p++;
    return p < last;
}

static int leading_zeros(uint64_t value)
{
#ifdef __GNUC__
    return __builtin_clzll(value);
#else
    int zeros = 0;
    for (; value >> 63 == 0; value <<= 1)
        zeros++;
    return zeros;
#endif
}

/* The bits of the double nearest to digits * 10^power * 2^two, digits > 0; false when it may be a neighbour. */
static bool round_product(uint64_t digits, int power, int two, uint64_t *bits)
{
    int zeros = leading_zeros(digits);
    kl_wide t = kl_power_of_ten(power);
    kl_wide product = kl_wide_product(digits << zeros, t.high);
    int top = (int)(product.high >> 63);
    int exponent = 63 + top + kl_power_exponent(power) - zeros + two; /* of the value's first bit */
    int drop = 10 + top + (exponent < -1022 ? -1022 - exponent : 0);  /* 53 bits stay, fewer of a subnormal */
    *bits = 0;
    if (drop > 63)
        return exponent < -1076; /* surely below half the smallest */
    uint64_t half = UINT64_C(1) << (drop - 1), rest = product.high & (2 * half - 1), mantissa = product.high >> drop;
    bool up = rest >= half, certain = true;
    if (rest == half || rest == half - 1) {
        kl_wide more = kl_wide_product(digits << zeros, t.low);
        product.low += more.high;
        rest += product.low < more.high;
        bool exact = power >= 0 && power <= KL_POWER_EXACT;
        bool tie = exact && rest == half && product.low == 0 && more.low == 0;
        up = rest > half || (rest == half && (!tie || mantissa % 2 != 0));
        certain = exact || rest != half - 1 || product.low != UINT64_MAX;
    }
    *bits = mantissa + up + ((uint64_t)(exponent > -1022 ? exponent + 1022 : 0) << 52); /* the first bit adds 1 to the exponent */
    if (*bits > INFINITE_BITS)
        *bits = INFINITE_BITS;
    return certain;
}

/* 5^places divides digits: the quotient times a power of two. The inexact 10^-places cannot see its ties. */
static bool round_quotient(uint64_t digits, int64_t places, uint64_t *bits)
{
    if (places <= 0 || places > FIVES_IN_WORD)
        return false;
    uint64_t five = 1;
    for (int64_t i = 0; i < places; i++)
        five *= 5;
    return digits % five == 0 && round_product(digits / five, 0, (int)-places, bits);
}

/* All that one floating-point operation does not do: count digits in first .. last, the last one of weight 10^exponent;
 * the word digits holds them unless there are more than 19. */
static double round_digits(const char *first, const char *last, int64_t count, uint64_t digits, int64_t exponent)
{
    int64_t power = exponent;
    bool dropped = count > WORD_DIGITS && shorten(first, last, &digits, &power);
    uint64_t bits = 0, next;
    double value;
    if (digits != 0 && power > LARGEST_POWER)
        bits = INFINITE_BITS;
    else if (digits != 0 && power >= KL_POWER_LOW) {
        bool certain = round_product(digits, (int)power, 0, &bits);
        if (dropped)
            certain = certain && round_product(digits + 1, (int)power, 0, &next) && next == bits;
        else if (!certain)
            certain = round_quotient(digits, -power, &bits);
        if (!certain)
            bits = kl_number_settle(first, last, exponent, bits);
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

kl_number_kind kl_number_read(const char *text, const char *end, double *value, const char **after)
{
    static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = text;
    bool negative = false;
    *value = 0.0;
    *after = text;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p < end && !is_digit(*p) && *p != '.')
        return read_word(p, end, after) ? KL_NUMBER_NAN : KL_NUMBER_NOT;

    const char *first = p;
    uint64_t digits = 0;
    int64_t count, exponent = 0;
    p = read_digits(p, end, &digits);
    count = p - first;
    if (p < end && *p == '.') {
        const char *point = p;
        p = read_places(p + 1, end, &digits);
        exponent = point + 1 - p;
        count -= exponent;
    }
    if (count == 0)
        return KL_NUMBER_NOT;
    const char *last = p;
    *after = read_exponent(p, end, &exponent);

    double size;
    if (count <= WORD_DIGITS && digits <= UINT64_C(1) << 53 && exponent >= -EXACT_POWER && exponent <= EXACT_POWER)
        size = exponent < 0 ? (double)digits / power_of_ten[-exponent] : (double)digits * power_of_ten[exponent];
    else
        size = round_digits(first, last, count, digits, exponent);
    *value = negative ? -size : size;
    return isinf(size) ? KL_NUMBER_TOO_LARGE : KL_NUMBER_OK;
}

bool kl_number_parse(const char *text, double *value)
{
    const char *end = text + strlen(text), *after;
    return kl_number_read(text, end, value, &after) == KL_NUMBER_OK && after == end;
}
