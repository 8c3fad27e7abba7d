/*
 * test_nystrom.c - the map nystrom through the public header: with all rows as landmarks it is the exact kernel ridge, it
 * keeps the promises of training (same bytes, shards), and rows that give no or bad landmarks have a defined end.
 */
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 240, TEST = 60, D = 6 };

static float x[(ROWS + TEST) * D];
static double y[ROWS + TEST];

/* A smooth function of the rows, with some noise. */
static void fill(void)
{
    syn_rows_float(ROWS + TEST, D, x);
    for (int64_t i = 0; i < ROWS + TEST; i++)
        y[i] = sin(3 * (double)x[i * D]) + (double)(x[i * D + 1] * x[i * D + 2]) + 0.05 * syn_normal(77, (uint64_t)i);
}

static klift_batch part(int64_t first, int64_t count)
{
    klift_batch rows = dense_batch(count, D, x + first * D);
    rows.target = y + first;
    rows.targets = 1;
    return rows;
}

static klift_spec *regression(const char *kernel, const char *map, const char *features, const char *lambda)
{
    return spec_of(PAIRS("kernel", kernel, "map", map, "features", features, "lambda", lambda, "task", "regress"));
}

static klift_status train(const klift_spec *spec, const klift_batch *rows, const char *threads, const char *batch, klift_model **model)
{
    klift_run *run = run_of(PAIRS("threads", threads, "batch", batch));
    klift_status status = train_rows(spec, rows, run, model);
    klift_run_free(run);
    return status;
}

/* ---- exact kernel ridge ---- */

/* a (n, n) x = b by Gaussian elimination with pivots; a and b are overwritten. */
static void solve(int64_t n, double *a, double *b)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t p = k;
        for (int64_t i = k + 1; i < n; i++)
            p = fabs(a[i * n + k]) > fabs(a[p * n + k]) ? i : p;
        for (int64_t j = 0; j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[p * n + j];
            a[p * n + j] = swap;
        }
        double swap = b[k];
        b[k] = b[p];
        b[p] = swap;
        for (int64_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < n; j++)
            b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

/* Kernel ridge with a free intercept: [K + n lambda I, 1; 1', 0] [alpha; b] = [y; 0]. k (ROWS + TEST, ROWS) */
static void kernel_ridge(const double *k, double lambda, double *scores)
{
    int64_t n = ROWS + 1;
    double *a = calloc((size_t)(n * n), sizeof *a), *b = calloc((size_t)n, sizeof *b);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < ROWS; j++)
            a[i * n + j] = k[i * ROWS + j] + (i == j ? ROWS * lambda : 0);
        a[i * n + ROWS] = a[ROWS * n + i] = 1;
        b[i] = y[i];
    }
    solve(n, a, b);
    for (int64_t i = 0; i < ROWS + TEST; i++) {
        scores[i] = b[ROWS];
        for (int64_t j = 0; j < ROWS; j++)
            scores[i] += k[i * ROWS + j] * b[j];
    }
    free(a);
    free(b);
}

static double worst_of(const klift_model *model, const double *expected)
{
    klift_batch all = part(0, ROWS + TEST);
    double got[ROWS + TEST], worst = 0;
    OK(klift_model_predict(model, &all, KLIFT_SCORES, got, NULL));
    for (int64_t i = 0; i < ROWS + TEST; i++)
        worst = fmax(worst, fabs(got[i] - expected[i]));
    return worst;
}

static void all_rows_as_landmarks_are_the_exact_kernel_ridge(void **state)
{
    static const char *const kernels[] = {"gaussian:gamma=2", "gaussian:gamma=0.2", "matern:nu=1.5,length=1", "laplacian:gamma=0.7", "cauchy:gamma=1", "linear"};
    static double k[(ROWS + TEST) * ROWS], expected[ROWS + TEST];
    (void)state;
    fill();
    klift_batch rows = part(0, ROWS), all = part(0, ROWS + TEST);
    for (int i = 0; i < 6; i++) {
        klift_spec *spec = regression(kernels[i], "nystrom:landmarks=all", "16", "0.001");
        klift_model *model;
        OK(train(spec, &rows, "1", "100", &model));
        OK(klift_map_kernel(klift_model_map(model), &all, &rows, k));
        kernel_ridge(k, 0.001, expected);
        double worst = worst_of(model, expected);
        print_message("%s: largest difference to kernel ridge %.2g\n", kernels[i], worst);
        assert_true(worst <= 1e-6);
        klift_model_free(model);
        klift_spec_free(spec);
    }
}

/* ---- the promises of training ---- */

static void the_model_is_the_same_for_any_threads_batch_and_form(void **state)
{
    static const char *const ways[] = {"rpcholesky", "uniform", "kmeans++", "all"};
    (void)state;
    fill();
    for (int w = 0; w < 4; w++) {
        char map[64];
        void *first = NULL;
        int64_t length = 0;
        snprintf(map, sizeof map, "nystrom:landmarks=%s", ways[w]);
        klift_spec *spec = regression("gaussian:gamma=1", map, "50", "auto");
        for (int i = 0; i < 6; i++) {
            klift_batch rows = part(0, ROWS);
            klift_model *model, *again;
            int64_t count;
            OK(train(spec, &rows, i % 3 == 0 ? "1" : i % 3 == 1 ? "2" : "3", i < 3 ? "7" : "1000", &model));
            void *bytes = bytes_of(model, &count);
            if (first == NULL) {
                first = bytes;
                length = count;
                OK(klift_model_parse(bytes, count, &again));
                double *scores = malloc((ROWS + TEST) * sizeof *scores);
                klift_batch all = part(0, ROWS + TEST);
                OK(klift_model_predict(model, &all, KLIFT_SCORES, scores, NULL));
                assert_true(worst_of(again, scores) == 0);
                free(scores);
                klift_model_free(again);
            } else {
                assert_int_equal(count, length);
                assert_memory_equal(bytes, first, (size_t)length);
                free(bytes);
            }
            klift_model_free(model);
        }
        free(first);
        klift_spec_free(spec);
    }
}

/* Rows as CSR, a third of whose entries are zero; the same rows dense have the same scores. */
static void sparse_rows_give_a_model_that_is_read_as_it_was_written(void **state)
{
    static const char *const maps[] = {"nystrom", "nystrom:landmarks=uniform", "nystrom:landmarks=kmeans++", "nystrom:landmarks=all"};
    double scores[ROWS + TEST];
    (void)state;
    fill();
    for (int64_t i = 0; i < (ROWS + TEST) * D; i++)
        x[i] = syn_uniform((uint64_t)i) < 0.3 ? 0 : x[i];
    csr entries = csr_of(ROWS + TEST, D, x);
    klift_batch rows = csr_batch(ROWS, D, &entries), all = csr_batch(ROWS + TEST, D, &entries);
    rows.target = y;
    rows.targets = 1;
    for (int i = 0; i < 4; i++) {
        klift_spec *spec = regression("gaussian:gamma=1", maps[i], "50", "1e-3");
        klift_model *model, *loaded;
        char *path = temp_path("sparse.klift");
        OK(train(spec, &rows, "2", "100", &model));
        OK(klift_model_save(model, path));
        OK(klift_model_load(path, &loaded));
        assert_same_bytes(model, loaded);
        assert_true(largest_score_difference(model, loaded, &all) == 0);
        OK(klift_model_predict(loaded, &all, KLIFT_SCORES, scores, NULL));
        assert_true(worst_of(loaded, scores) <= 1e-6); /* of dense rows */
        klift_model_free(model);
        klift_model_free(loaded);
        klift_spec_free(spec);
    }
    csr_free(&entries);
}

static void shards_share_the_landmarks_of_the_plan(void **state)
{
    klift_spec *spec = regression("gaussian:gamma=1", "nystrom", "40", "1e-4");
    klift_batch all = part(0, ROWS);
    klift_stats *sum = NULL;
    klift_model *whole, *merged;
    (void)state;
    fill();
    OK(train(spec, &all, "1", "1000", &whole));
    klift_map *map = map_of(spec, &all, NULL);
    for (int i = 0; i < 3; i++) {
        klift_batch third = part(i * ROWS / 3, ROWS / 3);
        klift_stats *stats = stats_of(map, spec, &third, NULL);
        if (sum == NULL)
            sum = stats;
        else {
            OK(klift_stats_merge(sum, stats, 1));
            klift_stats_free(stats);
        }
    }
    OK(klift_stats_solve(sum, NULL, &merged));
    double scores[ROWS + TEST];
    klift_batch every = part(0, ROWS + TEST);
    OK(klift_model_predict(whole, &every, KLIFT_SCORES, scores, NULL));
    assert_true(worst_of(merged, scores) <= 1e-6);
    klift_stats_free(sum);
    klift_map_free(map);
    klift_model_free(whole);
    klift_model_free(merged);
    klift_spec_free(spec);
}

/* ---- rows that give less, or nothing ---- */

static int64_t features_of(const klift_model *model)
{
    char json[8192];
    int64_t needed;
    OK(klift_map_describe(klift_model_map(model), json, sizeof json, &needed));
    const char *at = strstr(json, "\"features\":");
    assert_non_null(at);
    return strtoll(at + 11, NULL, 10);
}

static void fewer_rows_than_landmarks_are_all_of_them(void **state)
{
    klift_model *model;
    (void)state;
    fill();
    for (int i = 0; i < 3; i++) {
        klift_spec *spec = regression("gaussian:gamma=1", i == 0 ? "nystrom" : i == 1 ? "nystrom:landmarks=uniform" : "nystrom:landmarks=kmeans++", "500", "1e-3");
        klift_batch rows = part(0, 30);
        OK(train(spec, &rows, "2", "100", &model));
        assert_int_equal(features_of(model), 30);
        klift_model_free(model);
        klift_spec_free(spec);
    }
}

static void equal_rows_and_constant_data_train(void **state)
{
    klift_model *model;
    (void)state;
    fill();
    for (int64_t i = 0; i < ROWS * D; i++)
        x[i] = (float)(i / D % 3); /* three rows, 80 times each */
    klift_batch rows = part(0, ROWS);
    static const char *const maps[] = {"nystrom", "nystrom:landmarks=uniform", "nystrom:landmarks=kmeans++", "nystrom:landmarks=all"};
    for (int i = 0; i < 4; i++) {
        klift_spec *spec = regression("gaussian:gamma=1", maps[i], "64", "auto");
        OK(train(spec, &rows, "1", "100", &model));
        int64_t expected[] = {3, 64, 3, ROWS};
        assert_int_equal(features_of(model), expected[i]);
        klift_model_free(model);
        klift_spec_free(spec);
    }
    for (int64_t i = 0; i < ROWS * D; i++)
        x[i] = 2;
    klift_spec *spec = regression("gaussian:gamma=1", "nystrom", "64", "1e-3");
    double scores[ROWS], mean = 0;
    OK(train(spec, &rows, "1", "100", &model));
    assert_int_equal(features_of(model), 1);
    OK(klift_model_predict(model, &rows, KLIFT_SCORES, scores, NULL));
    for (int64_t i = 0; i < ROWS; i++)
        mean += y[i] / ROWS;
    assert_true(fabs(scores[0] - mean) < 1e-5);
    klift_model_free(model);
    klift_spec_free(spec);
    for (int64_t i = 0; i < ROWS * D; i++)
        x[i] = 0;
    spec = regression("linear", "nystrom", "64", "1e-3");
    assert_int_equal(train(spec, &rows, "1", "100", &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "landmark"));
    klift_spec_free(spec);
}

static void a_kernel_of_low_rank_takes_no_more_landmarks_than_its_rank(void **state)
{
    klift_model *model;
    klift_spec *spec = regression("linear", "nystrom", "64", "1e-3");
    klift_batch rows = part(0, ROWS);
    (void)state;
    fill();
    OK(train(spec, &rows, "1", "100", &model));
    assert_int_equal(features_of(model), D);
    klift_model_free(model);
    klift_spec_free(spec);
}

/* ---- landmarks of a file ---- */

static char *landmarks_file(const char *name, int64_t rows, int64_t columns, const char *more)
{
    char *path = temp_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int64_t i = 0; i < rows; i++) {
        fputs("0", file);
        for (int64_t j = 0; j < columns; j++)
            fprintf(file, " %d:%.9g", (int)j + 1, (double)x[(ROWS + i) * D + j % D]);
        fputs("\n", file);
    }
    fputs(more, file);
    fclose(file);
    return path;
}

static klift_status train_from(const char *path, const char *before, klift_model **model)
{
    char map[512];
    klift_batch rows = part(0, ROWS);
    snprintf(map, sizeof map, "nystrom:%sfile=\"%s\"", before, path);
    klift_spec *spec = regression("gaussian:gamma=1", map, "64", "1e-3");
    klift_status status = train(spec, &rows, "1", "100", model);
    klift_spec_free(spec);
    return status;
}

static void landmarks_may_come_from_a_file_that_the_model_does_not_name(void **state)
{
    klift_model *model;
    int64_t count;
    (void)state;
    fill();
    char *path = landmarks_file("landmarks.svm", 25, D, "");
    OK(train_from(path, "", &model));
    assert_int_equal(features_of(model), 25);
    char *bytes = bytes_of(model, &count);
    for (int64_t i = 0; i + 13 < count; i++)
        assert_true(memcmp(bytes + i, "landmarks.svm", 13) != 0);
    free(bytes);
    /* features between landmarks are exact */
    klift_batch of_file = dense_batch(25, D, x + ROWS * D);
    double k[25 * 25];
    float z[25 * 25];
    OK(klift_map_kernel(klift_model_map(model), &of_file, &of_file, k));
    OK(klift_map_apply(klift_model_map(model), &of_file, z, 25, NULL));
    for (int i = 0; i < 25; i++)
        for (int j = 0; j < 25; j++) {
            double sum = 0;
            for (int p = 0; p < 25; p++)
                sum += (double)z[i * 25 + p] * (double)z[j * 25 + p];
            assert_true(fabs(sum - k[i * 25 + j]) < 5e-5);
        }
    klift_model_free(model);
    OK(train_from(path, "landmarks=file,", &model));
    klift_model_free(model);
    assert_int_equal(train_from(path, "landmarks=uniform,", &model), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "file"));
}

static void a_bad_landmarks_file_is_refused_by_name(void **state)
{
    klift_model *model;
    (void)state;
    fill();
    char *wide = landmarks_file("wide.svm", 5, D + 2, ""), *empty = landmarks_file("empty.svm", 0, D, ""), *broken = landmarks_file("broken.svm", 3, D, "0 1:x\n");
    assert_int_equal(train_from(wide, "", &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "wide.svm"));
    assert_int_equal(train_from(empty, "", &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "empty.svm"));
    assert_int_equal(train_from(broken, "", &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "broken.svm"));
    assert_int_equal(train_from("no/such/file.svm", "", &model), KLIFT_IO);
    assert_non_null(strstr(klift_error(), "no/such/file.svm"));
    klift_spec *spec = regression("gaussian:gamma=1", "nystrom:landmarks=file", "64", "1e-3");
    klift_batch rows = part(0, ROWS);
    assert_int_equal(train(spec, &rows, "1", "100", &model), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "file=PATH"));
    klift_spec_free(spec);
}

static void more_memory_than_allowed_is_refused_with_the_number(void **state)
{
    enum { MANY = 1500 };
    static float many[MANY * D];
    klift_spec *spec = regression("gaussian:gamma=1", "nystrom", "200", "1e-3");
    klift_batch rows = dense_batch(MANY, D, many);
    klift_data *data;
    klift_run *run = run_of(PAIRS("max-memory", "1M"));
    klift_map *map;
    (void)state;
    syn_rows_float(MANY, D, many);
    OK(klift_data_view(&rows, &data));
    assert_int_equal(klift_map_fit(spec, data, run, &map), KLIFT_MEMORY);
    assert_non_null(strstr(klift_error(), "choosing 200 landmarks among 1500 rows needs 3 MB"));
    klift_run_free(run);
    klift_data_free(data);
    klift_spec_free(spec);
}

typedef struct rows_left {
    const klift_batch *all;
    int64_t at;
} rows_left;

static klift_status next_rows(void *user, klift_batch *batch)
{
    rows_left *s = user;
    int64_t left = s->all->rows - s->at;
    *batch = *s->all;
    batch->rows = left < 1000 ? left : 1000;
    batch->dense += s->at * s->all->stride;
    batch->target += s->at;
    s->at += batch->rows;
    return KLIFT_OK;
}

/* All rows are those of a file of 20,000 at most; of a pipe only the first are known when landmarks are chosen. */
static void all_rows_as_landmarks_are_refused_where_they_are_too_many_or_of_a_pipe(void **state)
{
    enum { MANY = 20001, PIPED = 17000 };
    float *many = malloc(MANY * sizeof *many);
    double *value = malloc(MANY * sizeof *value);
    klift_spec *spec = regression("gaussian:gamma=1", "nystrom:landmarks=all", "16", "1e-3");
    klift_model *model;
    klift_data *data;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        many[i] = (float)syn_normal((uint64_t)i, 0);
        value[i] = sin((double)many[i]);
    }
    klift_batch rows = dense_batch(MANY, 1, many);
    rows.target = value;
    rows.targets = 1;
    assert_int_equal(train_rows(spec, &rows, NULL, &model), KLIFT_USAGE);
    assert_string_equal(klift_error(), "map nystrom: landmarks=all is for at most 20000 rows and there are more; use rpcholesky");
    rows.rows = PIPED;
    rows_left left = {&rows, 0};
    klift_source source = {sizeof source, &left, next_rows, NULL};
    OK(klift_data_from(&source, &data));
    assert_int_equal(klift_train(spec, data, NULL, &model), KLIFT_USAGE);
    assert_string_equal(klift_error(), "map nystrom: landmarks=all is for at most 20000 rows that can be read twice, not from a pipe; use rpcholesky");
    klift_data_free(data);
    klift_spec_free(spec);
    free(many);
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_as_landmarks_are_the_exact_kernel_ridge),
        cmocka_unit_test(the_model_is_the_same_for_any_threads_batch_and_form),
        cmocka_unit_test(sparse_rows_give_a_model_that_is_read_as_it_was_written),
        cmocka_unit_test(shards_share_the_landmarks_of_the_plan),
        cmocka_unit_test(fewer_rows_than_landmarks_are_all_of_them),
        cmocka_unit_test(equal_rows_and_constant_data_train),
        cmocka_unit_test(a_kernel_of_low_rank_takes_no_more_landmarks_than_its_rank),
        cmocka_unit_test(landmarks_may_come_from_a_file_that_the_model_does_not_name),
        cmocka_unit_test(a_bad_landmarks_file_is_refused_by_name),
        cmocka_unit_test(all_rows_as_landmarks_are_refused_where_they_are_too_many_or_of_a_pipe),
        cmocka_unit_test(more_memory_than_allowed_is_refused_with_the_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
