/* test_targets.c - what rows are learnt as, through the public header: names of classes, weights, several targets; a constant feature. */
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void classes_may_be_words_negative_or_huge(void **state)
{
    static const char *const settings[] = {"features", "64", NULL};
    static const char *const words[] = {"zebra", "9007199254740993", "-7"}, *const sorted[] = {"-7", "9007199254740993", "zebra"};
    klift_spec *spec = spec_of(settings);
    table t = load("rings", "rows=900,seed=4");
    const char **label = malloc((size_t)t.n * sizeof *label);
    double *given = malloc((size_t)t.n * sizeof *given);
    klift_batch all = rows_of(&t, 0, t.n);
    klift_data *data;
    int wrong = 0;
    (void)state;
    for (int64_t i = 0; i < t.n; i++)
        label[i] = words[(int)t.y[i] - 1];
    all.label = label;
    all.target = NULL;
    all.targets = 0;
    OK(klift_data_view(&all, &data));
    klift_model *model = train_data(spec, data, NULL);
    assert_int_equal(klift_model_classes(model), 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(klift_model_class(model, i), sorted[i]);
    OK(klift_model_predict(model, &all, KLIFT_CLASS, given, NULL));
    for (int64_t i = 0; i < t.n; i++)
        wrong += strcmp(klift_model_class(model, (int64_t)given[i]), label[i]) != 0;
    assert_true(wrong < 90);
    klift_model_free(model);
    klift_spec_free(spec);
    table_free(&t);
    free(label);
    free(given);
}

static void weight_two_is_the_row_twice(void **state)
{
    static const char *const settings[] = {"features", "64", "lambda", "1e-3", "kernel", "gaussian:gamma=0.5", NULL};
    static const char *const names[] = {"rings", "friedman"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        klift_spec *spec = spec_of(settings);
        table t = load(names[k], "rows=500,seed=9"), twice = {t.n * 2, t.d, t.t, NULL, NULL};
        klift_data *data;
        double *weight = malloc((size_t)t.n * sizeof *weight);
        twice.x = malloc((size_t)(twice.n * t.d) * sizeof *twice.x);
        twice.y = malloc((size_t)twice.n * sizeof *twice.y);
        int64_t at = 0;
        for (int64_t i = 0; i < t.n; i++) {
            weight[i] = 1 + (double)(i % 2);
            for (int copy = 0; copy < (int)weight[i]; copy++, at++) {
                memcpy(twice.x + at * t.d, t.x + i * t.d, (size_t)t.d * sizeof *t.x);
                twice.y[at] = t.y[i];
            }
        }
        klift_batch all = rows_of(&t, 0, t.n), copies = rows_of(&twice, 0, at);
        all.weight = weight;
        OK(klift_data_view(&all, &data));
        klift_model *a = train_data(spec, data, NULL);
        OK(klift_data_view(&copies, &data));
        klift_model *b = train_data(spec, data, NULL);
        assert_true(largest_score_difference(a, b, &all) <= 1e-5 * (k == 0 ? 1 : 20));
        klift_model_free(a);
        klift_model_free(b);
        klift_spec_free(spec);
        table_free(&t);
        table_free(&twice);
        free(weight);
    }
}

static void several_targets_equal_one_at_a_time(void **state)
{
    static const char *const settings[] = {"features", "64", "lambda", "1e-3", "task", "regress", NULL};
    klift_spec *spec = spec_of(settings);
    table t = load("friedman", "rows=800,seed=2");
    double *two = malloc((size_t)t.n * 2 * sizeof *two), both[2], one;
    klift_batch all = rows_of(&t, 0, t.n);
    klift_data *data;
    (void)state;
    OK(klift_data_view(&all, &data));
    klift_model *single = train_data(spec, data, NULL);
    for (int64_t i = 0; i < t.n; i++) {
        two[2 * i] = -3 * t.y[i] + 100;
        two[2 * i + 1] = t.y[i];
    }
    klift_batch pair = all;
    pair.target = two;
    pair.targets = 2;
    OK(klift_data_view(&pair, &data));
    klift_model *joint = train_data(spec, data, NULL);
    assert_int_equal(klift_model_outputs(joint), 2);
    for (int64_t i = 0; i < t.n; i += 50) {
        klift_batch row = rows_of(&t, i, 1);
        OK(klift_model_predict(single, &row, KLIFT_SCORES, &one, NULL));
        OK(klift_model_predict(joint, &row, KLIFT_SCORES, both, NULL));
        assert_true(fabs(both[1] - one) <= 1e-6);
        assert_true(fabs(both[0] - (100 - 3 * one)) <= 1e-5);
    }
    klift_model_free(single);
    klift_model_free(joint);
    klift_spec_free(spec);
    table_free(&t);
    free(two);
}

/* Beside the intercept a feature that never changes has nothing to say: its weight is 0 for every lambda, not nearly. */
static void a_constant_feature_has_no_weight(void **state)
{
    enum { N = 300, D = 4 };
    static const char *const lambdas[] = {"1e-9", "0.01", "10"};
    static float x[N * D];
    static double y[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++)
            x[i * D + j] = j == 2 ? 0.3f : (float)syn_normal((uint64_t)i, (uint64_t)j);
        y[i] = (double)x[i * D] + 0.1 * syn_normal((uint64_t)i, 9);
    }
    for (int l = 0; l < 3; l++) {
        float probe[2 * D] = {0};
        double score[2];
        klift_spec *spec = spec_of(PAIRS("kernel", "linear", "task", "regress", "lambda", lambdas[l]));
        klift_data *data;
        klift_batch rows = {.size = sizeof rows, .rows = N, .columns = D, .dense = x, .stride = D, .target = y, .targets = 1};
        klift_batch two = {.size = sizeof two, .rows = 2, .columns = D, .dense = probe, .stride = D};
        probe[D + 2] = 1000;
        OK(klift_data_view(&rows, &data));
        klift_model *model = train_data(spec, data, NULL);
        OK(klift_model_predict(model, &two, KLIFT_SCORES, score, NULL));
        assert_true(score[0] == score[1]);
        klift_model_free(model);
        klift_spec_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_may_be_words_negative_or_huge),
        cmocka_unit_test(weight_two_is_the_row_twice),
        cmocka_unit_test(several_targets_equal_one_at_a_time),
        cmocka_unit_test(a_constant_feature_has_no_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
