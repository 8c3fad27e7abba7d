/* arrays.c - the caller's memory as a reader: views, no copy. The whole batch is checked once, at the start. */
#include "data/reader.h"

typedef struct state {
    kl_batch rows;
    int64_t at;
} state;

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    state *s = reader->state;
    int64_t left = s->rows.rows - s->at, count = at_most < left ? at_most : left;
    *batch = kl_batch_part(&s->rows, s->at, count);
    s->at += count;
    return KLIFT_OK;
}

static klift_status rewind_rows(kl_reader *reader)
{
    ((state *)reader->state)->at = 0;
    return KLIFT_OK;
}

const kl_reader_type kl_reader_arrays = {
    .name = "arrays",
    .summary = "the arrays",
    .state_size = sizeof(state),
    .next = next,
    .rewind = rewind_rows,
};

klift_status kl_reader_view(const kl_batch *rows, kl_reader **reader)
{
    *reader = NULL;
    KL_TRY(kl_batch_check(rows, "the arrays"));
    KL_TRY(kl_reader_new(&kl_reader_arrays, reader));
    ((state *)(*reader)->state)->rows = *rows;
    return KLIFT_OK;
}
