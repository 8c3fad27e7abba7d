/*
 * buckets_avx512.c - sums in buckets for AVX-512: what a table says and the rounding to float32 sixteen at a time, only the sums one by one. Bits are
 * listed by compressing the numbers 0 .. 63 as bytes (AVX512_VBMI2; a CPU without it lists as the reference does). Few numbers wait for few_avx512.c.
 */
#include "math/buckets.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/pick.h"

enum { LANES = 16, CHUNK = 128 };

/* Some numbers on their way: how far they have come before the sums. */
typedef struct ready {
    float value[CHUNK];
    uint32_t bucket[CHUNK];
    uint64_t bit[CHUNK];
} ready;

/* entry[place[0]] .. entry[place[7]], by loads as in pick.h */
AVX512 INLINE __m256i pick_entries(const uint64_t *place, const uint32_t *entry)
{
    int32_t order[LANES / 2];
    for (int k = 0; k < LANES / 2; k++)
        order[k] = (int32_t)place[k];
    return _mm256_castps_si256(kl_pick((const float *)(const void *)entry, order));
}

AVX512 INLINE __m256i pick_some(int64_t count, const uint64_t *place, const uint32_t *entry)
{
    uint32_t some[LANES / 2] = {0};
    for (int64_t k = 0; k < count; k++)
        some[k] = entry[place[k]];
    return _mm256_loadu_si256((const __m256i *)(const void *)some);
}

/* Eight of them, of which the first count are there. */
typedef struct looked {
    __m256 value;
    __m256i bucket;
} looked;

AVX512 INLINE looked look(int64_t count, const double *value, const uint64_t *place, const uint32_t *entry)
{
    __mmask8 there = (__mmask8)(count >= LANES / 2 ? 0xFF : (1 << count) - 1);
    __m256i e = count >= LANES / 2 ? pick_entries(place, entry) : pick_some(count, place, entry);
    __m256 v = _mm512_cvtpd_ps(_mm512_maskz_loadu_pd(there, value));
    return (looked){_mm256_xor_ps(v, _mm256_castsi256_ps(_mm256_slli_epi32(e, 31))), _mm256_srli_epi32(e, 1)};
}

AVX512 INLINE void make_ready(int64_t count, const double *value, const uint64_t *place, const uint32_t *entry, ready *to)
{
    for (int64_t i = 0; i < count; i += LANES / 2) {
        looked now = look(count - i, value + i, place + i, entry);
        _mm256_storeu_ps(to->value + i, now.value);
        _mm256_storeu_si256((__m256i *)(void *)(to->bucket + i), now.bucket);
        _mm512_storeu_si512(to->bit + i, _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_epi64(_mm512_cvtepu32_epi64(now.bucket), _mm512_set1_epi64(63))));
    }
}

/* So many more may wait as few. */
static bool fit(const kl_buckets *to, int64_t count)
{
    return to->few != NULL && to->few->count >= 0 && to->few->count + count <= KL_BUCKETS_FEW && to->count <= UINT32_MAX / KL_BUCKETS_FEW;
}

AVX512 static void keep(kl_buckets_few *few, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry)
{
    const __m256i eight = _mm256_set1_epi32(LANES / 2);
    __m256i here = _mm256_add_epi32(_mm256_set1_epi32((int)few->count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    for (int64_t i = 0, at = few->count; i < count; i += LANES / 2, at += LANES / 2, here = _mm256_add_epi32(here, eight)) {
        looked now = look(count - i, value + i, place + i, entry);
        _mm256_storeu_ps(few->value + at, now.value);
        _mm256_storeu_si256((__m256i *)(void *)(few->key + at), _mm256_or_si256(_mm256_slli_epi32(now.bucket, KL_BUCKETS_FEW_BITS), here));
    }
    few->count += count;
}

AVX512 void kl_avx512_bucket_add(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry)
{
    float *sums = to->sums;
    uint64_t *touched = to->touched;
    if (fit(to, count)) {
        keep(to->few, count, value, place, entry);
        return;
    }
    kl_buckets_settle(to);
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t some = count - first < CHUNK ? count - first : CHUNK;
        ready now;
        make_ready(some, value + first, place + first, entry, &now);
        FOUR_STEPS
        for (int64_t i = 0; i < some; i++) {
            sums[now.bucket[i]] += now.value[i];
            touched[now.bucket[i] / 64] |= now.bit[i];
        }
    }
}

/* Those of a word with more than eight. */
static void list_rest(int64_t word, uint64_t left, int32_t *list)
{
    for (; left != 0; left &= left - 1)
        *list++ = (int32_t)(word * 64) + __builtin_ctzll(left);
}

/* Eight numbers are written, whatever the bits of a word; the next word's go over what is too much. Sixteen would be a store over the end of a line
 * nearly always, and few words have more than eight. */
AVX512_BITS static int64_t list_bytes(int64_t words, uint64_t *bits, int32_t *list)
{
    uint8_t ascending[64];
    for (int k = 0; k < 64; k++)
        ascending[k] = (uint8_t)k;
    const __m512i numbers = _mm512_loadu_si512(ascending);
    const __m256i next = _mm256_set1_epi32(64);
    __m256i before = _mm256_setzero_si256(); /* as a vector: the port that spreads a number over one is busy enough */
    int64_t count = 0;
    for (int64_t word = 0; word < words; word++, before = _mm256_add_epi32(before, next)) {
        uint64_t left = bits[word];
        __m128i set = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(left, numbers));
        bits[word] = 0;
        _mm256_storeu_si256((__m256i *)(void *)(list + count), _mm256_add_epi32(before, _mm256_cvtepu8_epi32(set)));
        int64_t many = __builtin_popcountll(left);
        if (many > LANES / 2)
            list_rest(word, left, list + count);
        count += many;
    }
    return count;
}

AVX512 INLINE __m512 pick(const float *sums, const int32_t *list)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(kl_pick(sums, list)), kl_pick(sums, list + LANES / 2), 1);
}

AVX512 int64_t kl_avx512_bucket_take(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value)
{
    int64_t words = (from->count + 63) / 64, count;
    if (from->few != NULL && from->few->count >= 0)
        return kl_avx512_few_take(from->few, before, column, value);
    if (added < words / 8 || !(__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("popcnt")))
        count = kl_buckets_list(words, from->touched, added < words / 8, list);
    else
        count = list_bytes(words, from->touched, list);
    _mm512_storeu_si512(list + count, _mm512_setzero_si512()); /* behind the last: any that is there */
    for (int64_t i = 0; i < count; i += LANES) {
        __mmask16 there = (__mmask16)(count - i >= LANES ? 0xFFFF : (1 << (count - i)) - 1);
        __m512i at = _mm512_maskz_loadu_epi32(there, list + i);
        _mm512_mask_storeu_epi32(column + i, there, _mm512_add_epi32(at, _mm512_set1_epi32(before)));
        _mm512_mask_storeu_ps(value + i, there, pick(from->sums, list + i));
        _mm512_mask_i32scatter_ps(from->sums, there, at, _mm512_setzero_ps(), 4);
    }
    return count;
}

#else

typedef int buckets_avx512_is_for_x86;

#endif
