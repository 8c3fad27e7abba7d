/* test_gather.c - exactly so many rows at a time, however the source cuts them. */
#include "data/gather.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 61, COLUMNS = 3 };

/* A source of `step` rows at a time; every other batch is CSR when mixed. */
typedef struct supply {
    float x[ROWS * COLUMNS];
    csr sparse;
    int64_t at, step, columns;
    bool mixed, sparse_only;
    int64_t fail_at; /* batch number that fails, or -1 */
    int calls;
} supply;

static klift_status next(void *user, klift_batch *batch)
{
    supply *s = user;
    int64_t left = ROWS - s->at, count = left < s->step ? left : s->step;
    if (s->calls++ == s->fail_at)
        return KLIFT_IO;
    klift_batch all = s->sparse_only || (s->mixed && s->calls % 2) ? csr_batch(ROWS, s->columns, &s->sparse) : dense_batch(ROWS, s->columns, s->x);
    *batch = kl_batch_part(&all, s->at, count);
    s->at += count;
    return KLIFT_OK;
}

static klift_status to_start(void *user)
{
    ((supply *)user)->at = 0;
    return KLIFT_OK;
}

static int set_up(void **state)
{
    supply *s = calloc(1, sizeof *s);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        s->x[i] = i % 4 == 0 ? 0.0f : (float)(i + 1);
    s->sparse = csr_of(ROWS, COLUMNS, s->x);
    s->step = 7;
    s->columns = COLUMNS;
    s->fail_at = -1;
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    supply *s = *state;
    csr_free(&s->sparse);
    free(s);
    return 0;
}

static kl_gather gather_from(supply *s)
{
    kl_gather gather = {.width = COLUMNS};
    const klift_source source = {sizeof source, s, next, to_start};
    s->at = 0;
    s->calls = 0;
    assert_int_equal(kl_reader_from(&source, &gather.reader), KLIFT_OK);
    return gather;
}

static void finish(kl_gather *gather)
{
    kl_reader_free(gather->reader);
    kl_gather_clear(gather);
}

static void check_rows(const supply *s, const kl_batch *batch, int64_t first)
{
    for (int64_t i = 0; i < batch->rows; i++) {
        double row[COLUMNS];
        kl_batch_row_doubles(batch, i, COLUMNS, row);
        for (int64_t j = 0; j < COLUMNS; j++)
            assert_true(row[j] == (double)s->x[(first + i) * COLUMNS + j]);
    }
}

static void exactly_as_many_rows_as_wanted_come(void **state)
{
    supply *s = *state;
    static const int64_t wants[] = {1, 2, 5, 6, 7, 8, 13, 14, 15, 60, 61, 62, 1000};
    static const char *const batches[] = {"4096", "1", "3", "7"};
    for (int mixed = 0; mixed < 2; mixed++)
        for (int b = 0; b < 4; b++)
            for (size_t w = 0; w < sizeof wants / sizeof wants[0]; w++) {
                klift_run *run;
                s->mixed = mixed;
                kl_gather gather = gather_from(s);
                assert_int_equal(klift_run_new(&run), KLIFT_OK);
                assert_int_equal(klift_run_set(run, "batch", batches[b]), KLIFT_OK);
                for (int64_t seen = 0; seen < ROWS;) {
                    kl_batch batch;
                    int64_t left = ROWS - seen;
                    assert_int_equal(kl_gather_next(&gather, wants[w], b == 0 ? NULL : run, &batch), KLIFT_OK);
                    assert_int_equal(batch.rows, wants[w] < left ? wants[w] : left);
                    check_rows(s, &batch, seen);
                    seen += batch.rows;
                }
                for (int again = 0; again < 2; again++) {
                    kl_batch batch;
                    assert_int_equal(kl_gather_next(&gather, wants[w], run, &batch), KLIFT_OK);
                    assert_int_equal(batch.rows, 0);
                }
                klift_run_free(run);
                finish(&gather);
            }
}

static void a_large_enough_batch_is_handed_on_without_a_copy(void **state)
{
    supply *s = *state;
    s->step = ROWS;
    kl_gather gather = gather_from(s);
    for (int64_t seen = 0; seen + 10 <= ROWS; seen += 10) {
        kl_batch batch;
        assert_int_equal(kl_gather_next(&gather, 10, NULL, &batch), KLIFT_OK);
        assert_ptr_equal(batch.dense, s->x + seen * COLUMNS);
    }
    finish(&gather);
}

static void rewound_readers_start_again(void **state)
{
    supply *s = *state;
    kl_gather gather = gather_from(s);
    for (int pass = 0; pass < 3; pass++) {
        kl_batch batch;
        assert_int_equal(kl_gather_next(&gather, 20, NULL, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, 20);
        check_rows(s, &batch, 0);
        assert_int_equal(kl_reader_rewind(gather.reader), KLIFT_OK);
    }
    finish(&gather);
}

static void rows_of_another_width_are_refused(void **state)
{
    supply *s = *state;
    kl_batch batch;
    kl_gather gather = gather_from(s);
    gather.width = COLUMNS + 1;
    assert_int_equal(kl_gather_next(&gather, 10, NULL, &batch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "the source: rows have 3 columns, the model was made for 4"));
    finish(&gather);
    s->sparse_only = true; /* CSR rows may be narrower, not wider */
    gather = gather_from(s);
    gather.width = COLUMNS + 1;
    assert_int_equal(kl_gather_next(&gather, 10, NULL, &batch), KLIFT_OK);
    check_rows(s, &batch, 0);
    finish(&gather);
    gather = gather_from(s);
    gather.width = COLUMNS - 1;
    assert_int_equal(kl_gather_next(&gather, 10, NULL, &batch), KLIFT_DATA);
    finish(&gather);
}

static void the_width_check_stands_alone(void **state)
{
    supply *s = *state;
    kl_batch dense = dense_batch(ROWS, COLUMNS, s->x), sparse = csr_batch(ROWS, COLUMNS, &s->sparse), none = dense_batch(0, 99, s->x);
    assert_int_equal(kl_gather_check_width(&dense, 3, "rows"), KLIFT_OK);
    assert_int_equal(kl_gather_check_width(&dense, 2, "rows"), KLIFT_DATA);
    assert_int_equal(kl_gather_check_width(&dense, 4, "rows"), KLIFT_DATA);
    assert_int_equal(kl_gather_check_width(&sparse, 3, "rows"), KLIFT_OK);
    assert_int_equal(kl_gather_check_width(&sparse, 2, "rows"), KLIFT_DATA);
    assert_int_equal(kl_gather_check_width(&sparse, 4, "rows"), KLIFT_OK);
    assert_int_equal(kl_gather_check_width(&none, 3, "rows"), KLIFT_OK);
}

static void failures_of_the_source_come_through(void **state)
{
    supply *s = *state;
    kl_batch batch;
    s->fail_at = 2;
    kl_gather gather = gather_from(s);
    assert_int_equal(kl_gather_next(&gather, 14, NULL, &batch), KLIFT_OK);
    assert_int_equal(kl_gather_next(&gather, 14, NULL, &batch), KLIFT_IO);
    finish(&gather);
}

static void a_refused_batch_is_not_handed_out_later(void **state)
{
    supply *s = *state;
    kl_batch batch;
    s->x[8 * COLUMNS] = NAN; /* in the second batch */
    kl_gather gather = gather_from(s);
    assert_int_equal(kl_gather_next(&gather, 7, NULL, &batch), KLIFT_OK);
    assert_int_equal(kl_gather_next(&gather, 7, NULL, &batch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "batch that starts at row 7"));
    assert_non_null(strstr(kl_error_text(), "row 1, column 0"));
    assert_int_equal(kl_gather_next(&gather, 7, NULL, &batch), KLIFT_OK); /* the third batch, not the refused one */
    check_rows(s, &batch, 14);
    finish(&gather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH_SUPPLY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
        WITH_SUPPLY(exactly_as_many_rows_as_wanted_come),
        WITH_SUPPLY(a_large_enough_batch_is_handed_on_without_a_copy),
        WITH_SUPPLY(rewound_readers_start_again),
        WITH_SUPPLY(rows_of_another_width_are_refused),
        WITH_SUPPLY(the_width_check_stands_alone),
        WITH_SUPPLY(failures_of_the_source_come_through),
        WITH_SUPPLY(a_refused_batch_is_not_handed_out_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
