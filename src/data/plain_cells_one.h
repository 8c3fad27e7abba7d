/*
 * plain_cells_one.h - the cells that stand in the way of a group of plain_cells.h, one by one: those of up to 19 digits as in
 * plain_cells_four.h, but in 32 bytes and with whole numbers; what is left by plain_number.h, then number.h.
 */
#ifndef KL_PLAIN_CELLS_ONE_H
#define KL_PLAIN_CELLS_ONE_H

#include "base/number.h"
#include "data/plain_cells_four.h"
#include "data/plain_number.h"

#include <math.h>

enum { LONG_WINDOW = 32, MOST_DIGITS = 19 };

/* The number of 32 digits, of which the first 13 are 0. */
AVX2 INLINE uint64_t join_long(__m256i digit)
{
    __m256i four = _mm256_madd_epi16(_mm256_maddubs_epi16(digit, _mm256_set1_epi16(0x010a)), _mm256_set1_epi32(0x10064));
    __m256i eight = _mm256_madd_epi16(_mm256_packus_epi32(four, four), _mm256_set1_epi32(0x12710));
    uint64_t first = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(eight)) >> 32, rest = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(eight, 1));
    return first * UINT64_C(10000000000000000) + (rest & UINT32_MAX) * 100000000 + (rest >> 32);
}

/* As kl_plain_number with single, of the whole cell. */
AVX2 INLINE bool kl_plain_long(const char *begin, const char *end, char point, float *x)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    static const signed char upper[64] = {[32] = -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const __m256i zero = _mm256_set1_epi8('0');
    bool negative = *begin == '-';
    int64_t length = end - begin - negative;
    if (length < 1 || length > MOST_DIGITS + 1)
        return false;
    const __m256i inside = _mm256_loadu_si256((const __m256i *)(upper + length)), inside_before = _mm256_loadu_si256((const __m256i *)(upper + length - 1));
    __m256i digit = _mm256_and_si256(_mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(end - LONG_WINDOW)), zero), inside);
    __m256i before = _mm256_and_si256(_mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(end - LONG_WINDOW - 1)), zero), inside_before);
    uint32_t points = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(digit, _mm256_set1_epi8((char)(point - '0'))));
    int places = points != 0 ? __builtin_clz(points) : 0;
    __m256i behind = _mm256_loadu_si256((const __m256i *)(upper + (points != 0 ? places : LONG_WINDOW)));
    digit = _mm256_blendv_epi8(before, digit, behind); /* digits before the point move up by one, over it */
    __m256i bad = _mm256_subs_epu8(digit, _mm256_set1_epi8(9));
    length -= points != 0;
    if (length < 1 || length > MOST_DIGITS || !_mm256_testz_si256(bad, bad))
        return false;
    double size = (double)join_long(digit) / power[places];
    if (length > 15 && (float)(size * (1 - 0x1p-50)) != (float)(size * (1 + 0x1p-50))) /* plain_number.h says why */
        return false;
    *x = (float)(negative ? -size : size);
    return true;
}

/* The whole of the cell is a number that a float can hold. */
static inline bool kl_plain_any(const char *begin, const char *end, char point, float *x)
{
    double value;
    const char *after = kl_plain_number(begin, true, point, &value);
    if (after != end && (point != '.' || kl_number_read(begin, end, &value, &after) != KL_NUMBER_OK || after != end || fabs(value) >= KL_FLOAT_LIMIT))
        return false;
    *x = (float)value;
    return true;
}

/* Cells from j on, so many, and more while they are too long for a group; returns the one behind them, or, with *stuck, the first that is no number. */
AVX2 static inline int64_t kl_plain_ones(const char *text, const uint32_t *end, int64_t j, int64_t least, int64_t count, char point, float *x, bool *stuck)
{
    *stuck = false;
    for (int64_t stop = j + least; j < count && (j < stop || end[j] - end[j - 1] > WINDOW + 1); j++) {
        const char *begin = text + (uint32_t)(end[j - 1] + 1), *behind = text + end[j];
        *stuck = !kl_plain_long(begin, behind, point, x + j) && !kl_plain_any(begin, behind, point, x + j);
        if (*stuck)
            break;
    }
    return j;
}

#endif
