/*
 * test_references.c - learner svm against LIBLINEAR and LIBSVM themselves, in one process: weights to 4 digits and the objective within
 * 1e-4 for each loss; and the references as learners: the same bytes, no output, rand() undisturbed, what they refuse.
 * Skipped where klift was built without them.
 */
#include "learn/learner.h"
#include "linear.h"
#include "training.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 200, COLUMNS = 5, LOSSES = 4, WIDE = 40, MANY = 3000 };
static const double c = 0.3; /* small: LIBLINEAR gives up after 1000 passes */
static const char *const loss_name[LOSSES] = {"hinge", "squared-hinge", "epsilon", "squared-epsilon"};

static float wide[MANY * WIDE];
static double wide_sign[MANY], wide_target[MANY];
static float x[2 * ROWS * COLUMNS];
static double sign[2 * ROWS], target[2 * ROWS];

/* The learner is in this build, and its library can be opened: a build for another machine may have found only the header. */
static bool there(const char *learner)
{
    const kl_learn_spec spec = {.goal = KL_CLASSIFY, .lambda = NAN, .c = 1};
    kl_learner *made = NULL;
    klift_status status = KLIFT_USAGE;
    for (int64_t i = 0; kl_learner_type_at(i) != NULL; i++)
        if (strcmp(kl_learner_name_at(i, NULL), learner) == 0)
            status = kl_learner_new(learner, &spec, 1, NULL, &made);
    kl_learner_free(made);
    return status == KLIFT_OK || (status == KLIFT_FAILED && strstr(klift_error(), "cannot be opened") == NULL);
}

#define NEEDS(learner)       \
    do {                     \
        if (!there(learner)) \
            skip();          \
    } while (0)

static klift_batch problem(kl_loss loss)
{
    linear_problem(ROWS, COLUMNS, x, sign, target);
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = loss <= KL_SQUARED_HINGE ? sign : target;
    rows.targets = 1;
    return rows;
}

/* Enough rows to be too many. */
static klift_batch wide_problem(void)
{
    linear_problem(MANY, WIDE, wide, wide_sign, wide_target);
    klift_batch rows = dense_batch(MANY, WIDE, wide);
    rows.target = wide_sign;
    rows.targets = 1;
    return rows;
}

/* Every row again with all its signs turned: the best intercept is 0, with or without a penalty. */
static klift_batch symmetric_problem(kl_loss loss)
{
    klift_batch rows = problem(loss);
    rows.rows = 2 * ROWS;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[ROWS * COLUMNS + i] = -x[i];
    for (int i = 0; i < ROWS; i++) {
        sign[ROWS + i] = -sign[i];
        target[ROWS + i] = -target[i];
    }
    return rows;
}

static const char *task_of(kl_loss loss)
{
    return loss <= KL_SQUARED_HINGE ? "classify" : "regress";
}

/* What the last training told. */
static struct {
    double objective;
    bool gave_up;
} told;

static int note(const klift_event *event, void *user)
{
    (void)user;
    if (event->message != NULL && event->kind == KLIFT_EVENT_NOTE)
        sscanf(event->message, "objective %lf", &told.objective);
    told.gave_up = told.gave_up || (event->kind == KLIFT_EVENT_WARNING && strstr(event->message, "largest number of passes") != NULL);
    return 0;
}

static void learn_with(const char *learner, const char *cost, kl_loss loss, const klift_batch *rows, int64_t outputs, double *w)
{
    const char *const setting[] = {"kernel", "linear", "task", task_of(loss), "c", cost, "learner", learner, NULL};
    klift_model *model;
    klift_run *run;
    told.objective = NAN;
    told.gave_up = false;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_on_event(run, note, NULL);
    if (linear_train_set(rows, setting, run, &model) != KLIFT_OK)
        fail_msg("%s: %s", learner, klift_error());
    klift_run_free(run);
    assert_int_equal(klift_model_outputs(model), outputs);
    linear_weights(model, COLUMNS, outputs, w);
    klift_model_free(model);
}

static void learn(const char *learner, kl_loss loss, const klift_batch *rows, double *w)
{
    learn_with(learner, "0.3", loss, rows, 1, w);
}

/* Weights and objective, which the reference, trained last, tells too; bias: the intercept has a penalty, as the weights. */
static void agree(const char *what, kl_loss loss, const klift_batch *rows, const double *ours, const double *theirs, bool bias)
{
    double objective[2], b[2] = {ours[COLUMNS], theirs[COLUMNS]};
    for (int j = 0; j < COLUMNS + bias; j++)
        if (!(fabs(ours[j] - theirs[j]) < 1e-4))
            fail_msg("%s, %s: weight %d is %.6f, the reference's %.6f", what, loss_name[loss], j, ours[j], theirs[j]);
    for (int k = 0; k < 2; k++)
        objective[k] = linear_objective(loss, c, rows, k == 0 ? ours : theirs, b[k]) + (bias ? b[k] * b[k] / 2 : 0);
    print_message("%s, %s: objective %.7f, the reference's %.7f\n", what, loss_name[loss], objective[0], objective[1]);
    assert_true(fabs(told.objective - objective[1]) < 2e-6 * objective[1] && !told.gave_up);
    if (!(fabs(objective[0] / objective[1] - 1) < 1e-4))
        fail_msg("%s, %s: objective %.7f, the reference's %.7f", what, loss_name[loss], objective[0], objective[1]);
}

static void svm_agrees_with_liblinear_for_every_loss(void **state)
{
    (void)state;
    NEEDS("liblinear");
    for (int l = 0; l < LOSSES; l++) {
        kl_loss loss = (kl_loss)l;
        klift_batch rows = problem(loss);
        double ours[COLUMNS + 1], theirs[COLUMNS + 1];
        char learner[100];
        snprintf(learner, sizeof learner, "svm:loss=%s,tolerance=1e-12,passes=1000000", loss_name[l]);
        learn(learner, loss, &rows, ours);
        for (int primal = 0; primal < (loss == KL_SQUARED_HINGE || loss == KL_SQUARED_EPSILON ? 2 : 1); primal++) {
            snprintf(learner, sizeof learner, "liblinear:loss=%s,tolerance=1e-8,solver=%s", loss_name[l], primal ? "primal" : "dual");
            learn(learner, loss, &rows, theirs);
            agree(learner, loss, &rows, ours, theirs, true);
        }
        snprintf(learner, sizeof learner, "svm:loss=%s,bias=-1,tolerance=1e-12,passes=1000000", loss_name[l]);
        learn(learner, loss, &rows, ours);
        snprintf(learner, sizeof learner, "liblinear:loss=%s,bias=-1,tolerance=1e-8", loss_name[l]);
        learn(learner, loss, &rows, theirs);
        assert_true(theirs[COLUMNS] == 0);
        agree(learner, loss, &rows, ours, theirs, true);
    }
    klift_batch rows = problem(KL_EPSILON);
    double w[COLUMNS + 1];
    learn_with("liblinear:loss=epsilon,tolerance=1e-12", "3", KL_EPSILON, &rows, 1, w);
    assert_true(told.gave_up);
}

static void svm_agrees_with_libsvm(void **state)
{
    static const kl_loss losses[2] = {KL_HINGE, KL_EPSILON};
    (void)state;
    NEEDS("libsvm");
    for (int l = 0; l < 2; l++) {
        double ours[COLUMNS + 1], theirs[COLUMNS + 1];
        char learner[100];
        klift_batch rows = symmetric_problem(losses[l]);
        snprintf(learner, sizeof learner, "svm:loss=%s,bias=-1,tolerance=1e-10,passes=1000000", loss_name[losses[l]]);
        learn(learner, losses[l], &rows, ours);
        learn("libsvm:tolerance=1e-6", losses[l], &rows, theirs);
        agree("libsvm, intercept 0", losses[l], &rows, ours, theirs, false);
        rows = problem(losses[l]);
        snprintf(learner, sizeof learner, "svm:loss=%s,bias=10,tolerance=1e-12,passes=1000000", loss_name[losses[l]]);
        learn(learner, losses[l], &rows, ours);
        learn("libsvm:tolerance=1e-6", losses[l], &rows, theirs);
        agree("libsvm, a large bias", losses[l], &rows, ours, theirs, false);
        assert_true(fabs(ours[COLUMNS] - theirs[COLUMNS]) < 1e-3);
    }
    klift_batch rows = problem(KL_EPSILON);
    double here[COLUMNS + 1], there[COLUMNS + 1];
    learn("libsvm:tolerance=1e-6", KL_EPSILON, &rows, here);
    for (int i = 0; i < ROWS; i++)
        target[i] += 10;
    learn("libsvm:tolerance=1e-6", KL_EPSILON, &rows, there);
    for (int j = 0; j <= COLUMNS; j++) /* the intercept takes all of it */
        assert_true(fabs(there[j] - here[j] - (j == COLUMNS ? 10 : 0)) < 1e-4);
}

static void several_classes_are_each_told_from_the_rest(void **state)
{
    static const char *const learner[2] = {"liblinear:loss=hinge,tolerance=1e-8", "libsvm:tolerance=1e-6"};
    double three[ROWS], all[3 * (COLUMNS + 1)], one[COLUMNS + 1];
    (void)state;
    for (int k = 0; k < 2; k++) {
        if (!there(k == 0 ? "liblinear" : "libsvm"))
            continue;
        klift_batch rows = problem(KL_HINGE);
        for (int i = 0; i < ROWS; i++)
            three[i] = sign[i] < 0 ? 0 : x[i * COLUMNS + 2] > 0 ? 2 : 1;
        rows.target = three;
        learn_with(learner[k], "0.3", KL_HINGE, &rows, 3, all);
        rows.target = sign;
        for (int o = 0; o < 3; o++) {
            for (int i = 0; i < ROWS; i++)
                sign[i] = three[i] == o ? 1 : -1;
            learn(learner[k], KL_HINGE, &rows, one);
            agree(learner[k], KL_HINGE, &rows, all + o * (COLUMNS + 1), one, k == 0);
        }
    }
}

/* What is written to file descriptors 1 and 2 while a learner trains, in bytes. */
static long printed(const char *learner, const klift_batch *rows)
{
    char *path = temp_path("printed");
    FILE *file = fopen(path, "w");
    int out = dup(1), err = dup(2);
    assert_non_null(file);
    fflush(stdout);
    fflush(stderr);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    klift_model *model = linear_train(learner, "classify", rows, "1", NULL);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    assert_non_null(model);
    klift_model_free(model);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    fclose(file);
    return bytes;
}

static void references_leave_no_trace(void **state)
{
    static const char *const learner[2] = {"liblinear:loss=hinge", "libsvm"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        if (!there(k == 0 ? "liblinear" : "libsvm"))
            continue;
        klift_batch rows = wide_problem();
        char *first = NULL;
        int64_t first_count = 0;
        for (int again = 0; again < 3; again++) {
            int64_t count;
            srand(5 + (unsigned)again);
            int one = rand();
            klift_model *model = linear_train(learner[k], "classify", &rows, again == 1 ? "2" : "1", again == 2 ? "108M" : NULL);
            int two = rand();
            assert_non_null(model);
            srand(5 + (unsigned)again);
            assert_true(rand() == one && rand() == two);
            char *bytes = bytes_of(model, &count);
            klift_model_free(model);
            if (again == 0) {
                first = bytes;
                first_count = count;
                continue;
            }
            assert_int_equal(count, first_count);
            assert_memory_equal(bytes, first, (size_t)count);
            free(bytes);
        }
        free(first);
        assert_int_equal(printed(learner[k], &rows), 0);
    }
}

static void *train_aside(void *learner)
{
    klift_batch rows = dense_batch(MANY, WIDE, wide);
    rows.target = wide_sign;
    rows.targets = 1;
    return linear_train(learner, "classify", &rows, "1", NULL);
}

/* The library's generator is one for all threads. */
static void trainings_at_the_same_time_are_those_one_after_the_other(void **state)
{
    enum { TOGETHER = 3 };
    static char learner[2][24] = {"liblinear:loss=hinge", "libsvm"};
    (void)state;
    wide_problem();
    for (int k = 0; k < 2; k++) {
        if (!there(k == 0 ? "liblinear" : "libsvm"))
            continue;
        pthread_t thread[TOGETHER];
        int64_t count, other_count;
        klift_model *alone = train_aside(learner[k]);
        assert_non_null(alone);
        char *bytes = bytes_of(alone, &count);
        klift_model_free(alone);
        for (int t = 0; t < TOGETHER; t++)
            assert_int_equal(pthread_create(&thread[t], NULL, train_aside, learner[k]), 0);
        for (int t = 0; t < TOGETHER; t++) {
            void *model;
            assert_int_equal(pthread_join(thread[t], &model), 0);
            assert_non_null(model);
            char *other = bytes_of(model, &other_count);
            assert_int_equal(other_count, count);
            assert_memory_equal(other, bytes, (size_t)count);
            free(other);
            klift_model_free(model);
        }
        free(bytes);
    }
}

/* Weights of rows that are one number per class are costs of the classes; zero: the row is not there. */
static void weights_of_the_two_sides_are_costs(void **state)
{
    double weight[ROWS], ours[COLUMNS + 1], theirs[COLUMNS + 1];
    (void)state;
    NEEDS("liblinear");
    klift_batch rows = problem(KL_HINGE);
    for (int i = 0; i < ROWS; i++)
        weight[i] = i % 4 == 0 ? 0 : sign[i] > 0 ? 2 : 0.5;
    rows.weight = weight;
    learn("svm:loss=hinge,tolerance=1e-12,passes=1000000", KL_HINGE, &rows, ours);
    learn("liblinear:loss=hinge,tolerance=1e-8", KL_HINGE, &rows, theirs);
    for (int j = 0; j <= COLUMNS; j++)
        assert_true(fabs(ours[j] - theirs[j]) < 1e-4);
    static const char *const setting[2][11] = {{"kernel", "linear", "task", "classify", "c", "0.3", "class-weight", "1=2,-1=0.5", "learner", "svm:loss=squared-hinge,tolerance=1e-12", NULL},
                                               {"kernel", "linear", "task", "classify", "c", "0.3", "class-weight", "1=2,-1=0.5", "learner", "liblinear:tolerance=1e-8", NULL}};
    rows.weight = NULL;
    for (int k = 0; k < 2; k++) {
        klift_model *model;
        assert_int_equal(linear_train_set(&rows, setting[k], NULL, &model), KLIFT_OK);
        linear_weights(model, COLUMNS, 1, k == 0 ? ours : theirs);
        klift_model_free(model);
    }
    for (int j = 0; j <= COLUMNS; j++)
        assert_true(fabs(ours[j] - theirs[j]) < 1e-4);
}

/* A class whose rows have no weight is never the answer, and nothing is said to the terminal about it. */
static void a_side_without_rows_is_learnt_all_the_same(void **state)
{
    static const char *const learner[2] = {"liblinear:loss=hinge", "libsvm"};
    double weight[ROWS], w[COLUMNS + 1], score[ROWS];
    (void)state;
    for (int k = 0; k < 2; k++)
        for (double side = -1; side <= 1; side += 2) {
            if (!there(k == 0 ? "liblinear" : "libsvm"))
                continue;
            klift_batch rows = problem(KL_HINGE);
            for (int i = 0; i < ROWS; i++)
                weight[i] = sign[i] == side;
            rows.weight = weight;
            klift_model *model = linear_train(learner[k], "classify", &rows, "1", NULL);
            assert_non_null(model);
            linear_weights(model, COLUMNS, 1, w);
            assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
            for (int i = 0; i < ROWS; i++)
                assert_true(sign[i] != side || score[i] * side > 0);
            klift_model_free(model);
            assert_int_equal(printed(learner[k], &rows), 0);
        }
}

static void what_references_cannot_is_refused(void **state)
{
    static const struct {
        const char *learner, *task, *memory, *answer;
        bool weights;
    } wrong[] = {
        {"liblinear:loss=epsilon", "classify", NULL, "learner liblinear: loss=epsilon or squared-epsilon is for regression", false},
        {"liblinear:loss=hinge,solver=primal", "classify", NULL, "use solver=dual", false},
        {"liblinear", "classify", NULL, "need learner=svm", true},
        {"libsvm", "regress", NULL, "need learner=svm", true},
        {"liblinear", "classify", "2M", "the rows as the library reads them", false},
        {"libsvm", "classify", "50M", "LIBSVM's cache", false},
    };
    double weight[ROWS];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (!there(strncmp(wrong[i].learner, "libsvm", 6) == 0 ? "libsvm" : "liblinear"))
            continue;
        klift_batch rows = wrong[i].memory != NULL ? wide_problem() : problem(strcmp(wrong[i].task, "classify") == 0 ? KL_HINGE : KL_EPSILON);
        for (int r = 0; r < ROWS; r++)
            weight[r] = 1 + r % 3;
        rows.weight = wrong[i].weights ? weight : NULL;
        assert_null(linear_train(wrong[i].learner, wrong[i].task, &rows, "1", wrong[i].memory));
        if (strstr(klift_error(), wrong[i].answer) == NULL)
            fail_msg("%s: no '%s' in: %s", wrong[i].learner, wrong[i].answer, klift_error());
    }
    for (int k = 0; k < 2; k++) {
        const char *const setting[] = {"task", "classify", "kernel", "linear", "search", "folds", "learner", k == 0 ? "liblinear" : "libsvm", NULL};
        klift_model *model;
        klift_batch rows = problem(KL_HINGE);
        if (!there(setting[7]))
            continue;
        assert_int_equal(linear_train_set(&rows, setting, NULL, &model), KLIFT_USAGE);
        assert_non_null(strstr(klift_error(), "holds no rows out"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svm_agrees_with_liblinear_for_every_loss),
        cmocka_unit_test(svm_agrees_with_libsvm),
        cmocka_unit_test(several_classes_are_each_told_from_the_rest),
        cmocka_unit_test(references_leave_no_trace),
        cmocka_unit_test(trainings_at_the_same_time_are_those_one_after_the_other),
        cmocka_unit_test(weights_of_the_two_sides_are_costs),
        cmocka_unit_test(a_side_without_rows_is_learnt_all_the_same),
        cmocka_unit_test(what_references_cannot_is_refused),
    };
    int missing = 0;
    for (int k = 0; k < 2; k++)
        if (!there(k == 0 ? "liblinear" : "libsvm")) {
            print_message("skipped: %s as the reference of svm (%s-dev was not there when klift was built, or its library is not here)\n", k == 0 ? "LIBLINEAR" : "LIBSVM", k == 0 ? "liblinear" : "libsvm");
            missing++;
        }
    if (missing == 2)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
