/* test_synthetic.c - synthetic rows: pure functions of (seed, row), and of the kind their names say. */
#include "base/memory.h"
#include "data/reader.h"
#include "data/synthetic.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Keys of the content and the target of every row, read at_most at a time. */
static int64_t read_keys(kl_reader *reader, int64_t at_most, uint64_t *keys)
{
    int64_t rows = 0;
    for (;;) {
        kl_batch batch;
        assert_int_equal(kl_reader_next(reader, at_most, &batch), KLIFT_OK);
        if (batch.rows == 0)
            return rows;
        assert_int_equal(kl_batch_check(&batch, "synthetic"), KLIFT_OK);
        for (int64_t i = 0; i < batch.rows; i++) {
            uint64_t target;
            memcpy(&target, &batch.target[i], sizeof target);
            keys[rows++] = kl_mix(kl_batch_row_key(&batch, i), target);
        }
    }
}

static void open_name(const char *name, const char *options, kl_reader **reader)
{
    char all[200];
    snprintf(all, sizeof all, "format=synthetic%s%s", options[0] ? "," : "", options);
    if (kl_reader_open(name, all, reader) != KLIFT_OK)
        fail_msg("%s: %s", name, kl_error_text());
}

static void every_batch_size_and_pass_gives_the_same_rows(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 13, 4096};
    for (int64_t n = 0; kl_synthetic_name_at(n, NULL) != NULL; n++) {
        uint64_t first[500], again[500];
        kl_reader *reader;
        open_name(kl_synthetic_name_at(n, NULL), "rows=500,seed=9", &reader);
        assert_int_equal(read_keys(reader, 500, first), 500);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
            assert_int_equal(read_keys(reader, sizes[i], again), 500);
            assert_memory_equal(first, again, sizeof first);
        }
        kl_reader_free(reader);
        assert_non_null(kl_synthetic_summary(n));
    }
}

static void more_rows_begin_with_the_same_ones(void **unused)
{
    (void)unused;
    uint64_t few[100], many[300];
    kl_reader *reader;
    open_name("rings", "rows=100", &reader);
    read_keys(reader, 100, few);
    kl_reader_free(reader);
    open_name("rings", "rows=300", &reader);
    read_keys(reader, 100, many);
    kl_reader_free(reader);
    assert_memory_equal(few, many, sizeof few);
}

static void rows_differ_from_each_other_and_between_seeds(void **unused)
{
    (void)unused;
    for (int64_t n = 0; kl_synthetic_name_at(n, NULL) != NULL; n++) {
        uint64_t one[200], two[200];
        kl_reader *reader;
        open_name(kl_synthetic_name_at(n, NULL), "rows=200,seed=1", &reader);
        read_keys(reader, 200, one);
        kl_reader_free(reader);
        open_name(kl_synthetic_name_at(n, NULL), "rows=200,seed=2", &reader);
        read_keys(reader, 200, two);
        kl_reader_free(reader);
        for (int i = 0; i < 200; i++)
            for (int j = 0; j < 200; j++)
                assert_true((i == j || one[i] != one[j]) && one[i] != two[j]);
    }
}

static void classes_are_those_named_and_about_equal(void **unused)
{
    (void)unused;
    enum { ROWS = 4000 };
    static const struct {
        const char *name, *options;
        int count;
        double class[3];
    } known[] = {
        {"spirals", "rows=4000", 2, {-1, 1}},
        {"checkerboard", "rows=4000", 2, {0, 1}},
        {"rings", "rows=4000", 3, {1, 2, 3}},
        {"sparse", "rows=4000", 2, {-1, 1}},
        {"sparse", "rows=4000,dim=20", 2, {-1, 1}},
        {"sparse", "rows=4000,dim=1000000", 2, {-1, 1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        int seen[3] = {0};
        kl_reader *reader;
        kl_batch batch;
        open_name(known[k].name, known[k].options, &reader);
        assert_int_equal(kl_reader_next(reader, ROWS, &batch), KLIFT_OK);
        for (int i = 0; i < ROWS; i++) {
            int c = 0;
            while (c < known[k].count && known[k].class[c] != batch.target[i])
                c++;
            assert_true(c < known[k].count);
            seen[c]++;
        }
        for (int c = 0; c < known[k].count; c++)
            if (fabs(seen[c] * known[k].count / (double)ROWS - 1) > 0.2)
                fail_msg("%s: class %d has %d of %d rows", known[k].name, c, seen[c], ROWS);
        kl_reader_free(reader);
    }
}

/* Share of rows whose nearest other row, of a dense 2-D batch, is of another class. */
static double neighbour_error(const kl_batch *b)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        double least = HUGE_VAL;
        int64_t nearest = 0;
        for (int64_t j = 0; j < b->rows; j++) {
            double u = (double)(b->dense[2 * i] - b->dense[2 * j]), v = (double)(b->dense[2 * i + 1] - b->dense[2 * j + 1]);
            if (i != j && u * u + v * v < least) {
                least = u * u + v * v;
                nearest = j;
            }
        }
        wrong += b->target[i] != b->target[nearest];
    }
    return (double)wrong / (double)b->rows;
}

/* Error of the linear model (1, x1, x2) fitted by least squares to +-1: Gauss elimination of the normal equations. */
static double linear_error(const kl_batch *b, double positive)
{
    double m[3][4] = {{0}};
    int64_t wrong = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        double row[4] = {1, (double)b->dense[2 * i], (double)b->dense[2 * i + 1], b->target[i] == positive ? 1 : -1};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                m[j][k] += row[j] * row[k];
    }
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            for (int k = 3; i != j && k >= j; k--)
                m[i][k] -= m[j][k] * m[i][j] / m[j][j];
    for (int64_t i = 0; i < b->rows; i++) {
        double score = m[0][3] / m[0][0] + m[1][3] / m[1][1] * (double)b->dense[2 * i] + m[2][3] / m[2][2] * (double)b->dense[2 * i + 1];
        wrong += (score > 0) != (b->target[i] == positive);
    }
    return (double)wrong / (double)b->rows;
}

static void no_linear_model_parts_spirals_or_checkerboard_but_neighbours_do(void **unused)
{
    (void)unused;
    static const char *const names[] = {"spirals", "checkerboard"};
    for (int n = 0; n < 2; n++) {
        kl_reader *reader;
        kl_batch batch;
        open_name(names[n], "rows=2000", &reader);
        assert_int_equal(kl_reader_next(reader, 2000, &batch), KLIFT_OK);
        double linear = linear_error(&batch, 1), neighbour = neighbour_error(&batch);
        if (linear < 0.4 || neighbour > (n == 0 ? 0.01 : 0.09))
            fail_msg("%s: error of a linear model %g, of the nearest neighbour %g", names[n], linear, neighbour);
        kl_reader_free(reader);
    }
}

static void friedman_follows_its_formula(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    double sum = 0, square = 0;
    open_name("friedman", "rows=5000", &reader);
    assert_int_equal(kl_reader_next(reader, 5000, &batch), KLIFT_OK);
    assert_int_equal(batch.columns, 10);
    for (int64_t i = 0; i < batch.rows; i++) {
        const float *f = batch.dense + i * 10;
        double x[5];
        for (int j = 0; j < 5; j++)
            x[j] = (double)f[j];
        double rest = batch.target[i] - (10 * sin(3.14159265358979 * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4]);
        sum += rest;
        square += rest * rest;
    }
    assert_true(fabs(sum / 5000) < 0.05);
    assert_true(fabs(square / 5000 - 1) < 0.1);
    kl_reader_free(reader);
}

static void sparse_rows_have_about_twenty_entries(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    open_name("sparse", "rows=2000", &reader);
    assert_int_equal(kl_reader_next(reader, 2000, &batch), KLIFT_OK);
    assert_true(kl_batch_is_sparse(&batch));
    assert_int_equal(batch.columns, 1000);
    double mean = (double)batch.start[2000] / 2000;
    assert_true(mean > 17 && mean < 21);
    kl_reader_free(reader);
}

static void dim_noise_and_labels_are_options(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    open_name("spirals", "dim=5,noise=0,rows=10,no-label=true", &reader);
    assert_int_equal(kl_reader_next(reader, 100, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 10);
    assert_int_equal(batch.columns, 5);
    assert_null(batch.target);
    for (int i = 0; i < 10; i++)
        assert_true(hypot((double)batch.dense[5 * i], (double)batch.dense[5 * i + 1]) <= 1.0001);
    kl_reader_free(reader);
    int flipped = 0;
    kl_reader *clean, *noisy;
    kl_batch a, b;
    open_name("checkerboard", "rows=1000", &clean);
    open_name("checkerboard", "rows=1000,noise=0.3", &noisy);
    assert_int_equal(kl_reader_next(clean, 1000, &a), KLIFT_OK);
    assert_int_equal(kl_reader_next(noisy, 1000, &b), KLIFT_OK);
    for (int i = 0; i < 1000; i++)
        flipped += a.target[i] != b.target[i];
    assert_true(flipped > 250 && flipped < 350);
    kl_reader_free(clean);
    kl_reader_free(noisy);
}

static void wrong_names_and_settings_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *options, *word;
    } bad[] = {
        {"spiral", "format=synthetic", "did you mean 'spirals'"},
        {"nothing-like-it", "format=synthetic", "checkerboard"},
        {"spirals", "format=synthetic,dim=1", "at least dim=2"},
        {"friedman", "format=synthetic,dim=4", "at least dim=5"},
        {"spirals", "format=synthetic,rows=0", "rows"},
        {"spirals", "format=synthetic,rows=1e13", "rows"},
        {"spirals", "format=synthetic,noise=-1", "noise"},
        {"spirals", "format=synthetic,labels=\"y\"", "labels"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kl_reader *reader;
        assert_int_equal(kl_reader_open(bad[i].name, bad[i].options, &reader), KLIFT_USAGE);
        assert_null(reader);
        assert_non_null(strstr(kl_error_text(), bad[i].word));
    }
}

static void a_batch_too_large_for_memory_is_an_error(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    open_name("spirals", "rows=1e12,dim=10000000", &reader);
    assert_int_equal(kl_reader_next(reader, INT64_MAX, &batch), KLIFT_MEMORY);
    kl_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_batch_size_and_pass_gives_the_same_rows),
        cmocka_unit_test(more_rows_begin_with_the_same_ones),
        cmocka_unit_test(rows_differ_from_each_other_and_between_seeds),
        cmocka_unit_test(classes_are_those_named_and_about_equal),
        cmocka_unit_test(no_linear_model_parts_spirals_or_checkerboard_but_neighbours_do),
        cmocka_unit_test(friedman_follows_its_formula),
        cmocka_unit_test(sparse_rows_have_about_twenty_entries),
        cmocka_unit_test(dim_noise_and_labels_are_options),
        cmocka_unit_test(wrong_names_and_settings_are_refused),
        cmocka_unit_test(a_batch_too_large_for_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
