/* test_gamma.c - log Gamma against the C library's and against factorials; the numbers that must be exact are. */
#include "math/gamma.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void values_are_those_of_the_library(void **state)
{
    double worst = 0;
    (void)state;
    for (double x = 1e-8; x < 1e9; x *= 1.00137) {
        double want = lgamma(x), error = fabs(kl_log_gamma(x) - want) / fmax(1, fabs(want));
        if (error > worst)
            worst = error;
    }
    print_message("largest error %.1e\n", worst);
    assert_true(worst < 1e-14);
}

static void factorials_are_right(void **state)
{
    double sum = 0;
    (void)state;
    assert_true(kl_log_gamma(1) == 0 && kl_log_gamma(2) == 0);
    for (int n = 1; n < 400; n++) {
        sum += log(n);
        assert_true(fabs(kl_log_gamma(n + 1) - sum) < 1e-14 * fmax(1, sum));
    }
    assert_true(fabs(kl_log_gamma(0.5) - 0.5 * log(3.14159265358979323846)) < 4e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_library),
        cmocka_unit_test(factorials_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
