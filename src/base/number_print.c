/*
 * number_print.c - decimal numbers out: the fewest digits that read back as the same value, of those the nearest to it.
 *
 * Schubfach (Giulietti 2020, "The Schubfach way to render doubles"). The value c * 2^q rounds from all numbers between
 * l = (c - 1/2) 2^q and r = (c + 1/2) 2^q (l = (c - 1/4) 2^q where the doubles below are denser), the ends included
 * when c is even. With 10^k <= r - l < 10^(k+1), at most one multiple of 10^(k+1) is in there, and it is the shortest;
 * else the nearer of the two multiples of 10^k around the value is (one of them is inside: the pigeonhole, Schubfach).
 * Value and ends are needed in quarters of 10^k only, rounded to odd: x = 4 c 2^q 10^-k truncated, the last bit set when
 * something was cut off, compares with even numbers as x itself does. 128 bits of 10^-k, rounded up, are enough: over
 * all q and c no x is nearer than 2^-62.6 above an even number or 2^-61.6 below any number without being it (found by
 * the walk of Euclid's algorithm), while the product has 64 bits behind the point and an error below 2^-68.
 */
#include "base/number.h"

#include "base/number_wide.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 18 }; /* the 17 digits of a double, and an even number of bytes to copy */

/* digits * 10^exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* g * x / 2^128, rounded to odd. */
static uint64_t scale(kl_wide g, uint64_t x)
{
    kl_wide product = kl_wide_product(g.high, x);
    uint64_t carry = kl_wide_product(g.low, x).high, low = product.low + carry;
    return (product.high + (low < carry)) | (low != 0);
}

/* The shortest decimal of mantissa * 2^exponent; uneven: the values below are twice as dense. */
static decimal shorten(uint64_t mantissa, int exponent, bool uneven)
{
    int k = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22; /* floor(log10(2^q)), or of 3/4 2^q */
    kl_wide g = kl_power_of_ten(-k);
    g.low += -k < 0 || -k > KL_POWER_EXACT; /* up; no entry ends in 64 ones */
    int bits = exponent + kl_power_exponent(-k) + 1;
    uint64_t middle = scale(g, 4 * mantissa << bits);
    uint64_t left = scale(g, (4 * mantissa - 2 + uneven) << bits) + mantissa % 2; /* ends that do not belong move inwards */
    uint64_t right = scale(g, (4 * mantissa + 2) << bits) - mantissa % 2;

    uint64_t below = middle / 4, tens = below / 10;
    bool low_in = left <= 40 * tens, high_in = 40 * (tens + 1) <= right;
    if (low_in != high_in)
        return (decimal){tens + high_in, k + 1};
    low_in = left <= 4 * below;
    high_in = 4 * (below + 1) <= right;
    bool up = low_in != high_in ? high_in : middle > 4 * below + 2 || (middle == 4 * below + 2 && below % 2 != 0);
    return (decimal){below + up, k};
}

/* Two digits of a number below 100. */
static void put_pair(uint32_t value, char *out)
{
    static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
                                "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    memcpy(out, pairs + (size_t)2 * value, 2);
}

static void put_eight(uint32_t value, char *out)
{
    uint32_t upper = value / 10000, lower = value % 10000;
    put_pair(upper / 100, out);
    put_pair(upper % 100, out + 2);
    put_pair(lower / 100, out + 4);
    put_pair(lower % 100, out + 6);
}

/* The digits of a number below 10^17 without the zeros in front of and behind them, and others behind out + *used:
 * blocks of fixed length are copied faster. Returns the exponent of the first digit. */
static int put_digits(decimal number, char out[BLOCK], int *used)
{
    char all[17 + BLOCK] = {0};
    uint64_t upper = number.digits / 100000000;
    uint32_t lower = (uint32_t)(number.digits % 100000000);
    int first = 0, last = 17;
    if (upper != 0) {
        all[0] = (char)('0' + upper / 100000000);
        put_eight((uint32_t)(upper % 100000000), all + 1);
    } else
        first = 9;
    if (lower != 0)
        put_eight(lower, all + 9);
    else
        last = 9;
    while (all[first] == '0')
        first++;
    while (all[last - 1] == '0')
        last--;
    memcpy(out, all + first, BLOCK);
    *used = last - first;
    return 16 - first + number.exponent;
}

static char *put_exponent(int exponent, char *p)
{
    *p++ = 'e';
    if (exponent < 0)
        *p++ = '-';
    uint32_t size = (uint32_t)(exponent < 0 ? -exponent : exponent);
    if (size >= 100)
        *p++ = (char)('0' + size / 100);
    if (size >= 10)
        *p++ = (char)('0' + size / 10 % 10);
    *p++ = (char)('0' + size % 10);
    return p;
}

/* As people write them: 1e-6 .. 1e17 plain, the others as d.ddde12. The sign and "0.0000" leave room for a block. */
static int lay_out(bool negative, decimal number, char out[KL_NUMBER_ROOM])
{
    char digits[BLOCK], *p = out;
    int count, exponent = put_digits(number, digits, &count);
    *p = '-';
    p += negative;
    if (exponent < -5 || exponent > 16) {
        p[0] = digits[0];
        p[1] = '.';
        memcpy(p + 2, digits + 1, BLOCK - 1);
        p = put_exponent(exponent, p + (count > 1 ? count + 1 : 1));
    } else if (exponent < 0) {
        memcpy(p, "0.0000", 6);
        memcpy(p + 1 - exponent, digits, BLOCK);
        p += 1 - exponent + count;
    } else if (count <= exponent + 1) {
        memcpy(p, digits, BLOCK);
        memset(p + count, '0', (size_t)(exponent + 1 - count));
        p += exponent + 1;
    } else {
        memcpy(p, digits, BLOCK);
        p[exponent + 1] = '.';
        memcpy(p + exponent + 2, digits + exponent + 1, (size_t)(count - exponent - 1));
        p += count + 1;
    }
    *p = '\0';
    return (int)(p - out);
}

static int put_word(const char *word, char *out)
{
    strcpy(out, word);
    return (int)strlen(word);
}

static int print(bool negative, uint64_t mantissa, int exponent, bool uneven, char *out)
{
    if (mantissa == 0)
        return put_word("0", out);
    if (exponent <= 0 && exponent >= -52 && mantissa % (UINT64_C(1) << -exponent) == 0) /* whole: its digits are the shortest */
        return lay_out(negative, (decimal){mantissa >> -exponent, 0}, out);
    return lay_out(negative, shorten(mantissa, exponent, uneven), out);
}

int kl_number_print(double value, char out[KL_NUMBER_ROOM])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!isfinite(value))
        return put_word(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", out);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff);
    if (biased == 0)
        return print(bits >> 63 != 0, fraction, -1074, false, out);
    return print(bits >> 63 != 0, fraction | UINT64_C(1) << 52, biased - 1075, fraction == 0 && biased > 1, out);
}

int kl_number_print_float(float value, char out[KL_NUMBER_ROOM])
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!isfinite(value))
        return put_word(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", out);
    uint32_t fraction = bits & 0x7fffff, size = bits & 0x7fffffff;
    int biased = (int)(bits >> 23 & 0xff);
    /* Floats are read as doubles: 7.038531e-26 becomes the middle of these two floats and so the even one's, though it lies
     * on the odd one's side. Tried one by one, no other float has its shortest digits that near an end. */
    if (size == 0x15ae43fd || size == 0x15ae43fe)
        return lay_out(bits >> 31 != 0, size % 2 != 0 ? (decimal){70385307, -33} : (decimal){7038531, -32}, out);
    if (biased == 0)
        return print(bits >> 31 != 0, fraction, -149, false, out);
    return print(bits >> 31 != 0, fraction | 0x800000, biased - 150, fraction == 0 && biased > 1, out);
}
