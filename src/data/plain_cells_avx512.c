/*
 * plain_cells_avx512.c - plain_cells_avx2.c with eight cells at a time, the even ones in one register and the odd ones in
 * another, 16 bytes each. Masks stand for the bytes of a cell, its sign and its point.
 */
#include "data/plain_cells.h"

#if defined(__x86_64__)

#include "data/plain_cells_four.h"
#include "data/plain_cells_one.h"

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi,popcnt")))

enum { GROUP = 8, HALF = 4 };

/* Eight are written whether they are there or not: how many there are is hard to foretell. */
AVX512 static int64_t mark(const char *text, int64_t count, char delimiter, uint32_t *end, int64_t *newlines)
{
    const __m512i delimiters = _mm512_set1_epi8(delimiter), line_ends = _mm512_set1_epi8('\n');
    int64_t marks = 0, lines = 0;
    for (int64_t at = 0; at < count; at += 64) {
        __m512i bytes = _mm512_loadu_si512(text + at);
        uint64_t line = _mm512_cmpeq_epi8_mask(bytes, line_ends), bits = line | _mm512_cmpeq_epi8_mask(bytes, delimiters);
        if (count - at < 64) {
            bits &= (UINT64_C(1) << (count - at)) - 1;
            line &= bits;
        }
        uint32_t *to = end + marks;
        marks += __builtin_popcountll(bits);
        lines += __builtin_popcountll(line);
        do {
            for (int k = 0; k < 8; k++, bits &= bits - 1)
                *to++ = (uint32_t)at + (uint32_t)_tzcnt_u64(bits);
        } while (bits != 0);
    }
    *newlines = lines;
    return marks;
}

/* Four cells, one in each quarter of a register. */
typedef struct quad {
    __m512i digit; /* less '0'; of the point and all that is no digit above 9; 0 outside of the cell */
    __m512i place; /* its sum over a quarter: 1 .. 15 at the point, MINUS for a sign */
} quad;

/* The cells that end at end[0], end[2], end[4] and end[6]; length: of the cell, in every byte of a quarter. */
AVX512 INLINE quad look_at_four(const char *text, const uint32_t *end, __m512i length, __m512i point)
{
    const __m512i from_end = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i if_first = _mm512_broadcast_i32x4(_mm_set_epi8(0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
    const __m512i from_start = _mm512_broadcast_i32x4(_mm_set_epi8(0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
    const char *window = text - WINDOW;
    __m512i byte = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(window + end[0])));
    byte = _mm512_inserti32x4(byte, _mm_loadu_si128((const __m128i *)(window + end[2])), 1);
    byte = _mm512_inserti32x4(byte, _mm_loadu_si128((const __m128i *)(window + end[4])), 2);
    byte = _mm512_inserti32x4(byte, _mm_loadu_si128((const __m128i *)(window + end[6])), 3);
    __mmask64 minus = _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(length, if_first), byte, _mm512_set1_epi8('-'));
    __mmask64 inside = _kandn_mask64(minus, _mm512_cmpgt_epi8_mask(length, from_end));
    quad out;
    out.digit = _mm512_maskz_sub_epi8(inside, byte, _mm512_set1_epi8('0'));
    __m512i place = _mm512_maskz_mov_epi8(_mm512_cmpeq_epi8_mask(out.digit, point), from_start);
    out.place = _mm512_sad_epu8(_mm512_mask_mov_epi8(place, minus, _mm512_set1_epi8(MINUS)), _mm512_setzero_si512());
    return out;
}

/* The bytes up to the point moved up by one, over it: digits alone, right-aligned. */
AVX512 INLINE __m512i close_up_four(__m512i digit, __m512i place)
{
    const __m512i from_zero = _mm512_broadcast_i32x4(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    return _mm512_mask_mov_epi8(digit, _mm512_cmpgt_epi8_mask(place, from_zero), _mm512_bslli_epi128(digit, 1));
}

/* Sixteen digits of each of eight cells. */
AVX512 INLINE __m512i join_all(__m512i even, __m512i odd)
{
    const __m512i tens = _mm512_set1_epi16(0x010a), hundreds = _mm512_set1_epi32(0x10064), many = _mm512_set1_epi32(0x12710);
    even = _mm512_madd_epi16(_mm512_maddubs_epi16(even, tens), hundreds);
    odd = _mm512_madd_epi16(_mm512_maddubs_epi16(odd, tens), hundreds);
    __m512i eight = _mm512_madd_epi16(_mm512_packus_epi32(even, odd), many); /* upper and lower half of each cell */
    return _mm512_add_epi64(_mm512_mul_epu32(eight, _mm512_set1_epi64(100000000)), _mm512_srli_epi64(eight, 32));
}

/* Cells 0 .. 7, the last one only to *last when there is one; false when one of them is not of the common form. */
AVX512 INLINE bool read_eight(const char *text, const uint32_t *end, __m512i point, float *x, double *last)
{
    const __m512d power_low = _mm512_setr_pd(1, 1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9), power_high = _mm512_setr_pd(1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1);
    const __m512i cell_even = _mm512_set_epi32(6, 6, 6, 6, 4, 4, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0), cell_odd = _mm512_add_epi32(cell_even, _mm512_set1_epi32(1));
    const __m512i first_byte = _mm512_setzero_si512(), ninth_byte = _mm512_set1_epi8(8), nine = _mm512_set1_epi8(9);
    __m256i length = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)end), _mm256_loadu_si256((const __m256i *)(end - 1)));
    length = _mm256_sub_epi32(length, _mm256_set1_epi32(1));
    __mmask8 misfit = _mm256_cmpge_epu32_mask(_mm256_sub_epi32(length, _mm256_set1_epi32(1)), _mm256_set1_epi32(WINDOW)); /* empty or too long */
    __m512i lengths = _mm512_castsi256_si512(length);
    quad even = look_at_four(text, end, _mm512_shuffle_epi8(_mm512_permutexvar_epi32(cell_even, lengths), first_byte), point);
    quad odd = look_at_four(text, end + 1, _mm512_shuffle_epi8(_mm512_permutexvar_epi32(cell_odd, lengths), first_byte), point);
    __m512i sum = _mm512_add_epi64(_mm512_unpacklo_epi64(even.place, odd.place), _mm512_unpackhi_epi64(even.place, odd.place));
    __m512i place = _mm512_and_si512(sum, _mm512_set1_epi64(15)); /* 0: no point; more than one leaves one that is no digit */
    even.digit = close_up_four(even.digit, _mm512_shuffle_epi8(place, first_byte));
    odd.digit = close_up_four(odd.digit, _mm512_shuffle_epi8(place, ninth_byte));
    __mmask64 bad = _kor_mask64(_mm512_cmpgt_epu8_mask(even.digit, nine), _mm512_cmpgt_epu8_mask(odd.digit, nine));
    if ((bad | misfit) != 0)
        return false;
    __m512d size = _mm512_div_pd(_mm512_cvtepi64_pd(join_all(even.digit, odd.digit)), _mm512_permutex2var_pd(power_low, place, power_high));
    __m512i sign = _mm512_slli_epi64(_mm512_and_si512(sum, _mm512_set1_epi64(MINUS)), 57);
    __m512d value = _mm512_xor_pd(size, _mm512_castsi512_pd(sign));
    if (last == NULL) {
        _mm256_storeu_ps(x, _mm512_cvtpd_ps(value));
        return true;
    }
    _mm256_mask_storeu_ps(x, 0x7F, _mm512_cvtpd_ps(value));
    _mm_storeh_pd(last, _mm512_extractf64x2_pd(value, 3));
    return true;
}

/* Cells from j on by groups; the first cell of a group that has another form, or count. Calls nothing, so that what is
 * constant stays in registers. */
AVX512 static int64_t read_groups(const char *text, const uint32_t *end, int64_t j, int64_t count, char point, float *x, double *last)
{
    const __m512i points = _mm512_set1_epi8((char)(point - '0'));
    for (; count >= GROUP && j + HALF < count; j += GROUP) {
        if (j > count - GROUP) /* the last group begins before j: the same numbers again */
            j = count - GROUP;
        if (!read_eight(text, end + j, points, x + j, j == count - GROUP ? last : NULL))
            return j;
    }
    for (; j < count; j += HALF) {
        if (j > count - HALF)
            j = count - HALF;
        if (!kl_plain_four(text, end + j, _mm512_castsi512_si256(points), x + j, j == count - HALF ? last : NULL))
            return j;
    }
    return count;
}

static int64_t read_cells(const char *text, const uint32_t *end, int64_t count, char point, float *x, double *last)
{
    bool stuck = false;
    int64_t j = 0, singly = count - (last != NULL);
    while (j < singly && !stuck) {
        if (count >= HALF)
            j = read_groups(text, end, j, count, point, x, last);
        j = kl_plain_ones(text, end, j, GROUP, singly, point, x, &stuck);
    }
    return j;
}

const kl_plain_cells kl_plain_cells_avx512 = {"avx512", mark, read_cells};

#endif
