/*
 * test_svm_features.c - the learner svm on sparse features and on rounded ones: CSR rows train the model of the same rows with their
 * zeros, byte for byte, and bfloat16 the one of features that were rounded before, wherever they are kept.
 */
#include "math/narrow.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 9000, COLUMNS = 203 };

static float *x; /* (ROWS, COLUMNS), one in twenty not zero, some rows nothing but zeros */
static csr entries;
static double five[ROWS], two[ROWS], number[ROWS];

static int make_rows(void **state)
{
    (void)state;
    x = calloc(ROWS * COLUMNS, sizeof *x);
    for (int i = 0; i < ROWS; i++) {
        double f[5] = {0}, best = -INFINITY;
        for (int j = 0; j < COLUMNS; j++)
            if (i % 50 != 7 && syn_uniform((uint64_t)(i * COLUMNS + j)) < 0.05) {
                x[i * COLUMNS + j] = (float)syn_normal((uint64_t)i, (uint64_t)j);
                for (int k = 0; k < 5; k++)
                    f[k] += (double)x[i * COLUMNS + j] * syn_normal(1 << 20, (uint64_t)(5 * j + k));
            }
        for (int k = 0; k < 5; k++)
            if (f[k] + 0.5 * syn_normal((uint64_t)i, (uint64_t)(COLUMNS + k)) > best) {
                best = f[k] + 0.5 * syn_normal((uint64_t)i, (uint64_t)(COLUMNS + k));
                five[i] = k;
            }
        number[i] = f[0] + 0.3 * syn_normal((uint64_t)i, COLUMNS + 9);
        two[i] = number[i] > 0;
    }
    entries = csr_of(ROWS, COLUMNS, x);
    return 0;
}

static int free_rows(void **state)
{
    (void)state;
    csr_free(&entries);
    free(x);
    return 0;
}

typedef struct problem {
    const char *learner, *task;
    const double *target;
} problem;

static const problem problems[] = {{"svm:loss=hinge,passes=6", "classify", five},
                                   {"svm:passes=9", "classify", two}, /* its Newton's method takes more than a file saves here */
                                   {"svm:loss=hinge,passes=9", "classify", two},
                                   {"svm:classes=crammer-singer,passes=5", "classify", five},
                                   {"svm:loss=epsilon,passes=7", "regress", number}};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static klift_model *train(const problem *p, const char *map, bool sparse, const char *threads, const char *memory)
{
    klift_spec *spec;
    klift_data *data;
    klift_run *run;
    klift_model *model = NULL;
    klift_batch rows = sparse ? csr_batch(ROWS, COLUMNS, &entries) : dense_batch(ROWS, COLUMNS, x);
    rows.target = p->target;
    rows.targets = 1;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "threads", threads), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "batch", "256"), KLIFT_OK);
    if (memory != NULL)
        assert_int_equal(klift_run_set(run, "max-memory", memory), KLIFT_OK);
    assert_int_equal(klift_spec_new(&spec), KLIFT_OK);
    const char *const setting[][2] = {{"kernel", strstr(map, "identity") ? "linear" : "poly:degree=2"}, {"map", map}, {"learner", p->learner}, {"task", p->task}, {"c", "0.5"}};
    for (int i = 0; i < 5; i++)
        assert_int_equal(klift_spec_set(spec, setting[i][0], setting[i][1]), KLIFT_OK);
    assert_int_equal(klift_data_view(&rows, &data), KLIFT_OK);
    if (klift_train(spec, data, run, &model) != KLIFT_OK)
        fail_msg("%s: %s", p->learner, klift_error());
    klift_data_free(data);
    klift_spec_free(spec);
    klift_run_free(run);
    return model;
}

static void check_same_bytes(klift_model *model, const klift_model *as)
{
    int64_t count, other;
    assert_int_equal(klift_model_bytes(model, NULL, 0, &count), KLIFT_OK);
    assert_int_equal(klift_model_bytes(as, NULL, 0, &other), KLIFT_OK);
    assert_int_equal(count, other);
    char *one = malloc((size_t)count), *two_of = malloc((size_t)count);
    assert_int_equal(klift_model_bytes(model, one, count, &count), KLIFT_OK);
    assert_int_equal(klift_model_bytes(as, two_of, count, &count), KLIFT_OK);
    assert_memory_equal(one, two_of, (size_t)count);
    free(one);
    free(two_of);
    klift_model_free(model);
}

static void sparse_rows_train_the_model_of_dense_ones(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++) {
        klift_model *dense = train(&problems[i], "identity", false, "2", NULL);
        for (int threads = 1; threads <= 3; threads++) {
            char text[2] = {(char)('0' + threads), '\0'};
            check_same_bytes(train(&problems[i], "identity", true, text, NULL), dense);
        }
        if (i != 1)
            check_same_bytes(train(&problems[i], "identity", true, "2", "1400K"), dense); /* features in a file */
        klift_model_free(dense);
    }
}

static void products_of_columns_too_whatever_the_memory(void **state)
{
    (void)state;
    klift_model *kept = train(&problems[1], "monomial:hash=never", true, "2", NULL);
    check_same_bytes(train(&problems[1], "monomial:hash=never", true, "3", "6M"), kept); /* rows in memory, lifted again */
    check_same_bytes(train(&problems[1], "monomial:hash=never", true, "1", "2800K"), kept); /* rows in a file */
    klift_model_free(kept);
}

/* Predictions: CSR against the same rows with their zeros, bit for bit. */
static void sparse_rows_have_the_scores_of_dense_ones(void **state)
{
    klift_batch dense = dense_batch(ROWS, COLUMNS, x), sparse = csr_batch(ROWS, COLUMNS, &entries);
    double *one = malloc(5 * ROWS * sizeof *one), *other = malloc(5 * ROWS * sizeof *other);
    (void)state;
    klift_model *model = train(&problems[0], "identity", true, "2", NULL);
    assert_int_equal(klift_model_predict(model, &dense, KLIFT_SCORES, one, NULL), KLIFT_OK);
    assert_int_equal(klift_model_predict(model, &sparse, KLIFT_SCORES, other, NULL), KLIFT_OK);
    assert_memory_equal(one, other, 5 * ROWS * sizeof *one);
    klift_model_free(model);
    free(one);
    free(other);
}

static double *scores_of(const klift_model *model, const klift_batch *rows, int64_t outputs)
{
    double *score = malloc((size_t)(rows->rows * outputs) * sizeof *score);
    assert_int_equal(klift_model_predict(model, rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
    return score;
}

static void round_rows(kl_narrow kind)
{
    for (int i = 0; i < ROWS; i++) {
        kl_narrow_round(kind, COLUMNS, x + i * COLUMNS);
        kl_narrow_round(kind, entries.start[i + 1] - entries.start[i], entries.value + entries.start[i]);
    }
}

/* With the identity the features are the rows: those rounded by hand, trained in float32, have the weights. */
static void check_rounded(const problem *rounded, kl_narrow kind, bool sparse)
{
    static const problem plain = {"svm:loss=hinge,passes=9", "classify", two};
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    klift_model *half = train(rounded, "identity", sparse, "2", NULL), *full = train(&plain, "identity", sparse, "2", NULL);
    check_same_bytes(train(rounded, "identity", sparse, "1", NULL), half);
    check_same_bytes(train(rounded, "identity", sparse, "3", NULL), half);
    check_same_bytes(train(rounded, "identity", sparse, "2", sparse ? "1400K" : "6900K"), half); /* in a file */
    double *a = scores_of(half, &rows, 1), *b = scores_of(full, &rows, 1);
    assert_true(memcmp(a, b, ROWS * sizeof *a) != 0);
    float *kept = malloc(ROWS * COLUMNS * sizeof *kept);
    memcpy(kept, x, ROWS * COLUMNS * sizeof *kept);
    round_rows(kind);
    klift_model *by_hand = train(&plain, "identity", sparse, "2", NULL);
    memcpy(x, kept, ROWS * COLUMNS * sizeof *kept);
    csr_free(&entries);
    entries = csr_of(ROWS, COLUMNS, x);
    double *c = scores_of(by_hand, &rows, 1);
    assert_memory_equal(a, c, ROWS * sizeof *a);
    klift_model_free(half);
    klift_model_free(full);
    klift_model_free(by_hand);
    free(a);
    free(b);
    free(c);
    free(kept);
}

static void sixteen_bits_train_on_rounded_features(void **state)
{
    static const problem brief = {"svm:loss=hinge,passes=9,cache=bf16", "classify", two}, whole = {"svm:loss=hinge,passes=9,cache=int16", "classify", two};
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        check_rounded(&brief, KL_BFLOAT16, sparse);
        check_rounded(&whole, KL_INT16, sparse);
    }
}

/* Weights of learners that differ in what features are rounded to. */
static void check_near(const problem *half, double most, int rows_most)
{
    static const problem full = {"svm:tolerance=1e-8", "classify", two};
    float *unit = calloc((COLUMNS + 1) * COLUMNS, sizeof *unit);
    for (int j = 0; j < COLUMNS; j++)
        unit[(j + 1) * COLUMNS + j] = 1;
    klift_batch axes = dense_batch(COLUMNS + 1, COLUMNS, unit), rows = dense_batch(ROWS, COLUMNS, x);
    klift_model *one = train(half, "identity", false, "2", NULL), *other = train(&full, "identity", false, "2", NULL);
    double *a = scores_of(one, &axes, 1), *b = scores_of(other, &axes, 1), *f = scores_of(one, &rows, 1), *g = scores_of(other, &rows, 1), change = 0, length = 0;
    int differ = 0;
    for (int j = 1; j <= COLUMNS; j++) {
        change += (a[j] - a[0] - b[j] + b[0]) * (a[j] - a[0] - b[j] + b[0]);
        length += (b[j] - b[0]) * (b[j] - b[0]);
    }
    for (int i = 0; i < ROWS; i++)
        differ += (f[i] > 0) != (g[i] > 0);
    print_message("weights change by %.2g of their length, %d of %d rows change their class\n", sqrt(change / length), differ, ROWS);
    assert_true(change > 0 && sqrt(change / length) < most);
    assert_true(differ <= rows_most);
    klift_model_free(one);
    klift_model_free(other);
    free(a);
    free(b);
    free(f);
    free(g);
    free(unit);
}

/* Every feature changes by at most 2^-8 of itself, by 2^-9 or so in the mean, or by 2^-16 of the largest of its row, and changes of many rows
 * cancel: weights move by less than that part of their length, and signs of scores only next to the border. */
static void sixteen_bits_are_near_float32(void **state)
{
    static const problem brief = {"svm:tolerance=1e-8,cache=bf16", "classify", two}, whole = {"svm:tolerance=1e-8,cache=int16", "classify", two};
    (void)state;
    check_near(&brief, 0x1p-9, ROWS / 1000);
    check_near(&whole, 0x1p-14, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_rows_train_the_model_of_dense_ones),
        cmocka_unit_test(products_of_columns_too_whatever_the_memory),
        cmocka_unit_test(sparse_rows_have_the_scores_of_dense_ones),
        cmocka_unit_test(sixteen_bits_train_on_rounded_features),
        cmocka_unit_test(sixteen_bits_are_near_float32),
    };
    return cmocka_run_group_tests(tests, make_rows, free_rows);
}
