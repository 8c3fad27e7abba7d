/*
 * buckets.c - the reference, and through the table of this CPU. Which bits of many words are set: with one or two to a word, how many it has cannot be foretold, and a wrong
 * guess at each word takes longer than all the rest: so four are taken whether they are there or not, and what is too much is written over.
 */
#include "math/buckets.h"

#include "math/micro.h"

enum { BITS = 4 };

#if defined(__x86_64__)
#include <immintrin.h>

/* The same in half the instructions: one that counts bits, and two that are defined without any. */
__attribute__((target("bmi,popcnt"))) static int64_t list_fast(int64_t words, uint64_t *bits, int32_t *list)
{
    int64_t count = 0;
    for (int64_t word = 0; word < words; word++) {
        uint64_t left = bits[word];
        int32_t first = (int32_t)(word * 64), *to = list + count;
        bits[word] = 0;
        count += _mm_popcnt_u64(left);
        for (int k = 0; k < BITS; k++, left = _blsr_u64(left))
            to[k] = first + (int32_t)_tzcnt_u64(left);
        for (to += BITS; left != 0; left = _blsr_u64(left))
            *to++ = first + (int32_t)_tzcnt_u64(left);
    }
    return count;
}
#endif

/* Nearly all words have none, which is easily foretold. */
static int64_t list_few(int64_t words, uint64_t *bits, int32_t *list)
{
    int64_t count = 0;
    for (int64_t word = 0; word < words; word++)
        for (; bits[word] != 0; bits[word] &= bits[word] - 1)
            list[count++] = (int32_t)(word * 64) + __builtin_ctzll(bits[word]);
    return count;
}

int64_t kl_buckets_list(int64_t words, uint64_t *bits, bool few, int32_t *list)
{
    int64_t count = 0;
    if (few)
        return list_few(words, bits, list);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt"))
        return list_fast(words, bits, list);
#endif
    for (int64_t word = 0; word < words; word++) {
        uint64_t left = bits[word];
        bits[word] = 0;
        for (int k = 0; k < BITS; k++, left &= left - 1) {
            list[count] = (int32_t)(word * 64) + __builtin_ctzll(left | UINT64_C(1) << 63);
            count += left != 0;
        }
        for (; left != 0; left &= left - 1)
            list[count++] = (int32_t)(word * 64) + __builtin_ctzll(left);
    }
    return count;
}

void kl_portable_bucket_add(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry)
{
    const kl_buckets here = *to;
    kl_buckets_settle(to);
    for (int64_t i = 0; i < count; i++)
        kl_buckets_put(&here, entry[place[i]], value[i]);
}

int64_t kl_portable_bucket_take(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value)
{
    int64_t words = (from->count + 63) / 64, count = kl_buckets_list(words, from->touched, added < words / 8, list);
    float *sums = from->sums;
    for (int64_t i = 0; i < count; i++)
        column[i] = before + list[i];
    for (int64_t i = 0; i < count; i++) {
        value[i] = sums[list[i]];
        sums[list[i]] = 0.0f;
    }
    return count;
}

void kl_buckets_settle(const kl_buckets *to)
{
    kl_buckets_few *few = to->few;
    if (few == NULL)
        return;
    for (int64_t i = 0; i < few->count; i++) {
        uint32_t bucket = few->key[i] / KL_BUCKETS_FEW;
        to->sums[bucket] += few->value[i];
        to->touched[bucket / 64] |= UINT64_C(1) << (bucket % 64);
    }
    few->count = -1;
}

void kl_buckets_add(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry)
{
    kl_micro_get()->bucket_add(to, count, value, place, entry);
}

int64_t kl_buckets_take(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value)
{
    int64_t count = kl_micro_get()->bucket_take(from, added, before, list, column, value);
    if (from->few != NULL)
        from->few->count = 0;
    return count;
}
