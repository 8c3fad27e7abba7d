/*
 * test_early_stop.c - rows held out of sgd's passes: which ones, that none is learnt from, that the best pass is given and how it ends; the same for
 * any threads, batch and memory; what is refused.
 */
#include "learn/statistics.h"
#include "learning.h"
#include "support.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1500, COLUMNS = 20, WIDE = COLUMNS + 1, MOST = 100 };

static float x[ROWS * COLUMNS];
static double label[ROWS], target[ROWS];

/* Few rows and much noise: the last pass is not the best. */
static klift_batch make_rows(bool numbers)
{
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++) {
        double f = (double)x[i * COLUMNS] + 0.5 * (double)x[i * COLUMNS + 1], noise = syn_normal((uint64_t)i, 100);
        label[i] = (f + 0.5 * noise > 0) + (f + 0.5 * noise > 1);
        target[i] = f + 2 * noise + 3;
    }
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = numbers ? target : label;
    rows.targets = 1;
    return rows;
}

static void a_share_is_held_out_by_content_and_seed(void **state)
{
    static const double shares[] = {0, 0.01, 0.1, 0.5, 0.9};
    enum { MANY = 20000 };
    (void)state;
    for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
        int held = 0, both = 0;
        for (uint64_t key = 0; key < MANY; key++) {
            bool one = kl_statistics_held(key, 1, shares[s]), other = kl_statistics_held(key, 2, shares[s]);
            held += one;
            both += one && other;
        }
        double spread = 4 * sqrt(MANY * 0.25);
        assert_true(fabs(held - shares[s] * MANY) <= (shares[s] > 0 ? spread : 0));
        assert_true(fabs(both - shares[s] * shares[s] * MANY) <= (shares[s] > 0 ? spread : 0));
    }
}

typedef struct watched {
    double error[MOST];
    int passes;
} watched;

static int hear(const klift_event *event, void *user)
{
    watched *w = user;
    if (event->kind == KLIFT_EVENT_PROGRESS && strcmp(event->stage, "passes") == 0 && w->passes < MOST)
        w->error[w->passes++] = event->holdout;
    return 0;
}

static int best_of(const watched *w)
{
    int best = 0;
    for (int i = 1; i < w->passes; i++)
        best = w->error[i] < w->error[best] ? i : best;
    return best + 1;
}

/* The rows that are not held out, as kl_statistics_held tells them. */
static klift_batch the_others(const klift_batch *rows, double share, float *z, double *y)
{
    klift_batch others = *rows;
    others.rows = 0;
    for (int64_t i = 0; i < rows->rows; i++) {
        char name[32];
        snprintf(name, sizeof name, "%g", rows->target[i]);
        if (kl_statistics_held(kl_statistics_key(rows, i, rows->target == label ? name : NULL), 1, share))
            continue;
        memcpy(z + others.rows * COLUMNS, rows->dense + i * COLUMNS, COLUMNS * sizeof *z);
        y[others.rows++] = rows->target[i];
    }
    others.dense = z;
    others.target = y;
    return others;
}

static void the_best_pass_of_the_other_rows_is_given(void **state)
{
    static float z[ROWS * COLUMNS];
    static double y[ROWS];
    (void)state;
    for (int numbers = 0; numbers < 2; numbers++)
        for (int patience = 0; patience < 4; patience += 3) {
            watched heard = {.passes = 0};
            char stop[8], learner[40];
            double w[2][3 * WIDE], error;
            int64_t outputs = numbers ? 1 : 3;
            klift_model *model;
            klift_batch rows = make_rows(numbers), others = the_others(&rows, 0.2, z, y);
            training how = {.learner = "sgd:passes=40", .task = numbers ? "regress" : "classify", .lambda = "1e-5", .holdout = "0.2", .early_stop = stop, .event = hear, .user = &heard};
            snprintf(stop, sizeof stop, "%d", patience);
            assert_int_equal(learn_rows(&rows, &how, &model), KLIFT_OK);
            linear_weights_of(model, COLUMNS, outputs, w[0]);
            error = described(model, "cv_error");
            klift_model_free(model);
            int best = best_of(&heard);
            print_message("%d passes, the best is %d: error %g of %lld rows\n", heard.passes, best, error, (long long)(ROWS - others.rows));
            assert_int_equal(heard.passes, patience == 0 ? 40 : best + patience);
            assert_true(best < heard.passes);
            assert_true(fabs(error - heard.error[best - 1]) < 1e-12);
            assert_true(best > 1);
            snprintf(learner, sizeof learner, "sgd:passes=%d", best);
            assert_int_equal(learn_rows(&others, &(training){.learner = learner, .task = how.task, .lambda = "1e-5"}, &model), KLIFT_OK);
            linear_weights_of(model, COLUMNS, outputs, w[1]);
            klift_model_free(model);
            assert_memory_equal(w[0], w[1], (size_t)(outputs * WIDE) * sizeof(double));
        }
}

/* Factors of classes are for learning: the error counts rows. */
static void errors_count_rows_whatever_their_class_weighs(void **state)
{
    static const char *const by_class[] = {"0=5,2=0.125", "balanced"};
    klift_batch rows = make_rows(false);
    (void)state;
    int64_t held = 0;
    static float z[ROWS * COLUMNS];
    static double y[ROWS];
    held = ROWS - the_others(&rows, 0.2, z, y).rows;
    for (int k = 0; k < 2; k++) {
        klift_model *model;
        assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd:passes=5", .task = "classify", .holdout = "0.2", .class_weight = by_class[k]}, &model), KLIFT_OK);
        double wrong = described(model, "cv_error") * (double)held;
        klift_model_free(model);
        print_message("%s: %g of %lld wrong\n", by_class[k], wrong, (long long)held);
        assert_true(wrong > 1 && fabs(wrong - round(wrong)) < 1e-6);
    }
}

static void threads_batches_and_memory_change_no_byte(void **state)
{
    (void)state;
    for (int numbers = 0; numbers < 2; numbers++) {
        klift_batch rows = make_rows(numbers);
        training way = {.learner = "sgd:passes=20", .task = numbers ? "regress" : "classify", .early_stop = "2"}, ways[5] = {way, way, way, way, way};
        ways[1].threads = ways[3].threads = "3";
        ways[1].batch = "7";
        ways[2].memory = "1M";
        ways[3].once = true;
        ways[4].holdout = "0.1"; /* what it is where it is not said */
        check_same_bytes(&rows, ways, 5);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    static const refusal wrong[] = {
        {{.learner = "ridge", .task = "classify", .early_stop = "3"}, KLIFT_USAGE, "learner ridge does not end early"},
        {{.learner = "svm", .task = "classify", .holdout = "0.1"}, KLIFT_USAGE, "learner svm does not end early"},
        {{.learner = "logistic", .task = "classify", .holdout = "0.1"}, KLIFT_USAGE, "use learner=sgd:passes=100"},
        {{.learner = "sgd", .task = "classify", .early_stop = "3"}, KLIFT_USAGE, "sgd with passes=1"},
        {{.learner = "sgd:passes=3", .task = "classify", .early_stop = "3", .holdout = "0"}, KLIFT_USAGE, "leave holdout=0 out"},
        {{.learner = "sgd:passes=3", .task = "classify", .holdout = "1"}, KLIFT_USAGE, "holdout"},
        {{.learner = "sgd:passes=3", .task = "classify", .holdout = "1e-9"}, KLIFT_DATA, "leaves nothing to test on"},
    };
    klift_model *model;
    klift_batch rows = make_rows(false);
    (void)state;
    check_refusals(&rows, wrong, sizeof wrong / sizeof wrong[0]);
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd:passes=3", .task = "classify", .kernel = "gaussian:gamma=search", .features = "16", .early_stop = "1"}, &model), KLIFT_OK);
    klift_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_is_held_out_by_content_and_seed),
        cmocka_unit_test(the_best_pass_of_the_other_rows_is_given),
        cmocka_unit_test(errors_count_rows_whatever_their_class_weighs),
        cmocka_unit_test(threads_batches_and_memory_change_no_byte),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
