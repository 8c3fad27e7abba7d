/*
 * test_sigmoid.c - the kernel tanh(gamma <x, y> + offset): its values, which maps take it, and what nystrom makes of a kernel that is
 * not positive definite: features no longer than twice K(x, x), or a refusal.
 */
#include "gram.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void values_are_those_of_the_formula(void **state)
{
    static const double x[3] = {1, 2, -1}, y[3] = {0.5, 0.25, 3};
    kl_kernel *kernel;
    kl_pair pair;
    double xy = -2, k;
    (void)state;
    assert_int_equal(kl_kernel_new("sigmoid:0.5,-0.25", &kernel), KLIFT_OK);
    kl_pair_set(&pair, 3, x, y);
    assert_true(fabs(kl_kernel_value(kernel, &pair) - tanh(-1.25)) < 1e-15);
    assert_true(fabs(kernel->type->value(kernel, &pair, 2) - tanh(-4.25)) < 1e-15);
    kernel->type->of_products(kernel, 1, &xy, 6, &pair.yy, &k);
    assert_true(fabs(k - tanh(-1.25)) < 1e-15);
    kl_kernel_free(kernel);
    assert_int_equal(kl_kernel_new("sigmoid:gamma=0", &kernel), KLIFT_USAGE);
}

static void it_fits_the_maps_that_need_no_positive_kernel(void **state)
{
    kl_text fitting = {0};
    kl_kernel *kernel;
    (void)state;
    assert_int_equal(kl_kernel_new("sigmoid", &kernel), KLIFT_OK);
    kl_map_list_fitting(kernel->type, NULL, &fitting);
#ifdef KLIFT_WITHOUT_SPHERICAL
    assert_string_equal(fitting.text, "nystrom");
#else
    assert_string_equal(fitting.text, "nystrom, spherical");
#endif
    assert_string_equal(kl_map_choose(kernel, 100, 10, 10), "nystrom");
    kl_text_clear(&fitting);
    kl_kernel_free(kernel);
}

/* 0.76 is the largest value: landmarks by pivots, which trust residuals, would have errors of 5 here. */
static void nystrom_stays_near_it(void **state)
{
    static const struct {
        const char *map, *kernel;
        double most; /* root mean square */
    } cases[] = {{"nystrom", "sigmoid", 0.07}, {"nystrom:landmarks=kmeans++", "sigmoid", 0.07}, {"nystrom", "sigmoid:gamma=1,offset=1", 0.05}, {"nystrom", "sigmoid:gamma=0.1", 0.003}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gram_errors e = gram_measure_only(&(gram_case){64, cases[i].map, cases[i].kernel, 50, 5});
        print_message("%s %s: root mean square error %.3g\n", cases[i].map, cases[i].kernel, sqrt(e.mse));
        assert_true(sqrt(e.mse) < cases[i].most);
    }
}

/* Two landmarks have a positive matrix here, and rows far from both have 46 times K(x, x) of it. */
static void features_are_not_longer_than_twice_the_row(void **state)
{
    enum { D = 5 };
    float *x = malloc(GRAM_ROWS * D * sizeof *x);
    int made = 0;
    (void)state;
    syn_rows_float(GRAM_ROWS, D, x);
    klift_batch rows = dense_batch(64, D, x); /* those of the survey */
    for (int64_t features = 1; features <= 16; features++) {
        const char *kernel = features % 2 == 0 ? "sigmoid:gamma=5,offset=-2" : "sigmoid:gamma=1.5";
        if (gram_try("nystrom", kernel, D, features) != KLIFT_OK)
            continue;
        kl_map *map = gram_map("nystrom", kernel, D, features, 1, 0);
        float *z = gram_lift(map, &rows);
        for (int64_t i = 0; i < rows.rows; i++)
            assert_true(gram_product(map->n_out, z + i * map->n_out, z + i * map->n_out) < 2.01 * tanh(features % 2 == 0 ? 3 : 1.5));
        free(z);
        kl_map_free(map);
        made++;
    }
    print_message("%d of 16 maps were made\n", made);
    assert_true(made >= 6 && made < 16);
    free(x);
}

static void nystrom_refuses_what_it_cannot_follow(void **state)
{
    (void)state;
    assert_int_equal(gram_try("nystrom", "sigmoid:gamma=5,offset=-2", 5, 50), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "positive definite"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_formula),
        cmocka_unit_test(it_fits_the_maps_that_need_no_positive_kernel),
        cmocka_unit_test(nystrom_stays_near_it),
        cmocka_unit_test(features_are_not_longer_than_twice_the_row),
        cmocka_unit_test(nystrom_refuses_what_it_cannot_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
