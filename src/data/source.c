/*
 * source.c - rows from the caller's callback. Batches come in any size; one that is larger than asked for is handed
 * out in parts. Every batch is checked as it comes.
 */
#include "data/reader.h"

typedef struct state {
    klift_source source;
    kl_batch batch;
    int64_t at;
    bool ended;
} state;

static klift_status fetch(kl_reader *reader, state *s)
{
    s->batch = (kl_batch){.size = sizeof s->batch};
    s->at = 0;
    klift_status status = s->source.next(s->source.user, &s->batch);
    if (status != KLIFT_OK)
        return status; /* the callback's own: its message, if any, is klift's last one */
    if (s->batch.rows == 0) {
        s->ended = true;
        return KLIFT_OK;
    }
    klift_status checked = kl_batch_check(&s->batch, "the source");
    s->batch.rows = checked == KLIFT_OK ? s->batch.rows : 0; /* refused rows are not handed out by the next call */
    if (checked != KLIFT_OK)
        return kl_fail_in(checked, "batch that starts at row %lld", (long long)reader->at);
    return KLIFT_OK;
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    state *s = reader->state;
    if (!s->ended && s->at == s->batch.rows)
        KL_TRY(fetch(reader, s));
    int64_t left = s->ended ? 0 : s->batch.rows - s->at, count = at_most < left ? at_most : left;
    *batch = kl_batch_part(&s->batch, s->at, count);
    s->at += count;
    return KLIFT_OK;
}

static klift_status rewind_rows(kl_reader *reader)
{
    state *s = reader->state;
    if (s->source.rewind == NULL)
        return kl_fail(KLIFT_IO, "the source can be read once only");
    s->batch.rows = s->at = 0;
    s->ended = false;
    return s->source.rewind(s->source.user);
}

const kl_reader_type kl_reader_source = {
    .name = "source",
    .summary = "the source",
    .state_size = sizeof(state),
    .next = next,
    .rewind = rewind_rows,
};

/* A source without rewind is a type of its own, so that kl_reader_can_rewind sees it. */
static const kl_reader_type source_once = {
    .name = "source",
    .summary = "the source",
    .state_size = sizeof(state),
    .next = next,
};

klift_status kl_reader_from(const klift_source *source, kl_reader **reader)
{
    *reader = NULL;
    if (source == NULL || source->size < (int64_t)sizeof *source || source->next == NULL)
        return kl_fail(KLIFT_USAGE, "the source is NULL, its size is not set, or it has no next function");
    KL_TRY(kl_reader_new(source->rewind != NULL ? &kl_reader_source : &source_once, reader));
    ((state *)(*reader)->state)->source = *source;
    return KLIFT_OK;
}
