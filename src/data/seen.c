/* seen.c - see seen.h. */
#include "data/seen.h"

#include "base/record.h"

#include <string.h>

static uint64_t mix_number(uint64_t key, double value)
{
    uint64_t bits;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return kl_mix(key, bits);
}

void kl_seen_add(kl_seen *seen, const kl_batch *batch)
{
    for (int64_t i = 0; i < batch->rows; i++) {
        uint64_t key = kl_mix(seen->key, kl_batch_row_key(batch, i));
        if (batch->label != NULL)
            key = kl_mix(key, kl_record_hash(batch->label[i], strlen(batch->label[i]), 1));
        for (int64_t t = 0; batch->target != NULL && t < batch->targets; t++)
            key = mix_number(key, batch->target[i * batch->targets + t]);
        seen->key = mix_number(key, batch->weight != NULL ? batch->weight[i] : 1);
    }
    seen->words = seen->words || (batch->rows > 0 && batch->label != NULL);
    seen->rows += batch->rows;
}
