/* test_bandwidth.c - the median distance, its fallback and its refusal. */
#include "kernel/kernel.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static klift_status median_of(const kl_batch *rows, double *median)
{
    kl_survey survey = {.rows = rows->rows, .columns = rows->columns};
    assert_int_equal(kl_rows_add(&survey.sample, rows, 0, rows->rows), KLIFT_OK);
    klift_status status = kl_bandwidth_median(&survey, false, median);
    kl_survey_clear(&survey);
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Over all pairs, with nothing shared with the code under test. */
static double plain_median(int64_t n, int64_t d, const float *x)
{
    double *all = malloc((size_t)(n * (n - 1) / 2) * sizeof *all);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1; k < n; k++) {
            double sum = 0;
            for (int64_t j = 0; j < d; j++)
                sum += pow((double)x[i * d + j] - (double)x[k * d + j], 2);
            all[count++] = sqrt(sum);
        }
    qsort(all, (size_t)count, sizeof *all, compare);
    double median = (all[(count - 1) / 2] + all[count / 2]) / 2;
    free(all);
    return median;
}

static void reference_rows_have_the_medians_of_the_table(void **unused)
{
    (void)unused;
    static const struct {
        int64_t d;
        double median, gamma;
    } cases[] = {{16, 1.329543, .282856}, {64, 1.407527, .252381}};
    for (int c = 0; c < 2; c++) {
        float *x = malloc((size_t)(200 * cases[c].d) * sizeof *x);
        syn_rows_float(200, cases[c].d, x);
        kl_batch rows = dense_batch(200, cases[c].d, x);
        double median;
        assert_int_equal(median_of(&rows, &median), KLIFT_OK);
        assert_true(fabs(median - cases[c].median) < 1e-6);
        assert_true(fabs(1 / (2 * median * median) - cases[c].gamma) < 1e-6);
        free(x);
    }
}

static void dense_and_sparse_rows_have_the_same_median_bit_for_bit(void **unused)
{
    (void)unused;
    float x[120 * 9];
    syn_rows_float(120, 9, x);
    for (int i = 0; i < 120 * 9; i++)
        x[i] = i % 4 < 2 || i / 9 == 7 ? 0.0f : x[i]; /* row 7 is empty */
    csr sparse = csr_of(120, 9, x);
    kl_batch dense_rows = dense_batch(120, 9, x), sparse_rows = csr_batch(120, 9, &sparse);
    double first, second;
    assert_int_equal(median_of(&dense_rows, &first), KLIFT_OK);
    assert_int_equal(median_of(&sparse_rows, &second), KLIFT_OK);
    assert_true(first == second);
    assert_true(fabs(first - plain_median(120, 9, x)) < 1e-12);
    csr_free(&sparse);
}

static void many_rows_are_judged_by_pairs_of_them(void **unused)
{
    (void)unused;
    enum { ROWS = 1500, D = 16 };
    float *x = malloc(ROWS * D * sizeof *x);
    syn_rows_float(ROWS, D, x);
    kl_batch rows = dense_batch(ROWS, D, x), fewer = dense_batch(1000, D, x);
    double median, again, of_fewer, expected = plain_median(1000, D, x);
    assert_int_equal(median_of(&rows, &median), KLIFT_OK);
    assert_int_equal(median_of(&rows, &again), KLIFT_OK);
    assert_int_equal(median_of(&fewer, &of_fewer), KLIFT_OK);
    assert_true(median == again && median == of_fewer); /* fixed pairs of the first 1000 rows */
    assert_true(fabs(median - expected) < 0.01);        /* 10^5 pairs: a standard error of about 0.0015 */
    free(x);
}

static void mostly_equal_rows_fall_back_to_the_mean_of_positive_distances(void **unused)
{
    (void)unused;
    float x[20 * 2] = {0};
    for (int i = 0; i < 20; i++)
        x[2 * i] = 5;
    x[2 * 18] = 5 + 3; /* two rows at distances 3 and 4 from the 18 equal ones, 5 from each other */
    x[2 * 19 + 1] = 4;
    kl_batch rows = dense_batch(20, 2, x);
    double median;
    assert_int_equal(median_of(&rows, &median), KLIFT_OK);
    assert_true(fabs(median - (18 * 3 + 18 * 4 + 5) / 37.0) < 1e-14);
}

static void equal_rows_are_refused(void **unused)
{
    (void)unused;
    float x[30 * 3];
    for (int i = 0; i < 90; i++)
        x[i] = (float)(i % 3);
    static const int64_t counts[] = {1, 2, 30};
    for (int c = 0; c < 3; c++) {
        kl_batch rows = dense_batch(counts[c], 3, x);
        double median;
        assert_int_equal(median_of(&rows, &median), KLIFT_DATA);
        assert_non_null(strstr(kl_error_text(), "all sampled rows are equal"));
    }
    kl_survey empty = {0};
    double median;
    assert_int_equal(kl_bandwidth_median(&empty, false, &median), KLIFT_DATA);
}

static void extreme_sizes_neither_overflow_nor_vanish(void **unused)
{
    (void)unused;
    float large[3] = {3e38f, -3e38f, 0}, tiny[3] = {1e-45f, 3e-45f, 0};
    kl_batch a = dense_batch(3, 1, large), b = dense_batch(3, 1, tiny);
    double median;
    assert_int_equal(median_of(&a, &median), KLIFT_OK);
    assert_true(median == (double)3e38f);
    assert_int_equal(median_of(&b, &median), KLIFT_OK);
    assert_true(median == (double)1e-45f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_rows_have_the_medians_of_the_table),
        cmocka_unit_test(dense_and_sparse_rows_have_the_same_median_bit_for_bit),
        cmocka_unit_test(many_rows_are_judged_by_pairs_of_them),
        cmocka_unit_test(mostly_equal_rows_fall_back_to_the_mean_of_positive_distances),
        cmocka_unit_test(equal_rows_are_refused),
        cmocka_unit_test(extreme_sizes_neither_overflow_nor_vanish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
