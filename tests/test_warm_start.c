/*
 * test_warm_start.c - going on from a model: steps that depend on w and T alone end where one training of all rows does; classes that the
 * model or the rows do not have; logistic's solution and passes; settings that contradict the model, each by its name.
 */
#include "folder.h"
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

enum { ROWS = 6000, COLUMNS = 6, WIDE = COLUMNS + 1, HALF = 2500 };

static float x[ROWS * COLUMNS];
static double side[ROWS], three[ROWS], target[ROWS];
static char path[300];

static void make_rows(void)
{
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++) {
        double f = (double)x[i * COLUMNS] + 0.5 * (double)x[i * COLUMNS + 1];
        side[i] = f + 0.3 * syn_normal((uint64_t)i, 100) > 0;
        three[i] = side[i] + (x[i * COLUMNS + 2] > 0.5f);
        target[i] = 2 * f + 0.1 * syn_normal((uint64_t)i, 101) + 7;
    }
}

static klift_batch some(const double *y, int64_t from, int64_t rows)
{
    klift_batch batch = dense_batch(rows, COLUMNS, x + from * COLUMNS);
    batch.target = y + from;
    batch.targets = 1;
    return batch;
}

static klift_model *learn(const klift_batch *rows, training how)
{
    klift_model *model;
    if (learn_rows(rows, &how, &model) != KLIFT_OK)
        fail_msg("%s: %s", how.learner, klift_error());
    return model;
}

static void learn_and_save(const klift_batch *rows, training how)
{
    klift_model *model = learn(rows, how);
    assert_int_equal(klift_model_save(model, path), KLIFT_OK);
    klift_model_free(model);
}

/* Pegasos, and steps whose first one is given, know nothing but w and T. */
static void two_halves_are_one_training(void **state)
{
    static const char *const learner[] = {"sgd:step=pegasos,average=false", "sgd:step=0.05,average=false,loss=logistic", "sgd:step=pegasos,average=false,project=true", "sgd:step=0.01,average=false,loss=huber"};
    (void)state;
    make_rows();
    for (int l = 0; l < 4; l++)
        for (int classes = 2; classes <= (l == 3 ? 2 : 3); classes++) {
            const double *y = l == 3 ? target : classes == 2 ? side : three;
            int64_t outputs = classes == 2 ? 1 : 3;
            training how = {.learner = learner[l], .task = l == 3 ? "regress" : "classify", .lambda = "0.01"};
            klift_batch all = some(y, 0, ROWS), first = some(y, 0, HALF), rest = some(y, HALF, ROWS - HALF);
            double w[2][3 * WIDE], far = 0, size = 0;
            klift_model *model = learn(&all, how);
            linear_weights_of(model, COLUMNS, outputs, w[0]);
            klift_model_free(model);
            learn_and_save(&first, how);
            model = learn(&rest, (training){.learner = learner[l], .warm_start = path});
            linear_weights_of(model, COLUMNS, outputs, w[1]);
            assert_true(described(model, "rows") == ROWS);
            assert_true(described(model, "lambda") == 0.01);
            klift_model_free(model);
            for (int i = 0; i < outputs * WIDE; i++) {
                far = fmax(far, fabs(w[0][i] - w[1][i]));
                size = fmax(size, fabs(w[0][i]));
            }
            double near = l == 3 ? 0.02 : 1e-6; /* what targets are taken less is not the same for numbers */
            if (!(far < near * size))
                fail_msg("%s, %d classes: weights are %g from those of one training, %g", learner[l], classes, far, size);
        }
}

static int first_loss(const klift_event *event, void *user)
{
    double *loss = user;
    if (event->kind == KLIFT_EVENT_PROGRESS && strcmp(event->stage, "rows") == 0 && isnan(*loss))
        *loss = event->loss;
    return 0;
}

static void the_first_rows_lose_less_than_from_nothing(void **state)
{
    static const char *const from[] = {"ridge", "sgd", "svm"};
    klift_batch first = some(target, 0, HALF), rest = some(target, HALF, 200);
    (void)state;
    make_rows();
    for (int k = 0; k < 3; k++) {
        double cold = NAN, warm = NAN;
        klift_model_free(learn(&rest, (training){.learner = "sgd", .task = "regress", .lambda = "1e-4", .event = first_loss, .user = &cold}));
        learn_and_save(&first, (training){.learner = from[k], .task = "regress", .lambda = "1e-4"});
        klift_model_free(learn(&rest, (training){.learner = "sgd", .warm_start = path, .event = first_loss, .user = &warm}));
        print_message("from %s: loss %.4f, from nothing %.4f\n", from[k], warm, cold);
        assert_true(warm < 0.7 * cold && warm > 0);
    }
}

/* The classes are those of the model and of the rows. */
static void classes_come_and_stay(void **state)
{
    static double score[ROWS * 3];
    klift_batch first = some(side, 0, HALF), rest = some(three, HALF, ROWS - HALF);
    (void)state;
    make_rows();
    for (int way = 0; way < 4; way++) { /* a class more, a class less; one pass or some */
        training how = {.learner = way < 2 ? "sgd" : "sgd:passes=5", .task = "classify", .lambda = "1e-4"};
        int wrong = 0;
        learn_and_save(way % 2 == 0 ? &first : &rest, how);
        klift_model *model = learn(way % 2 == 0 ? &rest : &first, (training){.learner = how.learner, .warm_start = path});
        assert_int_equal(klift_model_classes(model), 3);
        assert_int_equal(klift_model_predict(model, &rest, KLIFT_CLASS, score, NULL), KLIFT_OK);
        for (int i = 0; i < ROWS - HALF; i++)
            wrong += score[i] != three[HALF + i];
        print_message("way %d: %d of %d wrong\n", way, wrong, ROWS - HALF);
        assert_true(way % 2 == 1 || wrong < (ROWS - HALF) / 3);
        klift_model_free(model);
    }
}

static int count_passes(const klift_event *event, void *user)
{
    *(int *)user += event->kind == KLIFT_EVENT_PROGRESS && strcmp(event->stage, "passes") == 0;
    return 0;
}

static void logistic_begins_at_the_model_and_ends_where_it_does(void **state)
{
    double w[2][3 * WIDE];
    int passes[2] = {0};
    klift_batch rows = some(three, 0, ROWS), other = some(side, 0, ROWS);
    training how = {.learner = "logistic:tolerance=1e-6", .task = "classify", .lambda = "0.001", .event = count_passes};
    (void)state;
    make_rows();
    for (int k = 0; k < 2; k++) {
        how.user = &passes[k];
        klift_model *model = learn(&rows, how);
        linear_weights_of(model, COLUMNS, 3, w[k]);
        assert_int_equal(klift_model_save(model, path), KLIFT_OK);
        klift_model_free(model);
        how.warm_start = path;
    }
    for (int i = 0; i < 3 * WIDE; i++)
        assert_true(fabs(w[0][i] - w[1][i]) < 1e-4);
    print_message("%d passes, then %d\n", passes[0], passes[1]);
    assert_true(passes[1] <= 2 && passes[0] > 4);
    klift_model *model;
    assert_int_equal(learn_rows(&other, &how, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "has class '2'"));
}

static void what_contradicts_the_model_is_named(void **state)
{
    static const struct {
        training how;
        const char *answer; /* NULL: it is right */
    } all[] = {
        {{.learner = "sgd"}, NULL},
        {{.learner = "sgd", .kernel = "gaussian"}, NULL}, /* its width is left to the data, which the model had */
        {{.learner = "sgd", .kernel = "gaussian:gamma=0.25", .map = "fourier", .features = "64", .seed = "5", .prepare = "standardise", .task = "classify"}, NULL},
        {{.learner = "sgd", .map = "auto", .features = "63"}, "features=63, but the model to go on from has features=64"},
        {{.learner = "sgd", .kernel = "gaussian:gamma=0.5"}, "kernel=gaussian:gamma=0.5, but the model to go on from has kernel=gaussian:gamma=0.25"},
        {{.learner = "sgd", .kernel = "laplacian"}, "has kernel=gaussian"},
        {{.learner = "sgd", .map = "fourier:form=phase"}, "map=fourier:form=phase"},
        {{.learner = "sgd", .map = "orthogonal"}, "has map=fourier"},
        {{.learner = "sgd", .seed = "1"}, "seed=1, but the model to go on from has seed=5"},
        {{.learner = "sgd", .prepare = "none"}, "prepare=none, but the model to go on from has prepare=standardise"},
        {{.learner = "sgd", .task = "regress"}, "task=regress"},
        {{.learner = "sgd:bias=-1"}, "leaves the intercept out"},
        {{.learner = "ridge"}, "its statistics are not in it"},
        {{.learner = "svm"}, "its solution is the same wherever it begins"},
    };
    klift_batch rows = some(side, 0, HALF);
    (void)state;
    make_rows();
    learn_and_save(&rows, (training){.learner = "sgd", .kernel = "gaussian:gamma=0.25", .map = "fourier", .features = "64", .seed = "5", .prepare = "standardise", .task = "classify"});
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        training how = all[i].how;
        klift_model *model;
        how.warm_start = path;
        how.kernel = how.kernel != NULL ? how.kernel : "gaussian";
        klift_status status = learn_rows(&rows, &how, &model);
        if (status != (all[i].answer == NULL ? KLIFT_OK : KLIFT_USAGE) || (all[i].answer != NULL && strstr(klift_error(), all[i].answer) == NULL))
            fail_msg("case %zu: answered with status %d, %s", i, (int)status, klift_error());
        klift_model_free(model);
    }
}

static void models_and_rows_that_do_not_fit_are_refused(void **state)
{
    klift_model *model, *bare;
    klift_batch rows = some(side, 0, HALF), narrow = dense_batch(HALF, COLUMNS - 1, x), labels = some(three, 0, HALF);
    (void)state;
    make_rows();
    narrow.target = side;
    narrow.targets = 1;
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd", .warm_start = "no/such.klift"}, &model), KLIFT_IO);
    learn_and_save(&rows, (training){.learner = "sgd", .task = "classify"});
    assert_int_equal(learn_rows(&narrow, &(training){.learner = "sgd", .warm_start = path}, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "5 columns, those of the model to go on from 6"));
    model = learn(&labels, (training){.learner = "ridge", .task = "classify"});
    assert_int_equal(klift_model_from_map(klift_model_map(model), &bare), KLIFT_OK);
    assert_int_equal(klift_model_save(bare, path), KLIFT_OK);
    klift_model_free(model);
    klift_model_free(bare);
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd", .warm_start = path}, &model), KLIFT_MODEL);
    assert_non_null(strstr(klift_error(), "no weights to go on from"));
}

static int make_place(void **unused)
{
    int failed = folder_make(unused);
    snprintf(path, sizeof path, "%s", folder_at("start.klift"));
    return failed;
}

static int remove_place(void **unused)
{
    remove(path);
    return folder_remove(unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_halves_are_one_training),
        cmocka_unit_test(the_first_rows_lose_less_than_from_nothing),
        cmocka_unit_test(classes_come_and_stay),
        cmocka_unit_test(logistic_begins_at_the_model_and_ends_where_it_does),
        cmocka_unit_test(what_contradicts_the_model_is_named),
        cmocka_unit_test(models_and_rows_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
