/*
 * test_tensor_sketch.c - the sketch against its closed form and the figures of the prototypes, on SYN rows; what degrees 0,
 * 1 and 200, one feature, odd numbers of them and long rows do; sparse rows.
 */
#include "gram.h"
#include "support.h"

#include "math/hadamard.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* stated: D times the mean squared error, to the digits given */
static void check(int64_t d, const char *kernel, int64_t features, double stated, int seeds)
{
    gram_errors e = gram_check(&(gram_case){d, "tensor-sketch", kernel, features, seeds});
    assert_true(isnan(stated) || fabs(e.stated * (double)features - stated) <= 2e-4 * stated);
}

static void errors_are_those_of_the_closed_form(void **state)
{
    (void)state;
    check(16, "poly:degree=2", 256, 19.174, 24);
    check(16, "poly:degree=3,offset=0", 1024, 1.2628, 24);
    check(16, "poly:degree=3", 256, 94.193, 24);
    check(64, "poly:degree=2", 1024, 18.023, 24);
    check(64, "poly:degree=3,offset=0", 256, 1.2804, 24);
    check(64, "poly:degree=3", 1024, 85.540, 24);
    check(64, "poly:degree=7", 256, 46440, 24);
    if (quick())
        return;
    check(16, "poly:degree=7", 1024, 56551, 40);
    check(64, "poly:degree=7", 1024, 46440, 40);
    check(16, "poly:degree=10", 1024, 8.9234e6, 60);
    check(64, "poly:degree=10", 1024, 7.3892e6, 60);
    check(16, "poly:degree=10,offset=0", 1024, 8.0327, 60);
    check(64, "poly:degree=10,offset=0", 4096, 11.287, 60);
    check(64, "poly:degree=2", 4096, 18.023, 20);
    check(64, "poly:degree=3", 4096, 85.540, 20);
    check(16, "poly:degree=7", 4096, 56551, 20);
    check(64, "poly:degree=7", 4096, 46440, 20);
    check(64, "poly:degree=10", 4096, 7.3892e6, 60);
}

static void every_width_and_every_number_of_features_will_do(void **state)
{
    static const int64_t widths[] = {1, 5, 54, 123, 784, 1000}, features[] = {1, 2, 200, 77};
    (void)state;
    for (int w = 0; w < 6; w++) {
        /* not many more features than columns: the error of few seeds is a lottery there */
        check(widths[w], "poly:degree=3", widths[w] < 50 ? 3 * widths[w] + 3 : 200, NAN, 40);
        if (!quick())
            check(widths[w], "poly:degree=2,offset=0.5,gamma=2", widths[w] < 50 ? 4 * widths[w] + 3 : 1024, NAN, 24);
    }
    for (int f = 0; f < 4; f++) {
        kl_map *map = gram_map("tensor-sketch", "poly:degree=2", 16, features[f], 3, 0);
        assert_int_equal(map->n_out, (features[f] + 1) / 2 * 2);
        kl_map_free(map);
    }
    check(16, "poly:degree=2", 1, NAN, 64);
}

/* z(x).z(y) for two SYN rows. */
static double estimate(const char *kernel, int64_t features, double *exact)
{
    enum { D = 5 };
    float x[2 * D];
    double y[2 * D];
    kl_pair pair;
    kl_map *map = gram_map("tensor-sketch", kernel, D, features, 11, 0);
    syn_rows_float(2, D, x);
    for (int i = 0; i < 2 * D; i++)
        y[i] = (double)x[i];
    klift_batch rows = dense_batch(2, D, x);
    float *z = gram_lift(map, &rows);
    double product = gram_product(map->n_out, z, z + map->n_out);
    kl_pair_set(&pair, D, y, y + D);
    *exact = kl_kernel_value(map->kernel, &pair);
    free(z);
    kl_map_free(map);
    return product;
}

static void degrees_0_and_1_are_exact_where_they_fit(void **state)
{
    double exact, made;
    (void)state;
    made = estimate("poly:degree=0", 7, &exact);
    assert_true(exact == 1 && made == 1);
    made = estimate("poly:degree=1", 6, &exact);
    assert_true(fabs(made - exact) <= 1e-6);
    made = estimate("poly:degree=1,offset=0,gamma=3", 5, &exact);
    assert_true(fabs(made - exact) <= 1e-6);
    made = estimate("poly:degree=1", 5, &exact); /* one column too many: a sketch of degree 1 */
    assert_true(fabs(made - exact) > 1e-4);
    check(16, "poly:degree=1", 8, NAN, 40);
}

static void large_degrees_stay_inside_float32(void **state)
{
    static const char *const kernels[] = {"poly:degree=200,offset=0", "poly:degree=100,offset=0.3", "poly:degree=60,gamma=1e-12,offset=0"};
    float x[40 * 8];
    (void)state;
    syn_rows_float(40, 8, x);
    klift_batch rows = dense_batch(40, 8, x);
    for (int k = 0; k < 3; k++) {
        kl_map *map = gram_map("tensor-sketch", kernels[k], 8, 512, 5, 0);
        float *z = gram_lift(map, &rows);
        for (int64_t i = 0; i < 40 * map->n_out; i++)
            assert_true(isfinite(z[i]));
        free(z);
        kl_map_free(map);
    }
    /* the product of the factors overflows on the way, the features do not: the scale is in every factor */
    for (int i = 0; i < 40 * 8; i++)
        x[i] *= 1e6f;
    kl_map *map = gram_map("tensor-sketch", "poly:degree=6,gamma=1,offset=0", 8, 1 << 12, 5, 0);
    void *scratch = malloc((size_t)kl_map_scratch(map, 40));
    float *z = malloc((size_t)(40 * map->n_out) * sizeof *z);
    assert_int_equal(kl_map_apply_dense(map, &rows, z, map->n_out, false, scratch), KLIFT_OK);
    for (int64_t i = 0; i < 40 * map->n_out; i++)
        assert_true(isfinite(z[i]));
    for (int i = 0; i < 40 * 8; i++) /* |x|^6 = 1e42 */
        x[i] *= 10;
    assert_int_equal(kl_map_apply_dense(map, &rows, z, map->n_out, false, scratch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "float32"));
    free(z);
    free(scratch);
    kl_map_free(map);
}

static void a_negative_degree_or_offset_is_refused(void **state)
{
    (void)state;
    assert_int_equal(gram_try("tensor-sketch", "poly:degree=-1", 5, 64), KLIFT_USAGE);
    assert_int_equal(gram_try("tensor-sketch", "poly:offset=-0.5", 5, 64), KLIFT_USAGE);
    assert_int_equal(gram_try("tensor-sketch", "gaussian:gamma=1", 5, 64), KLIFT_USAGE);
    assert_int_equal(gram_try("tensor-sketch(tree)", "poly", 5, 64), KLIFT_USAGE);
}

/* Adult's rows: 14 of 123 columns. */
static void sparse_rows_equal_dense_ones_and_cost_their_nonzeros(void **state)
{
    enum { N = 50, D = 123 };
    static float x[N * D];
    (void)state;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 14; j++)
            x[i * D + (j * 9 + (i * 7 + j) % 9) % D] = 1;
    csr rows = csr_of(N, D, x);
    klift_batch dense = dense_batch(N, D, x), sparse = csr_batch(N, D, &rows);
    kl_map *map = gram_map("tensor-sketch", "poly:degree=3,gamma=0.1", D, 1024, 2, 0);
    float *one = gram_lift(map, &dense), *two = gram_lift(map, &sparse);
    assert_memory_equal(one, two, (size_t)(N * map->n_out) * sizeof *one);
    /* 3 factors: nonzeros and the offset, two transforms of 512, complex products */
    assert_true(map->type->cost(map, 14) == 3 * 15 + 3 * 2 * 512 * 9 + 3 * 2 * 1024);
    assert_true(map->type->cost(map, 123) - map->type->cost(map, 14) == 3 * (123 - 14));
    free(one);
    free(two);
    csr_free(&rows);
    kl_map_free(map);
}

/* Rows with few and with many entries take different loops; a dense row and its entries take the same. */
static void sparse_rows_of_any_density_equal_dense_ones(void **state)
{
    enum { N = 40, D = 203 };
    static const char *const kernels[] = {"poly:degree=3", "poly:degree=2,offset=0"};
    static const int64_t features[] = {1, 16, 300, 4096};
    static float x[N * D];
    (void)state;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            x[i * D + j] = (i * 11 + j * 7) % N >= i ? 0 : 0.1f * (float)syn_normal(8, (uint64_t)(i * D + j)); /* i of N columns */
    csr rows = csr_of(N, D, x);
    klift_batch dense = dense_batch(N, D, x), sparse = csr_batch(N, D, &rows);
    for (int k = 0; k < 8; k++) {
        kl_map *map = gram_map("tensor-sketch", kernels[k % 2], D, features[k / 2], 2, 0);
        float *one = gram_lift(map, &dense), *two = gram_lift(map, &sparse);
        assert_memory_equal(one, two, (size_t)(N * map->n_out) * sizeof *one);
        free(one);
        free(two);
        kl_map_free(map);
    }
    csr_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_closed_form),
        cmocka_unit_test(every_width_and_every_number_of_features_will_do),
        cmocka_unit_test(degrees_0_and_1_are_exact_where_they_fit),
        cmocka_unit_test(large_degrees_stay_inside_float32),
        cmocka_unit_test(a_negative_degree_or_offset_is_refused),
        cmocka_unit_test(sparse_rows_equal_dense_ones_and_cost_their_nonzeros),
        cmocka_unit_test(sparse_rows_of_any_density_equal_dense_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
