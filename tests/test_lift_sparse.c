/* test_lift_sparse.c - features as CSR through the public header: the same as dense ones for any cut and thread, room, refusals. */
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 700, COLUMNS = 30 };

/* A third of the entries are there, some rows none, some many: parts end at different rows. */
static float *make_rows(void)
{
    float *x = malloc(ROWS * COLUMNS * sizeof *x);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = i % 13 == 5 || (i % 17 != 0 && syn_uniform((uint64_t)(i * COLUMNS + j)) > 0.3) ? 0.0f : (float)syn_normal((uint64_t)i, (uint64_t)j);
    return x;
}

typedef struct sparse {
    int64_t start[ROWS + 1], count;
    int32_t *column;
    float *value;
} sparse;

static klift_map *fit(const char *kernel, const char *map_text, const char *prepare, const char *features, const klift_batch *x)
{
    klift_spec *spec = spec_of(PAIRS("kernel", kernel, "map", map_text, "prepare", prepare, "features", features));
    klift_map *map = map_of(spec, x, NULL);
    klift_spec_free(spec);
    return map;
}

/* The two calls that a C or Python program makes: ask, then take. */
static sparse *lift(const klift_map *map, const klift_batch *x, const char *threads)
{
    sparse *z = malloc(sizeof *z);
    klift_run *run = run_of(PAIRS("threads", threads));
    int64_t room = 0;
    assert_int_equal(klift_map_apply_sparse(map, x, z->start, NULL, NULL, 0, &room, run), KLIFT_USAGE);
    assert_true(room > 0);
    z->column = malloc((size_t)room * sizeof *z->column);
    z->value = malloc((size_t)room * sizeof *z->value);
    OK(klift_map_apply_sparse(map, x, z->start, z->column, z->value, room, &z->count, run));
    assert_true(z->count <= room);
    assert_int_equal(z->count, z->start[x->rows]);
    klift_run_free(run);
    return z;
}

static void release(sparse *z)
{
    free(z->column);
    free(z->value);
    free(z);
}

static void check_equal(const klift_map *map, const klift_batch *x)
{
    int64_t n_in, n_out;
    OK(klift_map_size(map, &n_in, &n_out));
    float *dense = malloc((size_t)(x->rows * n_out) * sizeof *dense);
    OK(klift_map_apply(map, x, dense, n_out, NULL));
    sparse *one = lift(map, x, "1"), *three = lift(map, x, "3");
    assert_int_equal(one->count, three->count);
    assert_memory_equal(one->start, three->start, (size_t)(x->rows + 1) * sizeof *one->start);
    assert_memory_equal(one->column, three->column, (size_t)one->count * sizeof *one->column);
    assert_memory_equal(one->value, three->value, (size_t)one->count * sizeof *one->value);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t p = one->start[i]; p < one->start[i + 1]; p++) {
            assert_true(p == one->start[i] || one->column[p] > one->column[p - 1]);
            assert_true(one->value[p] == dense[i * n_out + one->column[p]]);
            dense[i * n_out + one->column[p]] = 0;
        }
    for (int64_t i = 0; i < x->rows * n_out; i++)
        assert_true(dense[i] == 0);
    release(one);
    release(three);
    free(dense);
}

static void sparse_features_equal_dense_ones_for_any_preparation_and_threads(void **state)
{
    static const char *const prepare[] = {"none", "unit", "unit-keep-norm", "maxnorm", "standardise"};
    static const struct {
        const char *kernel, *map, *features;
    } maps[] = {{"gaussian:gamma=0.05", "taylor:degree=3", "500"}, {"gaussian:gamma=0.05", "taylor:degree=3,hash=never", "500"}, {"poly:degree=2", "monomial:exact=none", "50"},
                {"linear", "identity", "10"}, {"gaussian:gamma=0.05", "fourier", "16"}};
    float *x = make_rows();
    csr rows = csr_of(ROWS, COLUMNS, x);
    (void)state;
    for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++)
        for (size_t p = 0; p < sizeof prepare / sizeof prepare[0]; p++)
            for (int is_sparse = 0; is_sparse < 2; is_sparse++) {
                klift_batch batch = is_sparse ? csr_batch(ROWS, COLUMNS, &rows) : dense_batch(ROWS, COLUMNS, x);
                klift_map *map = fit(maps[m].kernel, maps[m].map, prepare[p], maps[m].features, &batch);
                check_equal(map, &batch);
                klift_map_free(map);
            }
    csr_free(&rows);
    free(x);
}

/* Columns have different numbers of features; the kernel takes no negative value, in either form. */
static void additive_maps_have_room_for_every_column(void **state)
{
    static const char *const prepare[] = {"none", "unit", "unit-keep-norm"};
    float *x = make_rows();
    int64_t start[ROWS + 1], needed;
    int32_t column[64 * COLUMNS];
    float value[64 * COLUMNS];
    (void)state;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = x[i] < 0 ? -x[i] : x[i];
    csr rows = csr_of(ROWS, COLUMNS, x);
    klift_batch batch = csr_batch(ROWS, COLUMNS, &rows);
    for (size_t p = 0; p < sizeof prepare / sizeof prepare[0]; p++) {
        klift_map *map = fit("chi2", "homogeneous", prepare[p], "200", &batch);
        check_equal(map, &batch);
        klift_batch one = csr_batch(1, COLUMNS, &rows);
        rows.value[0] = -rows.value[0];
        assert_int_equal(klift_map_apply_sparse(map, &one, start, column, value, 64 * COLUMNS, &needed, NULL), KLIFT_DATA);
        assert_non_null(strstr(klift_error(), "kernel chi2 is for rows without negative values"));
        rows.value[0] = -rows.value[0];
        klift_map_free(map);
    }
    csr_free(&rows);
    free(x);
}

/* One of them is so large that it is made in its place, between others that are copied there. */
static void rows_of_more_entries_than_a_part_are_parts_of_their_own(void **state)
{
    enum { MANY = 10, WIDE = 190 };
    static const int nonzeros[MANY] = {0, 35, 70, 105, 140, 175, 190, 3, 10, 120};
    float *x = malloc(MANY * WIDE * sizeof *x);
    (void)state;
    for (int i = 0; i < MANY * WIDE; i++)
        x[i] = i % WIDE < nonzeros[i / WIDE] ? 0.1f * (float)(i % 5 + 1) : 0.0f;
    klift_batch batch = dense_batch(MANY, WIDE, x);
    klift_map *map = fit("gaussian:gamma=0.01", "taylor:degree=3,hash=never", "none", "16", &batch);
    int64_t n_in, n_out;
    OK(klift_map_size(map, &n_in, &n_out));
    assert_int_equal(n_out, 1179616); /* C(193, 3) */
    sparse *one = lift(map, &batch, "1"), *three = lift(map, &batch, "3");
    assert_int_equal(one->start[1], 1);
    assert_int_equal(one->start[6] - one->start[5], 924176); /* C(178, 3) */
    assert_int_equal(one->start[7] - one->start[6], 1179616);
    for (int i = 0; i < MANY; i++) {
        klift_batch alone = dense_batch(1, WIDE, x + i * WIDE);
        sparse *row = lift(map, &alone, "1");
        assert_int_equal(row->count, one->start[i + 1] - one->start[i]);
        assert_memory_equal(row->column, one->column + one->start[i], (size_t)row->count * sizeof *row->column);
        assert_memory_equal(row->value, one->value + one->start[i], (size_t)row->count * sizeof *row->value);
        release(row);
    }
    assert_memory_equal(one->start, three->start, (MANY + 1) * sizeof *one->start);
    assert_memory_equal(one->column, three->column, (size_t)one->count * sizeof *one->column);
    assert_memory_equal(one->value, three->value, (size_t)one->count * sizeof *one->value);
    release(one);
    release(three);
    klift_map_free(map);
    free(x);
}

static void a_refused_row_is_named_by_its_number_in_the_batch(void **state)
{
    float *x = calloc(600 * 20, sizeof *x);
    int64_t start[601], needed;
    float z[64];
    (void)state;
    for (int i = 0; i < 600; i++)
        x[i * 20 + i % 20] = 1;
    klift_batch batch = dense_batch(600, 20, x);
    klift_map *map = fit("gaussian:gamma=0.1", "taylor:degree=3,limit=100", "none", "64", &batch);
    for (int j = 0; j < 10; j++)
        x[555 * 20 + j] = 1; /* with the one that is there 11: C(14, 3) = 364 */
    assert_int_equal(klift_map_apply_sparse(map, &batch, start, NULL, NULL, 0, &needed, NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "row 555 of the batch has 11 nonzeros, and so 364 products"));
    assert_int_equal(klift_map_apply(map, &batch, z, 64, NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "row 555 of the batch"));
    klift_map_free(map);
    free(x);
}

/* By whichever thread has the row, or before any has; the smallest row is the one that is named. */
static void bad_values_are_named_by_their_row(void **state)
{
    static const char *const maps[][2] = {{"gaussian:gamma=0.1", "taylor:degree=2"}, {"chi2", "homogeneous"}};
    float *x = make_rows();
    static int64_t start[ROWS + 1];
    int64_t needed, room = ROWS * 512;
    int32_t *column = malloc((size_t)room * sizeof *column);
    float *value = malloc((size_t)room * sizeof *value);
    (void)state;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = x[i] < 0 ? -x[i] : x[i];
    csr rows = csr_of(ROWS, COLUMNS, x);
    klift_batch batch = csr_batch(ROWS, COLUMNS, &rows);
    for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++) {
        klift_map *map = fit(maps[m][0], maps[m][1], "none", "200", &batch);
        for (int threads = 1; threads <= 3; threads += 2) {
            klift_run *run = run_of(PAIRS("threads", threads == 1 ? "1" : "3"));
            int64_t at = rows.start[400], later = rows.start[600];
            float kept = rows.value[at];
            rows.value[at] = rows.value[later] = NAN;
            assert_int_equal(klift_map_apply_sparse(map, &batch, start, column, value, room, &needed, run), KLIFT_DATA);
            assert_non_null(strstr(klift_error(), "x: row 400"));
            rows.value[at] = rows.value[later] = kept;
            rows.column[rows.start[401] - 1] = COLUMNS;
            assert_int_equal(klift_map_apply_sparse(map, &batch, start, column, value, room, &needed, run), KLIFT_DATA);
            assert_non_null(strstr(klift_error(), "x: row 400: column 30 is beyond the width"));
            rows.column[rows.start[401] - 1] = COLUMNS - 1;
            OK(klift_map_apply_sparse(map, &batch, start, column, value, room, &needed, run));
            klift_run_free(run);
        }
        klift_map_free(map);
    }
    csr_free(&rows);
    free(column);
    free(value);
    free(x);
}

static void the_survey_finds_the_row_before_anything_is_made(void **state)
{
    float *x = calloc(600 * 20, sizeof *x);
    klift_spec *spec = spec_of(PAIRS("kernel", "gaussian:gamma=0.1", "map", "taylor:degree=3,limit=100"));
    klift_data *data;
    klift_map *map;
    (void)state;
    for (int j = 0; j < 10; j++)
        x[555 * 20 + j] = 1;
    klift_batch batch = dense_batch(600, 20, x);
    OK(klift_data_view(&batch, &data));
    assert_int_equal(klift_map_fit(spec, data, NULL, &map), KLIFT_DATA);
    assert_null(map);
    assert_non_null(strstr(klift_error(), "row 556 of the data has 10 nonzeros"));
    klift_data_free(data);
    klift_spec_free(spec);
    free(x);
}

static void no_rows_and_no_room_are_no_error(void **state)
{
    float x[20] = {1};
    int64_t start[2] = {7, 7}, needed = 9;
    klift_batch one = dense_batch(1, 20, x), none = dense_batch(0, 20, x);
    klift_map *map = fit("gaussian:gamma=0.1", "taylor:degree=3", "none", "64", &one);
    (void)state;
    OK(klift_map_apply_sparse(map, &none, start, NULL, NULL, 0, &needed, NULL));
    assert_int_equal(needed, 0);
    assert_int_equal(start[0], 0);
    assert_int_equal(klift_map_apply_sparse(map, &one, start, NULL, NULL, 5, &needed, NULL), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "column is NULL"));
    klift_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_features_equal_dense_ones_for_any_preparation_and_threads),
        cmocka_unit_test(additive_maps_have_room_for_every_column),
        cmocka_unit_test(rows_of_more_entries_than_a_part_are_parts_of_their_own),
        cmocka_unit_test(a_refused_row_is_named_by_its_number_in_the_batch),
        cmocka_unit_test(bad_values_are_named_by_their_row),
        cmocka_unit_test(the_survey_finds_the_row_before_anything_is_made),
        cmocka_unit_test(no_rows_and_no_room_are_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
