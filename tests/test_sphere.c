/*
 * test_sphere.c - phi_d against another quadrature, tanh-sinh in u with thousands of nodes, for d from 2 to 10,000 up to the
 * largest arguments that a fit asks for; against closed forms (d = 3: sin t / t, d = 5); ladders against single values.
 */
#include "math/sphere.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 12000 };

static const double half_pi = 1.57079632679489661923;

/* E cos(t u), u of density (1-u^2)^((d-3)/2) on (-1, 1): u = tanh(pi/2 sinh s), 1 - u^2 = 1 / cosh^2 */
static double reference(int64_t d, double t)
{
    double sum = 0, all = 0, step = 9.0 / NODES;
    for (int k = 0; k < NODES; k++) {
        double s = (k + 0.5) * step - 4.5, inner = half_pi * sinh(s), u = tanh(inner), log_rest = -2 * (fabs(inner) + log1p(exp(-2 * fabs(inner))) - log(2.0));
        double weight = exp(0.5 * (double)(d - 1) * log_rest) * cosh(s); /* du = (1 - u^2) pi/2 cosh s ds */
        sum += weight * cos(t * u);
        all += weight;
    }
    return sum / all;
}

static double largest(int64_t d) /* twice the largest radius of a fit of degree 40 */
{
    return 2 * (1.6 * sqrt(2.0) * sqrt(40.0) / 2 * (sqrt((double)d) + 6) + 1);
}

static void values_are_those_of_another_quadrature(void **state)
{
    static const int64_t widths[] = {2, 3, 4, 5, 8, 11, 13, 15, 16, 17, 21, 33, 64, 101, 256, 785, 1024, 3000, 9999, 10000};
    double worst = 0;
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        kl_sphere sphere;
        double most = largest(widths[w]), here = 0;
        assert_int_equal(kl_sphere_new(&sphere, widths[w], most), KLIFT_OK);
        for (int i = 0; i <= 40; i++)
            here = fmax(here, fabs(kl_sphere_value(&sphere, i * most / 40) - reference(widths[w], i * most / 40)));
        print_message("d=%lld: %lld nodes, t to %.0f, largest difference %.1e\n", (long long)widths[w], (long long)sphere.count, most, here);
        worst = fmax(worst, here);
        kl_sphere_clear(&sphere);
    }
    assert_true(worst < 1e-12);
}

static void simple_cases_are_exact(void **state)
{
    kl_sphere five, ball;
    (void)state;
    assert_int_equal(kl_sphere_new(&five, 5, 30), KLIFT_OK);
    assert_int_equal(kl_sphere_new(&ball, 3, 30), KLIFT_OK);
    for (int i = 1; i <= 60; i++) {
        double t = 0.5 * i;
        assert_true(fabs(kl_sphere_value(&ball, t) - sin(t) / t) < 1e-13);
        assert_true(fabs(kl_sphere_value(&five, t) - 3 * (sin(t) - t * cos(t)) / (t * t * t)) < 1e-13);
    }
    assert_true(fabs(kl_sphere_value(&five, 0) - 1) < 1e-14 && fabs(kl_sphere_value(&ball, 0) - 1) < 1e-14);
    kl_sphere_clear(&five);
    kl_sphere_clear(&ball);
}

static void ladders_are_single_values(void **state)
{
    static const int64_t widths[] = {2, 7, 64, 10000};
    (void)state;
    for (int w = 0; w < 4; w++) {
        kl_sphere sphere;
        double step = largest(widths[w]) / 1000, out[1001] = {0};
        assert_int_equal(kl_sphere_new(&sphere, widths[w], largest(widths[w])), KLIFT_OK);
        out[3] = 5; /* added to */
        kl_sphere_ladder(&sphere, step, 0.25, 1001, out);
        for (int i = 0; i <= 1000; i++)
            assert_true(fabs(out[i] - (i == 3 ? 5 : 0) - 0.25 * kl_sphere_value(&sphere, i * step)) < 1e-12);
        kl_sphere_clear(&sphere);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_another_quadrature),
        cmocka_unit_test(simple_cases_are_exact),
        cmocka_unit_test(ladders_are_single_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
