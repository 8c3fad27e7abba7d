/*
 * test_degrees.c - what the map maclaurin chooses: counts of features per degree, exact degrees, projections; few features, long
 * rows, large degrees, damaged maps.
 */
#include "gram.h"
#include "map/degrees.h"
#include "series.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- choices ---- */

static void h01_is_taken_when_it_leaves_less(void **unused)
{
    (void)unused;
    series_rows b;
    series_rows_new(&b, 60, 64, 1);
    for (int64_t features = 80; features <= 2560; features *= 2) {
        double with = series_stated(&b, "maclaurin:h01=true,projection=dense", "poly:7", features), without = series_stated(&b, "maclaurin:h01=false,projection=dense", "poly:7", features);
        double chosen = series_stated(&b, "maclaurin:projection=dense", "poly:7", features);
        print_message("D=%lld: h01 %g, without %g, auto %g\n", (long long)features, with, without, chosen);
        assert_true(chosen <= 1.02 * fmin(with, without)); /* the rule knows quotas, not their rounding */
        assert_true(features > 100 || without < with);
        assert_true(features < 2000 || with < without);
    }
    series_rows_free(&b);
}

static void fewer_operations_decide_between_the_projections(void **unused)
{
    (void)unused;
    series_rows b;
    kl_map *map;
    series_rows_new(&b, 30, 54, 1);
    map = series_map(&b, "maclaurin:exact=0", "poly:3", 1000, 1);
    double chosen = map->type->cost(map, 54);
    kl_map_free(map);
    map = series_map(&b, "maclaurin:exact=0,projection=dense", "poly:3", 1000, 1);
    double dense = map->type->cost(map, 54), sparse = map->type->cost(map, 2);
    kl_map_free(map);
    map = series_map(&b, "maclaurin:exact=0,projection=hadamard", "poly:3", 1000, 1);
    assert_true(chosen == map->type->cost(map, 54) && chosen < dense && sparse < chosen);
    kl_map_free(map);
    b.survey.nonzeros = b.n * 2; /* rows of two nonzeros */
    map = series_map(&b, "maclaurin:exact=0", "poly:3", 1000, 1);
    assert_true(map->type->cost(map, 2) == sparse);
    kl_map_free(map);
    series_rows_free(&b);
}

static void the_same_data_give_the_same_counts(void **unused)
{
    (void)unused;
    series_rows b;
    series_rows_new(&b, 120, 23, 1);
    kl_batch all = dense_batch(b.n, b.d, b.dense);
    kl_map *one = series_map(&b, "maclaurin", "exp", 333, 5), *two = series_map(&b, "maclaurin", "exp", 333, 5);
    float *x = gram_lift(one, &all), *y = gram_lift(two, &all);
    assert_memory_equal(x, y, (size_t)(b.n * one->n_out) * sizeof *x);
    free(x);
    free(y);
    kl_map_free(one);
    kl_map_free(two);
    series_rows_free(&b);
}

static void counts_add_up_and_leave_no_degree_out(void **unused)
{
    (void)unused;
    for (int64_t columns = 2; columns <= 400; columns += 7) {
        kl_kernel *kernel;
        kl_degrees g = {.length = 1};
        kl_frame_pairs none = {0};
        assert_int_equal(kl_kernel_new("poly:7", &kernel), KLIFT_OK);
        kl_degrees_wish wish = {.map = "maclaurin", .law = KL_LAW_OPTIMAL, .complex_signs = true, .exact = 0, .columns = columns, .n_in = 50};
        assert_int_equal(kl_degrees_fit(&g, kernel, &wish, &none), KLIFT_OK);
        int64_t sum = 0, kept = 0;
        for (int64_t n = 1; n <= g.last; n++) {
            sum += g.count[n];
            kept += g.count[n] > 0;
        }
        assert_int_equal(sum, g.units);
        assert_int_equal(g.units, (columns - 1) / (g.complex_signs ? 2 : 1));
        assert_int_equal(g.complex_signs, columns >= 15);
        assert_int_equal(kept, columns >= 8 ? 7 : columns - 1);
        assert_true(columns >= 8 ? g.left_out == 0 : g.left_out > 0);
        assert_true(columns > 2 || g.count[3] + g.count[4] == 1); /* the largest of 7, 21, 35, 35, 21, 7, 1 stays */
        kl_degrees_clear(&g);
        kl_kernel_free(kernel);
    }
    kl_kernel *kernel;
    kl_degrees g = {.length = 1};
    kl_frame_pairs none = {0};
    kl_degrees_wish wish = {.map = "maclaurin", .law = KL_LAW_OPTIMAL, .exact = -1, .columns = 10, .n_in = 50};
    assert_int_equal(kl_kernel_new("series:0,5.6,3.4,1", &kernel), KLIFT_OK);
    assert_int_equal(kl_degrees_fit(&g, kernel, &wish, &none), KLIFT_OK);
    assert_true(g.count[1] == 6 && g.count[2] == 3 && g.count[3] == 1); /* the larger remainder */
    kl_degrees_clear(&g);
    kl_kernel_free(kernel);
}

/* ---- odd sizes and long rows ---- */

static void few_features_are_served_or_refused(void **unused)
{
    (void)unused;
    series_rows b;
    kl_map *map;
    series_rows_new(&b, 30, 9, 1);
    static const struct {
        const char *text, *kernel;
        int64_t features;
        klift_status status;
        const char *says;
    } cases[] = {{"maclaurin", "poly:3", 1, KLIFT_USAGE, "use at least 2"}, {"maclaurin", "poly:3", 2, KLIFT_OK, ""}, {"maclaurin", "poly:3,1,0", 1, KLIFT_OK, ""},
                 {"maclaurin", "poly:0", 1, KLIFT_OK, ""}, {"maclaurin:law=geometric,h01=false", "poly:3", 1, KLIFT_OK, ""}, {"maclaurin", "exp:1", 2, KLIFT_OK, ""},
                 {"maclaurin:h01=true", "poly:3", 10, KLIFT_USAGE, "more features"}, {"maclaurin:h01=true", "poly:3", 11, KLIFT_OK, ""}, {"maclaurin:h01=true", "poly:3", 12, KLIFT_OK, ""},
                 {"maclaurin:h01=true", "poly:1", 10, KLIFT_OK, ""}, {"maclaurin:exact=2", "poly:3", 30, KLIFT_USAGE, "exact degrees up to 2"},
                 {"maclaurin:h01=true,exact=0", "poly:3", 100, KLIFT_USAGE, "contradict"}, {"maclaurin:h01=false,exact=2", "poly:3", 100, KLIFT_USAGE, "contradict"},
                 {"maclaurin:exact=900", "poly:2", 100, KLIFT_OK, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        klift_status status = series_try(&b, cases[i].text, cases[i].kernel, cases[i].features, 1, &map);
        if (status != cases[i].status || (status != KLIFT_OK && strstr(kl_error_text(), cases[i].says) == NULL))
            fail_msg("%s, %s, %lld features: %d, %s", cases[i].text, cases[i].kernel, (long long)cases[i].features, (int)status, kl_error_text());
        if (status == KLIFT_OK)
            assert_int_equal(map->n_out, cases[i].features);
        kl_map_free(map);
    }
    series_rows_free(&b);
    static const char *const bad[] = {"maclaurin:p=1", "maclaurin:p=0.5", "maclaurin:bound=0", "maclaurin:exact=-1", "maclaurin:law=best", "maclaurin:h01=maybe"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(kl_map_check(bad[i]), KLIFT_USAGE);
}

static void large_degrees_stay_inside_float32(void **unused)
{
    (void)unused;
    static const char *const kernels[] = {"poly:1000,0.5,0.5", "poly:200,1,0", "poly:200,0.5,0.5", "vovk:200", "vovk:1000", "vovk-infinite:1.02", "exp:0.2", "poly:90"};
    for (int s = 0; s < 3; s++)
        for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
            series_rows b;
            series_rows_new(&b, 30, 20, 1);
            kl_batch all = dense_batch(b.n, b.d, b.dense);
            kl_map *map = series_map(&b, s == 0 ? "maclaurin:signs=real" : "maclaurin", kernels[i], s == 2 ? 31 : 1500, (uint64_t)s);
            float *z = gram_lift(map, &all);
            double size = 0;
            for (int64_t k = 0; k < b.n * map->n_out; k++) {
                assert_true(isfinite(z[k]));
                size += fabs((double)z[k]);
            }
            assert_true(size > 0 || s == 0 || i == 0); /* of products of 200 real or 500 complex factors nearly all are smaller than any float32 */
            free(z);
            kl_map_free(map);
            series_rows_free(&b);
        }
}

/* Rows a thousand times as long in a kernel that takes it back have the same features: nothing on the way over- or underflows. */
static void long_and_short_rows_have_the_features_of_unit_rows(void **unused)
{
    (void)unused;
    static const struct {
        const char *unit, *kernel;
        double length;
    } cases[] = {{"exp:sigma=1", "exp:sigma=1e12", 1e12}, {"exp:sigma=1", "exp:sigma=1e-12", 1e-12}, {"poly:7", "poly:7,1e-20", 1e10}, {"vovk-infinite:2", "vovk-infinite:2e20", 1e10}};
    static const char *const texts[] = {"maclaurin", "maclaurin:exact=2,projection=dense", "maclaurin:law=geometric,signs=real,h01=false", "maclaurin:h01=true"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int t = 0; t < 4; t++) {
            series_rows unit, other;
            series_rows_new(&unit, 20, 12, 1);
            series_rows_new(&other, 20, 12, cases[i].length);
            kl_batch x = dense_batch(20, 12, unit.dense), y = dense_batch(20, 12, other.dense);
            kl_map *first = series_map(&unit, texts[t], cases[i].unit, 200, 3), *second = series_map(&other, texts[t], cases[i].kernel, 200, 3);
            float *u = gram_lift(first, &x), *v = gram_lift(second, &y);
            for (int64_t k = 0; k < 20 * 200; k++)
                if (!(fabs((double)u[k] - (double)v[k]) <= 1e-4 * (1 + fabs((double)u[k]))))
                    fail_msg("%s, %s: %g and %g", texts[t], cases[i].kernel, (double)u[k], (double)v[k]);
            free(u);
            free(v);
            kl_map_free(first);
            kl_map_free(second);
            series_rows_free(&unit);
            series_rows_free(&other);
        }
}

static void rows_outside_the_series_are_refused(void **unused)
{
    (void)unused;
    series_rows b;
    kl_map *map;
    series_rows_new(&b, 30, 9, 3);
    assert_int_equal(series_try(&b, "maclaurin", "vovk-infinite:2", 100, 1, &map), KLIFT_DATA);
    kl_map_free(map);
    assert_int_equal(series_try(&b, "maclaurin", "vovk-infinite:9.001", 100, 1, &map), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "terms"));
    kl_map_free(map);
    assert_int_equal(series_try(&b, "maclaurin", "gaussian:gamma=10", 100, 1, &map), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "fourier"));
    kl_map_free(map);
    series_rows_free(&b);
}

static void a_damaged_map_is_refused_or_works(void **unused)
{
    (void)unused;
    static const char *const texts[][2] = {{"maclaurin", "exp:1"}, {"maclaurin:law=geometric,projection=dense", "poly:3"}, {"maclaurin:exact=1", "gaussian:gamma=0.5"}};
    int64_t refused = 0, tried = 0;
    series_rows b;
    series_rows_new(&b, 12, 6, 1);
    kl_batch all = dense_batch(b.n, b.d, b.dense);
    for (int t = 0; t < 3; t++) {
        kl_map *map = series_map(&b, texts[t][0], texts[t][1], 40, 1);
        gram_damage(map, &all, &tried, &refused);
        kl_map_free(map);
    }
    print_message("%lld of %lld damages refused\n", (long long)refused, (long long)tried);
    assert_true(refused > tried / 2);
    series_rows_free(&b);
}

static void without_data_the_longest_row_is_1(void **unused)
{
    (void)unused;
    kl_kernel *kernel;
    kl_map *map;
    static const char *const kernels[] = {"poly:5", "exp:1", "gaussian:0.5"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kl_kernel_new(kernels[i], &kernel), KLIFT_OK);
        assert_int_equal(kl_map_new("maclaurin", kernel, 256, 1, 0, &map), KLIFT_OK);
        assert_int_equal(kl_map_make(map, NULL, 16, NULL), KLIFT_OK);
        series_rows b;
        series_rows_new(&b, 100, 16, 1);
        double exact[10000], theory = series_closed_form(map, &b, exact), informed = series_stated(&b, "maclaurin", kernels[i], 256);
        print_message("%s: %g without data, %g with\n", kernels[i], theory, informed);
        assert_true(i == 2 || theory < 1.15 * informed); /* the gaussian also loses the mean */
        series_rows_free(&b);
        kl_map_free(map);
        kl_kernel_free(kernel);
    }
}

/* Two rows at 60 degrees: r_n = c_n / 2^n, so that (1 + t)^3 has counts as 1.5^3 : 0.75^3 : 0.125^3; the same without data. */
static void signal_counts_by_what_rows_have_in_common(void **unused)
{
    (void)unused;
    static const kl_moments apart = {0.5, 1, 0.25}, same = {1, 1, 1};
    kl_moments pair[] = {same, apart, same};
    double weight[] = {1, 2, 1};
    kl_frame_pairs some = {.count = 3, .pair = pair, .weight = weight}, none = {0};
    kl_degrees_wish wish = {.law = KL_LAW_SIGNAL, .exact = KL_DEGREES_AUTO, .columns = 1 + 1000, .n_in = 200};
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new("poly:degree=3", &kernel), KLIFT_OK);
    for (int k = 0; k < 2; k++) {
        kl_degrees g = {.length = 1};
        double sum = 27 + 27.0 / 8 + 1.0 / 64;
        assert_int_equal(kl_degrees_fit(&g, kernel, &wish, k == 0 ? &some : &none), KLIFT_OK);
        assert_int_equal(g.exact, 0);
        assert_int_equal(g.count[1] + g.count[2] + g.count[3], 1000);
        assert_int_equal(g.count[1], (int64_t)(1000 * 27 / sum + 0.5));
        assert_int_equal(g.count[2], (int64_t)(1000 * 27 / 8 / sum + 0.5));
        assert_int_equal(g.count[3], 1);
        kl_degrees_clear(&g);
    }
    kl_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(h01_is_taken_when_it_leaves_less),
        cmocka_unit_test(fewer_operations_decide_between_the_projections),
        cmocka_unit_test(the_same_data_give_the_same_counts),
        cmocka_unit_test(counts_add_up_and_leave_no_degree_out),
        cmocka_unit_test(few_features_are_served_or_refused),
        cmocka_unit_test(large_degrees_stay_inside_float32),
        cmocka_unit_test(long_and_short_rows_have_the_features_of_unit_rows),
        cmocka_unit_test(rows_outside_the_series_are_refused),
        cmocka_unit_test(a_damaged_map_is_refused_or_works),
        cmocka_unit_test(without_data_the_longest_row_is_1),
        cmocka_unit_test(signal_counts_by_what_rows_have_in_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
