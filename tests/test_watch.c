/*
 * test_watch.c - models on the way (klift_run_on_model): each is the one that its rows alone make, at blocks that double, and nothing
 * of the result or of the progress hangs on who looks; stopping from there; learners that have none.
 */
#include "learning.h"
#include "model_bytes.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 20000, COLUMNS = 8, BLOCK = 4096, MOST = 16 };

static float x[ROWS * COLUMNS];
static double y[ROWS];

static klift_batch make_rows(int64_t rows)
{
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++)
        y[i] = (double)((x[i * COLUMNS] > 0) + (x[i * COLUMNS + 1] + 0.5f * x[i * COLUMNS + 2] > 0));
    klift_batch batch = dense_batch(rows, COLUMNS, x);
    batch.target = y;
    batch.targets = 1;
    return batch;
}

typedef struct seen {
    model_file file[MOST];
    int64_t rows[MOST];
    int count, stop_at;
} seen;

static int64_t keep(const klift_model *model, int64_t rows, void *user)
{
    seen *s = user;
    assert_true(s->count < MOST);
    assert_true(model_bytes_of(model, "MODL", &s->file[s->count]));
    s->rows[s->count++] = rows;
    return s->count == s->stop_at ? -1 : 2 * rows;
}

static void forget(seen *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->file[i].bytes);
}

static bool same(const model_file *a, const model_file *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, (size_t)a->size) == 0;
}

static model_file train(const klift_batch *rows, const training *how)
{
    klift_model *model;
    model_file file;
    if (learn_rows(rows, how, &model) != KLIFT_OK)
        fail_msg("%s: %s", how->learner, klift_error());
    assert_true(model_bytes_of(model, "MODL", &file));
    klift_model_free(model);
    return file;
}

static void a_model_on_the_way_is_that_of_its_rows(void **state)
{
    static const training how[] = {{.learner = "ridge"}, {.learner = "ridge", .lambda = "0.01"}, {.learner = "ridge", .search = "holdout", .probability = "true"}, {.learner = "sgd", .lambda = "0.001"},
                                   {.learner = "sgd:loss=squared", .task = "regress", .lambda = "0.001", .threads = "2"}};
    (void)state;
    for (size_t k = 0; k < sizeof how / sizeof how[0]; k++) {
        seen s = {.count = 0};
        training watched = how[k];
        klift_batch all = make_rows(ROWS);
        watched.show = keep;
        watched.show_user = &s;
        model_file plain = train(&all, &how[k]), other = train(&all, &watched);
        assert_true(same(&plain, &other));
        assert_int_equal(s.count, 4);
        for (int i = 0; i < s.count; i++) {
            klift_batch some = make_rows(s.rows[i]);
            model_file alone = train(&some, &how[k]);
            assert_int_equal(s.rows[i], i < 3 ? BLOCK << i : ROWS);
            if (!same(&s.file[i], &alone))
                fail_msg("%s: the model after %lld rows is not the one that they make alone", how[k].learner, (long long)s.rows[i]);
            free(alone.bytes);
        }
        free(plain.bytes);
        free(other.bytes);
        forget(&s);
    }
}

static void passes_show_their_models_and_the_last_one(void **state)
{
    training how = {.learner = "sgd:passes=5", .lambda = "0.001"}, watched = how;
    seen s = {.count = 0};
    klift_batch rows = make_rows(1000);
    (void)state;
    watched.show = keep;
    watched.show_user = &s;
    model_file plain = train(&rows, &how), other = train(&rows, &watched);
    assert_true(same(&plain, &other));
    assert_int_equal(s.count, 4);
    for (int i = 0; i < s.count; i++)
        assert_int_equal(s.rows[i], i < 3 ? 1000 << i : 5000);
    assert_true(same(&s.file[3], &plain));
    assert_false(same(&s.file[2], &plain));
    free(plain.bytes);
    free(other.bytes);
    forget(&s);
}

static int count_events(const klift_event *event, void *user)
{
    (void)event;
    ++*(int *)user;
    return 0;
}

static void nothing_is_told_of_a_search_on_the_way(void **state)
{
    int events[2] = {0};
    seen s = {.count = 0};
    klift_batch rows = make_rows(ROWS);
    (void)state;
    free(train(&rows, &(training){.learner = "ridge", .event = count_events, .user = &events[0]}).bytes);
    free(train(&rows, &(training){.learner = "ridge", .event = count_events, .user = &events[1], .show = keep, .show_user = &s}).bytes);
    assert_int_equal(events[0], events[1]);
    forget(&s);
}

static void whoever_looks_can_stop(void **state)
{
    static const char *const learner[] = {"ridge", "sgd", "sgd:passes=3"};
    klift_model *model;
    (void)state;
    for (int l = 0; l < 3; l++)
        for (int at = 1; at <= 4; at++) {
            seen s = {.stop_at = at};
            klift_batch rows = make_rows(l == 2 ? 500 : ROWS);
            klift_status expected = l == 2 && at == 4 ? KLIFT_OK : KLIFT_CANCELLED; /* after 1, 2 and 3 passes */
            assert_int_equal(learn_rows(&rows, &(training){.learner = learner[l], .show = keep, .show_user = &s}, &model), expected);
            klift_model_free(model);
            forget(&s);
        }
}

/* Rows of one class make no model: the first one is shown when there are two. */
static void one_class_so_far_is_no_model_yet(void **state)
{
    seen s = {.count = 0};
    klift_batch rows = make_rows(ROWS);
    (void)state;
    for (int i = 0; i < 5000; i++)
        y[i] = 1;
    free(train(&rows, &(training){.learner = "sgd", .show = keep, .show_user = &s}).bytes);
    assert_int_equal(s.rows[0], 2 * BLOCK);
    forget(&s);
}

static void learners_without_one_are_refused(void **state)
{
    static const char *const learner[] = {"svm", "logistic"};
    seen s = {.count = 0};
    klift_model *model;
    klift_batch rows = make_rows(500);
    (void)state;
    for (int l = 0; l < 2; l++) {
        assert_int_equal(learn_rows(&rows, &(training){.learner = learner[l], .show = keep, .show_user = &s}, &model), KLIFT_USAGE);
        assert_non_null(strstr(klift_error(), "no model before it has all rows"));
    }
    klift_run_on_model(NULL, 1, keep, &s); /* a run of NULL has nobody */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_on_the_way_is_that_of_its_rows),
        cmocka_unit_test(passes_show_their_models_and_the_last_one),
        cmocka_unit_test(nothing_is_told_of_a_search_on_the_way),
        cmocka_unit_test(whoever_looks_can_stop),
        cmocka_unit_test(one_class_so_far_is_no_model_yet),
        cmocka_unit_test(learners_without_one_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
