/* test_product.c - out = x w' within its error bound, the same bits for dense and CSR rows and for any cut. */
#include "math/product.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct shape {
    int64_t rows, n, k;
} shape;

static const shape shapes[] = {{1, 1, 1}, {3, 1, 7}, {5, 9, 1}, {4, 8, 8}, {7, 17, 5}, {13, 33, 31}, {2, 7, 100}, {9, 16, 64}, {6, 100, 3}, {0, 5, 4}, {31, 23, 29}, {4, 5, 1000}, {130, 70, 19}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct sample {
    shape s;
    int64_t stride, out_stride;
    float *x; /* (rows, stride), a third of it zero; NaN between columns and stride */
    kl_panels w;
} sample;

static sample make(shape s)
{
    sample a = {.s = s, .stride = s.k + 3, .out_stride = s.n + 2};
    a.x = malloc((size_t)(s.rows * a.stride + 1) * sizeof *a.x);
    for (int64_t i = 0; i < s.rows; i++)
        for (int64_t j = 0; j < a.stride; j++) {
            float value = (float)syn_normal((uint64_t)i, (uint64_t)j);
            a.x[i * a.stride + j] = j >= s.k ? NAN : (i + j) % 3 == 0 ? 0.0f : value;
        }
    assert_int_equal(kl_panels_new(&a.w, s.n, s.k), KLIFT_OK);
    double *row = malloc((size_t)s.k * sizeof *row);
    for (int64_t r = 0; r < s.n; r++) {
        for (int64_t j = 0; j < s.k; j++)
            row[j] = syn_normal(1000 + (uint64_t)r, (uint64_t)j);
        kl_panels_set(&a.w, r, row);
    }
    free(row);
    return a;
}

static void unmake(sample *a)
{
    kl_panels_clear(&a->w);
    assert_null(a->w.packed);
    free(a->x);
}

static const float guard = -77.25f;
static float scratch[272 * (1000 + 320)]; /* kl_product_scratch of the widest shape */

static float *room_for(const sample *a)
{
    int64_t count = a->s.rows * a->out_stride + 1;
    float *out = malloc((size_t)count * sizeof *out);
    for (int64_t i = 0; i < count; i++)
        out[i] = guard;
    return out;
}

static size_t bytes_of(const sample *a)
{
    return (size_t)(a->s.rows * a->out_stride + 1) * sizeof(float);
}

static float *dense_product(const sample *a)
{
    float *out = room_for(a);
    kl_product_dense(&a->w, a->s.rows, a->x, a->stride, &(kl_product_out){.out = out, .stride = a->out_stride}, scratch);
    return out;
}

static void products_are_within_their_error_bound(void **unused)
{
    (void)unused;
    for (int t = 0; t < SHAPES; t++) {
        sample a = make(shapes[t]);
        float *out = dense_product(&a);
        for (int64_t i = 0; i < a.s.rows; i++)
            for (int64_t r = 0; r < a.out_stride; r++) {
                if (r >= a.s.n) {
                    assert_true(out[i * a.out_stride + r] == guard); /* beyond n nothing is written */
                    continue;
                }
                double sum = 0, size = 0;
                for (int64_t j = 0; j < a.s.k; j++) {
                    double term = (double)a.x[i * a.stride + j] * (double)*kl_panels_at(&a.w, r, j);
                    sum += term;
                    size += fabs(term);
                }
                double error = fabs((double)out[i * a.out_stride + r] - sum);
                if (!(error <= (double)(a.s.k + 1) * FLT_EPSILON / 2 * size + DBL_MIN))
                    fail_msg("rows %d n %d k %d: error %g of %g", (int)a.s.rows, (int)a.s.n, (int)a.s.k, error, size);
            }
        free(out);
        unmake(&a);
    }
}

static void sparse_rows_give_the_bits_of_dense_ones(void **unused)
{
    (void)unused;
    for (int t = 0; t < SHAPES; t++) {
        sample a = make(shapes[t]);
        float *packed = malloc((size_t)(a.s.rows * a.s.k + 1) * sizeof *packed), *sparse = room_for(&a), *expected = dense_product(&a);
        for (int64_t i = 0; i < a.s.rows; i++)
            memcpy(packed + i * a.s.k, a.x + i * a.stride, (size_t)a.s.k * sizeof *packed);
        csr rows = csr_of(a.s.rows, a.s.k, packed);
        kl_product_sparse(&a.w, a.s.rows, rows.start, rows.column, rows.value, &(kl_product_out){.out = sparse, .stride = a.out_stride});
        assert_memory_equal(sparse, expected, bytes_of(&a));
        int64_t at = 0; /* and with every zero written out */
        csr_free(&rows);
        rows = csr_of(a.s.rows, a.s.k, packed);
        for (int64_t i = 0; i < a.s.rows; i++, rows.start[i] = at)
            for (int64_t j = 0; j < a.s.k; j++) {
                rows.column[at] = (int32_t)j;
                rows.value[at++] = packed[i * a.s.k + j];
            }
        kl_product_sparse(&a.w, a.s.rows, rows.start, rows.column, rows.value, &(kl_product_out){.out = sparse, .stride = a.out_stride});
        assert_memory_equal(sparse, expected, bytes_of(&a));
        csr_free(&rows);
        free(packed);
        free(sparse);
        free(expected);
        unmake(&a);
    }
}

static void any_cut_of_the_rows_gives_the_same_bits(void **unused)
{
    (void)unused;
    for (int t = 0; t < SHAPES; t++) {
        sample a = make(shapes[t]);
        float *expected = dense_product(&a), *out = room_for(&a);
        for (int64_t cut = 0; cut <= a.s.rows; cut++) {
            kl_product_dense(&a.w, cut, a.x, a.stride, &(kl_product_out){.out = out, .stride = a.out_stride}, scratch);
            kl_product_dense(&a.w, a.s.rows - cut, a.x + cut * a.stride, a.stride, &(kl_product_out){.out = out + cut * a.out_stride, .stride = a.out_stride}, scratch);
            assert_memory_equal(out, expected, bytes_of(&a));
        }
        for (int64_t i = 0; i < a.s.rows; i++) /* row by row */
            kl_product_dense(&a.w, 1, a.x + i * a.stride, a.stride, &(kl_product_out){.out = out + i * a.out_stride, .stride = a.out_stride}, scratch);
        assert_memory_equal(out, expected, bytes_of(&a));
        free(expected);
        free(out);
        unmake(&a);
    }
}

static void rows_of_zeros_give_zero(void **unused)
{
    (void)unused;
    sample a = make((shape){5, 11, 6});
    float x[5 * 6] = {0}, out[5 * 11];
    const int64_t start[6] = {0};
    kl_product_dense(&a.w, 5, x, 6, &(kl_product_out){.out = out, .stride = 11}, scratch);
    for (int i = 0; i < 55; i++)
        assert_true(out[i] == 0.0f && !signbit(out[i]));
    memset(out, 0xff, sizeof out);
    kl_product_sparse(&a.w, 5, start, NULL, NULL, &(kl_product_out){.out = out, .stride = 11});
    for (int i = 0; i < 55; i++)
        assert_true(out[i] == 0.0f && !signbit(out[i]));
    unmake(&a);
}

static void weights_are_rounded_to_float32_and_found_again(void **unused)
{
    (void)unused;
    kl_panels w;
    assert_int_equal(kl_panels_new(&w, 19, 5), KLIFT_OK);
    for (int64_t r = 18; r >= 0; r--) {
        double row[5] = {0.1 + (double)r, 1e-300, 1.0 / 3, -2, 16777217};
        kl_panels_set(&w, r, row);
    }
    for (int64_t r = 0; r < 19; r++) {
        assert_true(*kl_panels_at(&w, r, 0) == (float)(0.1 + (double)r));
        assert_true(*kl_panels_at(&w, r, 1) == 0.0f);
        assert_true(*kl_panels_at(&w, r, 4) == 16777216.0f);
        *kl_panels_at(&w, r, 3) = (float)r;
        assert_true(*kl_panels_at(&w, r, 3) == (float)r && *kl_panels_at(&w, r, 2) == (float)(1.0 / 3));
    }
    kl_panels_clear(&w);
    assert_int_equal(kl_panels_new(&w, INT64_C(1) << 40, INT64_C(1) << 40), KLIFT_MEMORY);
    assert_null(w.packed);
}

/* Long rows are packed a few at a time; the sums do not show it, and the scratch stays small. */
static void long_rows_take_little_scratch_and_give_the_same_bits(void **unused)
{
    (void)unused;
    assert_true(kl_product_scratch(1000) <= (int64_t)sizeof scratch);
    for (int64_t k = 2; k < 100000; k += 1 + k / 50) /* who has products of several lengths asks for the longest */
        assert_true(kl_product_scratch(k) >= kl_product_scratch(k - 1) && kl_product_scratch(k) >= kl_product_scratch(k / 2));
    sample a = make((shape){50, 3, 20000});
    float *all = room_for(&a), *alone = room_for(&a), *work = malloc((size_t)kl_product_scratch(20000));
    assert_true(kl_product_scratch(20000) < 4 << 20);
    const kl_micro *micro = kl_micro_get(); /* the longest are packed by one group */
    assert_int_equal(kl_product_scratch(1000000), micro->left32 * (1000000 + 256 + micro->width32) * (int64_t)sizeof(float));
    kl_product_dense(&a.w, 50, a.x, a.stride, &(kl_product_out){.out = all, .stride = a.out_stride}, work);
    for (int64_t i = 0; i < 50; i++)
        kl_product_dense(&a.w, 1, a.x + i * a.stride, a.stride, &(kl_product_out){.out = alone + i * a.out_stride, .stride = a.out_stride}, work);
    assert_memory_equal(all, alone, bytes_of(&a));
    free(all);
    free(alone);
    free(work);
    unmake(&a);
}

/* Half the panels and half the work give the bits of the square w with its zeros, for any rows. */
static void a_triangle_gives_the_bits_of_its_square(void **unused)
{
    static const int64_t sides[] = {1, 5, 31, 32, 33, 64, 129, 257, 500, 700}, counts[] = {1, 3, 14, 60, 300};
    (void)unused;
    for (int c = 0; c < 10; c++) {
        int64_t n = sides[c];
        float *x = malloc((size_t)(300 * n) * sizeof *x), *out[2] = {malloc((size_t)(300 * n) * sizeof *x), malloc((size_t)(300 * n) * sizeof *x)};
        double *row = malloc((size_t)n * sizeof *row);
        kl_panels square, lower;
        assert_int_equal(kl_panels_new(&square, n, n), KLIFT_OK);
        assert_int_equal(kl_panels_new_lower(&lower, n), KLIFT_OK);
        assert_int_equal(kl_panels_floats(&lower) * (int64_t)sizeof(float), kl_panels_lower_bytes(n));
        assert_true(n < 500 || 10 * kl_panels_floats(&lower) < 6 * kl_panels_floats(&square));
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++)
                row[j] = j <= i ? syn_normal((uint64_t)i, (uint64_t)j) : 0;
            kl_panels_set(&square, i, row);
            for (int64_t j = 0; j <= i; j++)
                *kl_panels_at(&lower, i, j) = (float)row[j];
        }
        for (int64_t i = 0; i < 300 * n; i++)
            x[i] = (float)syn_normal(99, (uint64_t)i);
        for (int r = 0; r < 5; r++) {
            const kl_product_out to[2] = {{.out = out[0], .stride = n}, {.out = out[1], .stride = n}};
            kl_product_dense(&square, counts[r], x, n, &to[0], scratch);
            kl_product_dense(&lower, counts[r], x, n, &to[1], scratch);
            assert_memory_equal(out[0], out[1], (size_t)(counts[r] * n) * sizeof *x);
        }
        kl_panels_clear(&square);
        kl_panels_clear(&lower);
        free(x);
        free(out[0]);
        free(out[1]);
        free(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_within_their_error_bound),
        cmocka_unit_test(sparse_rows_give_the_bits_of_dense_ones),
        cmocka_unit_test(any_cut_of_the_rows_gives_the_same_bits),
        cmocka_unit_test(rows_of_zeros_give_zero),
        cmocka_unit_test(weights_are_rounded_to_float32_and_found_again),
        cmocka_unit_test(long_rows_take_little_scratch_and_give_the_same_bits),
        cmocka_unit_test(a_triangle_gives_the_bits_of_its_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
