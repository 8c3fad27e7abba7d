/* test_tiles.c - tiled symmetric matrices against plain double code: update, factor, solve, trace, product. */
#include "math/tiles.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sanitized code is ten times slower: it gets the smaller sizes. */
static bool small(void)
{
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return quick();
#endif
}

static double *numbers(int64_t count)
{
    double *memory = calloc((size_t)(count > 0 ? count : 1), sizeof *memory);
    assert_non_null(memory);
    return memory;
}

/* ---- updates ---- */

typedef struct block {
    int64_t n, stride, rows, used;
    float *z, *shift;
    double *weight;
    int32_t *index;
} block;

static block make_block(int64_t n, int64_t rows, bool weighted)
{
    block b = {.n = n, .stride = n + 5, .rows = rows, .used = 0};
    b.z = malloc((size_t)(rows * b.stride) * sizeof *b.z);
    b.shift = malloc((size_t)n * sizeof *b.shift);
    b.weight = weighted ? numbers(rows) : NULL;
    b.index = malloc((size_t)rows * sizeof *b.index);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < b.stride; j++)
            b.z[i * b.stride + j] = j < n ? (float)(syn_uniform((uint64_t)(i * 4096 + j)) - 0.25) : NAN;
        if (weighted)
            b.weight[i] = i % 11 == 0 ? 0 : 0.125 * (double)(i % 7 + 1);
        if (i % 4 != 1) /* some rows are left out, and the order is not theirs */
            b.index[b.used++] = (int32_t)(rows - 1 - i);
    }
    for (int64_t j = 0; j < n; j++)
        b.shift[j] = (float)(0.01 * (double)(j % 30));
    return b;
}

static void free_block(block *b)
{
    free(b->z);
    free(b->shift);
    free(b->weight);
    free(b->index);
}

static void update_all(const kl_tiles *tiles, const block *b, int64_t from, int64_t count)
{
    kl_tile_rows rows = {.z = b->z, .stride = b->stride, .count = count, .index = b->index + from, .shift = b->shift, .weight = b->weight};
    void *packed = malloc((size_t)kl_tiles_packed(tiles, count));
    for (int64_t i = 0; i < tiles->count; i++)
        kl_tiles_pack(tiles, &rows, i, packed);
    for (int64_t i = 0; i < tiles->count; i++)
        for (int64_t j = 0; j <= i; j++)
            for (int half = 0; half < 2; half++)
                kl_tiles_update(tiles, i, j, half, &rows, packed);
    free(packed);
}

static void check_update(int64_t n, bool weighted)
{
    block b = make_block(n, n < 100 || (n == 513 && weighted) ? 400 : n > 1000 && small() ? 8 : n > 1000 ? 100 : 40, weighted);
    kl_tiles tiles;
    int64_t step = n > 1000 ? 64 : 1; /* 64 divides n - 1: the last row is among them */
    double *row = numbers(n), *sum = numbers(n * n), *size = numbers(n * n);
    assert_int_equal(kl_tiles_new(&tiles, n, NULL), KLIFT_OK);
    update_all(&tiles, &b, 0, b.used);
    for (int64_t r = 0; r < b.used; r++) {
        double weight = weighted ? b.weight[b.index[r]] : 1;
        for (int64_t j = 0; j < n; j++)
            row[j] = (double)b.z[b.index[r] * b.stride + j] - (double)b.shift[j];
        for (int64_t i = 0; i < n; i += step)
            for (int64_t j = 0; j <= i; j++) {
                sum[i * n + j] += weight * row[i] * row[j];
                size[i * n + j] += weight * fabs(row[i] * row[j]);
            }
    }
    for (int64_t i = 0; i < n; i += step)
        for (int64_t j = 0; j <= i; j++) {
            double error = fabs(kl_tiles_get(&tiles, i, j) - sum[i * n + j]);
            if (!(error <= (n <= KL_TILES_EXACT ? 1e-14 : 1e-6) * size[i * n + j]))
                fail_msg("n %d, entry (%d, %d): error %g of %g", (int)n, (int)i, (int)j, error, size[i * n + j]);
            assert_true(kl_tiles_get(&tiles, j, i) == kl_tiles_get(&tiles, i, j));
        }
    free(row);
    free(sum);
    free(size);
    kl_tiles_clear(&tiles);
    free_block(&b);
}

static void updates_are_the_weighted_shifted_products_of_the_listed_rows(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 5, 16, 511, 512, 513, 700};
    for (int i = 0; i < 7; i++) {
        check_update(sizes[i], true);
        check_update(sizes[i], false);
    }
    check_update(KL_TILES_EXACT + 1, true); /* float32 sums from here on */
}

static void features_are_centred_as_the_updates_see_them(void **unused)
{
    (void)unused;
    kl_tiles exact = {.n = KL_TILES_EXACT}, rounded = {.n = KL_TILES_EXACT + 1};
    assert_true(kl_tiles_centred(&exact, 1.0f, 1e-9f) == 1 - (double)1e-9f);
    assert_true(kl_tiles_centred(&rounded, 1.0f, 1e-9f) == 1);
}

static void updates_add_to_what_is_there(void **unused)
{
    (void)unused;
    block b = make_block(21, 3000, true);
    kl_tiles once, parts;
    assert_int_equal(kl_tiles_new(&once, 21, NULL), KLIFT_OK);
    assert_int_equal(kl_tiles_new(&parts, 21, NULL), KLIFT_OK);
    update_all(&once, &b, 0, b.used);
    for (int64_t from = 0; from < b.used; from += 256) /* cut between chunks: the same bits */
        update_all(&parts, &b, from, b.used - from < 256 ? b.used - from : 256);
    update_all(&parts, &b, 0, 0);
    assert_memory_equal(parts.value, once.value, (size_t)kl_tiles_bytes(21));
    kl_tiles_clear(&once);
    kl_tiles_clear(&parts);
    free_block(&b);
}

/* ---- factor and solve ---- */

/* Positive definite and well conditioned: exp(-|i - j| / 10), a small diagonal and three outer products. */
static double entry(int64_t i, int64_t j)
{
    double value = exp(-fabs((double)(i - j)) / 10) + (i == j ? 0.5 : 0);
    for (uint64_t k = 0; k < 3; k++)
        value += syn_uniform((uint64_t)i * 8 + k) * syn_uniform((uint64_t)j * 8 + k);
    return value;
}

static void fill_of(kl_tiles *tiles, int64_t n, int64_t edge)
{
    assert_int_equal(kl_tiles_new_of(tiles, n, edge, NULL), KLIFT_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            kl_tiles_at(tiles, i / tiles->edge, j / tiles->edge)[i % tiles->edge * tiles->edge + j % tiles->edge] = entry(i, j);
}

static void fill(kl_tiles *tiles, int64_t n)
{
    fill_of(tiles, n, KL_TILE);
}

static void near(const char *what, int64_t n, double value, double expected, double scale)
{
    if (!(fabs(value - expected) <= 1e-9 * scale))
        fail_msg("%s, n %d: %.17g is not %.17g", what, (int)n, value, expected);
}

/* Textbook: L by rows, then L y = b, L' x = y. */
static double *reference_factor(int64_t n)
{
    double *l = numbers(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = entry(i, j);
            for (int64_t p = 0; p < j; p++)
                sum -= l[i * n + p] * l[j * n + p];
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    return l;
}

static void reference_forward(int64_t n, const double *l, double *x, int64_t first)
{
    for (int64_t i = first; i < n; i++) {
        for (int64_t p = first; p < i; p++)
            x[i] -= l[i * n + p] * x[p];
        x[i] /= l[i * n + i];
    }
}

static void reference_backward(int64_t n, const double *l, double *x)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] /= l[i * n + i];
        for (int64_t p = 0; p < i; p++)
            x[p] -= l[i * n + p] * x[i];
    }
}

static void check_solve(int64_t n, const kl_tiles *a, const double *l, int64_t m, klift_run *run)
{
    double *b = numbers(n * m), *column = numbers(n), largest = 0;
    for (int64_t i = 0; i < n * m; i++)
        b[i] = syn_normal((uint64_t)i, 5);
    double *x = numbers(n * m);
    memcpy(x, b, (size_t)(n * m) * sizeof *x);
    assert_int_equal(kl_tiles_solve(a, m, x, run), KLIFT_OK);
    for (int64_t g = 0; g < m; g++) {
        for (int64_t i = 0; i < n; i++)
            column[i] = b[i * m + g];
        reference_forward(n, l, column, 0);
        reference_backward(n, l, column);
        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(column[i]));
        for (int64_t i = 0; i < n; i++)
            near("solve", n, x[i * m + g], column[i], largest);
    }
    free(b);
    free(x);
    free(column);
}

static void check_trace(int64_t n, const kl_tiles *a, const double *l, klift_run *run)
{
    double *column = numbers(n), expected = 0, trace;
    for (int64_t c = 0; c < n; c++) {
        memset(column, 0, (size_t)n * sizeof *column);
        column[c] = 1;
        reference_forward(n, l, column, c);
        for (int64_t i = c; i < n; i++)
            expected += column[i] * column[i];
    }
    assert_int_equal(kl_tiles_inverse_trace(a, run, &trace), KLIFT_OK);
    near("trace", n, trace, expected, expected);
    free(column);
}

static void check_multiply(int64_t n, kl_tiles *a, int64_t m, klift_run *run)
{
    double *x = numbers(n * m), *y = numbers(n * m);
    for (int64_t i = 0; i < n * m; i++)
        x[i] = syn_normal((uint64_t)i, 9);
    for (int64_t t = 0; t < a->count; t++) /* nothing above the diagonal is read */
        for (int64_t r = 0; r < a->edge; r++)
            for (int64_t c = r + 1; c < a->edge; c++)
                kl_tiles_at(a, t, t)[r * a->edge + c] = NAN;
    assert_int_equal(kl_tiles_multiply(a, m, x, y, run), KLIFT_OK);
    for (int64_t i = 0; i < n; i += n > 100 ? 17 : 1)
        for (int64_t g = 0; g < m; g++) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < n; j++) {
                sum += entry(i, j) * x[j * m + g];
                size += fabs(entry(i, j) * x[j * m + g]);
            }
            near("multiply", n, y[i * m + g], sum, size);
        }
    free(x);
    free(y);
}

static void factor_solve_trace_and_product_are_the_textbook_ones(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 3, 64, 513, 511, 512, 1030};
    klift_run *run = run_of(PAIRS("threads", "2"));
    for (int t = 0; t < (small() ? 4 : 7); t++) {
        int64_t n = sizes[t], failed = 99;
        kl_tiles a;
        fill(&a, n);
        check_multiply(n, &a, 3, run);
        kl_tiles_clear(&a);
        fill(&a, n);
        assert_int_equal(kl_tiles_factor(&a, run, &failed), KLIFT_OK);
        assert_int_equal(failed, -1);
        double *l = reference_factor(n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++)
                near("factor", n, kl_tiles_get(&a, i, j), l[i * n + j], 1);
        check_solve(n, &a, l, t % 2 == 0 ? 1 : 11, run);
        check_trace(n, &a, l, t % 2 == 0 ? run : NULL);
        free(l);
        kl_tiles_clear(&a);
    }
    klift_run_free(run);
}

/* However small the tiles are: W L = I, and no bit of W by the number of threads. */
static void small_tiles_are_factored_and_inverted(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 100, 128, 129, 300}, edges[] = {16, 48, 128};
    for (int t = 0; t < 15; t++) {
        int64_t n = sizes[t / 3], edge = edges[t % 3], failed = 99;
        double *l = reference_factor(n), *bits = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            klift_run *run = run_of(PAIRS("threads", threads == 1 ? "1" : threads == 2 ? "2" : "3"));
            kl_tiles a, w;
            fill_of(&a, n, edge);
            assert_true(a.edge <= edge && a.edge * a.count >= n);
            assert_int_equal(kl_tiles_factor(&a, run, &failed), KLIFT_OK);
            assert_int_equal(failed, -1);
            assert_int_equal(kl_tiles_invert(&a, run, &w), KLIFT_OK);
            assert_int_equal(w.edge, a.edge);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j <= i; j++) {
                    double sum = 0;
                    for (int64_t k = j; k <= i; k++)
                        sum += kl_tiles_get(&w, i, k) * l[k * n + j];
                    near("factor", n, kl_tiles_get(&a, i, j), l[i * n + j], 1);
                    near("inverse", n, sum, i == j, 1);
                }
            size_t bytes = (size_t)(a.count * (a.count + 1) / 2 * a.edge * a.edge) * sizeof *bits;
            if (bits == NULL) {
                bits = malloc(bytes);
                memcpy(bits, w.value, bytes);
            }
            assert_memory_equal(bits, w.value, bytes);
            kl_tiles_clear(&a);
            kl_tiles_clear(&w);
            klift_run_free(run);
        }
        free(l);
        free(bits);
    }
}

/* Everything that can be computed from one matrix, by so many threads: (n, n) tiles, solution and product (n, m), trace. */
static double *compute_all(int64_t n, const char *threads, bool with_trace, int64_t *count)
{
    enum { M = 10 };
    klift_run *run = run_of(PAIRS("threads", threads));
    kl_tiles a;
    fill(&a, n);
    int64_t tiles = kl_tiles_bytes(n) / (int64_t)sizeof(double), failed;
    *count = tiles + 2 * n * M + 1;
    double *out = numbers(*count), *x = out + tiles, *y = x + n * M;
    for (int64_t i = 0; i < n * M; i++)
        x[i] = syn_normal((uint64_t)i, 2);
    assert_int_equal(kl_tiles_multiply(&a, M, x, y, run), KLIFT_OK);
    assert_int_equal(kl_tiles_factor(&a, run, &failed), KLIFT_OK);
    assert_int_equal(kl_tiles_solve(&a, M, x, run), KLIFT_OK);
    if (with_trace)
        assert_int_equal(kl_tiles_inverse_trace(&a, run, out + *count - 1), KLIFT_OK);
    memcpy(out, a.value, (size_t)tiles * sizeof *out);
    kl_tiles_clear(&a);
    klift_run_free(run);
    return out;
}

static void the_number_of_threads_changes_no_bit(void **unused)
{
    (void)unused;
    static const char *const threads[] = {"2", "3"};
    static const int64_t sizes[] = {200, 530, 1030}; /* 1030: three tiles on a side, so that a step has several tasks */
    for (int s = 0; s < (small() ? 2 : 3); s++) {
        int64_t n = sizes[s], count;
        double *one = compute_all(n, "1", s == 0, &count);
        for (int t = 0; t < 2; t++) {
            double *more = compute_all(n, threads[t], s == 0, &count);
            assert_memory_equal(more, one, (size_t)count * sizeof *one);
            free(more);
        }
        free(one);
    }
}

static void the_column_that_is_not_positive_is_named(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 70, 600}, columns[] = {0, 63, 64, 69, 511, 512, 599};
    for (int s = 0; s < 3; s++)
        for (int c = 0; c < 7; c++)
            for (int kind = 0; kind < 3; kind++) { /* negative, not a number, a multiple of column 0 */
                int64_t n = sizes[s], column = columns[c], failed = -1;
                kl_tiles a;
                if (column >= n || (kind == 2 && column == 0) || (n > 100 && kind != c % 3))
                    continue;
                assert_int_equal(kl_tiles_new(&a, n, NULL), KLIFT_OK);
                for (int64_t i = 0; i < n; i++)
                    kl_tiles_at(&a, i / a.edge, i / a.edge)[i % a.edge * (a.edge + 1)] = 4;
                double *diagonal = &kl_tiles_at(&a, column / a.edge, column / a.edge)[column % a.edge * (a.edge + 1)];
                if (kind == 2) {
                    kl_tiles_at(&a, column / a.edge, 0)[column % a.edge * a.edge] = 2;
                    *diagonal = 1;
                } else
                    *diagonal = kind == 0 ? -1e-3 : NAN;
                assert_int_equal(kl_tiles_factor(&a, NULL, &failed), KLIFT_OK);
                assert_int_equal(failed, column);
                kl_tiles_clear(&a);
            }
}

static void sizes_are_counted_before_they_are_asked_for(void **unused)
{
    (void)unused;
    assert_int_equal(kl_tiles_bytes(0), 0);
    assert_int_equal(kl_tiles_bytes(1), 16 * 16 * 8);
    assert_int_equal(kl_tiles_bytes(512), 512 * 512 * 8);
    assert_int_equal(kl_tiles_bytes(513), 3 * 512 * 512 * 8);
    assert_true(kl_tiles_bytes(INT64_C(1) << 32) == INT64_MAX);
    kl_tiles none, large;
    int64_t failed;
    assert_int_equal(kl_tiles_new(&large, INT64_C(1) << 40, NULL), KLIFT_MEMORY);
    assert_int_equal(kl_tiles_new(&none, 0, NULL), KLIFT_OK);
    assert_int_equal(kl_tiles_factor(&none, NULL, &failed), KLIFT_OK);
    assert_int_equal(kl_tiles_solve(&none, 2, NULL, NULL), KLIFT_OK);
    kl_tiles_clear(&none);
}

/* A copy in float32 of a filled matrix. */
static kl_tiles32 single_of(const kl_tiles *a)
{
    int64_t count = a->count * (a->count + 1) / 2 * a->edge * a->edge;
    kl_tiles32 b = {a->n, a->edge, a->count, malloc((size_t)count * sizeof(float))};
    for (int64_t i = 0; i < count; i++)
        b.value[i] = (float)a->value[i];
    return b;
}

static void factors_in_float32_solve_as_well_as_they_can(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 5, 33, 100, 512, 700, 1300};
    klift_run *one = run_of(PAIRS("threads", "1")), *three = run_of(PAIRS("threads", "3"));
    for (int s = 0; s < (small() ? 6 : 7); s++) {
        int64_t n = sizes[s], failed, m = 11;
        kl_tiles a;
        fill(&a, n);
        kl_tiles32 b = single_of(&a), c = single_of(&a);
        double *x = numbers(n * m), largest = 0;
        float *y = malloc((size_t)(n * m) * sizeof *y), *again = malloc((size_t)(n * m) * sizeof *y);
        for (int64_t i = 0; i < n * m; i++)
            x[i] = again[i] = y[i] = (float)syn_normal((uint64_t)i, 9);
        assert_int_equal(kl_tiles_factor(&a, one, &failed), KLIFT_OK);
        assert_int_equal(kl_tiles_solve(&a, m, x, one), KLIFT_OK);
        assert_int_equal(kl_tiles32_factor(&b, one, &failed), KLIFT_OK);
        assert_int_equal(failed, -1);
        assert_int_equal(kl_tiles32_solve(&b, m, y, one), KLIFT_OK);
        for (int64_t i = 0; i < n * m; i++)
            largest = fmax(largest, fabs(x[i]));
        for (int64_t i = 0; i < n * m; i++) /* condition some 1e3, machine precision 6e-8 */
            if (!(fabs((double)y[i] - x[i]) <= 2e-4 * largest))
                fail_msg("n %d: %g is not %g", (int)n, (double)y[i], x[i]);
        assert_int_equal(kl_tiles32_factor(&c, three, &failed), KLIFT_OK);
        assert_int_equal(kl_tiles32_solve(&c, m, again, three), KLIFT_OK);
        assert_memory_equal(again, y, (size_t)(n * m) * sizeof *y);
        free(b.value);
        free(c.value);
        free(x);
        free(y);
        free(again);
        kl_tiles_clear(&a);
    }
    klift_run_free(one);
    klift_run_free(three);
}

static void a_float32_factor_that_is_not_positive_is_told(void **unused)
{
    (void)unused;
    int64_t failed;
    kl_tiles a;
    fill(&a, 600);
    kl_tiles_at(&a, 1, 1)[(550 - 512) * 512 + 550 - 512] = -1;
    kl_tiles32 b = single_of(&a);
    assert_int_equal(kl_tiles32_factor(&b, NULL, &failed), KLIFT_OK);
    assert_int_equal(failed, 550);
    free(b.value);
    kl_tiles_clear(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_the_weighted_shifted_products_of_the_listed_rows),
        cmocka_unit_test(features_are_centred_as_the_updates_see_them),
        cmocka_unit_test(updates_add_to_what_is_there),
        cmocka_unit_test(factors_in_float32_solve_as_well_as_they_can),
        cmocka_unit_test(a_float32_factor_that_is_not_positive_is_told),
        cmocka_unit_test(factor_solve_trace_and_product_are_the_textbook_ones),
        cmocka_unit_test(small_tiles_are_factored_and_inverted),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(the_column_that_is_not_positive_is_named),
        cmocka_unit_test(sizes_are_counted_before_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
