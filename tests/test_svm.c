/*
 * test_svm.c - the learner svm through the public header: weights and objective of LIBLINEAR (scikit-learn 1.2.1's LinearSVC and
 * LinearSVR at a tolerance of 1e-9, to 6 digits), the duality gap, threads, memory, and what is refused.
 */
#include "learn/dual.h"
#include "learn/statistics.h"
#include "linear.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 200, COLUMNS = 5, LOSSES = 4 };
static const double c = 3, epsilon = 0.1;
static const char *const loss_name[LOSSES] = {"hinge", "squared-hinge", "epsilon", "squared-epsilon"};

static float x[ROWS * COLUMNS];
static double sign[ROWS], target[ROWS];

static void make_problem(void)
{
    linear_problem(ROWS, COLUMNS, x, sign, target);
}

/* Three classes of the same rows. */
static double three_of(int row)
{
    return sign[row] < 0 ? 0 : x[row * COLUMNS + 2] > 0 ? 2 : 1;
}

/* ---- dual.c by itself ---- */

static kl_dual_row row_of(const void *user, int64_t row, int64_t output)
{
    (void)output;
    return (kl_dual_row){*(const kl_loss *)user <= KL_SQUARED_HINGE ? sign[row] : target[row], c};
}

static double objective(kl_loss loss, const double *w, double b)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = loss <= KL_SQUARED_HINGE ? sign : target;
    return b * b / 2 + linear_objective(loss, c, &rows, w, b);
}

static void the_gap_is_never_negative_and_goes_to_zero(void **state)
{
    (void)state;
    make_problem();
    for (int l = 0; l < LOSSES; l++) {
        kl_loss loss = (kl_loss)l;
        int32_t order[ROWS];
        kl_row z[ROWS];
        kl_dual d = {.loss = loss, .epsilon = epsilon, .bias = 1, .rows = ROWS, .features = COLUMNS, .outputs = 1, .seed = 1, .row_of = row_of, .user = &loss};
        assert_int_equal(kl_dual_new(&d), KLIFT_OK);
        double gap = 1, met = 1, last_dual = -INFINITY, small = loss == KL_SQUARED_HINGE || loss == KL_SQUARED_EPSILON ? 1e-12 : 1e-7;
        for (int pass = 0; pass < 60000 && gap > small; pass++) {
            for (int i = 0; i < ROWS; i++) {
                order[i] = (i * 37 + pass) % ROWS;
                z[i] = (kl_row){.count = COLUMNS, .value = x + order[i] * COLUMNS};
            }
            kl_dual_block rows = {ROWS, order, z, pass == 0, true};
            assert_int_equal(kl_dual_visit(&d, &rows, NULL), KLIFT_OK);
            double all = d.sum[0]; /* the parts of rows, each with the weights that it met */
            met = kl_dual_gap(&d, false, 0);
            assert_true(all >= -1e-12 * d.primal[0]);
            assert_true(d.dual[0] >= last_dual - 1e-9 * fabs(last_dual)); /* every step ascends */
            last_dual = d.dual[0];
            rows.first = rows.sweep = false;
            assert_int_equal(kl_dual_visit(&d, &rows, NULL), KLIFT_OK);
            gap = kl_dual_gap(&d, true, 0);
            assert_true(d.primal[0] - d.dual[0] >= -1e-10 * d.primal[0]);
            assert_true(fabs(d.primal[0] - objective(loss, d.w, d.b[0])) < 1e-10 * d.primal[0]);
        }
        print_message("%s: gap %.1e, of the rows as a sweep met them %.1e, objective %.7f\n", loss_name[l], gap, met, d.primal[0]);
        assert_true(gap <= small && met <= 100 * small);
        int64_t resting = ROWS;
        int32_t all[ROWS];
        for (int i = 0; i < ROWS; i++)
            all[i] = i;
        resting -= kl_dual_awake(&d, all);
        assert_true(loss <= KL_SQUARED_HINGE ? resting > ROWS / 10 : resting == 0);
        for (int j = 0; j <= COLUMNS; j++) { /* no direction leads down; where the loss is smooth the slope is 0 */
            double w[COLUMNS], b = d.b[0], side[2];
            for (int s = 0; s < 2; s++) {
                memcpy(w, d.w, sizeof w);
                b = d.b[0];
                *(j < COLUMNS ? &w[j] : &b) += s == 0 ? 1e-4 : -1e-4;
                side[s] = objective(loss, w, b);
                assert_true(side[s] >= d.primal[0] - 2 * gap * d.primal[0]);
            }
            if (loss == KL_SQUARED_HINGE || loss == KL_SQUARED_EPSILON)
                assert_true(fabs(side[0] - side[1]) / 2e-4 < 1e-2);
        }
        kl_dual_clear(&d);
    }
}

/* ---- through klift.h ---- */

static void weights_are_those_of_liblinear(void **state)
{
    static const double figure[LOSSES][COLUMNS + 1] = {{4.173200, 2.144663, -0.133314, 0.417150, -0.125703, 0.211608},
                                                       {2.266352, 1.147488, 0.020684, 0.286646, -0.076481, 0.154545},
                                                       {2.011361, 0.938848, -0.013845, 0.060846, 0.013151, 0.017378},
                                                       {1.969147, 0.952038, -0.009972, 0.079863, -0.003856, 0.039507}};
    (void)state;
    make_problem();
    for (int l = 0; l < LOSSES; l++) {
        char learner[80];
        double w[COLUMNS + 1];
        klift_batch rows = dense_batch(ROWS, COLUMNS, x);
        rows.target = l <= KL_SQUARED_HINGE ? sign : target;
        rows.targets = 1;
        snprintf(learner, sizeof learner, "svm:loss=%s,tolerance=1e-12,passes=1000000", loss_name[l]);
        klift_model *model = linear_train(learner, l <= KL_SQUARED_HINGE ? "classify" : "regress", &rows, "1", NULL);
        assert_non_null(model);
        linear_weights(model, COLUMNS, 1, w);
        for (int j = 0; j <= COLUMNS; j++)
            if (!(fabs(w[j] - figure[l][j]) < 2e-5))
                fail_msg("%s: weight %d is %.6f, LIBLINEAR's %.6f", loss_name[l], j, w[j], figure[l][j]);
        klift_model_free(model);
    }
}

/* Of two classes with w_1 = -w_0 = w / 2: |w|^2 / 4 in the place of |w|^2 / 2. */
static double joint_objective(const double *w)
{
    double norm = 0;
    for (int j = 0; j <= COLUMNS; j++)
        norm += w[j] * w[j];
    return objective(KL_HINGE, w, w[COLUMNS]) - norm / 4;
}

static void crammer_and_singer_are_those_of_liblinear(void **state)
{
    static const double figure[3][COLUMNS + 1] = {{-3.011888, -1.544826, -0.330939, -0.359531, -0.027198, 0.328252},
                                                  {1.342578, 0.370440, -2.228234, -0.060074, -0.027516, -0.116582},
                                                  {1.669310, 1.174387, 2.559173, 0.419605, 0.054714, -0.211671}};
    static double three[ROWS];
    double w[3 * (COLUMNS + 1)], pair[COLUMNS + 1];
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        three[i] = three_of(i);
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = three;
    rows.targets = 1;
    klift_model *model = linear_train("svm:classes=crammer-singer,tolerance=1e-9,passes=1000000", "classify", &rows, "2", NULL);
    assert_non_null(model);
    linear_weights(model, COLUMNS, 3, w);
    for (int i = 0; i < 3 * (COLUMNS + 1); i++)
        if (!(fabs(w[i] - figure[i / (COLUMNS + 1)][i % (COLUMNS + 1)]) < 1e-4))
            fail_msg("weight %d is %.6f, LIBLINEAR's %.6f", i, w[i], figure[i / (COLUMNS + 1)][i % (COLUMNS + 1)]);
    klift_model_free(model);
    rows.target = sign;
    model = linear_train("svm:classes=crammer-singer,tolerance=1e-9,passes=1000000", "classify", &rows, "1", NULL);
    assert_non_null(model);
    assert_int_equal(klift_model_outputs(model), 1);
    linear_weights(model, COLUMNS, 1, pair);
    double least = joint_objective(pair);
    print_message("two classes: objective %.6f\n", least);
    for (int j = 0; j <= COLUMNS; j++) /* no direction leads down */
        for (int k = -1; k <= 1; k += 2) {
            double moved[COLUMNS + 1];
            memcpy(moved, pair, sizeof moved);
            moved[j] += k * 1e-3;
            assert_true(joint_objective(moved) >= least - 1e-5);
        }
    klift_model_free(model);
}

/* Five classes over three blocks of rows: outputs are split among threads, features kept or made again. */
static void threads_and_memory_change_no_byte(void **state)
{
    enum { MANY = 9000, WIDE = 40 };
    float *rows_of = malloc(MANY * WIDE * sizeof *rows_of);
    double *class_of = malloc(MANY * sizeof *class_of);
    static const char *const ways[][2] = {{"1", NULL}, {"2", NULL}, {"3", NULL}, {"2", "2200K"}};
    char *first = NULL;
    int64_t first_count = 0;
    (void)state;
    syn_rows_float(MANY, WIDE, rows_of);
    for (int i = 0; i < MANY; i++)
        class_of[i] = (double)((rows_of[i * WIDE] > 0) + 2 * (rows_of[i * WIDE + 1] > 0) + (rows_of[i * WIDE + 2] > 0.2f));
    klift_batch rows = dense_batch(MANY, WIDE, rows_of);
    rows.target = class_of;
    rows.targets = 1;
    for (int k = 0; k < 4; k++) {
        klift_model *model = linear_train("svm:loss=hinge,passes=7", "classify", &rows, ways[k][0], ways[k][1]);
        assert_non_null(model);
        int64_t count;
        char *bytes = bytes_of(model, &count);
        if (k == 0) {
            first = bytes;
            first_count = count;
            assert_int_equal(klift_model_outputs(model), 5);
        } else {
            assert_int_equal(count, first_count);
            assert_memory_equal(bytes, first, (size_t)count);
            free(bytes);
        }
        klift_model_free(model);
    }
    free(first);
    free(rows_of);
    free(class_of);
}

static void what_cannot_be_is_refused(void **state)
{
    double ones[ROWS], nothing[ROWS] = {0};
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        ones[i] = 1;
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = sign;
    rows.targets = 1;
    assert_null(linear_train("svm:loss=epsilon", "classify", &rows, "1", NULL));
    assert_non_null(strstr(klift_error(), "use hinge or squared-hinge"));
    assert_null(linear_train("svm:loss=hinge", "regress", &rows, "1", NULL));
    assert_non_null(strstr(klift_error(), "use epsilon or squared-epsilon"));
    assert_null(linear_train("svm:classes=crammer-singer,loss=squared-hinge", "classify", &rows, "1", NULL));
    assert_non_null(strstr(klift_error(), "leave out loss=squared-hinge"));
    rows.weight = nothing;
    assert_null(linear_train("svm", "classify", &rows, "1", NULL));
    assert_non_null(strstr(klift_error(), "all weights are zero"));
    rows.weight = NULL;
    double spoilt[ROWS];
    memcpy(spoilt, target, sizeof spoilt);
    spoilt[7] = NAN;
    rows.target = spoilt;
    klift_data *data;
    assert_int_equal(klift_data_view(&rows, &data), KLIFT_DATA); /* no learner sees it */
    assert_non_null(strstr(klift_error(), "row 7: the target is not finite"));
    rows.target = ones;
    assert_null(linear_train("svm", "classify", &rows, "1", NULL));
    assert_non_null(strstr(klift_error(), "one class only"));
    klift_spec *spec;
    assert_int_equal(klift_spec_new(&spec), KLIFT_OK);
    assert_int_equal(klift_spec_set(spec, "learner", "svm:lost=hinge"), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "did you mean 'loss'"));
    assert_int_equal(klift_spec_set(spec, "c", "0"), KLIFT_USAGE);
    klift_spec_free(spec);
}

/* tolerance, epsilon, bias and cache as settings are those of the learner's text, whichever is set first, and the model tells them. */
static void settings_of_the_learner_become_its_text(void **state)
{
    static const char *const ways[][15] = {
        {"kernel", "linear", "task", "regress", "learner", "svm:loss=epsilon,tolerance=0.02,epsilon=0.3,bias=2", NULL},
        {"kernel", "linear", "task", "regress", "tolerance", "0.02", "epsilon", "0.3", "bias", "2", "cache", "auto", "learner", "svm:loss=epsilon", NULL},
        {"kernel", "linear", "task", "regress", "learner", "svm:loss=epsilon,bias=2", "epsilon", "0.3", "tolerance", "0.02", NULL},
    };
    static const struct {
        const char *setting[7], *answer;
    } wrong[] = {
        {{"learner", "ridge", "task", "regress", "tolerance", "0.1", NULL}, "learner ridge has no tolerance"},
        {{"task", "regress", "bias", "1", NULL}, "learner ridge has no bias"},
        {{"learner", "svm:epsilon=0.2", "task", "regress", "epsilon", "0.1", NULL}, "both say its epsilon"},
        {{"learner", "svm", "task", "regress", "tolerance", "0", NULL}, "tolerance"},
        {{"learner", "svm", "task", "regress", "epsilon", "-1", NULL}, "epsilon"},
        {{"learner", "sgd", "task", "regress", "cache", "bf16", NULL}, "learner sgd has no cache"},
        {{"learner", "ridge", "task", "regress", "cache", "bf16", NULL}, "learner ridge: cache is 'bf16'"},
        {{"learner", "svm:cache=bf16", "task", "regress", "cache", "bf16", NULL}, "both say its cache"},
        {{"learner", "svm", "task", "regress", "cache", "half", NULL}, "cache"},
    };
    char *first = NULL, text[2048];
    int64_t first_count = 0, count, needed;
    klift_model *model;
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    (void)state;
    make_problem();
    rows.target = target;
    rows.targets = 1;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(linear_train_set(&rows, ways[k], NULL, &model), KLIFT_OK);
        char *bytes = bytes_of(model, &count);
        if (k > 0) {
            assert_int_equal(count, first_count);
            assert_memory_equal(bytes, first, (size_t)count);
            free(bytes);
        } else {
            first = bytes;
            first_count = count;
        }
        assert_int_equal(klift_model_describe(model, text, sizeof text, &needed), KLIFT_OK);
        assert_non_null(strstr(text, "svm:loss=epsilon,epsilon=0.3,bias=2,tolerance=0.02,passes=1000,classes=one-vs-rest,cache=auto"));
        klift_model_free(model);
    }
    free(first);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(linear_train_set(&rows, wrong[i].setting, NULL, &model), KLIFT_USAGE);
        if (strstr(klift_error(), wrong[i].answer) == NULL)
            fail_msg("no '%s' in: %s", wrong[i].answer, klift_error());
    }
}

static double validated(const char *learner, const char *search, const char *task, const klift_batch *rows, const char *threads, const char *memory)
{
    klift_spec *spec = spec_of(PAIRS("kernel", "linear", "learner", learner, "task", task, "c", "3", "search", search, "folds", "3"));
    klift_run *run = run_of(PAIRS("threads", threads, memory != NULL ? "max-memory" : NULL, memory));
    klift_model *model;
    OK(train_rows(spec, rows, run, &model));
    double error = described(model, "cv_error");
    klift_model_free(model);
    klift_spec_free(spec);
    klift_run_free(run);
    return error;
}

/* The error of one row: squared, or 1 where the largest score is another class's; two classes have one score, positive for class 1. */
static double row_error(const klift_model *model, const double *score, double wanted)
{
    int64_t outputs = klift_model_outputs(model), best = 0;
    if (klift_model_classes(model) == 0)
        return (score[0] - wanted) * (score[0] - wanted);
    if (outputs == 1)
        return (score[0] > 0) != (wanted > 0);
    for (int64_t o = 1; o < outputs; o++)
        best = score[o] > score[best] ? o : best;
    return (double)best != wanted;
}

/* Errors of rows under models made by hand without them: rows of a fold have weight 0 there. */
static void held_out_rows_are_those_of_the_folds(void **state)
{
    enum { FOLDS = 3, CASES = 4 };
    static double three[ROWS];
    static const struct {
        const char *learner, *task;
        const double *target;
    } cases[CASES] = {{"svm:loss=hinge,passes=50", "classify", sign},
                      {"svm:loss=epsilon,passes=50", "regress", target},
                      {"svm:classes=crammer-singer,passes=50", "classify", sign},
                      {"svm:classes=crammer-singer,passes=50", "classify", three}};
    double weight[ROWS], score[3 * ROWS];
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        three[i] = three_of(i);
    for (int k = 0; k < CASES; k++) {
        const char *learner = cases[k].learner, *task = cases[k].task;
        klift_batch rows = dense_batch(ROWS, COLUMNS, x);
        rows.target = cases[k].target;
        rows.targets = 1;
        double error = 0, first = 0;
        int fold[ROWS], held = 0;
        for (int i = 0; i < ROWS; i++) {
            char name[8];
            snprintf(name, sizeof name, "%d", (int)rows.target[i]);
            fold[i] = kl_statistics_fold(kl_statistics_key(&rows, i, strcmp(task, "regress") == 0 ? NULL : name), FOLDS);
        }
        for (int f = 0; f < FOLDS; f++) {
            klift_batch others = rows;
            for (int i = 0; i < ROWS; i++)
                weight[i] = fold[i] != f;
            others.weight = weight;
            klift_model *model = linear_train(learner, task, &others, "1", NULL);
            assert_non_null(model);
            assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
            for (int i = 0; i < ROWS; i++)
                if (fold[i] == f)
                    error += row_error(model, score + i * klift_model_outputs(model), rows.target[i]);
            klift_model_free(model);
            for (int i = 0; f == 0 && i < ROWS; i++)
                held += fold[i] == 0;
            first = f == 0 ? error / held : first;
        }
        assert_true(error > 0 && held > ROWS / 6 && held < ROWS / 2);
        print_message("%s, %s: error %g, of the first fold %g\n", learner, task, error / ROWS, first);
        assert_true(fabs(validated(learner, "folds", task, &rows, "1", NULL) - error / ROWS) < 1e-6 * error / ROWS);
        assert_true(fabs(validated(learner, "holdout", task, &rows, "1", NULL) - first) <= 1e-6 * first);
        assert_true(validated(learner, "folds", task, &rows, "1", NULL) == validated(learner, "folds", task, &rows, "2", "1M"));
        assert_true(validated(learner, "auto", task, &rows, "1", NULL) == 0); /* null: nothing was held out */
    }
}

/* A row of weight two is two rows, one of weight zero is none. */
static void weights_count_rows(void **state)
{
    static float twice[2 * ROWS * COLUMNS];
    static double twice_sign[2 * ROWS], weight[ROWS];
    double one[COLUMNS + 1], other[COLUMNS + 1];
    int count = 0;
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++) {
        weight[i] = i % 3;
        for (int k = 0; k < i % 3; k++, count++) {
            memcpy(twice + count * COLUMNS, x + i * COLUMNS, COLUMNS * sizeof(float));
            twice_sign[count] = sign[i];
        }
    }
    for (int l = 0; l < 2; l++) {
        char learner[80];
        klift_batch rows = dense_batch(ROWS, COLUMNS, x), copies = dense_batch(count, COLUMNS, twice);
        rows.target = sign;
        rows.weight = weight;
        copies.target = twice_sign;
        rows.targets = copies.targets = 1;
        snprintf(learner, sizeof learner, "svm:loss=%s,tolerance=1e-10,passes=1000000", loss_name[l]);
        klift_model *a = linear_train(learner, "classify", &rows, "1", NULL), *b = linear_train(learner, "classify", &copies, "1", NULL);
        linear_weights(a, COLUMNS, 1, one);
        linear_weights(b, COLUMNS, 1, other);
        for (int j = 0; j <= COLUMNS; j++)
            assert_true(fabs(one[j] - other[j]) < 2e-4);
        klift_model_free(a);
        klift_model_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gap_is_never_negative_and_goes_to_zero),
        cmocka_unit_test(weights_are_those_of_liblinear),
        cmocka_unit_test(crammer_and_singer_are_those_of_liblinear),
        cmocka_unit_test(weights_count_rows),
        cmocka_unit_test(threads_and_memory_change_no_byte),
        cmocka_unit_test(settings_of_the_learner_become_its_text),
        cmocka_unit_test(held_out_rows_are_those_of_the_folds),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
