/* test_compose.c - kernels made of two others: values, fits, texts and refusals; fourier, orthogonal and product on them against figures. */
#include "gram.h"
#include "histograms.h"
#include "support.h"

#include "base/memory.h"
#include "kernel/block.h"
#include "map/scalars.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = HISTOGRAM_ROWS, D = HISTOGRAM_COLUMNS };

static kl_kernel *make_kernel(const char *text)
{
    kl_kernel *kernel;
    if (kl_kernel_new(text, &kernel) != KLIFT_OK)
        fail_msg("%s: %s", text, kl_error_text());
    return kernel;
}

static void texts_are_canonical_and_read_back(void **unused)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {{"compose(exp:1,gaussian:gamma=0.5)", "compose(exp:sigma=1, gaussian:gamma=0.5)"},
                 {" compose ( series : 1 , 2 , 3 , laplacian : 2 ) ", "compose(series:coefficients=1,2,3, laplacian:gamma=2)"},
                 {"compose(exp,compose(poly:2,chi2))", "compose(exp:sigma=auto, compose(poly:degree=2,gamma=1,offset=1, chi2))"}};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        kl_kernel *kernel = make_kernel(cases[i].text), *copy, *again;
        kl_text text = {0}, other = {0};
        kl_kernel_print(kernel, &text);
        assert_string_equal(text.text, cases[i].canonical);
        again = make_kernel(text.text);
        assert_int_equal(kl_kernel_copy(again, &copy), KLIFT_OK);
        kl_kernel_free(again);
        kl_kernel_print(copy, &other);
        assert_string_equal(other.text, text.text);
        kl_kernel_free(kernel);
        kl_kernel_free(copy);
        kl_text_clear(&text);
        kl_text_clear(&other);
    }
}

/* Every form in which the inner kernel can say itself; dense and sparse rows. */
static void blocks_are_the_outer_kernel_of_the_inner_one(void **unused)
{
    static const char *const inner[] = {"gaussian:0.5", "matern:1.5,2", "laplacian:0.5", "cauchy:0.5", "intersection", "jensen-shannon", "poly:2", "compose(vovk:3, gaussian:1)"};
    histograms h;
    double norm[N], k[N * N];
    (void)unused;
    histograms_new(&h);
    csr sparse = csr_of(N, D, h.dense);
    kl_batch forms[] = {dense_batch(N, D, h.dense), csr_batch(N, D, &sparse)};
    for (int t = 0; t < 16; t++) {
        char text[100];
        snprintf(text, sizeof text, "compose(exp:0.8, %s)", inner[t / 2]);
        kl_kernel *kernel = make_kernel(text);
        kl_side side = {forms[t % 2], norm};
        void *scratch = malloc((size_t)kl_block_scratch(kernel, N, N, D));
        kl_block_norms(&forms[t % 2], norm);
        kl_block_values(kernel, &side, &side, D, k, N, scratch);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                kl_pair pair;
                kl_pair_set(&pair, D, h.x + i * D, h.x + j * D);
                double expected = exp(kl_kernel_value(kernel->inner, &pair) / 0.64);
                assert_true(fabs(k[i * N + j] / expected - 1) < 1e-11 && fabs(kl_kernel_value(kernel, &pair) / expected - 1) < 1e-14);
            }
        free(scratch);
        kl_kernel_free(kernel);
    }
    csr_free(&sparse);
    histograms_free(&h);
}

static void widths_inside_are_learnt(void **unused)
{
    histograms h;
    double median, sum = 0;
    (void)unused;
    histograms_new(&h);
    kl_kernel *kernel = make_kernel("compose(exp, gaussian)");
    assert_int_equal(kl_kernel_ready(kernel), KLIFT_USAGE);
    assert_int_equal(kl_kernel_fit(kernel, &h.survey), KLIFT_OK);
    assert_int_equal(kl_kernel_ready(kernel), KLIFT_OK);
    assert_int_equal(kl_bandwidth_median(&h.survey, false, &median), KLIFT_OK);
    assert_true(fabs(kernel->inner->value[0].number - 0.5 / (median * median)) < 1e-12);
    for (int64_t i = 0; i < N; i++) /* sigma: the mean distance of the inner kernel's features */
        for (int64_t j = 0; j < i; j++) {
            kl_pair pair;
            kl_pair_set(&pair, D, h.x + i * D, h.x + j * D);
            sum += sqrt(2 - 2 * kl_kernel_value(kernel->inner, &pair));
        }
    assert_true(fabs(kernel->outer->value[0].number - sum / (N * (N - 1) / 2)) < 1e-6);
    kl_kernel_free(kernel);
    kernel = make_kernel("compose(exp:1, laplacian:gamma=search)");
    int64_t param;
    assert_ptr_equal(kl_kernel_searched(kernel, &param), kernel->inner);
    assert_int_equal(param, 0);
    kl_kernel_free(kernel);
    kernel = make_kernel("compose(exp:1, laplacian:1)");
    assert_null(kl_kernel_searched(kernel, &param));
    kl_kernel_free(kernel);
    histograms_free(&h);
}

/* ---- maps ---- */

static const char exponential[] = "compose(exp:sigma=1, gaussian:gamma=1)";

static void frequency_sums_meet_the_reference_figures(void **unused)
{
    static const struct {
        const char *map;
        int64_t features;
        double figure;
    } cases[] = {{"fourier", 256, 0.0109}, {"fourier", 1024, 0.0027}, {"orthogonal:directions=hadamard", 256, 0.0084}, {"orthogonal:directions=hadamard", 1024, 0.00205}};
    (void)unused;
    for (int i = 0; i < 4; i++) {
        gram_case c = {16, cases[i].map, exponential, cases[i].features, 20};
        gram_errors e = i < 2 ? gram_check(&c) : gram_check_bias(&c);
        assert_int_equal(e.outputs, c.features + 1); /* pairs, and the constant */
        assert_true(fabs(e.mse - cases[i].figure) <= 5 * e.mse_error * sqrt(2));
    }
    gram_case odd = {16, "fourier:form=phase", exponential, 255, 20}, dense = {16, "orthogonal", exponential, 255, 20};
    assert_int_equal(gram_check(&odd).outputs, 255);
    assert_true(gram_check_bias(&dense).mse < 0.0084);
    if (quick())
        return;
    gram_case others[] = {{16, "fourier", "compose(vovk-infinite:scale=1.25, laplacian:gamma=0.25)", 512, 20},
                          {16, "fourier", "compose(poly:degree=3,offset=0, cauchy:gamma=1)", 512, 20},
                          {64, "orthogonal", "compose(vovk:degree=4, matern:nu=1.5,length=1)", 512, 20},
                          {64, "fourier", "compose(series:0,0,1, matern:nu=1.5,length=2)", 512, 20}};
    for (int i = 0; i < 4; i++)
        if (others[i].map[0] == 'o')
            gram_check_bias(&others[i]);
        else
            gram_check(&others[i]);
}

/* The square of a Gaussian kernel is a Gaussian kernel: no constant, nothing to choose between. */
static void a_power_of_a_gaussian_has_the_variance_of_the_narrower_one(void **unused)
{
    gram_case c = {16, "fourier", "compose(poly:degree=2,offset=0, gaussian:gamma=0.5)", 256, 20}, same = {16, "fourier", "gaussian:gamma=1", 256, 20};
    (void)unused;
    gram_errors one = gram_check(&c), two = gram_check(&same);
    assert_int_equal(one.outputs, 256);
    assert_true(fabs(one.stated - two.stated) < 1e-12);
}

/* As published: cosines multiplied, degrees drawn; the figures of a prototype with their standard errors. */
static void products_of_cosines_meet_the_reference_figures(void **unused)
{
    gram_case small = {16, "product:law=geometric", exponential, 256, 20}, large = {16, "product:law=geometric", exponential, 1024, 20}, best = {16, "product", exponential, 1024, 20};
    (void)unused;
    assert_true(fabs(gram_check(&small).stated - 0.02877) <= 5e-3);
    assert_true(fabs(gram_check(&large).stated - 0.00686) <= 15e-4);
    assert_true(gram_check(&best).stated < 0.005);
}

/* E (2 cos^2 cos^2') of an even phase: 3/2 of a row with itself, 1 of rows far apart */
static void squares_of_scalar_draws_are_known(void **unused)
{
    double x[2] = {1, 2}, y[2] = {100, 2};
    kl_pair self, far;
    float share[2] = {0.25f, 0.75f};
    (void)unused;
    kl_pair_set(&self, 2, x, x);
    kl_pair_set(&far, 2, x, y);
    kl_kernel *gaussian = make_kernel("gaussian:1"), *chi2 = make_kernel("chi2");
    kl_scalars waves = {.kernel = gaussian, .n_in = 2}, columns = {.kernel = chi2, .n_in = 2, .share = share};
    assert_true(fabs(kl_scalars_square(&waves, &self) - 1.5) < 1e-15 && fabs(kl_scalars_square(&waves, &far) - 1) < 1e-15);
    assert_true(fabs(kl_scalars_square(&columns, &self) - 1.5 * (1 / 0.25 + 4 / 0.75)) < 1e-12);
    kl_kernel_free(gaussian);
    kl_kernel_free(chi2);
}

static void scalar_draws_of_additive_kernels_meet_the_reference_figures(void **unused)
{
    static const struct {
        const char *kernel;
        double figure, error;
    } cases[] = {{"compose(series:0,1, intersection)", 0.00111, 7e-5}, {"compose(series:0,1, chi2)", 0.00100, 9e-5}, {"compose(series:0,1, jensen-shannon)", 0.00104, 1e-4}};
    histograms h;
    (void)unused;
    histograms_new(&h);
    for (int i = 0; i < 3; i++) {
        histograms_errors e = histograms_check(&h, "product:columns=uniform", cases[i].kernel, 1024, 20), weighted = histograms_check(&h, "product", cases[i].kernel, 1024, 20);
        assert_true(fabs(e.stated - cases[i].figure) <= 5 * cases[i].error);
        assert_true(weighted.stated < 1.02 * e.stated);
    }
    histograms_free(&h);
}

/* exp(K): degrees drawn in proportion to a_n have the mean squared error (e sum of a_n q^n - K^2) / D = (e^(1 + q) - e^2K) / D. */
static void exp_of_intersection_meets_the_reference_figures(void **unused)
{
    const char *kernel = "compose(exp:sigma=1, intersection)";
    histograms h;
    double by_coefficients = 0;
    (void)unused;
    histograms_new(&h);
    kl_kernel *inner = make_kernel("intersection");
    float share[D];
    for (int64_t i = 0; i < D; i++)
        share[i] = 1.0f / D;
    kl_scalars uniform = {.kernel = inner, .n_in = D, .share = share};
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            kl_pair pair;
            kl_pair_set(&pair, D, h.x + i * D, h.x + j * D);
            by_coefficients += (exp(1 + kl_scalars_square(&uniform, &pair)) - exp(2 * kl_kernel_value(inner, &pair))) / 4096 / (N * N);
        }
    assert_true(fabs(by_coefficients - 0.00195) <= 5 * 2e-4);
    histograms_errors geometric = histograms_check(&h, "product:law=geometric,columns=uniform", kernel, 4096, 20), best = histograms_check(&h, "product", kernel, 4096, 20);
    print_message("in proportion to a_n %.3g\n", by_coefficients);
    assert_true(fabs(geometric.stated - 0.00246) <= 5 * 2e-4);
    assert_true(best.stated < by_coefficients);
    kl_kernel_free(inner);
    histograms_free(&h);
}

static void a_damaged_product_is_refused_or_works(void **unused)
{
    int64_t tried = 0, refused = 0;
    histograms h;
    (void)unused;
    histograms_new(&h);
    kl_batch all = dense_batch(N, D, h.dense);
    kl_map *map = histograms_map(&h, "product", "compose(exp:sigma=1, chi2)", 12, 1);
    gram_damage(map, &all, &tried, &refused);
    print_message("%lld of %lld damages refused\n", (long long)refused, (long long)tried);
    assert_true(refused > 0);
    kl_map_free(map);
    histograms_free(&h);
}

/* ---- what is refused ---- */

static void refuse_kernel(const char *text, const char *first, const char *second)
{
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new(text, &kernel), KLIFT_USAGE);
    assert_null(kernel);
    if (strstr(kl_error_text(), first) == NULL || strstr(kl_error_text(), second) == NULL)
        fail_msg("%s: %s", text, kl_error_text());
}

static void wrong_nestings_are_refused_with_what_to_do(void **unused)
{
    (void)unused;
    refuse_kernel("compose(exp, gausian)", "unknown kernel 'gausian'", "gaussian");
    refuse_kernel("compose(expo, gaussian)", "unknown kernel 'expo'", "exp");
    refuse_kernel("compose(exp, gaussian:gama=1)", "gama", "gamma");
    refuse_kernel("compose(gaussian, exp)", "gaussian is no function of the inner product", "vovk-infinite or series");
    refuse_kernel("compose(laplacian, gaussian)", "laplacian", "the outer kernel may be poly");
    refuse_kernel("compose(compose(exp, gaussian), gaussian)", "compose is no function", "exp");
    refuse_kernel("compose(exp, linear)", "is exp itself", "kernel=exp");
    refuse_kernel("compose", "two kernels in parentheses", "compose(exp, gaussian)");
    refuse_kernel("compose(exp)", "two kernels", "there is 1");
    refuse_kernel("compose(exp, gaussian, linear)", "two kernels", "there are 3");
    refuse_kernel("compose(exp, gaussian):gamma=1", "no parameters", "gamma");
    refuse_kernel("exp(gaussian)", "takes no arguments", "exp");
    refuse_kernel("compose(vovk-infinite:scale=1, gaussian)", "values below 1", "raise scale");
    refuse_kernel("compose(exp:sigma=0.1, gaussian)", "too large", "sigma");
    refuse_kernel("compose(poly:degree=0, gaussian)", "constant", "degree");
}

static void rows_outside_are_refused_with_what_to_do(void **unused)
{
    histograms h;
    (void)unused;
    histograms_new(&h); /* every row adds up to 1: so does k(x, x) */
    kl_kernel *kernel = make_kernel("compose(vovk-infinite:scale=0.9, chi2)");
    assert_int_equal(kl_kernel_fit(kernel, &h.survey), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "values below 0.9"));
    assert_non_null(strstr(kl_error_text(), "rows smaller"));
    kl_kernel_free(kernel);
    h.dense[3] = -1;
    kl_batch all = dense_batch(N, D, h.dense);
    kl_rows_clear(&h.survey.sample);
    assert_int_equal(kl_rows_add(&h.survey.sample, &all, 0, N), KLIFT_OK);
    kernel = make_kernel("compose(exp:1, intersection)");
    assert_int_equal(kl_domain_of(kernel), KL_NON_NEGATIVE);
    assert_int_equal(kl_kernel_fit(kernel, &h.survey), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "negative"));
    kl_kernel_free(kernel);
    histograms_free(&h);
}

static void maps_that_do_not_fit_are_refused_with_those_that_do(void **unused)
{
    static const struct {
        const char *kernel, *wrong, *fitting, *chosen;
    } cases[] = {{"compose(exp, gaussian)", "maclaurin", "compose(exp, gaussian); maps that fit it: fourier, orthogonal, fastfood, nystrom, product, craft", "orthogonal"},
                 {"compose(exp, laplacian)", "orthogonal", "maps that fit it: fourier, nystrom, product, craft", "fourier"},
                 {"compose(exp, chi2)", "homogeneous", "maps that fit it: nystrom, product, craft", "product"},
                 {"compose(exp, poly)", "product", "maps that fit it: nystrom", "nystrom"},
                 {"compose(exp, compose(exp, gaussian))", "fourier", "maps that fit it: nystrom", "nystrom"}};
    (void)unused;
    for (int i = 0; i < 5; i++) {
        kl_kernel *kernel = make_kernel(cases[i].kernel);
        kl_map *map;
        assert_int_equal(kl_map_new(cases[i].wrong, kernel, 64, 1, 0, &map), KLIFT_USAGE);
        if (strstr(kl_error_text(), cases[i].fitting) == NULL)
            fail_msg("%s: %s", cases[i].kernel, kl_error_text());
        assert_string_equal(kl_map_choose(kernel, 64, 10, 10), cases[i].chosen);
        kl_kernel_free(kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_canonical_and_read_back),
        cmocka_unit_test(blocks_are_the_outer_kernel_of_the_inner_one),
        cmocka_unit_test(widths_inside_are_learnt),
        cmocka_unit_test(frequency_sums_meet_the_reference_figures),
        cmocka_unit_test(a_power_of_a_gaussian_has_the_variance_of_the_narrower_one),
        cmocka_unit_test(products_of_cosines_meet_the_reference_figures),
        cmocka_unit_test(squares_of_scalar_draws_are_known),
        cmocka_unit_test(scalar_draws_of_additive_kernels_meet_the_reference_figures),
        cmocka_unit_test(exp_of_intersection_meets_the_reference_figures),
        cmocka_unit_test(a_damaged_product_is_refused_or_works),
        cmocka_unit_test(wrong_nestings_are_refused_with_what_to_do),
        cmocka_unit_test(rows_outside_are_refused_with_what_to_do),
        cmocka_unit_test(maps_that_do_not_fit_are_refused_with_those_that_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
