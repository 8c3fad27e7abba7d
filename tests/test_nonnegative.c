/* test_nonnegative.c - equations solved, and least squares with coefficients that are not negative: by the conditions of its minimum. */
#include "math/nonnegative.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void equations_are_solved(void **state)
{
    double a[9] = {0, 2, 1, 1, 1, 1, 4, -1, 2}, b[3] = {7, 6, 8}, x[3]; /* the first pivot is 0 */
    double singular[4] = {1, 2, 2, 4}, right[2] = {1, 1};
    (void)state;
    assert_true(kl_solve_dense(3, a, b, x));
    assert_true(fabs(x[0] - 1) < 1e-12 && fabs(x[1] - 2) < 1e-12 && fabs(x[2] - 3) < 1e-12);
    assert_false(kl_solve_dense(2, singular, right, x));
}

/* x >= 0, no slope where x > 0, none that falls where x = 0 */
static void minimum_has_no_way_down(void **state)
{
    enum { N = 40, ROWS = 60 };
    int zeros = 0, above = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double a[ROWS][N], b[ROWS], g[N * N] = {0}, c[N] = {0}, x[N];
        for (uint64_t i = 0; i < ROWS; i++) {
            b[i] = syn_normal(1000 + i, seed);
            for (uint64_t j = 0; j < N; j++)
                a[i][j] = syn_normal(seed * ROWS + i, j);
        }
        for (int j = 0; j < N; j++)
            for (int i = 0; i < ROWS; i++) {
                c[j] += a[i][j] * b[i];
                for (int k = 0; k < N; k++)
                    g[j * N + k] += a[i][j] * a[i][k];
            }
        assert_int_equal(kl_nonnegative_solve(N, g, c, x), KLIFT_OK);
        for (int j = 0; j < N; j++) {
            double slope = c[j];
            for (int k = 0; k < N; k++)
                slope -= g[j * N + k] * x[k];
            assert_true(x[j] >= 0 && slope < 1e-9 && (x[j] == 0 || fabs(slope) < 1e-9));
            zeros += x[j] == 0;
            above += x[j] > 0;
        }
    }
    print_message("%d coefficients at 0, %d above\n", zeros, above);
    assert_true(zeros > 100 && above > 100);
}

static void columns_that_are_equal_do_no_harm(void **state)
{
    double g[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, c[3] = {2, 2, -1}, x[3];
    (void)state;
    assert_int_equal(kl_nonnegative_solve(3, g, c, x), KLIFT_OK);
    assert_true(fabs(x[0] + x[1] - 2) < 1e-9 && x[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_are_solved),
        cmocka_unit_test(minimum_has_no_way_down),
        cmocka_unit_test(columns_that_are_equal_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
