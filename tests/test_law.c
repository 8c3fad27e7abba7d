/*
 * test_law.c - laws of radii fitted to kernels on the sphere: L, the mean squared bias, against the figures of a numpy prototype
 * for (1 - z^2/a^2)^p; the published mixtures, which are never better; weights by data; what is stored.
 */
#include "map/law.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t widths[] = {4, 16, 64, 784, 10000};

static const struct figure {
    int a, p;
    double shells[5];   /* by widths */
    double with_linear; /* 784 columns */
} table[] = {
    {2, 1, {1.931e-03, 3.628e-03, 4.202e-03, 4.381e-03, 4.395e-03}, 4.180e-32},
    {2, 2, {7.818e-05, 1.154e-03, 1.792e-03, 1.993e-03, 2.010e-03}, 2.526e-04},
    {2, 3, {1.292e-05, 3.271e-04, 7.753e-04, 9.285e-04, 9.411e-04}, 3.601e-04},
    {2, 5, {7.256e-07, 2.689e-05, 2.080e-04, 2.890e-04, 2.959e-04}, 2.442e-04},
    {2, 7, {2.696e-08, 1.839e-06, 7.861e-05, 1.274e-04, 1.317e-04}, 1.270e-04},
    {2, 10, {1.480e-09, 7.440e-08, 2.512e-05, 5.257e-05, 5.515e-05}, 5.257e-05},
    {2, 20, {5.934e-14, 4.588e-12, 1.222e-06, 9.036e-06, 9.956e-06}, 9.036e-06},
    {2, 40, {5.675e-17, 1.304e-14, 7.210e-12, 1.449e-06, 1.769e-06}, 1.449e-06},
    {3, 1, {5.085e-05, 9.303e-05, 1.102e-04, 1.161e-04, 1.166e-04}, 1.357e-26},
    {3, 2, {1.466e-05, 1.492e-04, 2.208e-04, 2.461e-04, 2.482e-04}, 1.247e-06},
    {3, 3, {6.078e-07, 1.254e-04, 2.507e-04, 2.969e-04, 3.007e-04}, 6.757e-06},
    {3, 5, {1.645e-08, 3.126e-05, 1.825e-04, 2.475e-04, 2.530e-04}, 2.625e-05},
    {3, 7, {5.498e-10, 1.314e-06, 1.002e-04, 1.589e-04, 1.641e-04}, 4.148e-05},
    {3, 10, {2.079e-11, 3.332e-08, 3.695e-05, 7.666e-05, 8.035e-05}, 4.426e-05},
    {3, 20, {4.158e-15, 1.329e-12, 1.837e-06, 1.355e-05, 1.494e-05}, 1.355e-05},
    {3, 40, {2.017e-15, 5.416e-15, 1.121e-11, 2.168e-06, 2.653e-06}, 2.168e-06},
    {4, 1, {4.527e-06, 8.173e-06, 9.708e-06, 1.025e-05, 1.030e-05}, 6.453e-26},
    {4, 2, {2.494e-06, 1.809e-05, 2.661e-05, 2.976e-05, 3.003e-05}, 3.338e-08},
    {4, 3, {2.478e-08, 2.123e-05, 4.101e-05, 4.869e-05, 4.936e-05}, 2.384e-07},
    {4, 5, {2.642e-10, 1.161e-05, 5.321e-05, 7.196e-05, 7.360e-05}, 1.568e-06},
    {4, 7, {6.175e-11, 1.086e-06, 4.830e-05, 7.552e-05, 7.800e-05}, 4.042e-06},
    {4, 10, {9.432e-14, 2.330e-09, 3.064e-05, 6.168e-05, 6.460e-05}, 8.323e-06},
    {4, 20, {3.935e-15, 4.069e-13, 2.435e-06, 1.770e-05, 1.949e-05}, 1.162e-05},
    {4, 40, {1.361e-16, 9.112e-17, 1.430e-11, 2.898e-06, 3.535e-06}, 2.898e-06},
};

enum { FIGURES = sizeof table / sizeof table[0] };

/* (1 - z^2/a^2)^p; d: coordinates of the directions */
static kl_kernel *target(int a, int p, int64_t d, kl_target *t)
{
    char text[96];
    kl_kernel *kernel;
    snprintf(text, sizeof text, "poly:degree=%d,gamma=%.17g,offset=%.17g", p, 2.0 / (a * a), 1 - 2.0 / (a * a));
    assert_int_equal(kl_kernel_new(text, &kernel), KLIFT_OK);
    assert_int_equal(kl_target_new(t, kernel, d), KLIFT_OK);
    assert_true(fabs(t->at_zero - 1) < 1e-12);
    return kernel;
}

static double shells(int a, int p, int64_t d, bool linear, kl_law *law)
{
    kl_target t;
    kl_kernel *kernel = target(a, p, d, &t);
    assert_int_equal(kl_law_fit_shells(law, &t, linear), KLIFT_OK);
    assert_true(fabs(kl_law_random(law) + law->constant + law->linear - 1) < 1e-12);
    kl_kernel_free(kernel);
    return law->bias * law->bias;
}

/* Below 1e-13 the prototype's figures are rounding. */
static void compare(const struct figure *f, int64_t d, bool linear, double stated)
{
    kl_law law = {0};
    double found = shells(f->a, f->p, d, linear, &law);
    bool right = stated < 1e-13 ? found < 1e-13 : fabs(found - stated) < 0.05 * stated;
    if (!right)
        print_message("a=%d p=%d d=%lld%s: L %.3e, stated %.3e\n", f->a, f->p, (long long)d, linear ? " with linear" : "", found, stated);
    assert_true(right);
    assert_true(law.most >= law.bias && law.count <= 20);
    kl_law_clear(&law);
}

static void shells_are_as_good_as_the_prototype(void **state)
{
    (void)state;
    for (int i = 0; i < FIGURES; i++) {
        for (int w = 0; w < 5; w++)
            compare(&table[i], widths[w], false, table[i].shells[w]);
        compare(&table[i], 784, true, table[i].with_linear);
    }
}

/* Bias at z = 2 and the largest, a = 2, d = 784. */
static void largest_biases_are_those_of_the_prototype(void **state)
{
    static const struct {
        int p;
        double most;
    } stated[] = {{1, 0.2131}, {2, 0.0822}, {3, 0.0496}, {5, 0.0279}, {7, 0.0194}, {10, 0.0133}, {20, 0.0064}};
    (void)state;
    for (size_t i = 0; i < sizeof stated / sizeof stated[0]; i++) {
        kl_law law = {0};
        shells(2, stated[i].p, 784, false, &law);
        assert_true(fabs(law.most - stated[i].most) < 6e-5 + 0.01 * stated[i].most);
        kl_law_clear(&law);
    }
}

/* Everything is random but what a linear kernel is: nothing. */
static void a_linear_kernel_needs_no_waves(void **state)
{
    kl_law law = {0};
    (void)state;
    assert_true(shells(2, 1, 100, true, &law) < 1e-24);
    assert_int_equal(law.count, 0);
    assert_true(fabs(law.linear - 0.5) < 1e-9 && fabs(law.constant - 0.5) < 1e-9);
    kl_law_clear(&law);
}

static void published_mixtures_are_near_and_never_better(void **state)
{
    static const struct {
        int a, p;
        int64_t d;
        double prototype;
    } cases[] = {{2, 3, 16, 3.27e-4}, {2, 7, 16, 3.4e-6}, {2, 10, 256, 5.5e-5}, {2, 20, 256, 1.0e-5}, {4, 7, 256, 7.6e-5}, {4, 20, 256, 2.0e-5}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_target t;
        kl_law law = {0}, best = {0};
        kl_kernel *kernel = target(cases[i].a, cases[i].p, cases[i].d, &t);
        assert_int_equal(kl_law_fit_gaussians(&law, &t, 10), KLIFT_OK);
        double found = law.bias * law.bias, least = shells(cases[i].a, cases[i].p, cases[i].d, false, &best);
        print_message("a=%d p=%d d=%lld: 10 Gaussians L %.3e, of the prototype %.2e; shells %.3e\n", cases[i].a, cases[i].p, (long long)cases[i].d, found, cases[i].prototype, least);
        assert_true(found < 1.05 * cases[i].prototype && found > 0.99 * least); /* 0.99: radii are of two grids */
        assert_true(law.cell > 0 && law.constant == 0 && law.linear == 0);
        kl_law_clear(&law);
        kl_law_clear(&best);
        kl_kernel_free(kernel);
    }
}

static void other_kernels_are_fitted_too(void **state)
{
    static const struct {
        const char *kernel;
        double most; /* of |Khat - K| / K(0) */
    } cases[] = {{"gaussian:gamma=0.5", 1e-5}, {"gaussian:gamma=20", 1e-5}, {"matern:nu=0.5,length=1", 0.02}, {"matern:nu=2.5,length=0.5", 2e-3}, {"exp:sigma=1", 1e-5},
                 {"vovk:degree=5", 0.07}, {"vovk-infinite:scale=2", 1e-3}, {"series:1,1,0.5", 0.1}, {"poly:degree=0", 1e-12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int w = 0; w < 5; w++) {
            kl_kernel *kernel;
            kl_target t;
            kl_law law = {0};
            assert_int_equal(kl_kernel_new(cases[i].kernel, &kernel), KLIFT_OK);
            assert_int_equal(kl_target_new(&t, kernel, widths[w]), KLIFT_OK);
            assert_int_equal(kl_law_fit_shells(&law, &t, true), KLIFT_OK);
            if (widths[w] == 64)
                print_message("%s: %lld radii, bias %.2g, largest %.2g\n", cases[i].kernel, (long long)law.count, law.bias, law.most);
            if (law.most > cases[i].most)
                print_message("%s, d=%lld: largest bias %.2g\n", cases[i].kernel, (long long)widths[w], law.most);
            assert_true(law.most <= cases[i].most);
            kl_law_clear(&law);
            kl_kernel_free(kernel);
        }
}

static void a_law_is_stored_as_it_is(void **state)
{
    kl_law law = {0}, loaded = {0};
    kl_record_writer to;
    kl_record_reader from;
    uint32_t tag;
    (void)state;
    shells(2, 10, 16, true, &law);
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('T', 'E', 'S', 'T'), true);
    kl_law_save(&law, &to);
    law.share[0] += 1e-5; /* no longer a law */
    kl_law_save(&law, &to);
    law.share[0] -= 1e-5;
    kl_record_close(&to);
    assert_int_equal(kl_record_finish(&to), KLIFT_OK);
    assert_int_equal(kl_record_check(&from, to.bytes, to.length, KL_RECORD_MODEL), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(kl_law_load(&loaded, &from), KLIFT_OK);
    assert_true(loaded.count == law.count && loaded.linear == law.linear && loaded.constant == law.constant && loaded.bias == law.bias && loaded.most == law.most);
    assert_memory_equal(loaded.radius, law.radius, (size_t)law.count * sizeof *law.radius);
    kl_law_clear(&loaded);
    assert_int_equal(kl_law_load(&loaded, &from), KLIFT_MODEL);
    kl_law_clear(&loaded);
    kl_law_clear(&law);
    kl_record_clear(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_are_as_good_as_the_prototype),
        cmocka_unit_test(largest_biases_are_those_of_the_prototype),
        cmocka_unit_test(a_linear_kernel_needs_no_waves),
        cmocka_unit_test(published_mixtures_are_near_and_never_better),
        cmocka_unit_test(other_kernels_are_fitted_too),
        cmocka_unit_test(a_law_is_stored_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
