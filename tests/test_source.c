/* test_source.c - rows from a callback: in parts of any size, again, and what a callback can get wrong. */
#include "data/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { BATCHES = 3, EACH = 5 };

/* Batches of five rows, the row's number as value and label. */
typedef struct feed {
    int64_t at;
    float dense[EACH];
    double target[EACH];
    int64_t bad_at;      /* this batch, from 1, has an infinity */
    klift_status status; /* of the batch behind the last */
} feed;

static klift_status give(void *user, klift_batch *batch)
{
    feed *f = user;
    if (f->at == BATCHES)
        return f->status;
    for (int i = 0; i < EACH; i++) {
        f->dense[i] = (float)(f->at * EACH + i);
        f->target[i] = (double)f->dense[i];
    }
    if (++f->at == f->bad_at)
        f->dense[EACH - 1] = 1e38f * 10;
    *batch = (klift_batch){.size = sizeof *batch, .rows = EACH, .columns = 1, .dense = f->dense, .stride = 1, .target = f->target, .targets = 1};
    return KLIFT_OK;
}

static klift_status start_again(void *user)
{
    feed *f = user;
    f->at = 0;
    return KLIFT_OK;
}

static klift_status refuse_to_start_again(void *user)
{
    (void)user;
    return KLIFT_FAILED;
}

static kl_reader *reader_of(feed *f, klift_status (*rewind)(void *user))
{
    kl_reader *reader;
    klift_source source = {.size = sizeof source, .user = f, .next = give, .rewind = rewind};
    assert_int_equal(kl_reader_from(&source, &reader), KLIFT_OK);
    return reader;
}

static void rows_come_in_parts_of_any_size_and_again(void **unused)
{
    (void)unused;
    for (int64_t at_most = 1; at_most < 8; at_most++) {
        feed f = {0};
        kl_reader *reader = reader_of(&f, start_again);
        assert_true(kl_reader_can_rewind(reader));
        for (int pass = 0; pass < 3; pass++) {
            kl_batch batch;
            double next = 0;
            do {
                assert_int_equal(kl_reader_next(reader, at_most, &batch), KLIFT_OK);
                assert_true(batch.rows <= at_most);
                for (int64_t i = 0; i < batch.rows; i++, next++)
                    assert_true((double)batch.dense[i] == next && batch.target[i] == next);
            } while (batch.rows > 0 && !(pass == 1 && next > 6)); /* the second pass stops within a batch */
            assert_true(next == BATCHES * EACH || pass == 1);
            assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
        }
        kl_reader_free(reader);
    }
}

static void a_source_is_asked_no_more_behind_its_end(void **unused)
{
    (void)unused;
    feed f = {0};
    kl_batch batch;
    kl_reader *reader = reader_of(&f, NULL);
    for (int i = 0; i < BATCHES + 1; i++)
        assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_OK);
    f.at = 0; /* it would have rows again */
    assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 0);
    assert_false(kl_reader_can_rewind(reader));
    assert_int_equal(kl_reader_rewind(reader), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "the source can be read once only"));
    kl_reader_free(reader);
}

static void what_the_callback_returns_is_returned(void **unused)
{
    (void)unused;
    feed f = {.status = KLIFT_CANCELLED};
    kl_batch batch;
    kl_reader *reader = reader_of(&f, refuse_to_start_again);
    for (int i = 0; i < BATCHES; i++)
        assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_CANCELLED);
        assert_int_equal(batch.rows, 0);
    }
    assert_int_equal(kl_reader_rewind(reader), KLIFT_FAILED);
    kl_reader_free(reader);
}

static void a_bad_batch_is_named_by_its_first_row_and_not_handed_out(void **unused)
{
    (void)unused;
    feed f = {.bad_at = 2};
    kl_batch batch;
    kl_reader *reader = reader_of(&f, NULL);
    assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "batch that starts at row 5"));
    assert_int_equal(kl_reader_next(reader, EACH, &batch), KLIFT_OK);
    assert_true(batch.rows == EACH && batch.dense[0] == 10);
    kl_reader_free(reader);
}

static void a_source_must_be_whole(void **unused)
{
    (void)unused;
    kl_reader *reader = (kl_reader *)unused;
    const klift_source small = {.size = sizeof small - 1, .next = give}, mute = {.size = sizeof mute};
    const klift_source *const bad[] = {NULL, &small, &mute};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kl_reader_from(bad[i], &reader), KLIFT_USAGE);
        assert_non_null(strstr(kl_error_text(), "the source is NULL, its size is not set, or it has no next function"));
        assert_null(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_parts_of_any_size_and_again),
        cmocka_unit_test(a_source_is_asked_no_more_behind_its_end),
        cmocka_unit_test(what_the_callback_returns_is_returned),
        cmocka_unit_test(a_bad_batch_is_named_by_its_first_row_and_not_handed_out),
        cmocka_unit_test(a_source_must_be_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
