/*
 * test_class_weight.c - the setting class-weight: a class's weight is a factor of its rows' weights, for every learner; what
 * balanced means; classes of weight zero; statistics; and what is refused.
 */
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 240, COLUMNS = 4, CLASSES = 3, LEARNERS = 3 };
static const char *const learners[LEARNERS] = {"ridge", "svm:tolerance=1e-10,passes=100000", "logistic:classes=one-vs-rest,tolerance=1e-10"};
static const double labels[CLASSES] = {-1, 1, 2.0};

static float x[ROWS * COLUMNS];
static double label[ROWS], weight[ROWS];
static int count[CLASSES];

static void make_problem(void)
{
    syn_rows_float(ROWS, COLUMNS, x);
    memset(count, 0, sizeof count);
    for (int i = 0; i < ROWS; i++) {
        double f = (double)x[i * COLUMNS] + 0.5 * syn_normal((uint64_t)i, 100);
        int k = f > 1 ? 2 : f > 0 ? 1 : 0;
        label[i] = labels[k];
        count[k]++;
    }
}

static int class_of(double y)
{
    return y < 0 ? 0 : y < 2 ? 1 : 2;
}

static klift_batch problem(void)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = label;
    rows.targets = 1;
    return rows;
}

static klift_spec *weighed(const char *learner, const char *class_weight, const char *task)
{
    return spec_of(PAIRS("class-weight", class_weight, "kernel", "linear", "learner", learner, "task", task, "c", "3"));
}

static klift_status train(const char *learner, const char *class_weight, const char *task, const klift_batch *rows, klift_model **model)
{
    klift_spec *spec = weighed(learner, class_weight, task);
    klift_status status = train_rows(spec, rows, NULL, model);
    klift_spec_free(spec);
    return status;
}

static void scores_of(klift_model *model, double *scores)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, scores, NULL), KLIFT_OK);
    klift_model_free(model);
}

/* Scores of a training with class weights, and of one with the same factors as weights of rows. */
static void check_against_rows(const char *learner, const char *class_weight, const double *factor, const double *own)
{
    double scores[ROWS * CLASSES], expected[ROWS * CLASSES];
    klift_model *model;
    klift_batch rows = problem();
    rows.weight = own;
    assert_int_equal(train(learner, class_weight, "classify", &rows, &model), KLIFT_OK);
    scores_of(model, scores);
    for (int i = 0; i < ROWS; i++)
        weight[i] = (own != NULL ? own[i] : 1) * factor[class_of(label[i])];
    rows.weight = weight;
    assert_int_equal(train(learner, "none", "classify", &rows, &model), KLIFT_OK);
    scores_of(model, expected);
    double far = 0;
    for (int i = 0; i < ROWS * CLASSES; i++)
        far = fmax(far, fabs(scores[i] - expected[i]));
    if (!(far < 1e-9))
        fail_msg("%s, %s: scores are %g from those with weights of rows", learner, class_weight, far);
}

static void a_class_weight_is_a_factor_of_the_weights_of_rows(void **state)
{
    static const double factor[CLASSES] = {0.5, 5, 1};
    static double own[ROWS];
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        own[i] = 1 + i % 3;
    for (int l = 0; l < LEARNERS; l++) {
        check_against_rows(learners[l], "1=5,-1=0.5", factor, NULL);
        check_against_rows(learners[l], "-1=0.5,+1.0=5,2e0=1", factor, NULL);
        check_against_rows(learners[l], "1=5,-1=0.5", factor, own);
    }
}

static void balanced_is_that_of_scikit_learn(void **state)
{
    double factor[CLASSES], sum[CLASSES] = {0}, all = 0;
    static double own[ROWS];
    (void)state;
    make_problem();
    for (int k = 0; k < CLASSES; k++)
        factor[k] = (double)ROWS / (CLASSES * (double)count[k]);
    assert_true(count[0] != count[1] && count[2] > 0);
    for (int l = 0; l < LEARNERS; l++)
        check_against_rows(learners[l], "balanced", factor, NULL);
    for (int i = 0; i < ROWS; i++) { /* a row of weight two is two rows, one of weight zero none */
        own[i] = label[i] == 2 ? 0 : i % 3;
        sum[class_of(label[i])] += own[i];
        all += own[i];
    }
    for (int k = 0; k < CLASSES; k++)
        factor[k] = k == 2 ? 1 : all / (2 * sum[k]);
    for (int l = 0; l < LEARNERS; l++)
        check_against_rows(learners[l], "balanced", factor, own);
}

/* The bits are sums of the weighed solutions. */
static void codes_have_the_weights_of_the_classes(void **state)
{
    static const char *const codes[] = {"identity", "hadamard", "random"};
    static const double factor[CLASSES] = {0.5, 5, 1};
    double coded[ROWS * CLASSES], expected[ROWS * CLASSES], plain[ROWS * CLASSES];
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        weight[i] = factor[class_of(label[i])];
    for (int c = 0; c < 3; c++) {
        klift_spec *spec = weighed("ridge", "1=5,-1=0.5", "classify");
        klift_batch rows = problem(), heavy = problem();
        klift_model *model;
        double far = 0, moved = 0;
        heavy.weight = weight;
        OK(klift_spec_set(spec, "code", codes[c]));
        OK(train_rows(spec, &rows, NULL, &model));
        scores_of(model, coded);
        OK(klift_spec_set(spec, "class-weight", "none"));
        OK(train_rows(spec, &heavy, NULL, &model));
        scores_of(model, expected);
        OK(train_rows(spec, &rows, NULL, &model));
        scores_of(model, plain);
        for (int i = 0; i < ROWS * CLASSES; i++) {
            far = fmax(far, fabs(coded[i] - expected[i]));
            moved = fmax(moved, fabs(coded[i] - plain[i]));
        }
        if (!(far < 1e-9 && moved > 0.1))
            fail_msg("code %s: scores are %g from those with weights of rows, %g from those without", codes[c], far, moved);
        klift_spec_free(spec);
    }
}

/* The outputs of the others are those of a training without the class, which the model still knows. */
static void rows_of_a_class_of_weight_zero_do_not_count(void **state)
{
    static float fewer[ROWS * COLUMNS];
    static double fewer_label[ROWS];
    double scores[ROWS * CLASSES], expected[ROWS];
    int left = 0;
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        if (label[i] < 2) {
            memcpy(fewer + left * COLUMNS, x + i * COLUMNS, COLUMNS * sizeof(float));
            fewer_label[left++] = label[i];
        }
    for (int l = 0; l < LEARNERS; l++) {
        klift_model *model, *without;
        klift_batch rows = problem(), some = dense_batch(left, COLUMNS, fewer);
        some.target = fewer_label;
        some.targets = 1;
        assert_int_equal(train(learners[l], "2=0", "classify", &rows, &model), KLIFT_OK);
        assert_int_equal(train(learners[l], "none", "classify", &some, &without), KLIFT_OK);
        assert_int_equal(klift_model_classes(model), CLASSES);
        scores_of(model, scores);
        scores_of(without, expected);
        for (int i = 0; i < ROWS; i++) {
            assert_true(fabs(scores[i * CLASSES + 1] - expected[i]) < 1e-3);
            assert_true(scores[i * CLASSES + 2] < fmax(scores[i * CLASSES], scores[i * CLASSES + 1]));
        }
        assert_int_equal(train(learners[l], "2=0,1=0,-1=0", "classify", &rows, &model), KLIFT_DATA);
        assert_non_null(strstr(klift_error(), "all weights are zero"));
        assert_int_equal(train(learners[l], "2=0,1=0", "classify", &rows, &model), KLIFT_OK); /* only -1 is left: it is the answer */
        scores_of(model, scores);
        for (int i = 0; i < ROWS; i++)
            assert_true(scores[i * CLASSES] > scores[i * CLASSES + 1] && scores[i * CLASSES] > scores[i * CLASSES + 2]);
    }
}

static klift_batch part(int first, int rows)
{
    klift_batch some = dense_batch(rows, COLUMNS, x + first * COLUMNS);
    some.target = label + first;
    some.targets = 1;
    return some;
}

/* Classes that came by a merge have their weights too when rows follow; balanced cannot be had from parts. */
static void statistics_weigh_classes(void **state)
{
    double scores[ROWS * CLASSES], expected[ROWS * CLASSES];
    klift_model *model;
    klift_data *data;
    klift_stats *refused;
    klift_batch rows = problem(), one = part(0, 1), half = part(1, ROWS / 2), rest = part(ROWS / 2 + 1, ROWS / 2 - 1);
    (void)state;
    make_problem();
    label[0] = -1; /* the first part has one class only */
    klift_spec *spec = weighed("ridge", "1=5,-1=0.5", "classify");
    klift_map *map = map_of(spec, &rows, NULL);
    klift_stats *stats = stats_of(map, spec, &one, NULL), *more = stats_of(map, spec, &half, NULL);
    assert_int_equal(klift_stats_merge(stats, more, 1), KLIFT_OK);
    klift_stats_free(more);
    assert_int_equal(klift_data_view(&rest, &data), KLIFT_OK);
    assert_int_equal(klift_stats_add(stats, data, NULL), KLIFT_OK);
    klift_data_free(data);
    assert_int_equal(klift_stats_solve(stats, NULL, &model), KLIFT_OK);
    scores_of(model, scores);
    assert_int_equal(train("ridge", "1=5,-1=0.5", "classify", &rows, &model), KLIFT_OK);
    scores_of(model, expected);
    for (int i = 0; i < ROWS * CLASSES; i++)
        assert_true(fabs(scores[i] - expected[i]) < 1e-9);
    klift_stats_free(stats);
    assert_int_equal(klift_spec_set(spec, "class-weight", "balanced"), KLIFT_OK);
    assert_int_equal(klift_stats_new(map, spec, NULL, &refused), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "class-weight=balanced"));
    assert_int_equal(klift_spec_set(spec, "class-weight", "-1=2,7=3"), KLIFT_OK); /* no class 7 in any part: seen when it is solved */
    stats = stats_of(map, spec, &rows, NULL);
    assert_int_equal(klift_stats_solve(stats, NULL, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "no row has the label '7'"));
    klift_stats_free(stats);
    klift_map_free(map);
    klift_spec_free(spec);
}

static void what_cannot_be_is_refused_by_the_label(void **state)
{
    static const char *const wrong[][2] = {
        {"1=-2", "label '1' is '-2'"}, {"a=nan", "label 'a' is 'nan'"}, {"-1=inf", "label '-1' is 'inf'"}, {"1=2,+1=3", "label '+1' has two weights"},
        {"1=", "label '1' is ''"},     {"1", "LABEL=WEIGHT"},           {"=3", "LABEL=WEIGHT"},            {"1=2,", "LABEL=WEIGHT"},
        {"", "LABEL=WEIGHT"},
    };
    klift_spec *spec;
    klift_model *model;
    klift_batch rows = problem();
    (void)state;
    make_problem();
    assert_int_equal(klift_spec_new(&spec), KLIFT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (klift_spec_set(spec, "class-weight", wrong[i][0]) != KLIFT_USAGE || strstr(klift_error(), wrong[i][1]) == NULL)
            fail_msg("'%s' is answered with: %s", wrong[i][0], klift_error());
    }
    klift_spec_free(spec);
    for (int l = 0; l < LEARNERS; l++) {
        assert_int_equal(train(learners[l], "1=2,3=1", "classify", &rows, &model), KLIFT_DATA);
        assert_non_null(strstr(klift_error(), "no row has the label '3'"));
        assert_int_equal(train(learners[l], "1=2", "regress", &rows, &model), KLIFT_USAGE);
        assert_non_null(strstr(klift_error(), "class-weight is for classes"));
        assert_int_equal(train(learners[l], "balanced", "regress", &rows, &model), KLIFT_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_weight_is_a_factor_of_the_weights_of_rows),
        cmocka_unit_test(balanced_is_that_of_scikit_learn),
        cmocka_unit_test(codes_have_the_weights_of_the_classes),
        cmocka_unit_test(rows_of_a_class_of_weight_zero_do_not_count),
        cmocka_unit_test(statistics_weigh_classes),
        cmocka_unit_test(what_cannot_be_is_refused_by_the_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
