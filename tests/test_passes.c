/*
 * test_passes.c - features for several passes: wherever they are kept, in memory, as rows or in a file, dense or CSR, rounded or not,
 * they are those that the map makes.
 */
#include "math/bfloat16.h"
#include "model/passes.h"
#include "pipeline.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct way {
    const char *kernel, *map, *features;
    int64_t rows, columns;
    bool sparse_rows;
    const char *memory; /* NULL: plenty */
    bool once;          /* a pipe: the number of rows is not known */
    kl_kept keep;
    bool sparse;
} way;

static const way ways[] = {
    {"gaussian:gamma=0.1", "fourier", "64", 5000, 8, false, NULL, false, KL_KEEP_FEATURES, false},
    {"gaussian:gamma=0.1", "fourier", "64", 5000, 8, false, "1M", false, KL_KEEP_ROWS, false},
    {"gaussian:gamma=0.1", "fourier", "64", 10000, 8, false, "1M", false, KL_FILE_ROWS, false},
    {"gaussian:gamma=0.1", "fourier", "64", 10000, 8, false, "1M", true, KL_FILE_FEATURES, false},
    {"linear", "identity", "64", 9000, 41, false, NULL, false, KL_KEEP_FEATURES, false},
    {"linear", "identity", "64", 9000, 41, false, "1M", false, KL_FILE_FEATURES, false},
    {"gaussian:gamma=0.1", "fourier", "128", 5000, 200, true, "1M", false, KL_FILE_ROWS, false}, /* CSR rows in the file */
    {"linear", "identity", "64", 9000, 200, true, NULL, false, KL_KEEP_FEATURES, true},
    {"linear", "identity", "64", 9000, 200, true, "1M", false, KL_FILE_FEATURES, true},
    {"linear", "identity", "64", 9000, 200, true, NULL, true, KL_KEEP_FEATURES, true},
    {"linear", "identity", "64", 9000, 200, true, "1M", true, KL_FILE_FEATURES, true},
    {"poly:degree=2", "monomial:hash=never", "64", 2300, 200, true, NULL, false, KL_KEEP_FEATURES, true},
    {"poly:degree=2", "monomial:hash=never", "64", 2300, 200, true, "1M", false, KL_KEEP_ROWS, true},
    {"poly:degree=2", "monomial:hash=never", "64", 5000, 200, true, "1M", false, KL_FILE_ROWS, true},
    {"chi2", "homogeneous", "1200", 5000, 200, true, NULL, false, KL_KEEP_FEATURES, true},
};

/* Ten entries in a row of 200 columns, none in some: all above zero, so that every kernel takes them. */
static float *make_rows(const way *w, double *target)
{
    float *x = calloc((size_t)(w->rows * w->columns), sizeof *x);
    for (int64_t i = 0; i < w->rows; i++) {
        target[i] = (double)(i % 3);
        for (int64_t j = 0; j < w->columns; j++) {
            double u = syn_uniform((uint64_t)(i * w->columns + j));
            if (!w->sparse_rows || (i % 50 != 7 && u < 0.05))
                x[i * w->columns + j] = (float)(0.05 + syn_uniform((uint64_t)(i * w->columns + j) + (1u << 30)));
        }
    }
    return x;
}

/* Some rows as the map makes them, one by one, against those taken in an order that is not theirs. */
static void compare(kl_feature_passes *p, const kl_batch *x, const klift_map *lift, klift_run *run)
{
    enum { SOME = 60 };
    int64_t n = lift->map->n_out, most = p->passes.at_most < 900 ? p->passes.at_most : 900;
    int32_t index[900];
    kl_row row[900];
    float *z = malloc((size_t)n * sizeof *z), *spread = malloc((size_t)n * sizeof *spread);
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t i = 0; i < most; i++)
            index[i] = (int32_t)((i * 7919 + turn * 31) % x->rows);
        OK(p->passes.take(&p->passes, index, most, run, row));
        for (int64_t i = 0; i < most; i += most / SOME + 1) {
            kl_batch one = kl_batch_part(x, index[i], 1);
            OK(kl_lift_rows(lift, &one, z, n, run));
            kl_narrow_round(p->narrow, n, z);
            assert_int_equal(row[i].column != NULL, p->sparse);
            assert_true(p->sparse || row[i].count == n);
            kl_row_spread(&row[i], n, spread);
            assert_memory_equal(spread, z, (size_t)n * sizeof *z);
        }
    }
    free(z);
    free(spread);
}

static void check(const way *w, const char *learner_text, const char *threads)
{
    klift_spec *spec;
    klift_run *run;
    klift_map *lift;
    kl_reader *reader;
    kl_learner *learner;
    kl_feature_passes passes;
    double *target = malloc((size_t)w->rows * sizeof *target);
    float *x = make_rows(w, target);
    csr entries = csr_of(w->rows, w->columns, x);
    kl_batch rows = w->sparse_rows ? csr_batch(w->rows, w->columns, &entries) : dense_batch(w->rows, w->columns, x);
    kl_learn_spec learn = {.goal = KL_CLASSIFY, .lambda = 1, .c = 1, .search = KL_BY_HAND, .folds = 5, .seed = 1};
    rows.target = target;
    rows.targets = 1;
    OK(klift_run_new(&run));
    OK(klift_run_set(run, "threads", threads));
    if (w->memory != NULL)
        OK(klift_run_set(run, "max-memory", w->memory));
    OK(klift_spec_new(&spec));
    OK(klift_spec_set(spec, "kernel", w->kernel));
    OK(klift_spec_set(spec, "map", w->map));
    OK(klift_spec_set(spec, "features", w->features));
    OK(kl_reader_view(&rows, &reader));
    OK(kl_pipeline_fit(spec, reader, true, run, &lift));
    OK(kl_learner_new(learner_text, &learn, lift->map->n_out, run, &learner));
    if (w->once)
        lift->rows = INT64_MAX;
    OK(kl_passes_open(&passes, lift, reader, learner, NULL, run));
    if (passes.keep != w->keep || passes.sparse != w->sparse)
        fail_msg("%s %s of %lld rows, %s: kept as %d, %s", w->kernel, w->map, (long long)w->rows, learner_text, (int)passes.keep, passes.sparse ? "CSR" : "dense");
    assert_int_equal(passes.narrow, strstr(learner_text, "bf16") != NULL ? KL_BFLOAT16 : strstr(learner_text, "int16") != NULL ? KL_INT16 : KL_FLOAT32);
    assert_int_equal(passes.passes.rows, w->rows);
    compare(&passes, &rows, lift, run);
    kl_passes_close(&passes);
    kl_learner_free(learner);
    kl_lift_free(lift);
    kl_reader_free(reader);
    klift_spec_free(spec);
    klift_run_free(run);
    csr_free(&entries);
    free(x);
    free(target);
}

static void features_are_the_same_wherever_they_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        check(&ways[i], "svm", "1");
        check(&ways[i], "svm", "3");
    }
}

static void rounded_ones_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        check(&ways[i], "svm:cache=bf16", i % 2 == 0 ? "1" : "2");
        check(&ways[i], "svm:cache=int16", i % 2 == 0 ? "2" : "1");
    }
}

/* Only features of one size, and where the tolerance allows it: a column that is small beside another one would lose its bits. */
static void sixteen_bits_by_themselves_are_for_waves(void **state)
{
    static const struct {
        const char *learner;
        bool even;
        kl_narrow narrow;
    } cases[] = {{"svm", true, KL_INT16}, {"svm", false, KL_FLOAT32}, {"svm:tolerance=0.0001", true, KL_FLOAT32}, {"svm:cache=float32", true, KL_FLOAT32},
                 {"svm:cache=bf16", true, KL_BFLOAT16}, {"svm:cache=int16,tolerance=0.0001", false, KL_INT16}, {"ridge", true, KL_FLOAT32}};
    static const char *const waves[] = {"fourier", "orthogonal", "fastfood"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_learn_spec spec = {.goal = KL_CLASSIFY, .lambda = 1, .c = 1, .folds = 5, .reach = cases[i].even ? 1 : 0};
        kl_learner *learner;
        OK(kl_learner_new(cases[i].learner, &spec, 64, NULL, &learner));
        assert_int_equal(kl_learner_narrow(learner), cases[i].narrow);
        kl_learner_free(learner);
    }
    for (int64_t t = 0; kl_map_type_at(t) != NULL; t++) {
        bool wave = false;
        for (int i = 0; i < 3; i++)
            wave = wave || strcmp(kl_map_type_at(t)->name, waves[i]) == 0;
        assert_int_equal(kl_map_type_at(t)->reach != NULL, wave);
    }
}

/* A source may give dense rows first, CSR later: the file has both. */
static void rows_of_a_file_may_be_dense_and_sparse(void **state)
{
    static const float dense[2][3] = {{1, 2, 3}, {4, 5, 6}}, value[] = {7, 8};
    static const int64_t start[] = {0, 0, 2};
    static const int32_t column[] = {0, 2}, order[] = {3, 0, 2, 1, 3};
    kl_batch one = {.size = sizeof one, .rows = 2, .columns = 3, .dense = dense[0], .stride = 3};
    kl_batch two = {.size = sizeof two, .rows = 2, .columns = 3, .start = start, .column = column, .value = value};
    kl_row_file file = {0};
    kl_row row[5];
    (void)state;
    OK(kl_row_file_open(&file));
    OK(kl_row_file_add(&file, &one));
    OK(kl_row_file_add(&file, &two));
    OK(kl_row_file_take(&file, order, 5, row));
    for (int i = 0; i < 5; i += 4) {
        assert_int_equal(row[i].count, 2);
        assert_memory_equal(row[i].column, column, sizeof column);
        assert_memory_equal(row[i].value, value, sizeof value);
    }
    assert_true(row[1].column == NULL && row[1].count == 3 && row[3].column == NULL);
    assert_memory_equal(row[1].value, dense[0], sizeof dense[0]);
    assert_memory_equal(row[3].value, dense[1], sizeof dense[1]);
    assert_true(row[2].column != NULL && row[2].count == 0);
    kl_row_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_the_same_wherever_they_are_kept),
        cmocka_unit_test(rounded_ones_too),
        cmocka_unit_test(sixteen_bits_by_themselves_are_for_waves),
        cmocka_unit_test(rows_of_a_file_may_be_dense_and_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
