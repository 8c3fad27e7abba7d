/* reading.c - see reading.h. */
#include "reading.h"

#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void add_array(kl_text *out, const void *values, int64_t count, size_t size)
{
    if (count > 0)
        kl_text_add_bytes(out, values, count * (int64_t)size);
}

bool reading_step(kl_reader *reader, int64_t at_most, kl_text *out)
{
    kl_batch batch;
    klift_status status = kl_reader_next(reader, at_most, &batch);
    if (status != KLIFT_OK) {
        kl_text_add(out, "|%d %s|", (int)status, kl_error_text());
        return false;
    }
    assert_int_equal(kl_batch_check(&batch, "the batch"), KLIFT_OK);
    kl_text_add(out, "|%lld x %lld, from %lld|", (long long)batch.rows, (long long)batch.columns, (long long)reader->at);
    for (int64_t i = 0; batch.dense != NULL && i < batch.rows; i++)
        add_array(out, batch.dense + i * batch.stride, batch.columns, sizeof *batch.dense);
    for (int64_t i = 0; batch.start != NULL && i < batch.rows; i++) {
        int64_t from = batch.start[i], count = batch.start[i + 1] - from;
        add_array(out, &count, 1, sizeof count);
        add_array(out, batch.column + from, count, sizeof *batch.column);
        add_array(out, batch.value + from, count, sizeof *batch.value);
    }
    if (batch.target != NULL)
        add_array(out, batch.target, batch.rows, sizeof *batch.target);
    for (int64_t i = 0; batch.label != NULL && i < batch.rows; i++)
        kl_text_add(out, "%s;", batch.label[i]);
    return batch.rows > 0;
}

static int take_down(const klift_event *event, void *user)
{
    if (event->message != NULL)
        kl_text_add(user, "|%s|", event->message);
    return 0;
}

void reading_to_end(kl_reader *reader, int64_t at_most, kl_text *out)
{
    klift_run *run;
    while (reading_step(reader, at_most, out))
        ;
    reading_step(reader, at_most, out);
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_on_event(run, take_down, out);
    kl_reader_say(reader, run);
    klift_run_free(run);
    kl_text_add(out, "|skipped %lld, unseen %lld|", (long long)reader->skipped, (long long)reader->unseen);
    assert_int_equal(kl_text_status(out), KLIFT_OK);
}

void reading_of(const char *path, const char *options, int threads, int64_t at_most, kl_text *out, klift_status *status)
{
    char all[256];
    kl_reader *reader;
    snprintf(all, sizeof all, "%s%sthreads=%d", options, options[0] != '\0' ? "," : "", threads);
    *status = kl_reader_open(path, all, &reader);
    if (*status != KLIFT_OK) {
        kl_text_add(out, "%s", kl_error_text());
        return;
    }
    reading_to_end(reader, at_most, out);
    kl_batch batch;
    *status = kl_reader_next(reader, at_most, &batch);
    kl_reader_free(reader);
}

typedef struct excerpt {
    char text[128];
} excerpt;

/* The bytes around at as a terminal can show them. */
static excerpt show(const kl_text *text, int64_t at)
{
    excerpt out = {{0}};
    for (int64_t i = 0, from = at > 20 ? at - 20 : 0; i < (int64_t)sizeof out.text - 1 && from + i < text->length; i++)
        out.text[i] = text->text[from + i] < ' ' || text->text[from + i] > '~' ? '.' : text->text[from + i];
    return out;
}

void reading_same(const kl_text *one, const kl_text *other, const char *what)
{
    int64_t at = 0, least = one->length < other->length ? one->length : other->length;
    while (at < least && one->text[at] == other->text[at])
        at++;
    if (at < least || one->length != other->length)
        fail_msg("%s: byte %lld of %lld and %lld differs: ...%s, otherwise ...%s", what, (long long)at, (long long)one->length, (long long)other->length,
                 show(one, at).text, show(other, at).text);
}

klift_status reading_is_one(const char *path, const char *options)
{
    static const int threads[] = {2, 3, 5};
    static const int64_t at_most[] = {1, 7, 1000, 100000};
    klift_status status = KLIFT_OK, other;
    for (size_t b = quick() ? 1 : 0; b < sizeof at_most / sizeof at_most[0]; b++) {
        kl_text one = {0};
        reading_of(path, options, 1, at_most[b], &one, &status);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            kl_text many = {0};
            char what[320];
            snprintf(what, sizeof what, "'%s', %d threads, %lld rows at a time", options, threads[t], (long long)at_most[b]);
            reading_of(path, options, threads[t], at_most[b], &many, &other);
            reading_same(&one, &many, what);
            assert_int_equal(status, other);
            kl_text_clear(&many);
        }
        kl_text_clear(&one);
    }
    return status;
}
