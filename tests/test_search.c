/*
 * test_search.c - the lambda search against brute force: every fold refitted on its rows in float64, squared errors to
 * 1e-6, 0/1 errors exactly, GCV by its definition.
 */
#include "learn/ridge.h"
#include "support.h"

#include "base/memory.h"
#include "math/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 700, D = 24, TARGETS = 2, CLASSES = 4 };

/* Features are the rows themselves: the learner's lift is the identity. */
static klift_status same(const void *user, const kl_batch *x, float *z, int64_t stride, int worker)
{
    (void)user;
    (void)worker;
    for (int64_t i = 0; i < x->rows; i++)
        memcpy(z + i * stride, x->dense + i * x->stride, D * sizeof *z);
    return KLIFT_OK;
}

typedef struct problem {
    float z[N * D];
    double y[N * TARGETS];
    double weight[N];
    char name[N][8];
    const char *label[N];
    int class[N];
} problem;

static problem *make_problem(void)
{
    problem *p = calloc(1, sizeof *p);
    kl_random from = {99, 0, 7};
    for (int i = 0; i < N; i++) {
        double g[D], e[4];
        kl_random_normals(&from, (uint32_t)i, D, g);
        kl_random_normals(&from, (uint32_t)(N + i), 4, e);
        for (int j = 0; j < D; j++)
            p->z[i * D + j] = (float)(g[j] * (j % 5 == 0 ? 0.05 : 1) + 3);
        p->y[i * TARGETS] = 50 + g[0] - 2 * g[1] + g[2] * g[3] + 0.5 * e[0];
        p->y[i * TARGETS + 1] = 1e3 * (g[4] + g[5] * g[0]) + 300 * e[1];
        p->weight[i] = i % 7 == 0 ? 2.5 : 1;
        p->class[i] = (g[0] + 0.3 * e[2] > 0) + 2 * (g[1] * g[1] + 0.3 * e[3] > 0.5);
        snprintf(p->name[i], sizeof p->name[i], "c%d", p->class[i]);
        p->label[i] = p->name[i];
    }
    return p;
}

static kl_batch batch_of(const problem *p, kl_goal goal)
{
    kl_batch b = {.size = sizeof b, .rows = N, .columns = D, .dense = p->z, .stride = D, .weight = p->weight};
    if (goal == KL_REGRESS) {
        b.target = p->y;
        b.targets = TARGETS;
    } else
        b.label = p->label;
    return b;
}

static kl_learner *learn(const problem *p, kl_goal goal, kl_search search, double lambda)
{
    kl_learn_spec spec = {.goal = goal, .lambda = lambda, .c = NAN, .search_given = true, .search = search, .folds = 5, .seed = 3};
    kl_learner *learner;
    kl_batch b = batch_of(p, goal);
    assert_int_equal(kl_learner_new("ridge", &spec, D, NULL, &learner), KLIFT_OK);
    assert_int_equal(learner->type->observe(learner, &b), KLIFT_OK);
    assert_int_equal(learner->type->consume(learner, p->z, D, N, NULL), KLIFT_OK);
    return learner;
}

/* The fold of a row, as the statistics see it. */
static int fold_of(const problem *p, kl_goal goal, int sets, int row)
{
    kl_statistics s = {.sets = sets, .folds = 5};
    kl_batch b = batch_of(p, goal);
    return kl_statistics_set_of(&s, kl_statistics_key(&b, row, goal == KL_CLASSIFY ? p->label[row] : NULL));
}

/* Ridge with intercept on the rows not in fold `out`, by Gaussian elimination on centred rows: w (D), b. */
static void refit(const problem *p, const int *fold, int out, const double *y, double lambda, double *w, double *b)
{
    double mean[D] = {0}, ybar = 0, n = 0, a[D][D + 1] = {{0}};
    for (int i = 0; i < N; i++)
        if (fold[i] != out) {
            n += p->weight[i];
            ybar += p->weight[i] * y[i];
            for (int j = 0; j < D; j++)
                mean[j] += p->weight[i] * (double)p->z[i * D + j];
        }
    ybar /= n;
    for (int j = 0; j < D; j++)
        mean[j] /= n;
    for (int i = 0; i < N; i++)
        if (fold[i] != out)
            for (int j = 0; j < D; j++) {
                double zj = p->weight[i] * ((double)p->z[i * D + j] - mean[j]);
                for (int k = 0; k < D; k++)
                    a[j][k] += zj * ((double)p->z[i * D + k] - mean[k]);
                a[j][D] += zj * (y[i] - ybar);
            }
    for (int j = 0; j < D; j++)
        a[j][j] += lambda * n;
    for (int j = 0; j < D; j++)
        for (int i = 0; i < D; i++)
            if (i != j) {
                double f = a[i][j] / a[j][j];
                for (int k = j; k <= D; k++)
                    a[i][k] -= f * a[j][k];
            }
    *b = ybar;
    for (int j = 0; j < D; j++) {
        w[j] = a[j][D] / a[j][j];
        *b -= mean[j] * w[j];
    }
}

static double apply(const problem *p, int row, const double *w, double b)
{
    for (int j = 0; j < D; j++)
        b += w[j] * (double)p->z[row * D + j];
    return b;
}

static double brute_squares(const problem *p, const int *fold, int folds, double lambda)
{
    double total = 0, held = 0;
    for (int f = 0; f < folds; f++)
        for (int t = 0; t < TARGETS; t++) {
            double y[N], w[D], b;
            for (int i = 0; i < N; i++)
                y[i] = p->y[i * TARGETS + t];
            refit(p, fold, f, y, lambda, w, &b);
            for (int i = 0; i < N; i++)
                if (fold[i] == f) {
                    double e = y[i] - apply(p, i, w, b);
                    total += p->weight[i] * e * e;
                    held += p->weight[i];
                }
        }
    return total / held; /* held counts each row once per target, as the mean over targets does */
}

static double brute_wrong(const problem *p, const int *fold, int folds, double lambda)
{
    double wrong = 0, held = 0;
    for (int f = 0; f < folds; f++) {
        double w[CLASSES][D], b[CLASSES];
        for (int c = 0; c < CLASSES; c++) {
            double y[N];
            for (int i = 0; i < N; i++)
                y[i] = p->class[i] == c;
            refit(p, fold, f, y, lambda, w[c], &b[c]);
        }
        for (int i = 0; i < N; i++)
            if (fold[i] == f) {
                int best = 0;
                for (int c = 1; c < CLASSES; c++)
                    if (apply(p, i, w[c], b[c]) > apply(p, i, w[best], b[best]))
                        best = c;
                held += p->weight[i];
                wrong += best != p->class[i] ? p->weight[i] : 0;
            }
    }
    return wrong / held;
}

static void check_path(kl_goal goal, kl_search search, int sets, int tested)
{
    problem *p = make_problem();
    kl_learner *learner = learn(p, goal, search, NAN);
    kl_lift lift = {NULL, same};
    kl_weights weights;
    int fold[N];
    assert_int_equal(learner->type->finish(learner, &lift, NULL, &weights), KLIFT_OK);
    assert_int_equal(weights.search, search);
    assert_true(weights.path_points >= 4);
    for (int i = 0; i < N; i++)
        fold[i] = fold_of(p, goal, sets, i);
    double least = INFINITY, at = 0;
    for (int64_t i = 0; i < weights.path_points; i++) {
        double lambda = weights.path[i].lambda, error = weights.path[i].error;
        double brute = goal == KL_REGRESS ? brute_squares(p, fold, tested, lambda) : brute_wrong(p, fold, tested, lambda);
        if (goal == KL_REGRESS)
            assert_true(fabs(error - brute) <= 1e-6 * brute);
        else
            assert_true(fabs(error - brute) <= 1e-12); /* the same rows are wrong; sums of 1s and 2.5s are exact */
        if (goal == KL_CLASSIFY && error <= least) { /* ascending lambda: ties to the largest */
            least = error;
            at = lambda;
        }
    }
    if (goal == KL_CLASSIFY) {
        assert_true(weights.lambda == at);
        assert_true(weights.cv_error == least);
    }
    kl_weights_clear(&weights);
    kl_learner_free(learner);
    free(p);
}

static void squared_errors_of_the_folds_equal_refits(void **state)
{
    (void)state;
    check_path(KL_REGRESS, KL_BY_FOLDS, 5, 5);
}

static void squared_errors_of_the_held_out_fold_equal_a_refit(void **state)
{
    (void)state;
    check_path(KL_REGRESS, KL_BY_HOLDOUT, 2, 1);
}

static void zero_one_errors_of_the_folds_equal_refits_exactly(void **state)
{
    (void)state;
    check_path(KL_CLASSIFY, KL_BY_FOLDS, 5, 5);
}

static void zero_one_errors_of_the_held_out_fold_equal_a_refit_exactly(void **state)
{
    (void)state;
    check_path(KL_CLASSIFY, KL_BY_HOLDOUT, 2, 1);
}

static void the_final_weights_equal_a_refit_on_all_rows(void **state)
{
    problem *p = make_problem();
    kl_learner *learner = learn(p, KL_REGRESS, KL_BY_FOLDS, NAN);
    kl_lift lift = {NULL, same};
    kl_weights weights;
    int fold[N] = {0};
    (void)state;
    assert_int_equal(learner->type->finish(learner, &lift, NULL, &weights), KLIFT_OK);
    for (int t = 0; t < TARGETS; t++) {
        double y[N], w[D], b;
        for (int i = 0; i < N; i++)
            y[i] = p->y[i * TARGETS + t];
        refit(p, fold, -1, y, weights.lambda, w, &b);
        for (int i = 0; i < N; i += 13) {
            double ours = apply(p, i, weights.w + t * D, weights.b[t]), theirs = apply(p, i, w, b);
            assert_true(fabs(ours - theirs) <= 1e-6 * (1 + fabs(theirs)));
        }
    }
    kl_weights_clear(&weights);
    kl_learner_free(learner);
    free(p);
}

/* n RSS / (n - df)^2 with df from the trace of the hat matrix, computed column by column. */
static double brute_gcv(const problem *p, double lambda)
{
    int fold[N] = {0};
    double n = 0, df = 0, rss = 0;
    for (int i = 0; i < N; i++)
        n += p->weight[i];
    for (int t = 0; t < TARGETS; t++) {
        double y[N], w[D], b;
        for (int i = 0; i < N; i++)
            y[i] = p->y[i * TARGETS + t];
        refit(p, fold, -1, y, lambda, w, &b);
        for (int i = 0; i < N; i++) {
            double e = y[i] - apply(p, i, w, b);
            rss += p->weight[i] * e * e;
        }
    }
    for (int i = 0; i < N; i++) { /* the response of a row to itself, times its weight */
        double y[N] = {0}, w[D], b;
        y[i] = 1;
        refit(p, fold, -1, y, lambda, w, &b);
        df += apply(p, i, w, b);
    }
    return n * rss / TARGETS / ((n - df) * (n - df));
}

static void gcv_equals_its_definition(void **state)
{
    problem *p = make_problem();
    kl_learner *learner = learn(p, KL_REGRESS, KL_BY_GCV, NAN);
    kl_lift lift = {NULL, same};
    kl_weights weights;
    (void)state;
    assert_int_equal(learner->type->finish(learner, &lift, NULL, &weights), KLIFT_OK);
    for (int64_t i = 0; i < weights.path_points; i += 2) {
        double brute = brute_gcv(p, weights.path[i].lambda);
        assert_true(fabs(weights.path[i].error - brute) <= 1e-6 * brute);
    }
    kl_weights_clear(&weights);
    kl_learner_free(learner);
    free(p);
}

static void copies_of_a_row_share_their_fold(void **state)
{
    float x[2][3] = {{1, 0, 2}, {1, 0, 2}}, other[3] = {1, 1e-30f, 2};
    double y[2] = {5, 5};
    int64_t start[2] = {0, 2};
    int32_t column[2] = {0, 2};
    float value[2] = {1, 2};
    kl_batch dense = {.size = sizeof dense, .rows = 2, .columns = 3, .dense = x[0], .stride = 3, .target = y, .targets = 1};
    kl_batch sparse = {.size = sizeof sparse, .rows = 1, .columns = 3, .start = start, .column = column, .value = value, .target = y, .targets = 1};
    kl_batch third = {.size = sizeof third, .rows = 1, .columns = 3, .dense = other, .stride = 3, .target = y, .targets = 1};
    (void)state;
    assert_true(kl_statistics_key(&dense, 0, NULL) == kl_statistics_key(&dense, 1, NULL));
    assert_true(kl_statistics_key(&dense, 0, NULL) == kl_statistics_key(&sparse, 0, NULL));
    assert_true(kl_statistics_key(&dense, 0, NULL) != kl_statistics_key(&third, 0, NULL));
    assert_true(kl_statistics_key(&dense, 0, "5") != kl_statistics_key(&dense, 0, "6"));
}

/* Known from the plan: the search is named there, and nothing is allocated. */
static void many_features_and_rows_are_searched_by_one_held_out_fold(void **state)
{
    static const struct {
        int64_t features, rows;
        const char *word;
    } cases[] = {{2048, 1000000, "by folds"}, {2049, 16384, "by folds"}, {2049, 16385, "by holdout"}, {4096, 0, "by holdout"}, {2048, 0, "by folds"}};
    (void)state;
    klift_run *run;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "max-memory", "8G"), KLIFT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_learn_spec spec = {.goal = KL_CLASSIFY, .lambda = NAN, .c = NAN, .search = KL_BY_HAND, .folds = 5, .rows = cases[i].rows};
        kl_plan plan = {0};
        assert_int_equal(kl_learner_plan("ridge", &spec, cases[i].features, &(kl_extent){.rows = cases[i].rows}, run, &plan), KLIFT_OK);
        assert_non_null(strstr(plan.part[0].what, cases[i].word));
    }
    klift_run_free(run);
}

static void memory_decides_the_search_and_too_little_is_refused(void **state)
{
    static const struct {
        const char *limit, *word;
    } cases[] = {{"1G", "by folds"}, {"50M", "by holdout"}, {"23M", "by gcv"}}; /* 600 features: 6.3 MB of tiles */
    kl_learn_spec spec = {.goal = KL_REGRESS, .lambda = NAN, .c = NAN, .search = KL_BY_HAND, .folds = 5};
    klift_run *run;
    kl_learner *learner;
    (void)state;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    for (int i = 0; i < 3; i++) {
        kl_plan plan = {0};
        assert_int_equal(klift_run_set(run, "max-memory", cases[i].limit), KLIFT_OK);
        assert_int_equal(kl_learner_plan("ridge", &spec, 600, &(kl_extent){.rows = 1000}, run, &plan), KLIFT_OK);
        assert_non_null(strstr(plan.part[0].what, cases[i].word));
    }
    assert_int_equal(klift_run_set(run, "max-memory", "8M"), KLIFT_OK);
    assert_int_equal(kl_learner_new("ridge", &spec, 600, run, &learner), KLIFT_MEMORY);
    assert_non_null(strstr(kl_error_text(), "600 features"));
    klift_run_free(run);
}

/* What the plan says is what is done, and stored: 1 GB takes folds, 50 MB one held-out fold. */
static void the_search_that_was_planned_is_done(void **state)
{
    static const struct {
        const char *limit;
        kl_search search;
    } cases[] = {{"1G", KL_BY_FOLDS}, {"50M", KL_BY_HOLDOUT}};
    kl_learn_spec spec = {.goal = KL_REGRESS, .lambda = NAN, .c = NAN, .search = KL_BY_HAND, .folds = 5};
    klift_run *run;
    (void)state;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    for (int i = 0; i < 2; i++) {
        kl_weights weights;
        kl_learner *learner;
        kl_lift lift = {NULL, same};
        float *z = calloc(600 * 600, sizeof *z);
        assert_int_equal(klift_run_set(run, "max-memory", cases[i].limit), KLIFT_OK);
        assert_int_equal(kl_learner_new("ridge", &spec, 600, run, &learner), KLIFT_OK);
        for (int64_t r = 0; r < 600; r++) {
            double y = (double)(r % 7);
            kl_batch b = {.size = sizeof b, .rows = 1, .columns = 600, .dense = z + r * 600, .stride = 600, .target = &y, .targets = 1};
            z[r * 600 + r] = 1;
            assert_int_equal(learner->type->observe(learner, &b), KLIFT_OK);
        }
        assert_int_equal(learner->type->consume(learner, z, 600, 600, run), KLIFT_OK);
        assert_int_equal(learner->type->finish(learner, &lift, run, &weights), KLIFT_OK);
        assert_int_equal(weights.search, cases[i].search);
        kl_weights_clear(&weights);
        kl_learner_free(learner);
        free(z);
    }
    klift_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squared_errors_of_the_folds_equal_refits),
        cmocka_unit_test(squared_errors_of_the_held_out_fold_equal_a_refit),
        cmocka_unit_test(zero_one_errors_of_the_folds_equal_refits_exactly),
        cmocka_unit_test(zero_one_errors_of_the_held_out_fold_equal_a_refit_exactly),
        cmocka_unit_test(the_final_weights_equal_a_refit_on_all_rows),
        cmocka_unit_test(gcv_equals_its_definition),
        cmocka_unit_test(copies_of_a_row_share_their_fold),
        cmocka_unit_test(many_features_and_rows_are_searched_by_one_held_out_fold),
        cmocka_unit_test(memory_decides_the_search_and_too_little_is_refused),
        cmocka_unit_test(the_search_that_was_planned_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
