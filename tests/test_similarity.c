/*
 * test_similarity.c - k(x, S) in float32 against exact blocks: narrow kernels, near rows, rows far from the origin, dense and CSR.
 * The first two are what distances of single precision get wrong.
 */
#include "map/similarity.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 70, LANDMARKS = 45, D = 30 };

/* Landmarks, and rows that are some of them moved by a little, others far away; all of it `offset` from the origin. */
static void fill(double offset, float *rows, float *landmarks)
{
    syn_rows_float(ROWS, D, rows);
    for (int64_t i = 0; i < LANDMARKS * D; i++)
        landmarks[i] = rows[i] * (1 + 1e-3f * (float)(i % 7)) + (float)offset;
    for (int64_t i = 0; i < ROWS * D; i++)
        rows[i] += (float)offset;
}

static double worst(const char *text, const kl_batch *x, const kl_batch *s)
{
    kl_kernel *kernel;
    kl_similarity similarity;
    float k[ROWS * LANDMARKS];
    double exact[ROWS * LANDMARKS], most = 0;
    assert_int_equal(kl_kernel_new(text, &kernel), KLIFT_OK);
    assert_int_equal(kl_similarity_make(&similarity, kernel, s, D), KLIFT_OK);
    void *scratch = malloc((size_t)(kl_similarity_scratch(&similarity, ROWS) + kl_similarity_exact_scratch(&similarity, ROWS)));
    kl_similarity_apply(&similarity, x, k, scratch);
    kl_similarity_exact(&similarity, x, exact, scratch);
    for (int i = 0; i < ROWS * LANDMARKS; i++) {
        double difference = fabs((double)k[i] - exact[i]);
        most = difference <= most ? most : difference;
    }
    free(scratch);
    kl_similarity_clear(&similarity);
    kl_kernel_free(kernel);
    return most;
}

static void values_are_within_2e_6_of_exact_ones(void **state)
{
    static const char *const kernels[] = {"gaussian:gamma=0.01", "gaussian:gamma=1", "gaussian:gamma=100", "gaussian:gamma=10000", "matern:nu=0.5,length=1",
                                          "matern:nu=0.5,length=0.01", "matern:nu=1.5,length=0.1", "laplacian:gamma=10", "cauchy:gamma=10", "linear", "poly:3"};
    static const double offsets[] = {0, 1, 300};
    static float rows[ROWS * D], landmarks[LANDMARKS * D];
    (void)state;
    for (int o = 0; o < 3; o++) {
        fill(offsets[o], rows, landmarks);
        csr xc = csr_of(ROWS, D, rows), sc = csr_of(LANDMARKS, D, landmarks);
        kl_batch x[2] = {dense_batch(ROWS, D, rows), csr_batch(ROWS, D, &xc)}, s[2] = {dense_batch(LANDMARKS, D, landmarks), csr_batch(LANDMARKS, D, &sc)};
        for (int k = 0; k < 11; k++)
            for (int form = 0; form < 4; form++) {
                bool products = k >= 9, sparse = form / 2 == 1; /* whose values grow with the offset; landmarks that are not centred */
                if (o > 0 && (products || (sparse && o == 2)))
                    continue;
                double most = worst(kernels[k], &x[form % 2], &s[form / 2]);
                if (!(most <= 2e-6))
                    print_message("%s, offset %g, form %d: %g\n", kernels[k], offsets[o], form, most);
                assert_true(most <= 2e-6);
            }
        csr_free(&xc);
        csr_free(&sc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_within_2e_6_of_exact_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
