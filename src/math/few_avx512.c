/*
 * few_avx512.c - up to 128 numbers to their buckets without the sums of all: keys (bucket, place) are sorted by a network in eight registers (Batcher's bitonic merges, Knuth 5.3.4),
 * and what shares a bucket is added up in the order in which it came, as in the sums. Number 8 l + r of the order is in lane l of register r, so that most exchanges
 * are of whole registers, and a permutation of lanes stands beside the others only. In order they are turned over: register j has numbers 16 j to 16 j + 15.
 */
#include "math/buckets.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = 16, REGISTERS = KL_BUCKETS_FEW / LANES };

/* ---- exchanges ---- */

/* The smaller ones to a, the larger ones to b. */
AVX512 INLINE void exchange(__m512i *a, __m512i *b)
{
    __m512i less = _mm512_min_epu32(*a, *b);
    *b = _mm512_max_epu32(*a, *b);
    *a = less;
}

/* Of each number and the one across: the larger where upper says so, otherwise the smaller. */
AVX512 INLINE __m512i one_of(__m512i a, __m512i across, __mmask16 upper)
{
    return _mm512_mask_max_epu32(_mm512_min_epu32(a, across), upper, a, across);
}

/* Lane l takes lane l ^ by, a constant: within quarters by a shuffle, which takes a cycle where a permutation takes four. */
AVX512 INLINE __m512i swap(__m512i a, int by)
{
    if (by == 1)
        return _mm512_shuffle_epi32(a, 0xB1);
    if (by == 2)
        return _mm512_shuffle_epi32(a, 0x4E);
    if (by == 3)
        return _mm512_shuffle_epi32(a, 0x1B);
    if (by == 4)
        return _mm512_shuffle_i32x4(a, a, 0xB1);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lane, _mm512_set1_epi32(by)), a);
}

/* ---- the network ---- */

/* Every lane by itself: nineteen exchanges, the least for eight numbers. */
AVX512 INLINE void sort_lanes(__m512i *r)
{
    exchange(&r[0], &r[2]), exchange(&r[1], &r[3]), exchange(&r[4], &r[6]), exchange(&r[5], &r[7]);
    exchange(&r[0], &r[4]), exchange(&r[1], &r[5]), exchange(&r[2], &r[6]), exchange(&r[3], &r[7]);
    exchange(&r[0], &r[1]), exchange(&r[2], &r[3]), exchange(&r[4], &r[5]), exchange(&r[6], &r[7]);
    exchange(&r[2], &r[4]), exchange(&r[3], &r[5]), exchange(&r[1], &r[4]), exchange(&r[3], &r[6]);
    exchange(&r[1], &r[2]), exchange(&r[3], &r[4]), exchange(&r[5], &r[6]);
}

/* A merge begins: every number with its mirror image within a group of lanes, the upper half of which gets the larger ones. */
AVX512 INLINE void mirror(__m512i *r, int group, __mmask16 upper)
{
    UNROLL
    for (int k = 0; k < REGISTERS / 2; k++) {
        __m512i a = r[k], b = r[REGISTERS - 1 - k];
        r[k] = one_of(a, swap(b, group - 1), upper);
        r[REGISTERS - 1 - k] = one_of(b, swap(a, group - 1), upper);
    }
}

/* It goes on with lanes that are so far apart, */
AVX512 INLINE void halve(__m512i *r, int apart, __mmask16 upper)
{
    UNROLL
    for (int k = 0; k < REGISTERS; k++)
        r[k] = one_of(r[k], swap(r[k], apart), upper);
}

/* and ends with the registers. */
AVX512 INLINE void end(__m512i *r)
{
    exchange(&r[0], &r[4]), exchange(&r[1], &r[5]), exchange(&r[2], &r[6]), exchange(&r[3], &r[7]);
    exchange(&r[0], &r[2]), exchange(&r[1], &r[3]), exchange(&r[4], &r[6]), exchange(&r[5], &r[7]);
    exchange(&r[0], &r[1]), exchange(&r[2], &r[3]), exchange(&r[4], &r[5]), exchange(&r[6], &r[7]);
}

AVX512 INLINE void sort(__m512i *r)
{
    const __mmask16 ones = 0xAAAA, twos = 0xCCCC, fours = 0xF0F0, eights = 0xFF00; /* lanes that have this bit in their number */
    sort_lanes(r);
    mirror(r, 2, ones), end(r);
    mirror(r, 4, twos), halve(r, 1, ones), end(r);
    mirror(r, 8, fours), halve(r, 2, twos), halve(r, 1, ones), end(r);
    mirror(r, 16, eights), halve(r, 4, fours), halve(r, 2, twos), halve(r, 1, ones), end(r);
}

/* Quarters 0 .. 3 of four registers: quarters q of all of them to to[0], to[2], to[4], to[6]. */
AVX512 INLINE void turn_quarters(__m512i a, __m512i b, __m512i c, __m512i d, __m512i *to)
{
    __m512i even_ab = _mm512_shuffle_i32x4(a, b, 0x88), odd_ab = _mm512_shuffle_i32x4(a, b, 0xDD);
    __m512i even_cd = _mm512_shuffle_i32x4(c, d, 0x88), odd_cd = _mm512_shuffle_i32x4(c, d, 0xDD);
    to[0] = _mm512_shuffle_i32x4(even_ab, even_cd, 0x88);
    to[2] = _mm512_shuffle_i32x4(odd_ab, odd_cd, 0x88);
    to[4] = _mm512_shuffle_i32x4(even_ab, even_cd, 0xDD);
    to[6] = _mm512_shuffle_i32x4(odd_ab, odd_cd, 0xDD);
}

AVX512 INLINE void turn_over(__m512i *r)
{
    __m512i low[REGISTERS / 2], high[REGISTERS / 2];
    UNROLL
    for (int k = 0; k < REGISTERS / 2; k++) {
        low[k] = _mm512_unpacklo_epi32(r[2 * k], r[2 * k + 1]);
        high[k] = _mm512_unpackhi_epi32(r[2 * k], r[2 * k + 1]);
    }
    turn_quarters(_mm512_unpacklo_epi64(low[0], low[1]), _mm512_unpacklo_epi64(low[2], low[3]), _mm512_unpackhi_epi64(low[0], low[1]), _mm512_unpackhi_epi64(low[2], low[3]), r);
    turn_quarters(_mm512_unpacklo_epi64(high[0], high[1]), _mm512_unpacklo_epi64(high[2], high[3]), _mm512_unpackhi_epi64(high[0], high[1]), _mm512_unpackhi_epi64(high[2], high[3]), r + 1);
}

/* ---- what is taken ---- */

/* The values of sixteen keys, from all of them in registers. */
AVX512 INLINE __m512 values_of(__m512i key, const __m512 *value)
{
    __mmask16 second = _mm512_test_epi32_mask(key, _mm512_set1_epi32(2 * LANES)), upper = _mm512_test_epi32_mask(key, _mm512_set1_epi32(4 * LANES));
    __m512 low = _mm512_mask_blend_ps(second, _mm512_permutex2var_ps(value[0], key, value[1]), _mm512_permutex2var_ps(value[2], key, value[3]));
    __m512 high = _mm512_mask_blend_ps(second, _mm512_permutex2var_ps(value[4], key, value[5]), _mm512_permutex2var_ps(value[6], key, value[7]));
    return _mm512_mask_blend_ps(upper, low, high);
}

/* Numbers behind the first ones of their buckets (bits of again, in the order of keys) go to the places of these, which are written only: what was just stored by lanes
 * takes long to load. */
static void add_up(const kl_buckets_few *few, const uint32_t *key, const uint64_t *again, float *value)
{
    int64_t taken = 0, last = -1;
    float sum = 0;
    for (int half = 0; half < 2; half++)
        for (uint64_t left = again[half]; left != 0; left &= left - 1) {
            int64_t at = 64 * half + __builtin_ctzll(left);
            taken++;
            if (at != last + 1 || taken == 1)
                sum = few->value[key[at - 1] % KL_BUCKETS_FEW] + 0.0f;
            sum += few->value[key[at] % KL_BUCKETS_FEW];
            value[at - taken] = sum;
            last = at;
        }
}

AVX512 int64_t kl_avx512_few_take(const kl_buckets_few *few, int32_t before, int32_t *column, float *value)
{
    const __m512i one_back = _mm512_setr_epi32(15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30), none = _mm512_set1_epi32(-1);
    uint32_t key[KL_BUCKETS_FEW];
    uint64_t again[2] = {0, 0};
    __m512i r[REGISTERS], last = none, place = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512 v[REGISTERS];
    int64_t count = 0;
    UNROLL
    for (int k = 0; k < REGISTERS; k++) {
        r[k] = _mm512_mask_mov_epi32(none, _mm512_cmpgt_epi32_mask(_mm512_set1_epi32((int)few->count), place), _mm512_loadu_si512(few->key + k * LANES));
        v[k] = _mm512_loadu_ps(few->value + k * LANES);
        place = _mm512_add_epi32(place, _mm512_set1_epi32(LANES));
    }
    sort(r);
    turn_over(r);
    UNROLL
    for (int k = 0; k < REGISTERS; k++) {
        __mmask16 there = (__mmask16)~_mm512_cmpeq_epi32_mask(r[k], none);
        __m512i bucket = _mm512_srli_epi32(r[k], KL_BUCKETS_FEW_BITS);
        __mmask16 first = (__mmask16)(there & ~_mm512_cmpeq_epi32_mask(bucket, _mm512_permutex2var_epi32(last, one_back, bucket)));
        int64_t firsts = __builtin_popcount(first);
        __mmask16 written = (__mmask16)((1u << firsts) - 1);
        __m512 sum = _mm512_add_ps(values_of(r[k], v), _mm512_setzero_ps()); /* as sums begin: -0 becomes 0 */
        _mm512_storeu_si512(key + k * LANES, r[k]);
        _mm512_mask_storeu_epi32(column + count, written, _mm512_maskz_compress_epi32(first, _mm512_add_epi32(bucket, _mm512_set1_epi32(before))));
        _mm512_mask_storeu_ps(value + count, written, _mm512_maskz_compress_ps(first, sum));
        again[k / 4] |= (uint64_t)(there & ~first) << (k % 4 * LANES);
        count += firsts;
        last = bucket;
    }
    if ((again[0] | again[1]) != 0)
        add_up(few, key, again, value);
    return count;
}

#else

typedef int few_avx512_is_for_x86;

#endif
