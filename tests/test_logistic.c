/*
 * test_logistic.c - the learner logistic: weights of scikit-learn 1.2.1's LogisticRegression, derivatives by differences, threads and
 * memory, weights of rows and classes, and what is refused.
 */
#include "learn/log_loss.h"
#include "support.h"
#include "learning.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 200, COLUMNS = 5, CLASSES = 3, WIDE = COLUMNS + 1 };

static float x[ROWS * COLUMNS];
static double sign[ROWS], class_of[ROWS], weight[ROWS];

static void make_problem(void)
{
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++) {
        double f = (double)x[i * COLUMNS] + 0.5 * (double)x[i * COLUMNS + 1], noise = syn_normal((uint64_t)i, 100);
        sign[i] = f + 0.3 * noise > 0 ? 1 : -1;
        class_of[i] = sign[i] < 0 ? 0 : (double)x[i * COLUMNS + 2] + 0.2 * noise > 0 ? 2 : 1;
        weight[i] = i % 3;
    }
}

static klift_batch problem(const double *y)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = y;
    rows.targets = 1;
    return rows;
}

/* The rows as text for the commands in the comments below: test_logistic rows >rows.txt. */
static int print_rows(void)
{
    make_problem();
    for (int i = 0; i < ROWS; i++) {
        printf("%g %g %g", sign[i], class_of[i], weight[i]);
        for (int j = 0; j < COLUMNS; j++)
            printf(" %.9g", (double)x[i * COLUMNS + j]);
        printf("\n");
    }
    return 0;
}

/*
 * import numpy as np; from sklearn.linear_model import LogisticRegression as L
 * a = np.loadtxt("rows.txt"); s, k, m, x = a[:, 0], a[:, 1], a[:, 2], a[:, 3:]; o = dict(C=3, tol=1e-10, solver="newton-cg")
 * for q in (L(**o).fit(x, s), L(**o).fit(x, s, m), L(multi_class="multinomial", **o).fit(x, k), L(multi_class="ovr", **o).fit(x, k)):
 *     print(np.round(np.hstack([q.coef_, q.intercept_[:, None]]), 6))
 */
static void weights_are_those_of_scikit_learn(void **state)
{
    static const struct {
        const char *learner;
        int outputs;
        bool weighted;
        double figure[CLASSES][WIDE];
    } all[] = {
        {"logistic:tolerance=1e-10", 1, false, {{5.404149, 2.744449, 0.062292, 0.540317, -0.159971, 0.360097}}},
        {"logistic:tolerance=1e-10", 1, true, {{5.472863, 2.923456, 0.585287, 0.455485, 0.113193, 0.234451}}},
        {"logistic:tolerance=1e-10", CLASSES, false,
         {{-4.070191, -2.051079, 0.477189, -0.312122, 0.000404, 0.555573},
          {2.609416, 1.271272, -2.986329, -0.146702, 0.142823, -0.885379},
          {1.460775, 0.779807, 2.509140, 0.458824, -0.143227, 0.329806}}},
        {"logistic:tolerance=1e-10,classes=one-vs-rest", CLASSES, false,
         {{-5.404149, -2.744449, -0.062292, -0.540317, 0.159971, -0.360097},
          {3.186213, 1.382613, -4.409453, -0.529561, 0.280442, -2.504312},
          {2.441495, 1.391951, 3.061129, 0.422014, 0.175734, -1.201429}}},
    };
    (void)state;
    make_problem();
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        double w[CLASSES * WIDE];
        klift_model *model;
        klift_batch rows = problem(all[k].outputs == 1 ? sign : class_of);
        rows.weight = all[k].weighted ? weight : NULL;
        assert_int_equal(learn_rows(&rows, &(training){.learner = all[k].learner, .task = "classify", .c = "3"}, &model), KLIFT_OK);
        linear_weights_of(model, COLUMNS, all[k].outputs, w);
        klift_model_free(model);
        for (int i = 0; i < all[k].outputs * WIDE; i++)
            if (!(fabs(w[i] - all[k].figure[i / WIDE][i % WIDE]) < 2e-5))
                fail_msg("%s: weight %d is %.6f, scikit-learn's %.6f", all[k].learner, i, w[i], all[k].figure[i / WIDE][i % WIDE]);
    }
}

/* ---- log_loss.c by itself ---- */

static klift_status take(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, kl_row *z)
{
    (void)run;
    for (int64_t i = 0; i < count; i++)
        z[i] = (kl_row){.count = passes->features, .value = x + index[i] * passes->features};
    return KLIFT_OK;
}

static void derivatives_are_those_of_differences(void **state)
{
    static const int64_t output_of[CLASSES] = {1, 0, 2}, one_of[CLASSES] = {-1, 0, 0};
    enum { MOST = CLASSES * WIDE };
    (void)state;
    make_problem();
    for (int k = 0; k < 3; k++) { /* binary, one against the rest, multinomial */
        kl_passes passes = {.rows = ROWS, .features = COLUMNS, .at_most = 64, .take = take};
        kl_log_loss l = {.passes = &passes, .features = COLUMNS, .outputs = k == 0 ? 1 : CLASSES, .class_of = class_of, .output_of = k == 0 ? one_of : output_of,
                         .weight = weight, .n = 200, .lambda = 0.01, .joint = k == 2};
        double w[MOST], s[MOST], g[MOST], h[MOST], there[2][MOST], value[2], ahead;
        int64_t size = kl_log_loss_size(&l);
        assert_int_equal(kl_log_loss_new(&l), KLIFT_OK);
        for (int64_t i = 0; i < size; i++) {
            w[i] = 2 * syn_normal(1, (uint64_t)i);
            s[i] = syn_normal(2, (uint64_t)i);
        }
        assert_int_equal(kl_log_loss_look(&l, w, &ahead, g), KLIFT_OK);
        assert_int_equal(kl_log_loss_curve(&l, w, s, h), KLIFT_OK);
        double far = 0, slope = 0, step = 1e-5;
        for (int side = 0; side < 2; side++) {
            double to[MOST];
            for (int64_t i = 0; i < size; i++)
                to[i] = w[i] + (side == 0 ? step : -step) * s[i];
            assert_int_equal(kl_log_loss_look(&l, to, &value[side], there[side]), KLIFT_OK);
        }
        for (int64_t i = 0; i < size; i++) {
            slope += g[i] * s[i];
            far = fmax(far, fabs((there[0][i] - there[1][i]) / (2 * step) - h[i]));
        }
        print_message("outputs %d: slope %.9f, by differences %.9f; curvature within %.1e\n", (int)l.outputs, slope, (value[0] - value[1]) / (2 * step), far);
        assert_true(fabs(slope - (value[0] - value[1]) / (2 * step)) < 1e-8);
        assert_true(far < 1e-8);
        kl_log_loss_clear(&l);
    }
}

/* ---- through klift.h ---- */

/* Several blocks of rows, features in memory and in a file. */
static void threads_and_memory_change_no_byte(void **state)
{
    enum { MANY = 9000, WIDTH = 40 };
    static const char *const learner[] = {"logistic", "logistic:classes=one-vs-rest,passes=9"};
    float *many = malloc(MANY * WIDTH * sizeof *many);
    double *label = malloc(MANY * sizeof *label);
    (void)state;
    syn_rows_float(MANY, WIDTH, many);
    for (int i = 0; i < MANY; i++)
        label[i] = (double)((many[i * WIDTH] > 0) + 2 * (many[i * WIDTH + 1] > 0) + (many[i * WIDTH + 2] > 0.2f));
    klift_batch rows = dense_batch(MANY, WIDTH, many);
    rows.target = label;
    rows.targets = 1;
    for (int l = 0; l < 2; l++) {
        training way = {.learner = learner[l], .task = "classify"}, ways[4] = {way, way, way, way};
        ways[1].threads = ways[3].threads = "2";
        ways[1].batch = "100";
        ways[2].threads = "3";
        ways[3].memory = "2M"; /* in a file */
        check_same_bytes(&rows, ways, 4);
    }
    free(many);
    free(label);
}

static void sparse_rows_are_dense_ones(void **state)
{
    (void)state;
    check_sparse_bytes("logistic", "classify");
    check_sparse_bytes("logistic:classes=one-vs-rest", "classify");
}

/* A row of weight two is two rows, one of weight zero is none; so is a class. */
static void weights_count_rows(void **state)
{
    static float twice[2 * ROWS * COLUMNS];
    static double label[2 * ROWS];
    double one[CLASSES * WIDE], other[CLASSES * WIDE];
    int count = 0;
    klift_model *model;
    training how = {.learner = "logistic:tolerance=1e-10", .task = "classify", .c = "3"};
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < i % 3; k++, count++) {
            memcpy(twice + count * COLUMNS, x + i * COLUMNS, COLUMNS * sizeof(float));
            label[count] = class_of[i];
        }
    klift_batch rows = problem(class_of), copies = dense_batch(count, COLUMNS, twice);
    rows.weight = weight;
    copies.target = label;
    copies.targets = 1;
    assert_int_equal(learn_rows(&rows, &how, &model), KLIFT_OK);
    linear_weights_of(model, COLUMNS, CLASSES, one);
    klift_model_free(model);
    assert_int_equal(learn_rows(&copies, &how, &model), KLIFT_OK);
    linear_weights_of(model, COLUMNS, CLASSES, other);
    klift_model_free(model);
    for (int i = 0; i < CLASSES * WIDE; i++)
        assert_true(fabs(one[i] - other[i]) < 1e-6);
}

/* Its probability goes to zero: the others are told apart as by a training without it, and the model still knows its name. */
static void a_class_of_weight_zero_is_never_the_answer(void **state)
{
    double score[ROWS * CLASSES];
    klift_model *model;
    klift_batch rows = problem(class_of);
    (void)state;
    make_problem();
    assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic", .task = "classify", .c = "3", .class_weight = "1=0"}, &model), KLIFT_OK);
    assert_int_equal(klift_model_classes(model), CLASSES);
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
    klift_model_free(model);
    for (int i = 0; i < ROWS; i++)
        assert_true(score[i * CLASSES + 1] < fmax(score[i * CLASSES], score[i * CLASSES + 2]) - 3);
}

/* balanced over rows that can be read once only is that over rows that were counted. */
static void balanced_needs_no_second_look(void **state)
{
    enum { MANY = 20000 }; /* more than a pipe's survey keeps */
    static const int block = 100;
    float *many = malloc(MANY * COLUMNS * sizeof *many);
    double *label = malloc(MANY * sizeof *label), w[2][WIDE];
    (void)state;
    syn_rows_float(MANY, COLUMNS, many);
    for (int i = 0; i < MANY; i++)
        label[i] = many[i * COLUMNS] > 0.3f || i % block == 0;
    klift_batch rows = dense_batch(MANY, COLUMNS, many);
    rows.target = label;
    rows.targets = 1;
    for (int k = 0; k < 2; k++) {
        klift_model *model;
        assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic:tolerance=1e-9", .task = "classify", .class_weight = "balanced", .once = k == 1}, &model), KLIFT_OK);
        linear_weights_of(model, COLUMNS, 1, w[k]);
        klift_model_free(model);
    }
    for (int j = 0; j < WIDE; j++)
        assert_true(fabs(w[0][j] - w[1][j]) < 1e-5 * fabs(w[0][j]));
    free(many);
    free(label);
}

/* The scores are logarithms of odds: the model has probabilities without being asked for them. */
static void probabilities_are_those_of_the_scores(void **state)
{
    double score[ROWS * CLASSES], probability[ROWS * CLASSES];
    (void)state;
    make_problem();
    for (int outputs = 1; outputs <= CLASSES; outputs += CLASSES - 1) {
        int classes = outputs == 1 ? 2 : CLASSES;
        klift_model *model;
        klift_batch rows = problem(outputs == 1 ? sign : class_of);
        assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic", .task = "classify", .c = "3"}, &model), KLIFT_OK);
        assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
        assert_int_equal(klift_model_predict(model, &rows, KLIFT_PROBABILITY, probability, NULL), KLIFT_OK);
        klift_model_free(model);
        for (int i = 0; i < ROWS; i++) {
            double f[CLASSES] = {0, score[i]}, sum = 0;
            for (int k = 0; k < classes; k++)
                sum += exp(f[k] = outputs > 1 ? score[i * CLASSES + k] : f[k]);
            for (int k = 0; k < classes; k++)
                assert_true(fabs(probability[i * classes + k] - exp(f[k]) / sum) < 1e-12);
        }
    }
}

static void one_class_is_answered_with_it(void **state)
{
    double ones[ROWS] = {0}, score[ROWS];
    klift_model *model;
    klift_batch rows = problem(ones);
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        ones[i] = 1;
    assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic", .task = "classify"}, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "one class only"));
    assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic", .task = "classify", .allow_one_class = "true"}, &model), KLIFT_OK);
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
    for (int i = 0; i < ROWS; i++)
        assert_true(score[i] > 5 && isfinite(score[i]));
    klift_model_free(model);
}

static int note_warning(const klift_event *event, void *user)
{
    if (event->kind == KLIFT_EVENT_WARNING && strstr(event->message, "allow more passes") != NULL)
        *(int *)user += 1;
    return 0;
}

static void too_few_passes_are_told(void **state)
{
    int told = 0;
    klift_model *model;
    klift_batch rows = problem(sign);
    (void)state;
    make_problem();
    assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic:passes=3", .task = "classify", .event = note_warning, .user = &told}, &model), KLIFT_OK);
    assert_int_equal(told, 1);
    klift_model_free(model);
    assert_int_equal(learn_rows(&rows, &(training){.learner = "logistic", .task = "classify", .event = note_warning, .user = &told}, &model), KLIFT_OK);
    assert_int_equal(told, 1);
    klift_model_free(model);
}

static void what_cannot_be_is_refused(void **state)
{
    static const refusal wrong[] = {
        {{.learner = "logistic", .task = "regress"}, KLIFT_USAGE, "learner logistic is for classes"},
        {{.learner = "logistic", .task = "classify", .search = "folds"}, KLIFT_USAGE, "holds no rows out"},
        {{.learner = "logistic:passes=1", .task = "classify"}, KLIFT_USAGE, "passes"},
        {{.learner = "logistic:classes=crammer-singer", .task = "classify"}, KLIFT_USAGE, "multinomial"},
        {{.learner = "logistic:tolerance=0", .task = "classify"}, KLIFT_USAGE, "tolerance"},
        {{.learner = "logistic:loss=hinge", .task = "classify"}, KLIFT_USAGE, "loss"},
        {{.learner = "logistic", .task = "classify", .class_weight = "7=2"}, KLIFT_DATA, "no row has the label '7'"},
        {{.learner = "logistic", .task = "classify", .class_weight = "1=0,-1=0"}, KLIFT_DATA, "all weights are zero"},
    };
    klift_model *model;
    klift_batch rows = problem(sign), three = problem(class_of);
    (void)state;
    make_problem();
    assert_int_equal(learn_rows(&three, &(training){.learner = "logistic:classes=one-vs-rest", .task = "classify", .probability = "true"}, &model), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "use classes=multinomial"));
    check_refusals(&rows, wrong, sizeof wrong / sizeof wrong[0]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_scikit_learn),
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(threads_and_memory_change_no_byte),
        cmocka_unit_test(sparse_rows_are_dense_ones),
        cmocka_unit_test(weights_count_rows),
        cmocka_unit_test(a_class_of_weight_zero_is_never_the_answer),
        cmocka_unit_test(balanced_needs_no_second_look),
        cmocka_unit_test(probabilities_are_those_of_the_scores),
        cmocka_unit_test(one_class_is_answered_with_it),
        cmocka_unit_test(too_few_passes_are_told),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    if (argc > 1 && strcmp(argv[1], "rows") == 0)
        return print_rows();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
