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

klift_status kl_gather_next(kl_gather *gather, int64_t want, klift_run *run, kl_batch *batch)
{
    kl_rows_empty(&gather->store);
    while (gather->store.rows < want) {
        int64_t missing = want - gather->store.rows, ask = kl_run_batch(run);
        KL_TRY(kl_reader_next(gather->reader, missing < ask ? missing : ask, batch));
        if (batch->rows == 0)
            break;
        KL_TRY(kl_gather_check_width(batch, gather->width, kl_reader_name(gather->reader)));
        if (batch->rows == want)
            return KLIFT_OK;
        KL_TRY(kl_rows_add(&gather->store, batch, 0, batch->rows));
    }
    *batch = kl_rows_view(&gather->store);
    return KLIFT_OK;
}

void kl_gather_clear(kl_gather *gather)
{
    kl_rows_clear(&gather->store);
}
