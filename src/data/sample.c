/*
 * sample.c - rows are appended while their key is below the limit-th smallest known so far; when twice the limit is
 * there, the larger half is thrown away. An evicted key can never come back, so what remains at the end is exact.
 */
#include "data/sample.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct place {
    uint64_t key;
    int64_t row;
} place;

static int compare(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* Copies the rows in the order of their keys, equal keys merged, up to the limit. */
static klift_status rebuild(const kl_sample *sample, const place *order, kl_rows *kept, uint64_t *key)
{
    kl_batch all = kl_rows_view(&sample->rows);
    KL_TRY(kl_rows_reserve(kept, &all)); /* also for the rows that come until the next time */
    for (int64_t i = 0; i < sample->rows.rows; i++) {
        bool repeats = sample->merge_equal && kept->rows > 0 && key[kept->rows - 1] == order[i].key;
        if (repeats) {
            kept->weight[kept->rows - 1] += all.weight[order[i].row];
            continue;
        }
        if (kept->rows == sample->limit)
            break;
        KL_TRY(kl_rows_add(kept, &all, order[i].row, 1));
        key[kept->rows - 1] = order[i].key;
    }
    return KLIFT_OK;
}

klift_status kl_sample_settle(kl_sample *sample)
{
    int64_t count = sample->rows.rows;
    place *order = NULL;
    uint64_t *key = NULL;
    klift_status status = KLIFT_OK;
    if (count == 0)
        return KLIFT_OK;
    kl_rows_empty(&sample->other);
    KL_GO(kl_new(&order, count, sizeof *order, "a sample"));
    KL_GO(kl_new(&key, count, sizeof *key, "a sample"));
    for (int64_t i = 0; i < count; i++)
        order[i] = (place){sample->key[i], i};
    qsort(order, (size_t)count, sizeof *order, compare);
    KL_GO(rebuild(sample, order, &sample->other, key));
    kl_rows kept = sample->other;
    sample->other = sample->rows;
    sample->rows = kept;
    for (int64_t i = 0; i < sample->rows.rows; i++)
        sample->key[i] = key[i];
    sample->full = sample->rows.rows == sample->limit;
    sample->highest = key[sample->rows.rows - 1];
done:
    kl_free(order);
    kl_free(key);
    return status;
}

klift_status kl_sample_offer(kl_sample *sample, const kl_batch *batch, int64_t row, uint64_t key)
{
    if (sample->limit == 0 || (sample->full && key > sample->highest))
        return KLIFT_OK;
    if (sample->rows.rows == 0) { /* nothing is thrown away yet: most of this batch will be offered, and taken */
        int64_t left = batch->rows - row;
        kl_batch next = kl_batch_part(batch, row, left / 2 < sample->limit ? left : 2 * sample->limit);
        KL_TRY(kl_rows_reserve(&sample->rows, &next));
    }
    KL_TRY(kl_grow(&sample->key, &sample->key_room, sample->rows.rows, sample->rows.rows + 1, sizeof *sample->key, "a sample"));
    KL_TRY(kl_rows_add(&sample->rows, batch, row, 1));
    sample->key[sample->rows.rows - 1] = key;
    return sample->rows.rows >= 2 * sample->limit ? kl_sample_settle(sample) : KLIFT_OK;
}

void kl_sample_clear(kl_sample *sample)
{
    kl_rows_clear(&sample->rows);
    kl_rows_clear(&sample->other);
    kl_free(sample->key);
    sample->key = NULL;
    sample->key_room = 0;
}
