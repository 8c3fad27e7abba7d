/*
 * number.c - decimal numbers in and out.
 *
 * Reading: up to 19 digits go into a 64-bit integer; when it is below 2^53 and the power of ten at most 22, one
 * multiplication or division of two exact doubles is correctly rounded (Clinger 1990). The rest is rewritten as
 * "digits e exponent", a form without a decimal point and so without a locale, for the C library.
 * Printing: the smallest number of digits that reads back as the same value, laid out as %g would in the C locale.
 */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { EXACT_POWER = 22, KEPT_DIGITS = 800 };

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

/* Digits d1 d2 ... (no point) times 10^exponent through the C library, without a decimal point. */
static double slow_value(const char *first, const char *last, int64_t exponent)
{
    char copy[KEPT_DIGITS + 32];
    int used = 0;
    bool leading = true, dropped = false;
    for (const char *p = first; p < last; p++) {
        if (*p == '.')
            continue;
        if (leading && *p == '0')
            continue;
        leading = false;
        if (used < KEPT_DIGITS)
            copy[used++] = *p;
        else {
            dropped = dropped || *p != '0';
            exponent++;
        }
    }
    if (used == 0)
        return 0.0;
    if (dropped)
        copy[used - 1] = copy[used - 1] == '0' ? '1' : copy[used - 1]; /* sticky: keeps a tie from looking exact */
    if (exponent > 100000)
        exponent = 100000;
    if (exponent < -100000)
        exponent = -100000;
    snprintf(copy + used, 32, "e%lld", (long long)exponent);
    return strtod(copy, NULL);
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
        if (value < 1000000)
            value = value * 10 + (*q - '0');
    *exponent += negative ? -value : value;
    return q;
}

kl_number_kind kl_number_read(const char *text, const char *end, double *value, const char **after)
{
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
    int count = 0, seen = 0;
    int64_t exponent = 0, slow_exponent = 0;
    bool point = false;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p))
            break;
        seen++;
        if (count < 19) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            count += digits != 0;
            exponent -= point;
        } else {
            count++;
            exponent += !point;
        }
        slow_exponent -= point;
    }
    if (seen == 0)
        return KL_NUMBER_NOT;
    const char *last = p;
    int64_t extra = 0;
    p = read_exponent(p, end, &extra);
    exponent += extra;
    slow_exponent += extra;

    double result;
    if (digits == 0)
        result = 0.0;
    else if (count <= 19 && digits < (UINT64_C(1) << 53) && exponent >= -EXACT_POWER && exponent <= EXACT_POWER)
        result = exponent < 0 ? (double)digits / power_of_ten[-exponent] : (double)digits * power_of_ten[exponent];
    else
        result = slow_value(first, last, slow_exponent);
    *after = p;
    *value = negative ? -result : result;
    return isinf(result) ? KL_NUMBER_TOO_LARGE : KL_NUMBER_OK;
}

bool kl_number_parse(const char *text, double *value)
{
    const char *end = text + strlen(text), *after;
    return kl_number_read(text, end, value, &after) == KL_NUMBER_OK && after == end;
}

/* Takes the digits and the exponent out of "%.*e" whatever the locale's decimal point is. */
static int split(const char *text, char *digits, int *exponent)
{
    int count = 0;
    for (; *text != '\0' && *text != 'e'; text++)
        if (is_digit(*text))
            digits[count++] = *text;
    *exponent = *text == 'e' ? atoi(text + 1) : 0;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

static int lay_out(bool negative, const char *digits, int count, int exponent, char *out)
{
    char *p = out;
    if (negative)
        *p++ = '-';
    if (exponent < -5 || exponent > 16) {
        *p++ = digits[0];
        if (count > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)count - 1);
            p += count - 1;
        }
        p += snprintf(p, 8, "e%d", exponent);
        return (int)(p - out);
    }
    if (exponent < 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = -1; i > exponent; i--)
            *p++ = '0';
    }
    for (int i = 0; i < count || i <= exponent; i++) {
        if (i == exponent + 1 && exponent >= 0)
            *p++ = '.';
        *p++ = i < count ? digits[i] : '0';
    }
    *p = '\0';
    return (int)(p - out);
}

static int print(double value, bool single, char *out)
{
    if (!isfinite(value)) {
        strcpy(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return (int)strlen(out);
    }
    char text[64], digits[32];
    int exponent = 0, count = 0;
    double size = fabs(value);
    for (int precision = single ? 5 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, size);
        count = split(text, digits, &exponent);
        double back = slow_value(digits, digits + count, exponent - (count - 1));
        if (single ? (float)back == (float)size : back == size)
            break;
    }
    return lay_out(signbit(value) && value != 0, digits, count, exponent, out);
}

int kl_number_print(double value, char out[KL_NUMBER_ROOM])
{
    return print(value, false, out);
}

int kl_number_print_float(float value, char out[KL_NUMBER_ROOM])
{
    return print((double)value, true, out);
}
