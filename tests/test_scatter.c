/*
 * test_scatter.c - a scatter by groups of eight and the rest of the transform behind it: against the transform of a plain scatter,
 * dense rows against sparse ones, and every table against the portable one bit for bit.
 */
#include "math/hadamard.h"
#include "math/micro.h"
#include "math/random.h"
#include "math/scatter.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 785, APART = 16 };

static uint32_t drawn(int64_t i)
{
    uint32_t bits[4];
    kl_random_block(&(kl_random){3, 0, KL_DRAW_BUCKET}, 0, (uint32_t)i, bits);
    return bits[0];
}

/* Buckets of both parts, and what stands in each of them: plain (2 n + APART). */
static kl_scatter plan(int64_t n, const float *row, float *plain)
{
    kl_scatter s;
    assert_int_equal(kl_scatter_new(COLUMNS, (2 * n + APART) / KL_SCATTER_GROUP, &s), KLIFT_OK);
    memset(plain, 0, (size_t)(2 * n + APART) * sizeof *plain);
    for (int64_t j = 0; j < COLUMNS; j++) {
        uint32_t bits = drawn(j);
        int64_t bucket = (bits >> 8) % n + (bits & 1 ? n + APART : 0);
        s.code[j] = kl_scatter_code(bucket, (bits & 2) != 0);
        plain[bucket] += bits & 2 ? -row[j] : row[j];
    }
    assert_int_equal(kl_scatter_sort(&s), KLIFT_OK);
    return s;
}

/* Every `step`-th value, zeros of both signs between them. */
static void fill_row(int64_t step, float *row)
{
    for (int64_t j = 0; j < COLUMNS; j++)
        row[j] = j % step == 0 ? (float)syn_normal(4, (uint64_t)j) : j % 2 == 0 ? -0.0f : 0.0f;
}

static int64_t entries_of(const float *row, int32_t *column, float *value)
{
    int64_t count = 0;
    for (int64_t j = 0; j < COLUMNS; j++)
        if (row[j] != 0) {
            column[count] = (int32_t)j;
            value[count++] = row[j];
        }
    return count;
}

static kl_complex parts(int64_t n, float *x)
{
    return (kl_complex){x, x + n + APART};
}

static float *values(int64_t n, uint64_t key)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)syn_normal(key, (uint64_t)i);
    return x;
}

static void it_is_the_transform_of_a_plain_scatter(void **state)
{
    float row[COLUMNS];
    (void)state;
    fill_row(1, row);
    for (int64_t n = KL_SCATTER_GROUP; n <= 4096; n *= 2) {
        int64_t all = 2 * n + APART;
        float *plain = malloc((size_t)all * sizeof *plain), *x = values(all, 5), *out = values(all, 6);
        kl_scatter s = plan(n, row, plain);
        kl_scatter_dense(&s, row, x);
        kl_hadamard_finish(n, n, parts(n, x), NULL, parts(n, out));
        kl_hadamard(n, NULL, plain);
        kl_hadamard(n, NULL, plain + n + APART);
        for (int64_t k = 0; k < n; k++) {
            assert_true(fabsf(out[k] - plain[k]) < 1e-4f);
            assert_true(fabsf(out[n + APART + k] - plain[n + APART + k]) < 1e-4f);
        }
        kl_scatter_clear(&s);
        free(plain);
        free(x);
        free(out);
    }
}

static void sparse_rows_have_the_bits_of_dense_ones(void **state)
{
    static const int64_t steps[] = {1, 2, 7, 100, 10000};
    int32_t column[COLUMNS];
    float row[COLUMNS], value[COLUMNS];
    (void)state;
    for (int64_t n = KL_SCATTER_GROUP; n <= 2048; n *= 4)
        for (int k = 0; k < 5; k++) {
            int64_t all = 2 * n + APART;
            float *one = values(all, 5), *two = values(all, 6);
            fill_row(steps[k], row);
            kl_scatter s = plan(n, row, one);
            kl_scatter_dense(&s, row, one);
            kl_scatter_sparse(&s, entries_of(row, column, value), column, value, two);
            assert_memory_equal(one, two, (size_t)all * sizeof *one);
            kl_scatter_clear(&s);
            free(one);
            free(two);
        }
}

static void all_tables_scatter_alike(void **state)
{
    int32_t column[COLUMNS];
    float row[COLUMNS], value[COLUMNS];
    (void)state;
    fill_row(3, row);
    int64_t count = entries_of(row, column, value);
    for (int64_t n = KL_SCATTER_GROUP; n <= 4096; n *= 2) {
        int64_t all = 2 * n + APART;
        float *dense = values(all, 5), *sparse = values(all, 6), *x = values(all, 6);
        kl_scatter s = plan(n, row, dense);
        kl_micro_portable.collect(&s, row, dense);
        kl_micro_portable.scatter(count, column, value, s.code, sparse); /* onto what is there */
        for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
            float *again = values(all, 6);
            kl_micro_at(t)->collect(&s, row, x);
            assert_memory_equal(x, dense, (size_t)all * sizeof *x);
            kl_micro_at(t)->scatter(count, column, value, s.code, again);
            assert_memory_equal(again, sparse, (size_t)all * sizeof *x);
            free(again);
        }
        kl_scatter_clear(&s);
        free(dense);
        free(sparse);
        free(x);
    }
}

/* out = x or a o x; into another array, or into a itself. */
static float *finish(const kl_micro *table, int64_t n, int64_t kept, bool times, bool itself)
{
    float *x = values(2 * n + APART, 7), *a = values(2 * n + APART, 8), *out = itself ? a : values(2 * n + APART, 9);
    kl_complex left = parts(n, a);
    table->finish(n, kept, parts(n, x), times ? &left : NULL, parts(n, out));
    free(x);
    if (!itself)
        free(a);
    return out;
}

static void all_tables_finish_alike(void **state)
{
    int64_t last = quick() ? 1 << 13 : 1 << 16;
    (void)state;
    for (int64_t n = KL_SCATTER_GROUP; n <= last; n *= 2)
        for (int how = 0; how < 12; how++) {
            int64_t kept = how / 4 == 0 ? n : how / 4 == 1 ? n - 1 : n / 2 + 3; /* beyond them nothing is written */
            float *reference = finish(&kl_micro_portable, n, kept, how % 2 == 1, how % 4 == 3);
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                float *is = finish(kl_micro_at(t), n, kept, how % 2 == 1, how % 4 == 3);
                assert_memory_equal(is, reference, (size_t)(2 * n + APART) * sizeof *is);
                free(is);
            }
            free(reference);
        }
}

/* Only sparse rows are wider. */
static void wide_plans_have_no_order_for_dense_rows(void **state)
{
    kl_scatter s;
    (void)state;
    assert_int_equal(kl_scatter_new(KL_SCATTER_WIDEST + 1, 4, &s), KLIFT_OK);
    assert_int_equal(kl_scatter_sort(&s), KLIFT_OK);
    assert_null(s.entry);
    s.code[KL_SCATTER_WIDEST] = kl_scatter_code(9, true);
    float x[32], value = 2;
    kl_scatter_sparse(&s, 1, (int32_t[]){KL_SCATTER_WIDEST}, &value, x);
    for (int k = 0; k < 32; k++)
        assert_true(x[k] == (k / 8 != 1 ? 0 : k % 2 == 0 ? -2.0f : 2.0f));
    kl_scatter_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_transform_of_a_plain_scatter),
        cmocka_unit_test(sparse_rows_have_the_bits_of_dense_ones),
        cmocka_unit_test(all_tables_scatter_alike),
        cmocka_unit_test(all_tables_finish_alike),
        cmocka_unit_test(wide_plans_have_no_order_for_dense_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
