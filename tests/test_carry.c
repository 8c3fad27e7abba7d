/*
 * test_carry.c - weights that nystrom carries behind its whitening: the scores are those of the features, for every kernel, precision and
 * form of the rows, in any cut; a model so ill conditioned that its sums would cancel goes by its features.
 */
#include "base/memory.h"
#include "model/model.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 240, D = 6, TARGETS = 3 };

static float x[ROWS * D];
static double y[ROWS * TARGETS];

static klift_batch fill(void)
{
    syn_rows_float(ROWS, D, x);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t t = 0; t < TARGETS; t++)
            y[i * TARGETS + t] = sin(3 * (double)x[i * D + t]) + 0.05 * syn_normal(77, (uint64_t)(i * TARGETS + t));
    klift_batch rows = dense_batch(ROWS, D, x);
    rows.target = y;
    rows.targets = TARGETS;
    return rows;
}

static klift_model *train(const char *kernel, const char *map, const char *lambda)
{
    klift_batch rows = fill();
    klift_model *model;
    klift_spec *spec = spec_of(PAIRS("kernel", kernel, "map", map, "features", "150", "lambda", lambda, "task", "regress"));
    assert_int_equal(train_rows(spec, &rows, NULL, &model), KLIFT_OK);
    klift_spec_free(spec);
    return model;
}

/* w z + b by way of the features, as models without carried weights have it. */
static void by_features(const klift_model *model, const klift_batch *rows, double *scores)
{
    const kl_weights *w = &model->weights;
    float *z = malloc((size_t)(rows->rows * w->features) * sizeof *z);
    assert_int_equal(klift_map_apply(model->lift, rows, z, w->features, NULL), KLIFT_OK);
    for (int64_t i = 0; i < rows->rows; i++) {
        kl_row row = {.count = w->features, .value = z + i * w->features};
        kl_row_dots(&row, &row, w->features, w->outputs, w->w, w->features, scores + i * w->outputs);
        for (int64_t o = 0; o < w->outputs; o++)
            scores[i * w->outputs + o] += w->b[o];
    }
    free(z);
}

/* The same with z = L^-1 k in float64: what identity carries is L^-1. */
static void by_wide_features(const klift_model *model, const klift_batch *rows, double *scores)
{
    const kl_weights *w = &model->weights;
    const kl_map *map = model->lift->map;
    int64_t n = w->features;
    double *identity = calloc((size_t)(n * n), sizeof *identity), *carried, *z = malloc((size_t)(rows->rows * n) * sizeof *z);
    void *scratch = malloc((size_t)map->type->scratch(map, rows->rows));
    for (int64_t i = 0; i < n; i++)
        identity[i * n + i] = 1;
    assert_int_equal(map->type->carry(map, n, identity, &carried), KLIFT_OK);
    assert_non_null(carried);
    assert_int_equal(map->type->values(map, rows, n, carried, z, scratch), KLIFT_OK);
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t o = 0; o < w->outputs; o++) {
            long double sum = w->b[o];
            for (int64_t j = 0; j < n; j++)
                sum += (long double)w->w[o * n + j] * (long double)z[i * n + j];
            scores[i * w->outputs + o] = (double)sum;
        }
    free(identity);
    kl_free(carried);
    free(z);
    free(scratch);
}

/* The largest difference of two sets of scores, in their sizes |w| sqrt K(x, x); what is no number is the largest. */
static double apart(const klift_model *model, const double *a, const double *b)
{
    const kl_weights *w = &model->weights;
    double most = 0;
    for (int64_t o = 0; o < w->outputs; o++) {
        double square = 0;
        for (int64_t j = 0; j < w->features; j++)
            square += w->w[o * w->features + j] * w->w[o * w->features + j];
        for (int64_t i = 0; i < ROWS; i++) {
            klift_batch one = dense_batch(1, D, x + i * D);
            double k;
            assert_int_equal(kl_lift_kernel(model->lift, &one, &one, &k), KLIFT_OK);
            double difference = fabs(a[i * w->outputs + o] - b[i * w->outputs + o]) / sqrt(square * k);
            most = difference <= most ? most : difference;
        }
    }
    return most;
}

static void carried_scores_are_those_of_the_features(void **state)
{
    static const char *const kernels[] = {"gaussian:gamma=0.5", "gaussian:gamma=20", "matern:nu=1.5,length=1", "cauchy:gamma=1", "laplacian:gamma=1", "poly:3"};
    static const char *const maps[] = {"nystrom", "nystrom:precision=float64", "nystrom:landmarks=all"};
    static double made[ROWS * TARGETS], right[ROWS * TARGETS], wide[ROWS * TARGETS], sparse[ROWS * TARGETS];
    (void)state;
    for (int k = 0; k < 6; k++)
        for (int m = 0; m < 3; m++) {
            klift_model *model = train(kernels[k], maps[m], "1e-3");
            klift_batch rows = dense_batch(ROWS, D, x);
            csr entries = csr_of(ROWS, D, x);
            klift_batch same = csr_batch(ROWS, D, &entries);
            if (model->carried == NULL)
                print_message("%s, %s: refused\n", kernels[k], maps[m]);
            assert_non_null(model->carried);
            assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, made, NULL), KLIFT_OK);
            assert_int_equal(klift_model_predict(model, &same, KLIFT_SCORES, sparse, NULL), KLIFT_OK);
            by_features(model, &rows, right);
            by_wide_features(model, &rows, wide);
            double most = apart(model, made, right), own = apart(model, made, wide);
            if (!(most <= 2e-5) || !(own <= 1e-6))
                print_message("%s, %s: %g, %g\n", kernels[k], maps[m], most, own);
            assert_true(own <= 1e-6);
            assert_true(most <= 2e-5); /* float32's rounding of z, most of it with poly:3, whose matrix has no full rank */
            assert_true(apart(model, sparse, wide) <= 1e-6);
            csr_free(&entries);
            klift_model_free(model);
        }
}

static void scores_are_the_same_bytes_in_any_cut_and_from_a_file(void **state)
{
    static const char *const maps[] = {"nystrom", "nystrom:landmarks=all"};
    static double all[ROWS * TARGETS], some[ROWS * TARGETS];
    (void)state;
    for (int m = 0; m < 2; m++) {
        klift_model *model = train("gaussian:gamma=2", maps[m], "1e-3"), *again;
        klift_batch rows = dense_batch(ROWS, D, x);
        klift_run *threads = run_of(PAIRS("threads", "3"));
        int64_t count;
        void *bytes = bytes_of(model, &count);
        assert_non_null(model->carried);
        assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, all, threads), KLIFT_OK);
        for (int64_t step = 1; step < ROWS; step = 3 * step + 1) {
            for (int64_t i = 0; i < ROWS; i += step) {
                klift_batch part = dense_batch(ROWS - i < step ? ROWS - i : step, D, x + i * D);
                assert_int_equal(klift_model_predict(model, &part, KLIFT_SCORES, some + i * TARGETS, NULL), KLIFT_OK);
            }
            assert_memory_equal(some, all, sizeof all);
        }
        assert_int_equal(klift_model_parse(bytes, count, &again), KLIFT_OK);
        assert_non_null(again->carried);
        assert_int_equal(klift_model_predict(again, &rows, KLIFT_SCORES, some, NULL), KLIFT_OK);
        assert_memory_equal(some, all, sizeof all);
        assert_same_bytes(model, again);
        klift_model_free(again);
        klift_run_free(threads);
        klift_model_free(model);
        free(bytes);
    }
}

/* A kernel so wide that the landmarks are almost the same to it, and a penalty so small that the weights are those of noise. */
static void an_ill_conditioned_model_goes_by_its_features(void **state)
{
    static const char *const wide[] = {"gaussian:gamma=1e-4", "gaussian:gamma=1e-3"};
    static double made[ROWS * TARGETS], right[ROWS * TARGETS];
    (void)state;
    for (int k = 0; k < 2; k++) {
        klift_model *model = train(wide[k], "nystrom:landmarks=uniform,precision=float64,jitter=1e-17", "1e-15");
        klift_batch rows = dense_batch(ROWS, D, x);
        assert_null(model->carried);
        assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, made, NULL), KLIFT_OK);
        by_features(model, &rows, right);
        assert_memory_equal(made, right, sizeof right);
        klift_model_free(model);
    }
}

/* A kernel that is not positive definite has no bound of its values. */
static void an_indefinite_kernel_goes_by_its_features(void **state)
{
    (void)state;
    klift_model *model = train("sigmoid:gamma=0.1,offset=0", "nystrom", "1e-3");
    assert_null(model->carried);
    klift_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carried_scores_are_those_of_the_features),
        cmocka_unit_test(scores_are_the_same_bytes_in_any_cut_and_from_a_file),
        cmocka_unit_test(an_ill_conditioned_model_goes_by_its_features),
        cmocka_unit_test(an_indefinite_kernel_goes_by_its_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
