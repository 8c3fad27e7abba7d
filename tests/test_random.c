/* test_random.c - Philox's published vectors, and distributions within 5 of their standard errors at fixed seeds. */
#include "math/random.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t draws(void)
{
    return quick() ? 100000 : 1000000;
}

static void within(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.9g is not %g within %g", value, expected, error);
}

static void blocks_are_the_known_answers_of_random123(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (int i = 0; i < 3; i++) {
        kl_random from = {known[i].key[0] | (uint64_t)known[i].key[1] << 32, known[i].counter[3], known[i].counter[2]};
        uint32_t out[4];
        kl_random_block(&from, known[i].counter[1], known[i].counter[0], out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void keys_are_two_words_of_the_block_of_their_index(void **unused)
{
    (void)unused;
    kl_random from = {12345, 6, KL_DRAW_SAMPLE};
    static const uint64_t indices[] = {0, 1, 0xffffffff, 0x100000000, 0x123456789abcdef0};
    for (int i = 0; i < 5; i++) {
        uint32_t block[4];
        kl_random_block(&from, (uint32_t)(indices[i] >> 32), (uint32_t)indices[i], block);
        assert_true(kl_random_key(&from, indices[i]) == (block[0] | (uint64_t)block[1] << 32));
    }
}

static void the_count_asked_for_changes_no_number(void **unused)
{
    (void)unused;
    kl_random from = {99, 3, KL_DRAW_FREQUENCY};
    double all[33], part[33];
    for (int normal = 0; normal < 2; normal++) {
        void (*draw)(const kl_random *, uint32_t, int64_t, double *) = normal ? kl_random_normals : kl_random_uniforms;
        draw(&from, 7, 33, all);
        for (int64_t count = 0; count <= 33; count++) {
            for (int i = 0; i < 33; i++)
                part[i] = -99;
            draw(&from, 7, count, part);
            assert_memory_equal(part, all, (size_t)count * sizeof *part);
            for (int64_t i = count; i < 33; i++)
                assert_true(part[i] == -99); /* nothing is written behind */
        }
    }
}

static void roots_are_two_bits_each_and_of_all_four_kinds(void **unused)
{
    (void)unused;
    enum { N = 4000 };
    kl_random from = {5, 0, KL_DRAW_SIGN};
    static float re[N], im[N], part_re[N], part_im[N];
    int seen[4] = {0};
    kl_random_roots(&from, 3, N, re, im);
    kl_random_roots(&from, 3, 77, part_re, part_im);
    for (int i = 0; i < N; i++) {
        uint32_t block[4];
        kl_random_block(&from, 3, (uint32_t)(i / 64), block);
        int code = block[i % 64 / 16] >> i % 16 * 2 & 3;
        assert_true(re[i] == (code == 0 ? 1 : code == 2 ? -1 : 0) && im[i] == (code == 1 ? 1 : code == 3 ? -1 : 0));
        assert_true(i >= 77 || (part_re[i] == re[i] && part_im[i] == im[i]));
        seen[code]++;
    }
    for (int k = 0; k < 4; k++)
        assert_true(abs(seen[k] - N / 4) < 5 * 28); /* standard deviation sqrt(N 3 / 16) */
}

static void uniforms_are_the_bits_of_the_block_inside_the_open_interval(void **unused)
{
    (void)unused;
    kl_random from = {5, 0, KL_DRAW_PHASE};
    int64_t n = draws();
    double *u = malloc((size_t)n * sizeof *u), sum = 0, square = 0;
    kl_random_uniforms(&from, 0, n, u);
    for (int64_t i = 0; i < n; i++) {
        if (i < 1000) {
            uint32_t block[4];
            kl_random_block(&from, 0, (uint32_t)(i / 2), block);
            uint64_t bits = (uint64_t)block[i % 2 * 2 + 1] << 32 | block[i % 2 * 2];
            assert_true(u[i] == ((double)(bits >> 12) + 0.5) * 0x1p-52);
        }
        assert_true(u[i] > 0 && u[i] < 1);
        sum += u[i];
        square += (u[i] - 0.5) * (u[i] - 0.5);
    }
    within(sum / (double)n, 0.5, 5 * sqrt(1.0 / 12 / (double)n));
    within(square / (double)n, 1.0 / 12, 5 * sqrt(1.0 / 180 / (double)n));
    free(u);
}

static void uniforms_fill_their_cells_evenly(void **unused)
{
    (void)unused;
    enum { CELLS = 1000 };
    kl_random from = {6, 1, KL_DRAW_PHASE};
    int64_t n = draws(), *cell = calloc(CELLS, sizeof *cell);
    double *u = malloc((size_t)n * sizeof *u), chi = 0, each = (double)n / CELLS;
    kl_random_uniforms(&from, 3, n, u);
    for (int64_t i = 0; i < n; i++)
        cell[(int)(u[i] * CELLS)]++;
    for (int i = 0; i < CELLS; i++)
        chi += ((double)cell[i] - each) * ((double)cell[i] - each) / each;
    within(chi, CELLS - 1, 5 * sqrt(2.0 * (CELLS - 1)));
    free(u);
    free(cell);
}

static void normals_have_the_moments_of_the_normal_law(void **unused)
{
    (void)unused;
    kl_random from = {7, 0, KL_DRAW_FREQUENCY};
    int64_t n = draws();
    double *x = malloc((size_t)n * sizeof *x), moment[5] = {0}, pairs = 0, squares = 0;
    kl_random_normals(&from, 0, n, x);
    for (int64_t i = 0; i < n; i++) {
        assert_true(isfinite(x[i]));
        for (int p = 1; p <= 4; p++)
            moment[p] += pow(x[i], p) / (double)n;
        if (i % 2 == 0) { /* the two of one Box-Muller pair */
            pairs += x[i] * x[i + 1] / (double)(n / 2);
            squares += (x[i] * x[i] - 1) * (x[i + 1] * x[i + 1] - 1) / (double)(n / 2);
        }
    }
    within(moment[1], 0, 5 * sqrt(1 / (double)n));
    within(moment[2], 1, 5 * sqrt(2 / (double)n));
    within(moment[3], 0, 5 * sqrt(15 / (double)n));
    within(moment[4], 3, 5 * sqrt(96 / (double)n));
    within(pairs, 0, 5 * sqrt(2 / (double)n));
    within(squares, 0, 5 * 2 * sqrt(2 / (double)n));
    free(x);
}

/* Correlation of two draws that differ in one part of their address. */
static void check_pair(const kl_random *a, uint32_t row_a, const kl_random *b, uint32_t row_b)
{
    int64_t n = draws() / 4;
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), product = 0, squares = 0;
    int64_t equal = 0;
    kl_random_normals(a, row_a, n, x);
    kl_random_normals(b, row_b, n, y);
    for (int64_t i = 0; i < n; i++) {
        product += x[i] * y[i] / (double)n;
        squares += (x[i] * x[i] - 1) * (y[i] * y[i] - 1) / (double)n;
        equal += x[i] == y[i];
    }
    within(product, 0, 5 / sqrt((double)n));
    within(squares, 0, 10 / sqrt((double)n));
    assert_int_equal(equal, 0);
    free(x);
    free(y);
}

static void seeds_streams_purposes_and_rows_are_independent(void **unused)
{
    (void)unused;
    const kl_random base = {1, 0, KL_DRAW_FREQUENCY};
    check_pair(&base, 0, &(kl_random){2, 0, KL_DRAW_FREQUENCY}, 0);
    check_pair(&base, 0, &(kl_random){1 | UINT64_C(1) << 32, 0, KL_DRAW_FREQUENCY}, 0);
    check_pair(&base, 0, &(kl_random){1, 1, KL_DRAW_FREQUENCY}, 0);
    check_pair(&base, 0, &(kl_random){1, 0, KL_DRAW_PHASE}, 0);
    check_pair(&base, 0, &base, 1);
    check_pair(&base, 1, &(kl_random){1, 0, 0}, 1); /* row and purpose do not change places */
}

/* All places once, and the first and last of them even over many orders: 5 standard errors of a count. */
static void orders_have_every_place_once_and_evenly(void **state)
{
    enum { COUNT = 13, ORDERS = 4000 };
    int64_t all[2][2][COUNT] = {0}; /* of both kinds of order */
    (void)state;
    for (uint32_t row = 0; row < 2 * ORDERS; row++) {
        kl_random from = {3, 1, KL_DRAW_SWEEP};
        int32_t order[COUNT], times[COUNT] = {0};
        uint32_t work[COUNT];
        int64_t(*seen)[COUNT] = all[row % 2];
        for (int i = 0; i < COUNT; i++)
            order[i] = i;
        if (row % 2 == 0)
            kl_random_order(&from, row, COUNT, order);
        else
            kl_random_among(&from, row, COUNT, order, work);
        for (int i = 0; i < COUNT; i++) {
            assert_true(order[i] >= 0 && order[i] < COUNT);
            times[order[i]]++;
        }
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(times[i], 1);
        seen[0][order[0]]++;
        seen[1][order[COUNT - 1]]++;
    }
    double mean = (double)ORDERS / COUNT, error = sqrt(mean * (1 - 1.0 / COUNT));
    for (int end = 0; end < 4; end++)
        for (int i = 0; i < COUNT; i++)
            assert_true(fabs((double)all[end / 2][end % 2][i] - mean) < 5 * error);
}

/* How far two numbers are apart in an order, over many orders: each distance as often as in an even one, 5 standard errors. */
static void neighbours_in_an_order_of_some_are_even(void **state)
{
    enum { COUNT = 16, ORDERS = 20000 };
    int64_t apart[COUNT] = {0};
    (void)state;
    for (uint32_t row = 0; row < ORDERS; row++) {
        int32_t order[COUNT], place[COUNT];
        uint32_t work[COUNT];
        for (int i = 0; i < COUNT; i++)
            order[i] = i;
        kl_random_among(&(kl_random){4, 0, KL_DRAW_SWEEP}, row, COUNT, order, work);
        for (int i = 0; i < COUNT; i++)
            place[order[i]] = i;
        apart[abs(place[6] - place[7])]++;
    }
    for (int a = 1; a < COUNT; a++) {
        double part = (double)(COUNT - a) / (COUNT * (COUNT - 1) / 2), error = sqrt(ORDERS * part * (1 - part));
        assert_true(fabs((double)apart[a] - ORDERS * part) < 5 * error);
    }
}

/* What is left out of an order changes nothing of the rest: many numbers, so that sorting goes through all its digits. */
static void an_order_of_some_is_that_of_all(void **state)
{
    enum { COUNT = 100000 };
    int32_t *all = malloc(COUNT * sizeof *all), *some = malloc(COUNT * sizeof *some);
    uint32_t *work = malloc(COUNT * sizeof *work);
    bool *seen = calloc(COUNT, sizeof *seen);
    int64_t count = 0, at = 0;
    kl_random from = {5, 2, KL_DRAW_SWEEP};
    (void)state;
    for (int32_t i = 0; i < COUNT; i++) {
        all[i] = i;
        if (i % 3 == 0 || i % 7 == 2)
            some[count++] = i;
    }
    kl_random_among(&from, 1, COUNT, all, work);
    kl_random_among(&from, 1, count, some, work);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(all[i] >= 0 && all[i] < COUNT && !seen[all[i]]);
        seen[all[i]] = true;
        if (all[i] % 3 == 0 || all[i] % 7 == 2)
            assert_int_equal(some[at++], all[i]);
    }
    assert_int_equal(at, count);
    free(work);
    free(all);
    free(some);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_the_known_answers_of_random123),
        cmocka_unit_test(keys_are_two_words_of_the_block_of_their_index),
        cmocka_unit_test(the_count_asked_for_changes_no_number),
        cmocka_unit_test(roots_are_two_bits_each_and_of_all_four_kinds),
        cmocka_unit_test(uniforms_are_the_bits_of_the_block_inside_the_open_interval),
        cmocka_unit_test(uniforms_fill_their_cells_evenly),
        cmocka_unit_test(normals_have_the_moments_of_the_normal_law),
        cmocka_unit_test(seeds_streams_purposes_and_rows_are_independent),
        cmocka_unit_test(orders_have_every_place_once_and_evenly),
        cmocka_unit_test(neighbours_in_an_order_of_some_are_even),
        cmocka_unit_test(an_order_of_some_is_that_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
