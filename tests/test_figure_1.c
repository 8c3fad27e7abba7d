/*
 * test_figure_1.c - figure 1 of Kar and Karnick 2012: the mean absolute error of their features over the pairs of 100 rows of length 1,
 * averaged over runs, for d = 10..200 columns, <x, y>^10, (1 + <x, y>)^10 and exp(<x, y> / sigma^2). It falls with D, and with
 * degrees 0 and 1 exact (H0/1, d + 1 columns more) it is lower.
 */
#include "gram.h"
#include "series.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 100, RUNS = 20, SIZES = 3 };

static const int64_t size[SIZES] = {50, 500, 5000};

static double absolute_error(const kl_map *map, const series_rows *b)
{
    float *z = malloc((size_t)(ROWS * map->n_out) * sizeof *z);
    kl_batch all = dense_batch(ROWS, b->d, b->dense);
    void *scratch = malloc((size_t)kl_map_dense_scratch(map, &all) + 1);
    double sum = 0;
    assert_int_equal(kl_map_apply_dense(map, &all, z, map->n_out, false, scratch), KLIFT_OK);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j <= i; j++) {
            kl_pair pair;
            kl_pair_set(&pair, b->d, b->x + i * b->d, b->x + j * b->d);
            double error = fabs(gram_product(map->n_out, z + i * map->n_out, z + j * map->n_out) - kl_kernel_value(map->kernel, &pair));
            sum += j < i ? 2 * error : error;
        }
    free(z);
    free(scratch);
    return sum / (ROWS * ROWS);
}

static double mean_error(const series_rows *b, const char *kernel, const char *h01, int64_t features)
{
    char text[128];
    double sum = 0;
    int runs = quick() ? 5 : RUNS;
    snprintf(text, sizeof text, "maclaurin:law=geometric,p=2,signs=real,h01=%s", h01);
    for (int s = 0; s < runs; s++) {
        kl_map *map = series_map(b, text, kernel, features, (uint64_t)(1 + s));
        sum += absolute_error(map, b) / runs;
        kl_map_free(map);
    }
    return sum;
}

static void check_curve(int64_t d, const char *kernel, bool with)
{
    series_rows b;
    double last = INFINITY;
    series_rows_new(&b, ROWS, d, 1);
    for (int i = 0; i < (quick() ? 2 : SIZES); i++) {
        double plain = mean_error(&b, kernel, "false", size[i]), exact = with ? mean_error(&b, kernel, "true", size[i] + d + 1) : NAN;
        print_message("%s d=%lld D=%lld: %.4g, H0/1 %.4g\n", kernel, (long long)d, (long long)size[i], plain, exact);
        if (with || i != 1) /* products of ten projections alone have tails too heavy for one decade of D in so few runs */
            assert_true(plain < last);
        assert_true(!with || exact < plain);
        last = with || i == 0 ? plain : last;
    }
    series_rows_free(&b);
}

static void errors_fall_and_h01_is_lower(void **state)
{
    static const int64_t widths[] = {10, 20, 50, 100, 200};
    (void)state;
    for (int w = 0; w < 5; w++) {
        if (quick() && w % 2 == 1)
            continue;
        check_curve(widths[w], "poly:degree=10,offset=0", false); /* without degrees 0 and 1 */
        check_curve(widths[w], "poly:degree=10", true);
        check_curve(widths[w], "exp:1.2", true); /* about the mean distance */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_fall_and_h01_is_lower)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
