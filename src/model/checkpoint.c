/*
 * checkpoint.c - see checkpoint.h. The file appears as a whole or not at all (data/file.h); it is put together in memory first. Rows are
 * learnt from in blocks, and only between two blocks is there a state: so a block's rows are read before it begins, and a request to stop
 * waits for its end.
 */
#include "model/checkpoint.h"

#include "base/memory.h"
#include "data/file.h"
#include "data/stream.h"
#include "model/model.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* auto: so many seconds apart, and writing takes at most one part in so many. */
static const double USUAL = 60, SPARE = 20;
enum { SKIPPED = 4096 }; /* rows at a time */

/* ---- open ---- */

/* *there: a file that is to be gone on from. */
static klift_status look(const kl_checkpoint *c, bool *there)
{
    struct stat is;
    *there = false;
    if (stat(c->how.path, &is) != 0)
        return errno == ENOENT ? KLIFT_OK : kl_fail(KLIFT_IO, "%s: cannot look at it: %s", c->how.path, strerror(errno));
    if (!S_ISREG(is.st_mode))
        return kl_fail(KLIFT_USAGE, "%s: a checkpoint is a regular file; name another one", c->how.path);
    if (is.st_size > 0 && !c->how.resume)
        return kl_fail(KLIFT_USAGE, "%s: there is such a file already; say resume=true to go on from it, or remove it to start again", c->how.path);
    *there = is.st_size > 0;
    return KLIFT_OK;
}

static klift_status load(kl_checkpoint *c)
{
    kl_stream *stream = NULL;
    int64_t count;
    klift_status status;
    KL_GO(kl_stream_open_raw(c->how.path, &stream));
    KL_GO(kl_stream_read_all(stream, &c->bytes, &count));
    status = kl_checkpoint_get(c, c->bytes, count);
    if (status != KLIFT_OK)
        kl_fail_in(status, "%s", c->how.path);
done:
    kl_stream_close(stream);
    return status;
}

klift_status kl_checkpoint_open(kl_checkpoint *c, const klift_spec *spec, const char *version, klift_run *run)
{
    bool there;
    *c = (kl_checkpoint){.run = run, .how = kl_run_upkeep(run), .version = version};
    kl_settings_print(spec, &c->spec);
    KL_TRY(kl_text_status(&c->spec));
    KL_TRY(kl_lock_take(c->how.path, &c->lock));
    kl_file_sweep(c->how.path);
    KL_TRY(look(c, &there));
    if (!there && c->how.resume)
        kl_run_say(run, KLIFT_EVENT_NOTE, "checkpoint", "%s: no checkpoint yet, training starts at the first row", c->how.path);
    return there ? load(c) : KLIFT_OK;
}

bool kl_checkpoint_take(kl_checkpoint *c, klift_map **lift, kl_tally *tally)
{
    if (c->found == NULL)
        return false;
    kl_run_say(c->run, KLIFT_EVENT_NOTE, "checkpoint", "%s: going on from there, behind row %lld", c->how.path, (long long)c->before.rows);
    *lift = c->found;
    *tally = c->found_tally;
    c->found = NULL;
    c->found_tally = (kl_tally){0};
    return true;
}

klift_status kl_checkpoint_begin(kl_checkpoint *c, const klift_map *lift, const kl_tally *tally)
{
    klift_map *borrowed = (klift_map *)lift; /* only written out */
    klift_model bare = {.lift = borrowed};
    c->extent = (kl_extent){.rows = lift->rows, .row_bytes = lift->row_bytes, .entries = lift->entries};
    c->sample = lift->sample;
    c->table_bytes = lift->table_bytes;
    c->goal = lift->goal;
    c->tally = tally;
    c->at = kl_run_seconds(c->run);
    return kl_model_write(&bare, &c->lift);
}

/* ---- write ---- */

/* How far the training is, in rows. */
static int64_t progress(const kl_checkpoint *c)
{
    return c->passes != NULL ? c->passes->taken : c->seen.rows;
}

static bool due(const kl_checkpoint *c)
{
    double since = kl_run_seconds(c->run) - c->at;
    if (progress(c) == c->written)
        return false;
    if (kl_run_cancelled(c->run))
        return true;
    if (isnan(c->how.seconds))
        return progress(c) - c->written >= c->how.rows;
    return since >= (c->how.seconds > 0 ? c->how.seconds : fmax(USUAL, SPARE * c->took));
}

static klift_status save(kl_checkpoint *c)
{
    double begun = kl_run_seconds(c->run);
    kl_record_close(&c->to);
    klift_status status = kl_record_finish(&c->to);
    if (status == KLIFT_OK)
        status = kl_file_save(c->how.path, c->to.bytes, c->to.length);
    kl_record_clear(&c->to);
    c->at = kl_run_seconds(c->run);
    c->took = c->at - begun;
    c->written = progress(c);
    return status;
}

static void put_all(const kl_checkpoint *c, const kl_learner *learner, kl_record_writer *to)
{
    kl_checkpoint_put(c, to);
    learner->type->save(learner, to);
    kl_record_close(to);
}

int64_t kl_checkpoint_bytes(kl_checkpoint *c, const kl_learner *learner)
{
    kl_record_writer count;
    if (learner->type->save == NULL)
        return c->lift.length; /* the state of one with passes is not known yet */
    kl_record_begin_count(&count);
    put_all(c, learner, &count);
    kl_record_finish(&count);
    return count.length;
}

static klift_status write(kl_checkpoint *c, const kl_learner *learner)
{
    int64_t bytes = kl_checkpoint_bytes(c, learner);
    kl_record_begin(&c->to, KL_RECORD_CHECKPOINT);
    kl_record_reserve(&c->to, bytes);
    kl_checkpoint_put(c, &c->to);
    learner->type->save(learner, &c->to);
    return save(c);
}

/* ---- learners that stream ---- */

#define SAME "give the same data, or remove the checkpoint to start again"

static klift_status other_rows(const kl_checkpoint *c, int64_t rows)
{
    return kl_fail(KLIFT_DATA, "%s: the first %lld rows are not those that the checkpoint was made from; " SAME, c->how.path, (long long)rows);
}

static klift_status too_few(const kl_checkpoint *c, int64_t wanted)
{
    return kl_fail(KLIFT_DATA, "%s: the data end behind %lld rows, those of the checkpoint were at least %lld; " SAME, c->how.path, (long long)c->seen.rows, (long long)wanted);
}

/* Before a file of other rows takes the place of the one there is. */
static klift_status check_count(const kl_checkpoint *c)
{
    if (c->before.rows == 0 || c->seen.rows <= c->extent.rows)
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA, "%s: the data have more than the %lld rows of the checkpoint; " SAME, c->how.path, (long long)c->extent.rows);
}

static klift_status skip(kl_checkpoint *c, kl_gather *gather)
{
    while (c->seen.rows < c->before.rows) {
        kl_batch x;
        int64_t left = c->before.rows - c->seen.rows;
        klift_status status = kl_gather_next(gather, left < SKIPPED ? left : SKIPPED, c->run, &x);
        if (status != KLIFT_OK)
            return status == KLIFT_DATA ? kl_fail_in(status, "%s", c->how.path) : status;
        if (x.rows == 0)
            return too_few(c, c->before.rows);
        KL_TRY(kl_run_progress(c->run, "skip", c->seen.rows, c->before.rows, (double)NAN));
    }
    return c->seen.key == c->before.key ? KLIFT_OK : other_rows(c, c->before.rows);
}

klift_status kl_checkpoint_go_on(kl_checkpoint *c, kl_gather *gather, kl_learner *learner, int64_t *rows)
{
    *rows = 0;
    if (c == NULL)
        return KLIFT_OK;
    gather->seen = &c->seen;
    if (learner->type->save == NULL)
        return kl_fail(KLIFT_USAGE, "learner %s keeps no state from which it could go on; leave the checkpoint out", learner->type->name);
    if (c->bytes == NULL)
        return KLIFT_OK;
    c->inside = true; /* the state is ahead of the rows */
    klift_status status = learner->type->load(learner, gather->width, &c->state);
    if (status == KLIFT_OK)
        status = kl_record_done(&c->state);
    if (status != KLIFT_OK)
        return kl_fail_in(status, "%s", c->how.path);
    kl_free(c->bytes);
    c->bytes = NULL;
    KL_TRY(skip(c, gather));
    c->inside = false;
    *rows = c->written = c->seen.rows;
    return KLIFT_OK;
}

klift_status kl_checkpoint_enter(kl_checkpoint *c, kl_gather *gather, int64_t block)
{
    if (c == NULL)
        return KLIFT_OK;
    KL_TRY(kl_gather_fetch(gather, block, c->run));
    c->inside = true;
    kl_run_hold(c->run, true);
    return KLIFT_OK;
}

klift_status kl_checkpoint_leave(kl_checkpoint *c, const kl_learner *learner)
{
    if (c == NULL)
        return KLIFT_OK;
    c->inside = false;
    kl_run_hold(c->run, false);
    KL_TRY(check_count(c));
    return due(c) ? write(c, learner) : KLIFT_OK;
}

klift_status kl_checkpoint_name(const kl_checkpoint *c, klift_status failure)
{
    return c != NULL && failure == KLIFT_MODEL && c->keep.found != NULL ? kl_fail_in(failure, "%s", c->how.path) : failure;
}

klift_status kl_checkpoint_stop(kl_checkpoint *c, const kl_learner *learner, klift_status failure)
{
    if (c == NULL || failure == KLIFT_OK || c->inside || !kl_run_cancelled(c->run) || !due(c))
        return failure;
    klift_status status = write(c, learner);
    return status == KLIFT_OK ? failure : status;
}

klift_status kl_checkpoint_check_rows(kl_checkpoint *c)
{
    if (c == NULL || c->before.rows == 0)
        return KLIFT_OK;
    kl_seen known = c->bytes != NULL ? c->before : c->all; /* with passes the file was made behind the last row */
    KL_TRY(check_count(c));
    if (c->seen.rows < known.rows)
        return too_few(c, known.rows);
    return known.rows > 0 && (known.rows != c->seen.rows || known.key != c->seen.key) ? other_rows(c, known.rows) : KLIFT_OK;
}

/* ---- learners with passes ---- */

static bool keep_due(kl_keep *keep)
{
    return due((const kl_checkpoint *)keep);
}

static klift_status keep_begin(kl_keep *keep, kl_record_writer **to)
{
    kl_checkpoint *c = (kl_checkpoint *)keep;
    if (keep->found == NULL) { /* read to its end */
        kl_free(c->bytes);
        c->bytes = NULL;
    }
    kl_record_begin(&c->to, KL_RECORD_CHECKPOINT);
    kl_checkpoint_put(c, &c->to);
    *to = &c->to;
    return KLIFT_OK;
}

static klift_status keep_end(kl_keep *keep)
{
    return save((kl_checkpoint *)keep);
}

kl_keep *kl_checkpoint_keep(kl_checkpoint *c, const kl_passes *passes)
{
    if (c == NULL)
        return NULL;
    c->passes = passes;
    c->written = -1;
    c->keep = (kl_keep){.found = c->bytes != NULL ? &c->state : NULL, .due = keep_due, .begin = keep_begin, .end = keep_end};
    return &c->keep;
}

void kl_checkpoint_close(kl_checkpoint *c)
{
    if (c->run != NULL)
        kl_run_hold(c->run, false);
    kl_record_clear(&c->to);
    kl_record_clear(&c->lift);
    kl_lock_free(c->lock);
    kl_lift_free(c->found);
    kl_tally_clear(&c->found_tally);
    kl_free(c->bytes);
    kl_text_clear(&c->spec);
    *c = (kl_checkpoint){0};
}
