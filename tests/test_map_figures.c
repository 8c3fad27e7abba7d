/*
 * test_map_figures.c - maps of waves against reference figures, over the Gram matrix of 200 SYN rows: numpy prototypes and closed
 * forms of fourier and orthogonal; fastfood's known factor.
 */
#include "gram.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* stated: the closed form of the tables, NAN: none was given */
static void check_figure(int64_t d, const char *text, const char *kernel, int64_t features, double stated, int seeds)
{
    gram_errors e = gram_check(&(gram_case){d, text, kernel, features, seeds});
    assert_true(isnan(stated) || fabs(e.stated - stated) <= (stated < 1e-4 ? 1e-2 : 1e-3) * stated); /* as many digits as were given */
}

static void fourier_meets_the_reference_figures(void **state)
{
    const char *gauss = "gaussian:gamma=1";
    (void)state;
    check_figure(16, "fourier:form=phase", gauss, 256, 0.003677, 20);
    check_figure(16, "fourier:form=paired", gauss, 256, 0.003448, 20);
    check_figure(64, "fourier:form=phase", gauss, 256, 0.003732, 20);
    check_figure(64, "fourier:form=paired", gauss, 256, 0.003558, 20);
    check_figure(16, "fourier:form=paired", "laplacian:gamma=0.25", 256, 0.003367, 20);
    check_figure(16, "fourier:form=paired", "cauchy:gamma=1", 256, 0.003378, 20);
    check_figure(16, "fourier:form=paired", "matern:nu=0.5,length=1", 256, 0.003557, 20);
    check_figure(16, "fourier:form=phase", "matern:nu=1.5,length=1", 256, 0.003513, 20);
    check_figure(16, "fourier:form=paired", "matern:nu=2.5,length=1", 256, 0.002939, 20);
    if (quick())
        return;
    check_figure(64, "fourier:form=phase", "laplacian:gamma=0.125", 256, 0.003657, 20);
    check_figure(64, "fourier:form=paired", "cauchy:gamma=1", 256, 0.003537, 20);
    check_figure(64, "fourier:form=paired", "matern:nu=1.5,length=1", 256, 0.003215, 20);
    check_figure(16, "fourier:form=paired", gauss, 1024, 0.0008619, 12);
    check_figure(64, "fourier:form=paired", gauss, 1024, 0.0008895, 12);
}

static void orthogonal_meets_its_exact_variance(void **state)
{
    (void)state;
    check_figure(16, "orthogonal", "gaussian:gamma=1", 1024, 0.000506, 12);
    check_figure(16, "orthogonal", "gaussian:gamma=0.28", 1024, 6.3e-5, 12);
    check_figure(64, "orthogonal", "gaussian:gamma=1", 1024, 0.000567, 12);
    if (quick())
        return;
    check_figure(64, "orthogonal:directions=dense", "gaussian:gamma=1", 1024, 0.000567, 12);
    check_figure(64, "orthogonal", "gaussian:gamma=0.28", 1024, 4.6e-5, 12);
    check_figure(3, "orthogonal", "gaussian:gamma=1", 256, NAN, 20);
    check_figure(20, "orthogonal", "gaussian:gamma=1", 256, NAN, 20);
}

/* Its mean squared error against the closed form of independent frequencies. */
static double ratio_to_independent(int64_t d, const char *text, int64_t features, int seeds)
{
    const char *kernel = "gaussian:gamma=1";
    return gram_measure_only(&(gram_case){d, text, kernel, features, seeds}).mse / gram_measure(&(gram_case){d, "fourier", kernel, features, 2}).stated;
}

static void fastfood_is_worse_than_independent_frequencies_by_the_known_factor(void **state)
{
    double small = ratio_to_independent(16, "fastfood", 512, 16), large = ratio_to_independent(64, "fastfood", 512, 16);
    (void)state;
    print_message("fastfood / independent: d=16 %.3f, d=64 %.3f\n", small, large);
    assert_true(small > 1.2 && small < 1.5);
    assert_true(large > 1.2 && large < 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fourier_meets_the_reference_figures),
        cmocka_unit_test(orthogonal_meets_its_exact_variance),
        cmocka_unit_test(fastfood_is_worse_than_independent_frequencies_by_the_known_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
