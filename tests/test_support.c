/* test_support.c - the reference rows are those that every figure was measured on; temporary files go away. */
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 200 };

static void near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.17g is not %.17g within %g", value, expected, error);
}

static void the_generator_gives_the_check_values(void **unused)
{
    (void)unused;
    assert_true(syn_mix(0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(syn_mix(1) == UINT64_C(0x910a2dec89025cc1));
    near(syn_uniform(0), 0.88331080821364272, 1e-16);
    near(syn_normal(0, 0), -0.455218997309755, 1e-15);
}

typedef struct figures {
    int64_t d;
    double first[4], last, sum, products, mean, deviation, low, high;
} figures;

static void check_figures(const figures *f)
{
    double *x = malloc((size_t)(ROWS * f->d) * sizeof *x), total = 0, products = 0, sum = 0, square = 0, low = 1, high = -1;
    syn_rows(ROWS, f->d, x);
    for (int j = 0; j < 4; j++)
        near(x[j], f->first[j], 5.1e-9);
    near(x[ROWS * f->d - 1], f->last, 1e-15);
    for (int64_t i = 0; i < ROWS * f->d; i++)
        total += x[i];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < ROWS; k++) {
            double s = 0;
            for (int64_t j = 0; j < f->d; j++)
                s += x[i * f->d + j] * x[k * f->d + j];
            products += s;
            if (i == k) {
                near(s, 1, 1e-14);
                continue;
            }
            sum += s;
            square += s * s;
            low = fmin(low, s);
            high = fmax(high, s);
        }
    double pairs = ROWS * (ROWS - 1), mean = sum / pairs;
    near(total, f->sum, 1e-8);
    near(products, f->products, 1e-8);
    near(mean, f->mean, 5.1e-7);
    near(sqrt(square / pairs - mean * mean), f->deviation, 5.1e-7);
    near(low, f->low, 5.1e-5);
    near(high, f->high, 5.1e-5);
    free(x);
}

static void rows_of_16_columns_have_the_figures_of_the_table(void **unused)
{
    (void)unused;
    check_figures(&(figures){16, {-0.13125455, -0.06071616, -0.23371263, 0.11429478}, -0.209103074945681, 166.44520486, 5416.54200646, .131069, .300064, -.7333, .9251});
}

static void rows_of_64_columns_have_the_figures_of_the_table(void **unused)
{
    (void)unused;
    check_figures(&(figures){64, {-0.06167815, -0.02853128, -0.10982449, 0.05370855}, 0.0639104669395879, 110.650834493, 3396.98637454, .080326, .242953, -.4717, .8117});
}

static void float_rows_are_the_double_rows_rounded(void **unused)
{
    (void)unused;
    double x[10 * 7];
    float y[10 * 7];
    syn_rows(10, 7, x);
    syn_rows_float(10, 7, y);
    for (int i = 0; i < 70; i++)
        assert_true(y[i] == (float)x[i]);
}

static void csr_holds_the_nonzero_entries_in_order(void **unused)
{
    (void)unused;
    const float x[] = {0, 1, 0, 2, 0, 0, 0, 0, 3, 4, 5, 6};
    const int64_t start[] = {0, 2, 2, 6};
    const int32_t column[] = {1, 3, 0, 1, 2, 3};
    csr rows = csr_of(3, 4, x);
    assert_memory_equal(rows.start, start, sizeof start);
    assert_memory_equal(rows.column, column, sizeof column);
    for (int i = 0; i < 6; i++)
        assert_true(rows.value[i] == (float)(i + 1));
    csr_free(&rows);
}

static void temporary_files_are_gone_after_exit(void **unused)
{
    (void)unused;
    int ends[2], state;
    char path[256] = "";
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char *name = temp_path("file");
        FILE *file = fopen(name, "w");
        bool made = file != NULL && fclose(file) == 0 && write(ends[1], name, strlen(name) + 1) > 0;
        exit(made ? 0 : 1);
    }
    close(ends[1]);
    assert_true(read(ends[0], path, sizeof path - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void quick_follows_the_environment(void **unused)
{
    (void)unused;
    bool before = quick();
    setenv("KLIFT_TEST_QUICK", "1", 1);
    assert_true(quick());
    unsetenv("KLIFT_TEST_QUICK");
    assert_false(quick());
    if (before)
        setenv("KLIFT_TEST_QUICK", "1", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_gives_the_check_values),
        cmocka_unit_test(rows_of_16_columns_have_the_figures_of_the_table),
        cmocka_unit_test(rows_of_64_columns_have_the_figures_of_the_table),
        cmocka_unit_test(float_rows_are_the_double_rows_rounded),
        cmocka_unit_test(csr_holds_the_nonzero_entries_in_order),
        cmocka_unit_test(temporary_files_are_gone_after_exit),
        cmocka_unit_test(quick_follows_the_environment),
    };
    return cmocka_run_group_tests_name("support", tests, NULL, NULL);
}
