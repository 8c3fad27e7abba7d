/*
 * test_cost_path.c - C chosen from a path by the learner svm: the errors are those of separate trainings, the model is that of the
 * C chosen, threads change nothing, and what cannot be a path is refused.
 */
#include "learn/cost_path.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 240, COLUMNS = 6 };
static float x[ROWS * COLUMNS];
static double class_of[ROWS];

static klift_batch make_rows(void)
{
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++) {
        double f = (double)x[i * COLUMNS] + 0.5 * (double)x[i * COLUMNS + 1] + 0.3 * syn_normal((uint64_t)i, 100);
        class_of[i] = f > 0.2 ? 2 : f > -0.1 ? 1 : 0;
    }
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = class_of;
    rows.targets = 1;
    return rows;
}

/* Settings as key, value, ..., NULL on top of a linear svm; NULL when that is refused. */
static klift_model *train(const char *const *setting, const char *threads)
{
    klift_spec *spec = spec_of(PAIRS("kernel", "linear", "task", "classify"));
    klift_run *run = run_of(PAIRS("threads", threads));
    klift_model *model = NULL;
    klift_batch rows = make_rows();
    klift_status status = KLIFT_OK;
    for (; status == KLIFT_OK && *setting != NULL; setting += 2)
        status = klift_spec_set(spec, setting[0], setting[1]);
    if (status == KLIFT_OK)
        status = train_rows(spec, &rows, run, &model);
    assert_true((status == KLIFT_OK) == (model != NULL));
    klift_spec_free(spec);
    klift_run_free(run);
    return model;
}

static char *about(const klift_model *model)
{
    int64_t needed;
    assert_int_equal(klift_model_describe(model, NULL, 0, &needed), KLIFT_OK);
    char *json = malloc((size_t)needed);
    assert_int_equal(klift_model_describe(model, json, needed, &needed), KLIFT_OK);
    return json;
}

static double number_after(const char *json, const char *key)
{
    const char *at = json != NULL ? strstr(json, key) : NULL;
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

static void scores_of(const klift_model *model, double *out)
{
    klift_batch rows = make_rows();
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, out, NULL), KLIFT_OK);
}

static int points_of(const char *path)
{
    int count = 0;
    for (const char *at = path; (at = strstr(at, "{\"lambda\":")) != NULL; at++)
        count++;
    return count;
}

/* The same errors, to the last row, as of machines that begin from nothing; the path ends after two worse ones in a row. */
static void errors_are_those_of_separate_trainings(void **state)
{
    static const char *const text[] = {"0.02", "0.3", "1", "4"};
    static const char *const losses[] = {"svm:loss=squared-hinge,tolerance=1e-9,passes=1000000", "svm:loss=hinge,tolerance=1e-8,passes=1000000",
                                         "svm:classes=crammer-singer,tolerance=1e-8,passes=1000000"};
    (void)state;
    for (int l = 0; l < 3; l++) {
        const char *const path[] = {"learner", losses[l], "path", "4,0.3,1,0.02,4", NULL};
        klift_model *model = train(path, "2");
        assert_non_null(model);
        char *json = about(model);
        double least = INFINITY, best = NAN, error[4];
        const char *at = strstr(json, "\"path\":");
        int points = points_of(at);
        assert_true(points >= 3);
        for (int k = 0; k < points; k++) {
            const char *const one[] = {"learner", losses[l], "c", text[k], "search", "folds", NULL};
            klift_model *alone = train(one, "1");
            assert_non_null(alone);
            char *its = about(alone);
            error[k] = number_after(its, "\"cv_error\":");
            best = error[k] < least ? strtod(text[k], NULL) : best;
            least = error[k] < least ? error[k] : least;
            klift_model_free(alone);
            free(its);
        }
        for (int k = points - 1; k >= 0; k--) { /* ascending lambda: the largest C first */
            at = strstr(at + 1, "{\"lambda\":");
            print_message("%s C %s: error %g, alone %g\n", losses[l], text[k], number_after(at, "\"error\":"), error[k]);
            assert_true(fabs(number_after(at, "{\"lambda\":") * strtod(text[k], NULL) * ROWS - 1) < 1e-12);
            assert_true(fabs(number_after(at, "\"error\":") - error[k]) < 1e-9);
        }
        assert_true(points == 4 || (error[points - 1] > least && error[points - 2] > least));
        assert_true(fabs(number_after(json, "\"lambda\":") * best * ROWS - 1) < 1e-12);
        assert_true(fabs(number_after(json, "\"cv_error\":") - least) < 1e-12);
        klift_model_free(model);
        free(json);
    }
}

static void the_model_is_that_of_the_chosen_cost(void **state)
{
    static const char *const way[] = {"learner", "svm", "path", "auto", "search", "holdout", NULL};
    double score[2][ROWS * 3];
    char c[32];
    (void)state;
    klift_model *model = train(way, "1");
    assert_non_null(model);
    char *json = about(model);
    snprintf(c, sizeof c, "%.17g", 1 / (number_after(json, "\"lambda\":") * ROWS));
    const char *const alone[] = {"learner", "svm", "c", c, NULL};
    scores_of(model, score[0]);
    klift_model_free(model);
    model = train(alone, "3");
    assert_non_null(model);
    scores_of(model, score[1]);
    for (int i = 0; i < ROWS * 3; i++)
        assert_true(fabs(score[0][i] - score[1][i]) < 1e-9);
    klift_model_free(model);
    free(json);
}

/* Whichever place on the path it has. */
static void probabilities_are_those_of_the_chosen_cost(void **state)
{
    static const char *const paths[] = {"0.02,0.3,4", "0.0001,4", "4,1000"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const char *const way[] = {"learner", "svm:tolerance=1e-9,passes=1000000", "probability", "true", "path", paths[k], NULL};
        char c[32];
        klift_model *model = train(way, "1");
        assert_non_null(model);
        char *json = about(model);
        snprintf(c, sizeof c, "%.17g", 1 / (number_after(json, "\"lambda\":") * ROWS));
        const char *const alone[] = {"learner", "svm:tolerance=1e-9,passes=1000000", "probability", "true", "c", c, NULL};
        klift_model *other = train(alone, "1");
        assert_non_null(other);
        char *its = about(other);
        print_message("%s: C %s, scale %.9g, alone %.9g\n", paths[k], c, number_after(json, "\"scale\":"), number_after(its, "\"scale\":"));
        assert_true(fabs(number_after(json, "\"scale\":") / number_after(its, "\"scale\":") - 1) < 1e-3); /* a gap of 1e-8 is 1e-4 of the weights */
        klift_model_free(model);
        klift_model_free(other);
        free(json);
        free(its);
    }
}

static void threads_change_no_byte(void **state)
{
    static const char *const way[] = {"learner", "svm:loss=hinge", "path", "0.1,1,10", NULL};
    klift_model *first = train(way, "1");
    (void)state;
    assert_non_null(first);
    for (int k = 2; k <= 3; k++) {
        klift_model *model = train(way, k == 2 ? "2" : "3");
        assert_non_null(model);
        assert_same_bytes(model, first);
        klift_model_free(model);
    }
    klift_model_free(first);
}

static void paths_are_read_in_any_order_and_refused_when_wrong(void **state)
{
    static const char *const wrong[] = {"", "0", "-1", "1,,2", "1,2,", "inf", "nan", "one", "1;2"};
    static const struct {
        const char *setting[7], *answer;
    } refused[] = {
        {{"learner", "svm", "path", "1,2", "c", "1", NULL}, "path chooses C"},
        {{"lambda", "0.1", "path", "1,2", NULL}, "path chooses C"},
        {{"learner", "ridge", "path", "1,2", NULL}, "learner ridge takes no path of C"},
        {{"learner", "svm", "path", "auto", "search", "gcv", NULL}, "no generalised cross-validation"},
    };
    kl_cost_path path;
    char many[400] = "1";
    (void)state;
    assert_int_equal(kl_cost_path_read("3,1e-2,3.0,0.5", &path), KLIFT_OK);
    assert_int_equal(path.count, 3);
    assert_true(path.c[0] == 0.01 && path.c[1] == 0.5 && path.c[2] == 3);
    assert_int_equal(kl_cost_path_read("none", &path), KLIFT_OK);
    assert_int_equal(path.count, 0);
    assert_int_equal(kl_cost_path_read("auto", &path), KLIFT_OK);
    assert_int_equal(path.count, 9);
    assert_true(path.c[0] == 0.03125 && path.c[8] == 2048);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(kl_cost_path_check(wrong[i]), KLIFT_USAGE);
        assert_non_null(strstr(klift_error(), "path: '"));
    }
    for (int k = 2; k <= KL_COSTS_MAX + 1; k++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", k);
    assert_int_equal(kl_cost_path_check(many), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "more than 32"));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_null(train(refused[i].setting, "1"));
        if (strstr(klift_error(), refused[i].answer) == NULL)
            fail_msg("not '%s' but: %s", refused[i].answer, klift_error());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_separate_trainings),
        cmocka_unit_test(the_model_is_that_of_the_chosen_cost),
        cmocka_unit_test(probabilities_are_those_of_the_chosen_cost),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(paths_are_read_in_any_order_and_refused_when_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
