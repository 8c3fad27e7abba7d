/* test_pipeline.c - the promises of training and prediction, through the public header only. */
#include "klift.h"
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static klift_spec *spec_of(const char *const *pairs)
{
    klift_spec *spec;
    OK(klift_spec_new(&spec));
    for (; *pairs != NULL; pairs += 2)
        OK(klift_spec_set(spec, pairs[0], pairs[1]));
    return spec;
}

static klift_run *run_of(const char *threads, const char *batch)
{
    klift_run *run;
    OK(klift_run_new(&run));
    OK(klift_run_set(run, "threads", threads));
    OK(klift_run_set(run, "batch", batch));
    return run;
}

static klift_data *synthetic(const char *name, const char *options)
{
    char text[128];
    klift_data *data;
    snprintf(text, sizeof text, "format=synthetic,%s", options);
    OK(klift_data_open(name, text, &data));
    return data;
}

/* All rows of a reader in memory of our own. */
typedef struct table {
    int64_t n, d, t;
    float *x;
    double *y;
} table;

static table load(const char *name, const char *options)
{
    klift_data *data = synthetic(name, options);
    klift_batch batch;
    table out = {0};
    for (;;) {
        OK(klift_data_next(data, 1000, &batch));
        if (batch.rows == 0)
            break;
        out.d = batch.columns;
        out.t = batch.targets;
        out.x = realloc(out.x, (size_t)((out.n + batch.rows) * out.d) * sizeof *out.x);
        out.y = realloc(out.y, (size_t)((out.n + batch.rows) * out.t) * sizeof *out.y);
        for (int64_t i = 0; i < batch.rows; i++)
            memcpy(out.x + (out.n + i) * out.d, batch.dense + i * batch.stride, (size_t)out.d * sizeof *out.x);
        memcpy(out.y + out.n * out.t, batch.target, (size_t)(batch.rows * out.t) * sizeof *out.y);
        out.n += batch.rows;
    }
    klift_data_free(data);
    return out;
}

static klift_batch rows_of(const table *t, int64_t first, int64_t count)
{
    return (klift_batch){.size = sizeof(klift_batch), .rows = count, .columns = t->d, .dense = t->x + first * t->d, .stride = t->d, .target = t->y + first * t->t, .targets = t->t};
}

static void table_free(table *t)
{
    free(t->x);
    free(t->y);
}

static void *bytes_of(const klift_model *model, int64_t *count)
{
    OK(klift_model_bytes(model, NULL, 0, count));
    void *bytes = malloc((size_t)*count);
    OK(klift_model_bytes(model, bytes, *count, count));
    return bytes;
}

static klift_model *train(const klift_spec *spec, klift_data *data, klift_run *run)
{
    klift_model *model;
    OK(klift_train(spec, data, run, &model));
    klift_data_free(data);
    return model;
}

static void assert_same_bytes(const klift_model *a, const klift_model *b)
{
    int64_t n, m;
    void *p = bytes_of(a, &n), *q = bytes_of(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, (size_t)n);
    free(p);
    free(q);
}

static double largest_score_difference(const klift_model *a, const klift_model *b, const klift_batch *x)
{
    int64_t count = x->rows * klift_model_outputs(a);
    double *p = malloc((size_t)count * sizeof *p), *q = malloc((size_t)count * sizeof *q), most = 0;
    assert_int_equal(klift_model_outputs(a), klift_model_outputs(b));
    OK(klift_model_predict(a, x, KLIFT_SCORES, p, NULL));
    OK(klift_model_predict(b, x, KLIFT_SCORES, q, NULL));
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(p[i] - q[i]));
    free(p);
    free(q);
    return most;
}

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
    klift_model *first = train(spec, data, NULL);
    data = synthetic("rings", "rows=6000,seed=3");
    OK(klift_data_save(data, path, NULL, NULL));
    OK(klift_data_rewind(data));
    snprintf(options, sizeof options, "labels=\"%s\"", labels);
    OK(klift_data_save(data, npy, options, NULL));
    klift_data_free(data);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            klift_run *run = run_of(threads[i], batches[j]);
            OK(klift_data_open(path, NULL, &data)); /* CSR rows from text */
            klift_model *model = train(spec, data, run);
            assert_same_bytes(first, model);
            klift_model_free(model);
            klift_run_free(run);
        }
    OK(klift_data_open(npy, options, &data)); /* dense rows from NPY */
    klift_model *model = train(spec, data, NULL);
    assert_same_bytes(first, model);
    klift_model_free(model);
    sevens s = {&t, 0, false};
    klift_source source = {sizeof source, &s, next_seven, rewind_sevens};
    OK(klift_data_from(&source, &data));
    model = train(spec, data, NULL);
    assert_same_bytes(first, model);
    klift_model_free(model);
    s.at = 0;
    source.rewind = NULL; /* read once: 6000 rows are all in the kept head, so nothing changes */
    OK(klift_data_from(&source, &data));
    model = train(spec, data, NULL);
    assert_same_bytes(first, model);
    klift_model_free(model);
    klift_model_free(first);
    klift_spec_free(spec);
    table_free(&t);
}

/* ---- statistics ---- */

static klift_model *train_by_thirds(const klift_spec *spec, const table *t, klift_run *run)
{
    klift_map *map;
    klift_stats *part[3];
    klift_model *model;
    klift_data *data;
    klift_batch all = rows_of(t, 0, t->n);
    OK(klift_data_view(&all, &data));
    OK(klift_map_fit(spec, data, run, &map));
    klift_data_free(data);
    for (int i = 0; i < 3; i++) {
        int64_t first = t->n * i / 3, last = t->n * (i + 1) / 3;
        klift_batch rows = rows_of(t, first, last - first);
        OK(klift_stats_new(map, spec, run, &part[i]));
        OK(klift_data_view(&rows, &data));
        OK(klift_stats_add(part[i], data, run));
        klift_data_free(data);
    }
    OK(klift_stats_merge(part[0], part[2], 1));
    OK(klift_stats_merge(part[0], part[1], 1));
    OK(klift_stats_solve(part[0], run, &model));
    for (int i = 0; i < 3; i++)
        klift_stats_free(part[i]);
    klift_map_free(map);
    return model;
}

static void thirds_merged_give_the_scores_of_one_pass(void **state)
{
    static const char *const names[] = {"rings", "friedman"};
    static const char *const settings[] = {"features", "200", "task", "auto", NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        klift_spec *spec = spec_of(settings);
        klift_run *run = run_of("2", "1000");
        table t = load(names[i], "rows=9000,seed=5");
        klift_batch all = rows_of(&t, 0, t.n);
        klift_data *data;
        OK(klift_data_view(&all, &data));
        klift_model *whole = train(spec, data, run), *merged = train_by_thirds(spec, &t, run);
        double difference = largest_score_difference(whole, merged, &all);
        print_message("%s: largest difference %g\n", names[i], difference);
        assert_true(difference <= 1e-6);
        klift_model_free(whole);
        klift_model_free(merged);
        klift_run_free(run);
        klift_spec_free(spec);
        table_free(&t);
    }
}

static void what_was_added_can_be_forgotten(void **state)
{
    static const char *const settings[] = {"features", "100", "lambda", "1e-4", "task", "regress", NULL};
    klift_spec *spec = spec_of(settings);
    table t = load("friedman", "rows=3000,seed=6");
    klift_batch all = rows_of(&t, 0, 3000), head = rows_of(&t, 0, 2000), tail = rows_of(&t, 2000, 1000);
    klift_data *data;
    klift_map *map;
    klift_stats *kept, *gone, *only;
    klift_model *a, *b;
    (void)state;
    OK(klift_data_view(&all, &data));
    OK(klift_map_fit(spec, data, NULL, &map));
    OK(klift_stats_new(map, spec, NULL, &kept));
    OK(klift_stats_new(map, spec, NULL, &gone));
    OK(klift_stats_new(map, spec, NULL, &only));
    OK(klift_data_rewind(data));
    OK(klift_stats_add(kept, data, NULL));
    klift_data_free(data);
    OK(klift_data_view(&tail, &data));
    OK(klift_stats_add(gone, data, NULL));
    klift_data_free(data);
    OK(klift_data_view(&head, &data));
    OK(klift_stats_add(only, data, NULL));
    klift_data_free(data);
    OK(klift_stats_merge(kept, gone, -1));
    OK(klift_stats_solve(kept, NULL, &a));
    OK(klift_stats_solve(only, NULL, &b));
    assert_true(largest_score_difference(a, b, &all) <= 1e-5);
    klift_model_free(a);
    klift_model_free(b);
    klift_stats_free(kept);
    klift_stats_free(gone);
    klift_stats_free(only);
    klift_map_free(map);
    klift_spec_free(spec);
    table_free(&t);
}

static void merging_different_specs_is_refused(void **state)
{
    static const char *const one[] = {"features", "20", "lambda", "1", NULL}, *const two[] = {"features", "30", "lambda", "1", NULL};
    klift_stats *stats[2];
    klift_map *map[2];
    klift_spec *spec[2] = {spec_of(one), spec_of(two)};
    (void)state;
    for (int i = 0; i < 2; i++) {
        klift_data *data = synthetic("rings", "rows=100");
        OK(klift_map_fit(spec[i], data, NULL, &map[i]));
        OK(klift_stats_new(map[i], spec[i], NULL, &stats[i]));
        klift_data_free(data);
    }
    assert_int_equal(klift_stats_merge(stats[0], stats[1], 1), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "features"));
    for (int i = 0; i < 2; i++) {
        klift_stats_free(stats[i]);
        klift_map_free(map[i]);
        klift_spec_free(spec[i]);
    }
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
        klift_run *run = run_of("2", "500");
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
    klift_model *model = train(spec, data, NULL);
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
    klift_model *model = train(spec, data, NULL);
    OK(klift_model_save(model, path));
    OK(klift_model_load(path, &loaded));
    assert_same_bytes(model, loaded);
    assert_true(largest_score_difference(model, loaded, &all) == 0);
    klift_model_free(model);
    klift_model_free(loaded);
    klift_spec_free(spec);
    table_free(&t);
}

/* ---- labels and weights ---- */

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
    klift_model *model = train(spec, data, NULL);
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
        klift_model *a = train(spec, data, NULL);
        OK(klift_data_view(&copies, &data));
        klift_model *b = train(spec, data, NULL);
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
    klift_model *single = train(spec, data, NULL);
    for (int64_t i = 0; i < t.n; i++) {
        two[2 * i] = -3 * t.y[i] + 100;
        two[2 * i + 1] = t.y[i];
    }
    klift_batch pair = all;
    pair.target = two;
    pair.targets = 2;
    OK(klift_data_view(&pair, &data));
    klift_model *joint = train(spec, data, NULL);
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

/* ---- kernels searched, maps alone ---- */

static void gamma_search_is_no_worse_than_a_bad_gamma(void **state)
{
    static const char *const searched[] = {"features", "120", "kernel", "gaussian:gamma=search", NULL};
    klift_spec *spec = spec_of(searched);
    klift_data *data = synthetic("checkerboard", "rows=2000,seed=3");
    klift_model *model = train(spec, data, NULL);
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
    model = train(spec, data, NULL);
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
        klift_spec *spec;
        klift_data *data;
        klift_batch rows = {.size = sizeof rows, .rows = N, .columns = D, .dense = x, .stride = D, .target = y, .targets = 1};
        klift_batch two = {.size = sizeof two, .rows = 2, .columns = D, .dense = probe, .stride = D};
        probe[D + 2] = 1000;
        OK(klift_spec_new(&spec));
        OK(klift_spec_set(spec, "kernel", "linear"));
        OK(klift_spec_set(spec, "task", "regress"));
        OK(klift_spec_set(spec, "lambda", lambdas[l]));
        OK(klift_data_view(&rows, &data));
        klift_model *model = train(spec, data, NULL);
        OK(klift_model_predict(model, &two, KLIFT_SCORES, score, NULL));
        assert_true(score[0] == score[1]);
        klift_model_free(model);
        klift_spec_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_the_same_for_any_threads_batch_and_source),
        cmocka_unit_test(thirds_merged_give_the_scores_of_one_pass),
        cmocka_unit_test(what_was_added_can_be_forgotten),
        cmocka_unit_test(merging_different_specs_is_refused),
        cmocka_unit_test(training_reads_the_rows_twice_and_the_search_reads_none),
        cmocka_unit_test(cancel_at_twenty_points_returns_cancelled_and_no_model),
        cmocka_unit_test(two_threads_predict_with_one_model_and_one_row_alone_is_the_same),
        cmocka_unit_test(a_saved_model_predicts_the_same),
        cmocka_unit_test(classes_may_be_words_negative_or_huge),
        cmocka_unit_test(weight_two_is_the_row_twice),
        cmocka_unit_test(several_targets_equal_one_at_a_time),
        cmocka_unit_test(gamma_search_is_no_worse_than_a_bad_gamma),
        cmocka_unit_test(a_map_without_data_needs_a_width_and_a_number),
        cmocka_unit_test(a_constant_feature_has_no_weight),
        cmocka_unit_test(wrong_rows_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
