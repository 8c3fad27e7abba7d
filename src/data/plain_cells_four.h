/*
 * plain_cells_four.h - four cells at a time, for plain_cells_avx2.c and for what is left at the end of a row by
 * plain_cells_avx512.c. A cell is looked at in the 16 bytes that end with it: what is outside becomes zero, the sign is
 * taken off, the bytes before the point move up by one over it, and what is left must be digits. Pairs, fours and eights
 * of digits are joined by multiply-and-add (Mula). There is one rounding: 15 digits and their power of ten are exact
 * doubles, so it is the division's; 16 digits have no point, so it is that of the whole number. The float is rounded from
 * that double, as plain_number.h does it.
 */
#ifndef KL_PLAIN_CELLS_FOUR_H
#define KL_PLAIN_CELLS_FOUR_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define INLINE __attribute__((always_inline)) static inline

enum { WINDOW = 16, MINUS = 64 };

/* Two cells, one in each half of a register. */
typedef struct pair {
    __m256i digit; /* less '0'; of the point and all that is no digit above 9; 0 outside of the cell */
    __m256i place; /* its sum over a half: 1 .. 16 at the point, MINUS for a sign */
    __m256i point; /* -1 at the point */
} pair;

/* length: of the cell, in every byte of a half. */
AVX2 INLINE pair look(const char *first_end, const char *second_end, __m256i length, __m256i point)
{
    const __m256i from_end = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m256i if_first = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)); /* a sign alone is no number */
    const __m256i from_start = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)); /* nor is a point, and 1. is rare */
    pair out;
    __m256i byte = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(first_end - WINDOW))),
                                           _mm_loadu_si128((const __m128i *)(second_end - WINDOW)), 1);
    __m256i minus = _mm256_and_si256(_mm256_cmpeq_epi8(length, if_first), _mm256_cmpeq_epi8(byte, _mm256_set1_epi8('-')));
    __m256i inside = _mm256_andnot_si256(minus, _mm256_cmpgt_epi8(length, from_end));
    out.digit = _mm256_and_si256(_mm256_sub_epi8(byte, _mm256_set1_epi8('0')), inside);
    out.point = _mm256_cmpeq_epi8(out.digit, point);
    out.place = _mm256_sad_epu8(_mm256_or_si256(_mm256_and_si256(out.point, from_start), _mm256_and_si256(minus, _mm256_set1_epi8(MINUS))), _mm256_setzero_si256());
    return out;
}

/* The bytes up to the point moved up by one, over it: digits alone, right-aligned. */
AVX2 INLINE __m256i close_up(__m256i digit, __m256i place)
{
    const __m256i from_zero = _mm256_broadcastsi128_si256(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    return _mm256_blendv_epi8(digit, _mm256_slli_si256(digit, 1), _mm256_cmpgt_epi8(place, from_zero));
}

/* Sixteen digits of each of four cells: both halves are exact, also the upper one times 10^8 = 5^8 2^8. */
AVX2 INLINE __m256d join(__m256i even, __m256i odd)
{
    const __m256i tens = _mm256_set1_epi16(0x010a), hundreds = _mm256_set1_epi32(0x10064), many = _mm256_set1_epi32(0x12710);
    even = _mm256_madd_epi16(_mm256_maddubs_epi16(even, tens), hundreds);
    odd = _mm256_madd_epi16(_mm256_maddubs_epi16(odd, tens), hundreds);
    __m256i eight = _mm256_madd_epi16(_mm256_packus_epi32(even, odd), many); /* upper and lower half of each cell */
    eight = _mm256_permutevar8x32_epi32(eight, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    __m256d upper = _mm256_cvtepi32_pd(_mm256_castsi256_si128(eight)), lower = _mm256_cvtepi32_pd(_mm256_extracti128_si256(eight, 1));
    return _mm256_add_pd(_mm256_mul_pd(upper, _mm256_set1_pd(1e8)), lower);
}

/* Of the places of points, by loads: gather instructions are slow on many CPUs (math/pick.h). */
AVX2 INLINE __m256d power_of(__m256i place)
{
    static const double power[32] = {1, 1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1};
    __m128i low = _mm256_castsi256_si128(place), high = _mm256_extracti128_si256(place, 1);
    __m128d first = _mm_loadh_pd(_mm_load_sd(power + _mm_cvtsi128_si64(low)), power + _mm_extract_epi64(low, 1));
    __m128d second = _mm_loadh_pd(_mm_load_sd(power + _mm_cvtsi128_si64(high)), power + _mm_extract_epi64(high, 1));
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(first), second, 1);
}

/* Cells 0 .. 3, the last one only to *last when there is one; false when one of them is not of the common form. */
AVX2 INLINE bool kl_plain_four(const char *text, const uint32_t *end, __m256i point, float *x, double *last)
{
    const __m256i nine = _mm256_set1_epi8(9);
    /* ends less the ends before them, less 1: lengths */
    __m128i less = _mm_sub_epi32(_mm_loadu_si128((const __m128i *)end), _mm_loadu_si128((const __m128i *)(end - 1)));
    __m128i length = _mm_add_epi32(less, _mm_set1_epi32(-1));
    less = _mm_add_epi32(less, _mm_set1_epi32(-2)); /* 0 .. 15, or the cell is empty or too long */
    __m128i misfit = _mm_xor_si128(_mm_min_epu32(less, _mm_set1_epi32(WINDOW - 1)), less);
    __m256i lengths = _mm256_broadcastsi128_si256(length);
    pair even = look(text + end[0], text + end[2], _mm256_shuffle_epi8(lengths, _mm256_setr_epi64x(0, 0, 0x0808080808080808, 0x0808080808080808)), point);
    pair odd = look(text + end[1], text + end[3],
                    _mm256_shuffle_epi8(lengths, _mm256_setr_epi64x(0x0404040404040404, 0x0404040404040404, 0x0c0c0c0c0c0c0c0c, 0x0c0c0c0c0c0c0c0c)), point);
    __m256i sum = _mm256_add_epi64(_mm256_unpacklo_epi64(even.place, odd.place), _mm256_unpackhi_epi64(even.place, odd.place));
    __m256i place = _mm256_and_si256(sum, _mm256_set1_epi64x(31)); /* 0: no point; more than one leaves one that is no digit */
    even.digit = close_up(even.digit, _mm256_shuffle_epi8(place, _mm256_setzero_si256()));
    odd.digit = close_up(odd.digit, _mm256_shuffle_epi8(place, _mm256_set1_epi8(8)));
    __m256i bad = _mm256_or_si256(_mm256_subs_epu8(even.digit, nine), _mm256_subs_epu8(odd.digit, nine));
    bad = _mm256_or_si256(bad, _mm256_zextsi128_si256(misfit));
    if (!_mm256_testz_si256(bad, bad))
        return false;
    __m256d size = _mm256_div_pd(join(even.digit, odd.digit), power_of(place));
    __m256i sign = _mm256_slli_epi64(_mm256_and_si256(sum, _mm256_set1_epi64x(MINUS)), 57);
    __m256d value = _mm256_xor_pd(size, _mm256_castsi256_pd(sign));
    if (last == NULL) {
        _mm_storeu_ps(x, _mm256_cvtpd_ps(value));
        return true;
    }
    _mm_maskstore_ps(x, _mm_setr_epi32(-1, -1, -1, 0), _mm256_cvtpd_ps(value));
    _mm_storeh_pd(last, _mm256_extractf128_pd(value, 1));
    return true;
}

#endif
