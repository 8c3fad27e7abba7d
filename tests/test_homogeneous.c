/* test_homogeneous.c - additive kernels: their values, laws and refusals; and the map homogeneous against figures of prototypes. */
#include "gram.h"
#include "histograms.h"
#include "support.h"

#include "kernel/block.h"
#include "math/quadrature.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"intersection", "chi2", "jensen-shannon"};

static kl_kernel *make_kernel(const char *text)
{
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new(text, &kernel), KLIFT_OK);
    return kernel;
}

static double value(const kl_kernel *kernel, double x, double y)
{
    kl_pair pair;
    kl_pair_set(&pair, 1, &x, &y);
    return kl_kernel_value(kernel, &pair);
}

static void values_are_the_formulas_and_zero_at_zero(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        kl_kernel *kernel = make_kernel(names[k]);
        double x = 0.3, y = 1.7;
        double expected[] = {0.3, 2 * x * y / (x + y), x / 2 * log2((x + y) / x) + y / 2 * log2((x + y) / y)};
        assert_true(fabs(value(kernel, x, y) - expected[k]) < 1e-15);
        assert_true(value(kernel, x, y) == value(kernel, y, x));
        assert_true(fabs(value(kernel, x, x) - x) < 1e-16);
        assert_true(value(kernel, 0, y) == 0 && value(kernel, x, 0) == 0 && value(kernel, 0, 0) == 0);
        assert_true(value(kernel, 1e-45, 1e38) >= 0 && value(kernel, 1e-45, 1e38) < 1e-42); /* the range of float32 */
        assert_true(fabs(value(kernel, 1e38, 1e38) / 1e38 - 1) < 1e-15);
        kl_kernel_free(kernel);
    }
}

/* Of all pairs at once, from dense and from sparse rows. */
static void blocks_equal_the_values_of_pairs(void **unused)
{
    histograms h;
    double norm[HISTOGRAM_ROWS], k[HISTOGRAM_ROWS * HISTOGRAM_ROWS];
    enum { N = HISTOGRAM_ROWS, D = HISTOGRAM_COLUMNS };
    (void)unused;
    histograms_new(&h);
    csr sparse = csr_of(N, D, h.dense);
    kl_batch forms[] = {dense_batch(N, D, h.dense), csr_batch(N, D, &sparse)};
    for (int t = 0; t < 6; t++) {
        kl_kernel *kernel = make_kernel(names[t / 2]);
        kl_side side = {forms[t % 2], norm};
        void *scratch = malloc((size_t)kl_block_scratch(kernel, N, N, D));
        kl_block_norms(&forms[t % 2], norm);
        kl_block_values(kernel, &side, &side, D, k, N, scratch);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                kl_pair pair;
                kl_pair_set(&pair, D, h.x + i * D, h.x + j * D);
                if (!(fabs(k[i * N + j] - kl_kernel_value(kernel, &pair)) < 1e-13))
                    fail_msg("%s form %d, %lld, %lld: %.17g is not %.17g", names[t / 2], t % 2, (long long)i, (long long)j, k[i * N + j], kl_kernel_value(kernel, &pair));
            }
        free(scratch);
        kl_kernel_free(kernel);
    }
    csr_free(&sparse);
    histograms_free(&h);
}

typedef struct wave {
    const kl_kernel *kernel;
    double rate;
} wave;

static double wave_at(double l, const void *context)
{
    const wave *w = context;
    return w->kernel->type->law(w->kernel, l) * cos(w->rate * l);
}

/* 0 to 12 hold all but 1e-16 of the quick laws; intersection's ends where its tail is known. */
static void laws_are_probabilities_and_give_the_kernel(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        kl_kernel *kernel = make_kernel(names[k]);
        for (int r = 0; r < 4; r++) {
            wave w = {kernel, 1.5 * r};
            double end = k == 0 ? 2000 : 12, sum = kl_quadrature(wave_at, &w, 0, end, k == 0 ? 20000 : 200), y = exp(-w.rate);
            double tail = k == 0 && r == 0 ? 1 - 2 / 3.14159265358979323846 * atan(2 * end) : 0, rest = k == 0 && r > 0 ? 2e-7 : 1e-13;
            assert_true(fabs(sum + tail - value(kernel, 1, y) / sqrt(y)) < rest);
        }
        kl_kernel_free(kernel);
    }
}

static void quantiles_undo_the_laws(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        kl_kernel *kernel = make_kernel(names[k]);
        wave w = {kernel, 0};
        for (int i = 1; i < 64; i++) {
            double u = i / 64.0, l = kernel->type->quantile(kernel, u);
            assert_true(fabs(kl_quadrature(wave_at, &w, 0, l, 200) - u) < 1e-12);
        }
        double far = kernel->type->quantile(kernel, 1 - 0x1p-53), near = kernel->type->quantile(kernel, 0x1p-53);
        assert_true(isfinite(far) && far > 8 && near >= 0 && near < 1e-14);
        kl_kernel_free(kernel);
    }
}

/* Independent draws: the figures of a prototype, of two digits; even ones: what they gain. */
static void errors_are_those_of_the_prototypes_or_far_below(void **unused)
{
    const double figure[] = {4.2e-4, 3.2e-5, 5.8e-6}, gain[] = {50, 700, 500};
    histograms h;
    (void)unused;
    histograms_new(&h);
    for (int k = 0; k < 3; k++) {
        histograms_errors plain = histograms_check(&h, "homogeneous:draws=independent", names[k], 1024, 20);
        histograms_errors even = histograms_check(&h, "homogeneous", names[k], 1024, 20);
        assert_true(fabs(plain.stated - figure[k]) <= 5 * plain.mse_error); /* of as many seeds as the prototype had */
        assert_true(even.stated * gain[k] < plain.stated);
    }
    histograms_check(&h, "homogeneous", "chi2", 1000, 20); /* some columns have one pair more */
    histograms_check(&h, "homogeneous", "chi2", 20, 40);   /* fewer pairs than columns */
    histograms_check(&h, "homogeneous", "intersection", 7, 40);
    histograms_free(&h);
}

static void sparse_rows_have_sparse_features(void **unused)
{
    enum { D = 1000 };
    float x[D] = {[3] = 0.25f, [999] = 2};
    kl_kernel *kernel = make_kernel("chi2");
    kl_map *map;
    (void)unused;
    assert_int_equal(kl_map_new("homogeneous", kernel, 8 * D, 1, 0, &map), KLIFT_OK);
    assert_int_equal(kl_map_make(map, NULL, D, NULL), KLIFT_OK);
    csr sparse = csr_of(1, D, x);
    kl_batch rows = csr_batch(1, D, &sparse), dense = dense_batch(1, D, x);
    assert_int_equal(map->type->nonzeros(map, &rows), 16);
    assert_int_equal(map->type->nonzeros(map, &dense), -1);
    float *z = gram_lift(map, &rows);
    assert_true(fabs(gram_product(map->n_out, z, z) - 2.25) < 1e-6); /* cos^2 + sin^2 = 1: K(x, x) is exact */
    free(z);
    csr_free(&sparse);
    kl_map_free(map);
    kl_kernel_free(kernel);
}

static void columns_with_larger_means_get_what_is_left(void **unused)
{
    histograms h;
    (void)unused;
    histograms_new(&h);
    for (int64_t i = 0; i < HISTOGRAM_ROWS; i++)
        h.dense[i * HISTOGRAM_COLUMNS + 5] = 3;
    klift_batch all = dense_batch(HISTOGRAM_ROWS, HISTOGRAM_COLUMNS, h.dense);
    kl_rows_clear(&h.survey.sample);
    assert_int_equal(kl_rows_add(&h.survey.sample, &all, 0, HISTOGRAM_ROWS), KLIFT_OK);
    kl_map *map = histograms_map(&h, "homogeneous", "chi2", 2 * (2 * HISTOGRAM_COLUMNS + 1), 1);
    float row[HISTOGRAM_COLUMNS] = {[5] = 1};
    csr one = csr_of(1, HISTOGRAM_COLUMNS, row);
    kl_batch rows = csr_batch(1, HISTOGRAM_COLUMNS, &one);
    assert_int_equal(map->type->nonzeros(map, &rows), 6);
    one.column[0] = 4;
    assert_int_equal(map->type->nonzeros(map, &rows), 4);
    csr_free(&one);
    kl_map_free(map);
    histograms_free(&h);
}

static void negative_values_are_refused(void **unused)
{
    histograms h;
    (void)unused;
    histograms_new(&h);
    h.dense[7] = -0.5f;
    klift_batch all = dense_batch(HISTOGRAM_ROWS, HISTOGRAM_COLUMNS, h.dense);
    kl_rows_clear(&h.survey.sample);
    assert_int_equal(kl_rows_add(&h.survey.sample, &all, 0, HISTOGRAM_ROWS), KLIFT_OK);
    for (int k = 0; k < 3; k++) {
        kl_kernel *kernel = make_kernel(names[k]);
        assert_int_equal(kl_kernel_fit(kernel, &h.survey), KLIFT_DATA);
        assert_non_null(strstr(kl_error_text(), "column 7 is as low as -0.5"));
        assert_non_null(strstr(kl_error_text(), "minmax"));
        assert_non_null(strstr(kl_error_text(), names[k]));
        assert_int_equal(kl_domain_check_rows(kernel, &all, 0), KLIFT_DATA);
        assert_non_null(strstr(kl_error_text(), "column 7"));
        kl_kernel_free(kernel);
    }
    histograms_free(&h);
}

static void other_maps_are_refused_with_those_that_fit(void **unused)
{
    static const char *const others[] = {"fourier", "orthogonal", "maclaurin", "craft", "identity"};
    kl_kernel *kernel = make_kernel("chi2");
    kl_map *map;
    (void)unused;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(kl_map_new(others[i], kernel, 64, 1, 0, &map), KLIFT_USAGE);
        assert_non_null(strstr(kl_error_text(), "maps that fit it: nystrom, homogeneous"));
    }
    assert_string_equal(kl_map_choose(kernel, 64, 10, 10), "homogeneous");
    kl_kernel_free(kernel);
    kernel = make_kernel("gaussian");
    assert_int_equal(kl_map_new("homogeneous", kernel, 64, 1, 0, &map), KLIFT_USAGE);
    kl_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_formulas_and_zero_at_zero),
        cmocka_unit_test(blocks_equal_the_values_of_pairs),
        cmocka_unit_test(laws_are_probabilities_and_give_the_kernel),
        cmocka_unit_test(quantiles_undo_the_laws),
        cmocka_unit_test(errors_are_those_of_the_prototypes_or_far_below),
        cmocka_unit_test(sparse_rows_have_sparse_features),
        cmocka_unit_test(columns_with_larger_means_get_what_is_left),
        cmocka_unit_test(negative_values_are_refused),
        cmocka_unit_test(other_maps_are_refused_with_those_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
