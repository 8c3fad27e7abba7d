/* keep.c - see keep.h. Nothing read is trusted: a state that is not this learner's, or is damaged, is refused. */
#include "learn/keep.h"

#include <string.h>

enum { PACKED = 32 }; /* flags of a number */

klift_status kl_keep_at(kl_keeping *keeping, klift_status status)
{
    kl_keep *keep = keeping->keep;
    kl_record_writer *to = NULL, count;
    bool kept = keeping->fresh && status == KLIFT_CANCELLED;
    if (keep == NULL || kept || (status != KLIFT_OK && status != KLIFT_CANCELLED))
        return status;
    keeping->fresh = keep->due(keep);
    if (!keeping->fresh)
        return status;
    KL_TRY(keep->begin(keep, &to));
    kl_record_begin_count(&count);
    keeping->save(keeping->state, &count);
    kl_record_finish(&count);
    kl_record_reserve(to, to->length + count.length); /* more by the header that it counted */
    keeping->save(keeping->state, to);
    KL_TRY(keep->end(keep));
    return status;
}

klift_status kl_keep_found(kl_keep *keep)
{
    KL_TRY(kl_record_done(keep->found));
    keep->found = NULL;
    return KLIFT_OK;
}

void kl_keep_put_head(kl_record_writer *to, uint32_t tag, int64_t rows, int64_t features, int64_t outputs)
{
    kl_record_put_u32(to, tag);
    kl_record_put_i64(to, rows);
    kl_record_put_i64(to, features);
    kl_record_put_i64(to, outputs);
}

klift_status kl_keep_get_head(kl_record_reader *from, uint32_t tag, int64_t rows, int64_t features, int64_t outputs)
{
    uint32_t found;
    int64_t size;
    KL_TRY(kl_record_get_u32(from, &found));
    if (found != tag)
        return kl_record_damaged("the state in it is another learner's");
    KL_TRY(kl_record_get_i64(from, rows, rows, &size));
    KL_TRY(kl_record_get_i64(from, features, features, &size));
    return kl_record_get_i64(from, outputs, outputs, &size);
}

void kl_keep_put_numbers(kl_record_writer *to, const double *value, int64_t count)
{
    kl_record_put_doubles(to, value, count);
}

klift_status kl_keep_get_numbers(kl_record_reader *from, double *value, int64_t count)
{
    int64_t stored;
    KL_TRY(kl_record_get_i64(from, count, count, &stored));
    for (int64_t i = 0; i < count; i++)
        KL_TRY(kl_record_get_f64(from, &value[i]));
    return KLIFT_OK;
}

void kl_keep_put_any(kl_record_writer *to, const double *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        kl_record_put_f64(to, value[i]);
}

klift_status kl_keep_get_any(kl_record_reader *from, double *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t bits;
        KL_TRY(kl_record_get_i64(from, INT64_MIN, INT64_MAX, &bits));
        memcpy(&value[i], &bits, sizeof bits);
    }
    return KLIFT_OK;
}

void kl_keep_put_flags(kl_record_writer *to, const bool *flag, int64_t count)
{
    for (int64_t i = 0; i < count; i += PACKED) {
        uint32_t bits = 0;
        for (int64_t k = 0; k < PACKED && i + k < count; k++)
            bits |= (uint32_t)flag[i + k] << k;
        kl_record_put_u32(to, bits);
    }
}

klift_status kl_keep_get_flags(kl_record_reader *from, bool *flag, int64_t count)
{
    for (int64_t i = 0; i < count; i += PACKED) {
        uint32_t bits;
        KL_TRY(kl_record_get_u32(from, &bits));
        for (int64_t k = 0; k < PACKED && i + k < count; k++)
            flag[i + k] = bits >> k & 1;
        if (count - i < PACKED && bits >> (count - i) != 0)
            return kl_record_damaged("a flag is set that belongs to nothing");
    }
    return KLIFT_OK;
}
