/*
 * buckets.h - sums in many buckets of which few are used: numbers are added where a table says and with its sign, a bit of the bucket is set,
 * and then those with bits are taken in ascending order. Every instruction set gives the same bits.
 * Call order: sums and bits are zero; add, some times; take, which leaves them zero. kl_buckets_put between them needs kl_buckets_settle before.
 */
#ifndef KL_BUCKETS_H
#define KL_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum { KL_BUCKETS_SPARE = 16 }; /* that a list has to have more room for than there are */
enum { KL_BUCKETS_FEW_BITS = 7, KL_BUCKETS_FEW = 1 << KL_BUCKETS_FEW_BITS, KL_BUCKETS_BLOCK = 8 }; /* they come in blocks, the last one over the end */

/* Numbers that are not in the sums yet: as long as they are few, a table may put them in order themselves (few_avx512.c), which saves finding their bits among all. */
typedef struct kl_buckets_few {
    int64_t count; /* zero at first; -1: the sums have been used since the last take */
    float value[KL_BUCKETS_FEW + KL_BUCKETS_BLOCK];
    uint32_t key[KL_BUCKETS_FEW + KL_BUCKETS_BLOCK]; /* KL_BUCKETS_FEW times the bucket, and the place in value */
} kl_buckets_few;

typedef struct kl_buckets {
    int64_t count;
    float *sums;         /* (count) */
    uint64_t *touched;   /* ((count + 63) / 64) a bit for each */
    kl_buckets_few *few; /* or NULL: numbers are in the sums behind every add */
} kl_buckets;

/* One number to a bucket; entry: twice the bucket, and 1 for -1. */
static inline void kl_buckets_put(const kl_buckets *to, uint32_t entry, double value)
{
    static const float sign[2] = {1.0f, -1.0f};
    uint32_t bucket = entry >> 1;
    to->sums[bucket] += sign[entry & 1] * (float)value;
    to->touched[bucket / 64] |= UINT64_C(1) << (bucket % 64);
}

/* Those that are few into the sums, until the next take. */
void kl_buckets_settle(const kl_buckets *to);
/* value (count) one after the other, by entry[place[i]]. */
void kl_buckets_add(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry);
/* column = before + bucket and value (as many as there are) of those with bits; added: how many there may be. list: (count + KL_BUCKETS_SPARE). Returns
 * how many there are. */
int64_t kl_buckets_take(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value);
/* Numbers of the bits that are set in so many words, ascending; clears them. few: in most words there is none. */
int64_t kl_buckets_list(int64_t words, uint64_t *bits, bool few, int32_t *list);

/* The reference, for the tables. */
void kl_portable_bucket_add(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry);
int64_t kl_portable_bucket_take(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value);

#endif
