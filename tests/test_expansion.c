/* test_expansion.c - kernels of the inner product: values, coefficients, radius, refusals, automatic width. */
#include "kernel/kernel.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kl_kernel *make(const char *text)
{
    kl_kernel *kernel;
    if (kl_kernel_new(text, &kernel) != KLIFT_OK)
        fail_msg("'%s': %s", text, kl_error_text());
    return kernel;
}

/* K of two rows of one column each: t = x y */
static double value_at(const kl_kernel *kernel, double x, double y, double scale)
{
    kl_pair pair;
    kl_pair_set(&pair, 1, &x, &y);
    return kernel->type->value(kernel, &pair, scale);
}

static bool near(double a, double b)
{
    return a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)));
}

static const char *const texts[] = {
    "poly", "poly:7", "poly:degree=7,offset=0", "poly:10,gamma=0.5,offset=0.5", "poly:degree=0", "poly:degree=1,offset=0", "poly:200,gamma=0.5,offset=0.5",
    "exp:sigma=1", "exp:sigma=1.3", "vovk:1", "vovk:5", "vovk:200", "vovk-infinite:2", "vovk-infinite:scale=1.5", "series:1,1,0.5", "series:0,0,3", "series:0.25,0,0,0,2",
    "gaussian:gamma=0.7"};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* f by its coefficients, times the prefactors: nothing shared with value. */
static double by_series(const kl_kernel *kernel, double x, double y)
{
    int64_t last = kl_expansion_degree(kernel) < 0 ? 400 : kl_expansion_degree(kernel);
    double sum = 0, t = x * y;
    for (int64_t n = 0; n <= last; n++) {
        double log_a = kernel->type->log_coefficient(kernel, n);
        if (!(log_a > -INFINITY))
            continue;
        double term = n == 0 ? exp(log_a) : exp(log_a + (double)n * log(fabs(t)));
        sum += t < 0 && n % 2 == 1 ? -term : term;
    }
    if (kernel->type->log_prefactor != NULL)
        sum *= exp(kernel->type->log_prefactor(kernel, x * x) + kernel->type->log_prefactor(kernel, y * y));
    return sum;
}

static void coefficients_add_up_to_the_value(void **unused)
{
    (void)unused;
    for (int i = 0; i < TEXTS; i++) {
        kl_kernel *kernel = make(texts[i]);
        for (int j = -9; j <= 9; j++) {
            double x = 0.11 * j, y = 0.9, exact = value_at(kernel, x, y, 1), sum = by_series(kernel, x, y);
            if (!(fabs(sum - exact) <= 2e-11 * fmax(by_series(kernel, fabs(x), y), 1e-300)))
                fail_msg("%s at %g: %.17g, by its series %.17g", texts[i], x * y, exact, sum);
        }
        kl_kernel_free(kernel);
    }
}

static void many_products_at_once_equal_one_by_one(void **unused)
{
    (void)unused;
    for (int i = 0; i < TEXTS; i++) {
        kl_kernel *kernel = make(texts[i]);
        double xy[37], yy[37], k[37];
        for (int j = 0; j < 37; j++) {
            xy[j] = 0.9 * 0.05 * (j - 18);
            yy[j] = 0.05 * (j - 18) * 0.05 * (j - 18);
        }
        if (kernel->type->of_products != NULL) {
            kernel->type->of_products(kernel, 37, xy, 0.81, yy, k);
            for (int j = 0; j < 37; j++)
                assert_true(near(k[j], value_at(kernel, 0.9, 0.05 * (j - 18), 1)));
            kernel->type->of_products(kernel, 37, xy, 0.81, yy, xy); /* in place */
            assert_memory_equal(k, xy, sizeof k);
        }
        for (int j = 0; j < 37; j++)
            assert_true(near(kl_expansion_value(kernel, 0.9 * 0.05 * (j - 18), 0.81, yy[j]), value_at(kernel, 0.9, 0.05 * (j - 18), 1)));
        kl_kernel_free(kernel);
    }
}

static void a_scale_multiplies_both_rows(void **unused)
{
    (void)unused;
    for (int i = 0; i < TEXTS; i++) {
        kl_kernel *kernel = make(texts[i]);
        assert_true(near(value_at(kernel, 0.3, -0.4, 1.5), value_at(kernel, 0.45, -0.6, 1)));
        kl_kernel_free(kernel);
    }
}

static void known_values_are_exact(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double x, y, k;
    } cases[] = {{"poly:degree=7", 1, 1, 128}, {"poly:3,2,0.5", 0.5, -1, -0.125}, {"poly:degree=0", 0, 0, 1}, {"poly:degree=0,offset=0", 0, 0, 1}, {"poly:2,offset=0", -3, 1, 9},
                 {"exp:sigma=2", 2, 2, 2.718281828459045235}, {"exp:sigma=1", 0, 5, 1}, {"exp:sigma=1e-3", 1, 1, INFINITY}, {"vovk:5", 1, 1, 5}, {"vovk:4", -1, 1, 0},
                 {"vovk:1", 9, 9, 1}, {"vovk:11", 2, 1, 2047}, {"vovk-infinite:2", 1, 1, 2}, {"vovk-infinite:2", -2, 1, 0.5}, {"vovk-infinite:2", 2, 1, INFINITY},
                 {"vovk-infinite:2", 3, 1, INFINITY}, {"series:1,1,0.5", 2, 1, 5}, {"series:0,0,0,2", -2, 1, -16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_kernel *kernel = make(cases[i].text);
        if (!near(value_at(kernel, cases[i].x, cases[i].y, 1), cases[i].k))
            fail_msg("%s: %.17g, not %.17g", cases[i].text, value_at(kernel, cases[i].x, cases[i].y, 1), cases[i].k);
        kl_kernel_free(kernel);
    }
}

static void degree_radius_and_power_are_those_of_the_text(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int64_t degree;
        double radius;
    } cases[] = {{"poly:7", 7, INFINITY}, {"poly:0", 0, INFINITY}, {"exp:1", -1, INFINITY}, {"vovk:5", 4, INFINITY}, {"vovk-infinite:3", -1, 3},
                 {"series:1,2,0,0", 1, INFINITY}, {"series:4", 0, INFINITY}, {"gaussian:1", -1, INFINITY}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_kernel *kernel = make(cases[i].text);
        assert_int_equal(kl_expansion_degree(kernel), cases[i].degree);
        assert_true(kl_expansion_radius(kernel) == cases[i].radius);
        kl_kernel_free(kernel);
    }
    kl_kernel *poly = make("poly:5,0.25,2");
    kl_power power = poly->type->power(poly);
    assert_true(power.degree == 5 && power.gamma == 0.25 && power.offset == 2);
    kl_kernel_free(poly);
}

static void texts_print_and_read_back(void **unused)
{
    (void)unused;
    static const char *const pairs[][2] = {{"poly", "poly:degree=3,gamma=1,offset=1"}, {"series", "series:coefficients=1,1,0.5"}, {"series:0,2", "series:coefficients=0,2"},
                                           {"series:coefficients=3,1", "series:coefficients=3,1"}, {"exp", "exp:sigma=auto"}, {"vovk-infinite:3", "vovk-infinite:scale=3"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        kl_text first = {0}, second = {0};
        kl_kernel *kernel = make(pairs[i][0]);
        kl_kernel_print(kernel, &first);
        assert_string_equal(first.text, pairs[i][1]);
        kl_kernel *again = make(first.text);
        kl_kernel_print(again, &second);
        assert_string_equal(first.text, second.text);
        kl_kernel_free(kernel);
        kl_kernel_free(again);
        kl_text_clear(&first);
        kl_text_clear(&second);
    }
}

static void what_is_no_kernel_is_refused(void **unused)
{
    (void)unused;
    static const char *const bad[][2] = {
        {"poly:degree=-1", "degree is '-1'"}, {"poly:degree=2.5", "a whole number"}, {"poly:degree=1001", "at most 1000"}, {"poly:offset=-1", "offset is '-1'"},
        {"poly:gamma=0", "above 0"}, {"poly:gamma=nan", "gamma is 'nan'"}, {"exp:0", "sigma is '0'"}, {"vovk:0", "at least 1"}, {"vovk-infinite:0", "above 0"},
        {"vovk-infinite:-2", "above 0"}, {"series:1,-1", "coefficients is '-1'"}, {"series:0", "all coefficients are 0"}, {"series:0,0,0", "all coefficients are 0"},
        {"series:coefficients=nan", "coefficients is 'nan'"}, {"series:1,nan", "expected"}, {"series:coefficients=1,coefficients=2", "given twice"}, {"series:1e301", "at most 1e300"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kl_kernel *kernel;
        if (kl_kernel_new(bad[i][0], &kernel) != KLIFT_USAGE || strstr(kl_error_text(), bad[i][1]) == NULL)
            fail_msg("'%s': %s", bad[i][0], kl_error_text());
        assert_null(kernel);
    }
}

static klift_status fit_rows(const char *text, double norm_max, double *width)
{
    float x[200 * 16];
    kl_survey survey = {.rows = 200, .columns = 16, .norm_max = norm_max, .norm_mean = 1};
    kl_kernel *kernel = make(text);
    syn_rows_float(200, 16, x);
    kl_batch rows = dense_batch(200, 16, x);
    assert_int_equal(kl_rows_add(&survey.sample, &rows, 0, 200), KLIFT_OK);
    klift_status status = kl_kernel_fit(kernel, &survey);
    if (status == KLIFT_OK)
        assert_int_equal(kl_kernel_ready(kernel), KLIFT_OK);
    *width = kernel->value[0].number;
    kl_kernel_free(kernel);
    kl_survey_clear(&survey);
    return status;
}

static void the_automatic_sigma_is_the_mean_distance(void **unused)
{
    (void)unused;
    double sigma;
    assert_int_equal(fit_rows("exp", 1, &sigma), KLIFT_OK);
    assert_true(fabs(sigma - 1.296018) < 1e-6); /* the table of the reference rows */
    assert_int_equal(fit_rows("exp:sigma=search", 1, &sigma), KLIFT_OK);
    assert_true(fabs(sigma - 1.296018) < 1e-6);
    assert_int_equal(fit_rows("exp:sigma=4", 1, &sigma), KLIFT_OK);
    assert_true(sigma == 4);
}

static void rows_outside_the_domain_are_refused_with_what_to_do(void **unused)
{
    (void)unused;
    double width;
    assert_int_equal(fit_rows("vovk-infinite:2", 1, &width), KLIFT_OK);
    assert_int_equal(fit_rows("vovk-infinite:2", 1.5, &width), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "prepare=unit"));
    assert_non_null(strstr(kl_error_text(), "raise scale above 2.25"));
    assert_int_equal(fit_rows("vovk-infinite:1", 1, &width), KLIFT_DATA); /* the radius itself does not belong */
    assert_non_null(strstr(kl_error_text(), "|x|^2 < 1,"));
    assert_int_equal(fit_rows("poly:10", 100, &width), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "float32"));
    assert_int_equal(fit_rows("exp:sigma=0.1", 1, &width), KLIFT_DATA);
    assert_int_equal(fit_rows("exp:sigma=0.01", 10, &width), KLIFT_DATA); /* infinite */
    assert_int_equal(fit_rows("poly:200,0.5,0.5", 1, &width), KLIFT_OK);
    assert_int_equal(fit_rows("poly:200", 1, &width), KLIFT_DATA);
    assert_int_equal(fit_rows("gaussian:gamma=1", 1000, &width), KLIFT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_add_up_to_the_value),
        cmocka_unit_test(many_products_at_once_equal_one_by_one),
        cmocka_unit_test(a_scale_multiplies_both_rows),
        cmocka_unit_test(known_values_are_exact),
        cmocka_unit_test(degree_radius_and_power_are_those_of_the_text),
        cmocka_unit_test(texts_print_and_read_back),
        cmocka_unit_test(what_is_no_kernel_is_refused),
        cmocka_unit_test(the_automatic_sigma_is_the_mean_distance),
        cmocka_unit_test(rows_outside_the_domain_are_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
