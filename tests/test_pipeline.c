/* test_pipeline.c - the promises of training and prediction, through the public header only. */
#include "training.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- same bytes ---- */

typedef struct sevens {
    const table *t;
    int64_t at;
    bool once;
} sevens;

static klift_status next_seven(void *user, klift_batch *batch)
{
    sevens *s = user;
    int64_t left = s->t->n - s->at, count = left < 7 ? left : 7;
    *batch = rows_of(s->t, s->at, count);
    s->at += count;
    return KLIFT_OK;
}

static klift_status rewind_sevens(void *user)
{
    ((sevens *)user)->at = 0;
    return KLIFT_OK;
}

static void the_model_is_the_same_for_any_threads_batch_and_source(void **state)
{
    static const char *const full[] = {"features", "600", "folds", "2", NULL}, *const fewer[] = {"features", "70", NULL}; /* 600: two tiles on a side */
    static const char *const threads[] = {"1", "2", "3"}, *const batches[] = {"1", "100", "5000"};
    klift_spec *spec = spec_of(quick() ? fewer : full);
    table t = load("rings", "rows=6000,seed=3");
    klift_batch all = rows_of(&t, 0, t.n);
    klift_data *data;
    char *path = temp_path("rings.svm"), *npy = temp_path("rings.npy"), *labels = temp_path("rings.y.npy"), options[600];
    (void)state;
    OK(klift_data_view(&all, &data));
    klift_model *first = train_data(spec, data, NULL);
    data = synthetic("rings", "rows=6000,seed=3");
    OK(klift_data_save(data, path, NULL, NULL));
    OK(klift_data_rewind(data));
    snprintf(options, sizeof options, "labels=\"%s\"", labels);
    OK(klift_data_save(data, npy, options, NULL));
    klift_data_free(data);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            klift_run *run = run_of(PAIRS("threads", threads[i], "batch", batches[j]));
            OK(klift_data_open(path, NULL, &data)); /* CSR rows from text */
            klift_model *model = train_data(spec, data, run);
            assert_same_bytes(first, model);
            klift_model_free(model);
            klift_run_free(run);
        }
    OK(klift_data_open(npy, options, &data)); /* dense rows from NPY */
    klift_model *model = train_data(spec, data, NULL);
    assert_same_bytes(first, model);
    klift_model_free(model);
    sevens s = {&t, 0, false};
    klift_source source = {sizeof source, &s, next_seven, rewind_sevens};
    OK(klift_data_from(&source, &data));
    model = train_data(spec, data, NULL);
    assert_same_bytes(first, model);
    klift_model_free(model);
    s.at = 0;
    source.rewind = NULL; /* read once: 6000 rows are all in the kept head, so nothing changes */
    OK(klift_data_from(&source, &data));
    model = train_data(spec, data, NULL);
    assert_same_bytes(first, model);
    klift_model_free(model);
    klift_model_free(first);
    klift_spec_free(spec);
    table_free(&t);
}

/* ---- the reader's rows ---- */

static void training_reads_the_rows_twice_and_the_search_reads_none(void **state)
{
    static const char *const settings[] = {"features", "50", NULL};
    klift_spec *spec = spec_of(settings);
    klift_data *data = synthetic("rings", "rows=5000");
    klift_model *model;
    char json[4096];
    (void)state;
    OK(klift_train(spec, data, NULL, &model));
    assert_int_equal(klift_data_count(data), 2 * 5000);
    OK(klift_model_describe(model, json, sizeof json, NULL));
    assert_non_null(strstr(json, "\"search\": \"folds\""));
    klift_model_free(model);
    klift_data_free(data);
    klift_spec_free(spec);
}

/* ---- cancel ---- */

typedef struct stopper {
    int seen, at;
} stopper;

static int stop_at(const klift_event *event, void *user)
{
    stopper *s = user;
    (void)event;
    return s->seen++ == s->at;
}

static void cancel_at_twenty_points_returns_cancelled_and_no_model(void **state)
{
    static const char *const settings[] = {"features", "64", NULL};
    klift_spec *spec = spec_of(settings);
    int cancelled = 0;
    (void)state;
    for (int at = 0; at < 20; at++) {
        klift_run *run = run_of(PAIRS("threads", "2", "batch", "500"));
        klift_data *data = synthetic("rings", "rows=9000");
        klift_model *model = (klift_model *)1;
        stopper s = {0, at};
        klift_run_on_event(run, stop_at, &s);
        klift_status status = klift_train(spec, data, run, &model);
        assert_int_equal(status, KLIFT_CANCELLED);
        assert_null(model);
        cancelled++;
        klift_data_free(data);
        klift_run_free(run);
    }
    assert_int_equal(cancelled, 20);
    klift_spec_free(spec);
}

/* ---- predict ---- */

typedef struct predictor {
    const klift_model *model;
    klift_batch x;
    double *out;
    klift_status status;
} predictor;

static void *predict_rows(void *argument)
{
    predictor *p = argument;
    klift_run *run;
    p->status = klift_run_new(&run);
    for (int i = 0; i < 20 && p->status == KLIFT_OK; i++)
        p->status = klift_model_predict(p->model, &p->x, KLIFT_SCORES, p->out, run);
    klift_run_free(run);
    return NULL;
}

static void two_threads_predict_with_one_model_and_one_row_alone_is_the_same(void **state)
{
    static const char *const settings[] = {"features", "128", NULL};
    klift_spec *spec = spec_of(settings);
    table t = load("rings", "rows=2000,seed=8");
    klift_batch all = rows_of(&t, 0, t.n);
    klift_data *data;
    pthread_t thread[2];
    predictor p[2];
    (void)state;
    OK(klift_data_view(&all, &data));
    klift_model *model = train_data(spec, data, NULL);
    int64_t outputs = klift_model_outputs(model);
    assert_int_equal(outputs, 3);
    for (int i = 0; i < 2; i++) {
        p[i] = (predictor){model, all, malloc((size_t)(t.n * outputs) * sizeof(double)), KLIFT_OK};
        assert_int_equal(pthread_create(&thread[i], NULL, predict_rows, &p[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(p[i].status, KLIFT_OK);
    }
    assert_memory_equal(p[0].out, p[1].out, (size_t)(t.n * outputs) * sizeof(double));
    for (int64_t i = 0; i < t.n; i += 97) {
        double one[3];
        klift_batch row = rows_of(&t, i, 1);
        OK(klift_model_predict(model, &row, KLIFT_SCORES, one, NULL));
        for (int o = 0; o < 3; o++)
            assert_true(fabs(one[o] - p[0].out[i * 3 + o]) <= 1e-6);
    }
    free(p[0].out);
    free(p[1].out);
    klift_model_free(model);
    klift_spec_free(spec);
    table_free(&t);
}

static void a_saved_model_predicts_the_same(void **state)
{
    static const char *const settings[] = {"features", "32", "prepare", "standardise", NULL};
    klift_spec *spec = spec_of(settings);
    table t = load("friedman", "rows=1000");
    klift_batch all = rows_of(&t, 0, t.n);
    klift_data *data;
    klift_model *loaded;
    char *path = temp_path("saved.klift");
    (void)state;
    OK(klift_data_view(&all, &data));
    klift_model *model = train_data(spec, data, NULL);
    OK(klift_model_save(model, path));
    OK(klift_model_load(path, &loaded));
    assert_same_bytes(model, loaded);
    assert_true(largest_score_difference(model, loaded, &all) == 0);
    klift_model_free(model);
    klift_model_free(loaded);
    klift_spec_free(spec);
    table_free(&t);
}

/* ---- kernels searched, maps alone ---- */

static void gamma_search_is_no_worse_than_a_bad_gamma(void **state)
{
    static const char *const searched[] = {"features", "120", "kernel", "gaussian:gamma=search", NULL};
    klift_spec *spec = spec_of(searched);
    klift_data *data = synthetic("checkerboard", "rows=2000,seed=3");
    klift_model *model = train_data(spec, data, NULL);
    char json[2048], *at;
    (void)state;
    data = synthetic("checkerboard", "rows=2000,seed=4");
    OK(klift_model_test(model, data, NULL, json, sizeof json, NULL));
    at = strstr(json, "\"error\": ");
    assert_non_null(at);
    assert_true(atof(at + 9) < 0.15);
    klift_data_free(data);
    klift_model_free(model);
    klift_spec_free(spec);
}

static void a_map_without_data_needs_a_width_and_a_number(void **state)
{
    static const char *const settings[] = {"features", "4001", "kernel", "gaussian:gamma=0.5", NULL};
    klift_spec *spec = spec_of(settings);
    klift_map *map;
    int64_t n_in, n_out, needed;
    float x[6] = {1, 0, 2, 0, 0, 0}, *z;
    double k[4], estimate = 0;
    (void)state;
    assert_int_equal(klift_map_fit(spec, NULL, NULL, &map), KLIFT_USAGE);
    OK(klift_spec_set(spec, "dim", "3"));
    OK(klift_map_fit(spec, NULL, NULL, &map));
    OK(klift_map_size(map, &n_in, &n_out));
    assert_int_equal(n_in, 3);
    assert_int_equal(n_out, 4002);
    klift_batch rows = {.size = sizeof rows, .rows = 2, .columns = 3, .dense = x, .stride = 3};
    z = malloc((size_t)(2 * n_out) * sizeof *z);
    OK(klift_map_apply(map, &rows, z, n_out, NULL));
    OK(klift_map_kernel(map, &rows, &rows, k));
    assert_true(fabs(k[1] - exp(-2.5)) < 1e-12);
    for (int64_t j = 0; j < n_out; j++)
        estimate += (double)z[j] * (double)z[n_out + j];
    assert_true(fabs(estimate - k[1]) < 5 * sqrt(1.0 / 4002));
    int64_t start[3];
    int32_t *column = malloc((size_t)(2 * n_out) * sizeof *column);
    float *value = malloc((size_t)(2 * n_out) * sizeof *value);
    OK(klift_map_apply_sparse(map, &rows, start, column, value, 2 * n_out, &needed, NULL));
    for (int64_t p = start[0]; p < start[1]; p++)
        assert_true(value[p] == z[column[p]]);
    assert_int_equal(klift_map_apply_sparse(map, &rows, start, column, value, 10, &needed, NULL), KLIFT_USAGE);
    assert_true(needed > 4000);
    klift_map_free(map);
    klift_spec_free(spec);
    free(z);
    free(column);
    free(value);
}

static void wrong_rows_are_refused_with_their_place(void **state)
{
    static const char *const settings[] = {"features", "16", "lambda", "1e-3", NULL};
    klift_spec *spec = spec_of(settings);
    table t = load("rings", "rows=100");
    klift_batch all = rows_of(&t, 0, t.n), wide;
    klift_data *data;
    klift_model *model;
    double out[300];
    (void)state;
    OK(klift_data_view(&all, &data));
    model = train_data(spec, data, NULL);
    wide = all;
    wide.columns = 1;
    assert_int_equal(klift_model_predict(model, &wide, KLIFT_SCORES, out, NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "columns"));
    klift_model_free(model);
    t.x[2 * 7 + 1] = NAN;
    assert_int_equal(klift_data_view(&all, &data), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "row 7, column 1"));
    t.x[2 * 7 + 1] = 0;
    for (int64_t i = 0; i < t.n; i++)
        t.y[i] = 1;
    OK(klift_data_view(&all, &data));
    assert_int_equal(klift_train(spec, data, NULL, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "one class"));
    klift_data_free(data);
    all.rows = 0;
    OK(klift_data_view(&all, &data));
    assert_int_equal(klift_train(spec, data, NULL, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "no rows"));
    klift_data_free(data);
    klift_spec_free(spec);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_the_same_for_any_threads_batch_and_source),
        cmocka_unit_test(training_reads_the_rows_twice_and_the_search_reads_none),
        cmocka_unit_test(cancel_at_twenty_points_returns_cancelled_and_no_model),
        cmocka_unit_test(two_threads_predict_with_one_model_and_one_row_alone_is_the_same),
        cmocka_unit_test(a_saved_model_predicts_the_same),
        cmocka_unit_test(gamma_search_is_no_worse_than_a_bad_gamma),
        cmocka_unit_test(a_map_without_data_needs_a_width_and_a_number),
        cmocka_unit_test(wrong_rows_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
