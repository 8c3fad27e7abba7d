/* gather.c - regroups rows, so that what follows does not depend on how a reader cuts them. */
#include "data/gather.h"

klift_status kl_gather_check_width(const kl_batch *batch, int64_t width, const char *what)
{
    if (batch->rows == 0 || batch->columns == width || (batch->start != NULL && batch->columns < width))
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA,
                   "%s: rows have %lld columns, the model was made for %lld; if these are rows to train on say dim=%lld, else give rows of the same columns",
                   what, (long long)batch->columns, (long long)width, (long long)batch->columns);
}

/* *batch: the reader's own when it has all of the rows at once, else empty: they are in the store. */
static klift_status collect(const kl_gather *gather, int64_t want, klift_run *run, kl_rows *store, bool copy, kl_batch *batch)
{
    kl_rows_empty(store);
    kl_reader_use_threads(gather->reader, kl_run_threads(run));
    while (store->rows < want) {
        int64_t missing = want - store->rows, ask = kl_run_batch(run);
        KL_TRY(kl_run_check(run));
        KL_TRY(kl_reader_next(gather->reader, missing < ask ? missing : ask, batch));
        if (batch->rows == 0)
            return KLIFT_OK;
        KL_TRY(kl_gather_check_width(batch, gather->width, kl_reader_name(gather->reader)));
        if (batch->rows == want && !copy)
            return KLIFT_OK;
        KL_TRY(kl_rows_add(store, batch, 0, batch->rows));
    }
    batch->rows = 0;
    return KLIFT_OK;
}

klift_status kl_gather_next(kl_gather *gather, int64_t want, klift_run *run, kl_batch *batch)
{
    if (gather->fetched) {
        int64_t left = gather->ahead.rows - gather->ahead_at;
        kl_batch all = kl_rows_view(&gather->ahead);
        *batch = kl_batch_part(&all, gather->ahead_at, want < left ? want : left);
        gather->ahead_at += batch->rows;
    } else {
        KL_TRY(collect(gather, want, run, &gather->store, false, batch));
        if (batch->rows == 0)
            *batch = kl_rows_view(&gather->store);
    }
    if (gather->seen != NULL)
        kl_seen_add(gather->seen, batch);
    return KLIFT_OK;
}

klift_status kl_gather_fetch(kl_gather *gather, int64_t want, klift_run *run)
{
    kl_batch batch;
    gather->fetched = true;
    gather->ahead_at = 0;
    return collect(gather, want, run, &gather->ahead, true, &batch);
}

void kl_gather_clear(kl_gather *gather)
{
    kl_rows_clear(&gather->store);
    kl_rows_clear(&gather->ahead);
}
