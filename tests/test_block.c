/*
 * test_block.c - kernel values of many pairs against value() pair by pair, for every kernel of the registry; the
 * products and exponentials they are made of against the plainest code.
 */
#include "kernel/block.h"
#include "math/exponential.h"
#include "math/micro.h"
#include "math/product64.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void exponentials_are_exact(void **state)
{
    enum { COUNT = 20000 };
    double *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y), worst = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = -720 + 1428.5 * i / (COUNT - 1);
    kl_exponentials(COUNT, x, y);
    for (int i = 0; i < COUNT; i++) {
        if (x[i] < -708)
            assert_true(y[i] == 0);
        else
            worst = fmax(worst, fabs(y[i] / (double)expl((long double)x[i]) - 1));
    }
    print_message("largest relative error of an exponential: %g\n", worst);
    assert_true(worst <= 4e-16);
    for (int64_t count = 0; count < 70; count++) { /* in place, and no further than asked */
        for (int i = 0; i < 80; i++)
            x[i] = i * -0.01;
        kl_exponentials(count, x, x);
        for (int i = 0; i < 80; i++)
            assert_true(fabs(x[i] - (i < count ? exp(i * -0.01) : i * -0.01)) < 1e-15);
    }
    double ends[4] = {0, -INFINITY, -1e300, -0.0};
    kl_exponentials(4, ends, ends);
    assert_true(ends[0] == 1 && ends[1] == 0 && ends[2] == 0 && ends[3] == 1);
    free(x);
    free(y);
}

static void check_product(int64_t m, int64_t n, int64_t k)
{
    int64_t stride = k + 3, out = n + 5;
    double *a = malloc((size_t)(m * stride + 1) * sizeof *a), *b = malloc((size_t)(n * stride + 1) * sizeof *b), *c = malloc((size_t)(m * out + 1) * sizeof *c);
    void *scratch = malloc((size_t)kl_product64_scratch(m, n) + 1);
    for (int64_t i = 0; i < m * stride; i++)
        a[i] = syn_normal(1, (uint64_t)i);
    for (int64_t i = 0; i < n * stride; i++)
        b[i] = syn_normal(2, (uint64_t)i);
    for (int64_t i = 0; i < m * out; i++)
        c[i] = 7;
    kl_product64((kl_matrix64){a, m, stride}, (kl_matrix64){b, n, stride}, k, -1, c, out, scratch);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < out; j++) {
            double sum = 7;
            for (int64_t p = 0; p < k && j < n; p++)
                sum -= a[i * stride + p] * b[j * stride + p];
            assert_true(fabs(c[i * out + j] - sum) <= 1e-12 * (1 + sqrt((double)k)));
        }
    free(a);
    free(b);
    free(c);
    free(scratch);
}

/* Operands that stay packed, with room for more columns, give the same bits. */
static void check_packed(int64_t m, int64_t n, int64_t k)
{
    int64_t height = kl_micro_get()->left64, room = k + 7, stride = n + 3, above = (m + height - 1) / height * height;
    double *a = calloc((size_t)(m * room + 1), sizeof *a), *b = calloc((size_t)(n * room + 1), sizeof *b), *c = calloc((size_t)(2 * m * stride), sizeof *c);
    double *left = calloc((size_t)(above * room + 1), sizeof *left), *right = malloc((size_t)((n + 16) * (k + 1)) * sizeof *right);
    void *scratch = malloc((size_t)kl_product64_scratch(m, n) + 1);
    for (int64_t i = 0; i < m * room; i++)
        left[i / room / height * height * room + i % room * height + i / room % height] = a[i] = syn_normal(3, (uint64_t)i);
    for (int64_t i = 0; i < n * room; i++)
        b[i] = syn_normal(4, (uint64_t)i);
    kl_product64((kl_matrix64){a, m, room}, (kl_matrix64){b, n, room}, k, -1, c, stride, scratch);
    kl_product64_pack((kl_matrix64){b, n, room}, k, right);
    kl_product64_packed((kl_packed64){left, m, room}, (kl_packed64){right, n, k}, k, -1, c + m * stride, stride);
    assert_memory_equal(c, c + m * stride, (size_t)(m * stride) * sizeof *c);
    free(a);
    free(b);
    free(c);
    free(left);
    free(right);
    free(scratch);
}

static void packed_products_have_the_same_bits(void **state)
{
    static const int64_t sizes[] = {1, 4, 9, 64, 70};
    (void)state;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            check_packed(sizes[i], sizes[j], sizes[(i + j) % 5] * 9);
    check_packed(5, 9, 0);
}

static void products_of_any_size_are_right(void **state)
{
    static const int64_t sizes[] = {1, 3, 4, 7, 16, 33, 65, 130};
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            check_product(sizes[i], sizes[j], sizes[(i + j) % 8] * 5);
    check_product(5, 9, 0);
    check_product(9, 5, 700);
}

/* ---- blocks ---- */

enum { XROWS = 37, YROWS = 29 };

static double *block(const kl_kernel *kernel, const kl_batch *x, const kl_batch *y, int64_t columns)
{
    double *k = malloc((size_t)(x->rows * y->rows) * sizeof *k), *xx = malloc((size_t)x->rows * sizeof *xx), *yy = malloc((size_t)y->rows * sizeof *yy);
    void *scratch = malloc((size_t)kl_block_scratch(kernel, x->rows, y->rows, columns));
    kl_side left = {*x, xx}, right = {*y, yy};
    kl_block_norms(x, xx);
    kl_block_norms(y, yy);
    kl_block_values(kernel, &left, &right, columns, k, y->rows, scratch);
    free(xx);
    free(yy);
    free(scratch);
    return k;
}

static double worst_value(const kl_kernel *kernel, const kl_batch *x, const kl_batch *y, int64_t d, const double *k)
{
    double *a = malloc((size_t)d * sizeof *a), *b = malloc((size_t)d * sizeof *b), worst = 0;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < y->rows; j++) {
            kl_pair pair;
            kl_batch_row_doubles(x, i, d, a);
            kl_batch_row_doubles(y, j, d, b);
            kl_pair_set(&pair, d, a, b);
            double value = kl_kernel_value(kernel, &pair), difference = fabs(k[i * y->rows + j] - value) / fmax(1, fabs(value));
            if (!(difference <= worst))
                worst = difference;
        }
    free(a);
    free(b);
    return worst;
}

static void check_kernel(const char *name, int64_t d, double offset, double tolerance)
{
    float *x = malloc((size_t)(XROWS * d) * sizeof *x), *y = malloc((size_t)(YROWS * d) * sizeof *y);
    kl_survey survey = {.rows = XROWS, .columns = d, .norm_max = 1, .norm_mean = 1};
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new(name, &kernel), KLIFT_OK);
    syn_rows_float(XROWS, d, x);
    for (int64_t i = 0; i < XROWS * d; i++) {
        x[i] = (i / d + i % d) % 3 == 0 && d > 2 ? 0.0f : x[i] + (float)offset;
        x[i] = kl_domain_of(kernel) & KL_NON_NEGATIVE ? fabsf(x[i]) : x[i];
    }
    for (int64_t i = 0; i < YROWS * d; i++)
        y[i] = i / d < 3 ? x[i] : x[XROWS * d - 1 - i]; /* three rows that x has too */
    kl_batch xs = dense_batch(XROWS, d, x), ys = dense_batch(YROWS, d, y);
    csr xc = csr_of(XROWS, d, x), yc = csr_of(YROWS, d, y);
    kl_batch form[2][2] = {{xs, csr_batch(XROWS, d, &xc)}, {ys, csr_batch(YROWS, d, &yc)}};
    assert_int_equal(kl_rows_add(&survey.sample, &xs, 0, XROWS), KLIFT_OK);
    assert_int_equal(kl_kernel_fit(kernel, &survey), KLIFT_OK);
    for (int f = 0; f < 4; f++) {
        double *k = block(kernel, &form[0][f % 2], &form[1][f / 2], d), worst = worst_value(kernel, &xs, &ys, d, k);
        if (!(worst <= tolerance))
            print_message("%s d=%lld offset %g form %d: %g\n", name, (long long)d, offset, f, worst);
        assert_true(worst <= tolerance);
        free(k);
    }
    kl_kernel_free(kernel);
    kl_rows_clear(&survey.sample);
    csr_free(&xc);
    csr_free(&yc);
    free(x);
    free(y);
}

static void blocks_equal_single_values_for_every_kernel(void **state)
{
    static const int64_t widths[] = {1, 2, 54, 300, 784};
    (void)state;
    for (int64_t k = 0; kl_kernel_type_at(k) != NULL; k++)
        for (int w = 0; w < 5; w++)
            check_kernel(kl_kernel_type_at(k)->compose != NULL ? "compose(exp, laplacian)" : kl_kernel_type_at(k)->name, widths[w], 0, 1e-12);
}

/* Rows far from the origin: products of 10^6 whose difference is a distance of 1. */
static void distances_far_from_the_origin_do_not_cancel(void **state)
{
    static const char *const names[] = {"gaussian:gamma=1", "matern:nu=0.5,length=1", "matern:nu=1.5,length=1", "matern:nu=2.5,length=2", "matern:nu=0.7,length=1", "laplacian:gamma=1", "cauchy:gamma=1"};
    (void)state;
    for (int i = 0; i < 7; i++)
        check_kernel(names[i], 2000, 1000, 1e-6);
    check_kernel("gaussian:gamma=100", 2000, 3000, 1e-6);
}

/* Rows of y that are spread out together or, of so many columns, one by one: the same bits. */
static void the_width_of_sparse_rows_changes_no_bit(void **state)
{
    enum { D = 60, WIDE = 100000 };
    static float x[XROWS * D];
    kl_kernel *kernel;
    (void)state;
    syn_rows_float(XROWS, D, x);
    for (int64_t i = 0; i < XROWS * D; i++)
        x[i] = i * 7 % 5 < 2 ? 0.0f : x[i];
    csr c = csr_of(XROWS, D, x);
    kl_batch narrow = csr_batch(XROWS, D, &c), wide = csr_batch(XROWS, WIDE, &c);
    assert_int_equal(kl_kernel_new("gaussian:gamma=0.1", &kernel), KLIFT_OK);
    for (int64_t rows = 1; rows <= XROWS; rows += 4) {
        kl_batch y[2] = {kl_batch_part(&narrow, 0, rows), kl_batch_part(&wide, 0, rows)};
        double *k[2] = {block(kernel, &narrow, &y[0], D), block(kernel, &wide, &y[1], WIDE)};
        assert_memory_equal(k[0], k[1], (size_t)(XROWS * rows) * sizeof *k[0]);
        free(k[0]);
        free(k[1]);
    }
    csr_free(&c);
    kl_kernel_free(kernel);
}

static void a_distance_is_never_negative_and_that_of_equal_rows_is_zero(void **state)
{
    enum { D = 5000 };
    static float x[2 * D];
    (void)state;
    for (int64_t i = 0; i < 2 * D; i++)
        x[i] = 1e6f + (float)(i % D) * 0.3f;
    kl_batch rows = dense_batch(2, D, x);
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new("matern:nu=0.5,length=1", &kernel), KLIFT_OK);
    double *k = block(kernel, &rows, &rows, D);
    for (int i = 0; i < 4; i++)
        assert_true(k[i] == 1);
    free(k);
    kl_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_are_exact),
        cmocka_unit_test(products_of_any_size_are_right),
        cmocka_unit_test(packed_products_have_the_same_bits),
        cmocka_unit_test(blocks_equal_single_values_for_every_kernel),
        cmocka_unit_test(distances_far_from_the_origin_do_not_cancel),
        cmocka_unit_test(the_width_of_sparse_rows_changes_no_bit),
        cmocka_unit_test(a_distance_is_never_negative_and_that_of_equal_rows_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
