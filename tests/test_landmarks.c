/*
 * test_landmarks.c - how landmarks are chosen: pivots against the plainest form of the same process with the same draws,
 * the trace error they leave, and samples that have less to give than was asked for.
 */
#include "map/landmarks.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 300, D = 7, ROUND = KL_LANDMARKS_ROUND };

static kl_kernel *kernel_of(const char *text)
{
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new(text, &kernel), KLIFT_OK);
    return kernel;
}

/* K as a full matrix, pair by pair. */
static double *gram(const kl_kernel *kernel, int64_t n, int64_t d, const float *x)
{
    double *k = malloc((size_t)(n * n) * sizeof *k), *rows = malloc((size_t)(n * d) * sizeof *rows);
    for (int64_t i = 0; i < n * d; i++)
        rows[i] = (double)x[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            kl_pair pair;
            kl_pair_set(&pair, d, rows + i * d, rows + j * d);
            k[i * n + j] = kl_kernel_value(kernel, &pair);
        }
    free(rows);
    return k;
}

/* a (n, n) := a - a_p a_p' / a_pp */
static void eliminate(int64_t n, double *a, int64_t p)
{
    double pivot = a[p * n + p], *column = malloc((size_t)n * sizeof *column);
    for (int64_t i = 0; i < n; i++)
        column[i] = a[i * n + p];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] -= column[i] * column[j] / pivot;
    free(column);
}

/* Draws in rounds from the diagonal of the residual matrix, each draw kept with the share its residual still has. */
static int64_t plain_pivots(int64_t n, double *a, int64_t wanted, const kl_random *from, int64_t *pivot)
{
    int64_t count = 0;
    for (uint32_t round = 0; count < wanted; round++) {
        double u[2 * ROUND], *before = malloc((size_t)n * sizeof *before), total = 0, left = 0;
        kl_random_uniforms(from, round, 2 * ROUND, u);
        for (int64_t i = 0; i < n; i++)
            left += fmax(0, a[i * n + i]);
        bool even = left < 0.01 * (double)n; /* K(x, x) = 1 */
        for (int64_t i = 0; i < n; i++)
            total += before[i] = even ? a[i * n + i] > 1e-12 : fmax(0, a[i * n + i]);
        for (int l = 0; l < ROUND && count < wanted; l++) {
            double sum = 0;
            int64_t i = 0;
            while ((sum += before[i]) <= u[2 * l] * total)
                i++;
            if ((even || u[2 * l + 1] * before[i] < a[i * n + i]) && a[i * n + i] > 1e-12) {
                pivot[count++] = i;
                eliminate(n, a, i);
            }
        }
        free(before);
    }
    return count;
}

static void pivots_equal_those_of_a_plain_reference(void **state)
{
    static const char *const kernels[] = {"gaussian:gamma=1", "gaussian:gamma=0.1", "matern:nu=0.5,length=1", "laplacian:gamma=0.5"};
    static float x[ROWS * D];
    (void)state;
    syn_rows_float(ROWS, D, x);
    for (int k = 0; k < 4; k++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (int sparse = 0; sparse < 2; sparse++) {
                int64_t wanted = 150, expected[ROWS], count;
                kl_kernel *kernel = kernel_of(kernels[k]);
                kl_random from = {seed, 0, KL_DRAW_LANDMARK};
                double *a = gram(kernel, ROWS, D, x), trace = 0, left = 0;
                csr entries = csr_of(ROWS, D, x);
                kl_batch rows = sparse ? csr_batch(ROWS, D, &entries) : dense_batch(ROWS, D, x);
                kl_landmarks chosen = {0};
                count = plain_pivots(ROWS, a, wanted, &from, expected);
                assert_int_equal(kl_landmarks_pivoted(kernel, &rows, D, wanted, &from, NULL, &chosen), KLIFT_OK);
                assert_int_equal(chosen.count, count);
                for (int64_t i = 0; i < count; i++)
                    assert_int_equal(chosen.row[i], expected[i]);
                for (int64_t i = 0; i < ROWS; i++)
                    left += fmax(0, a[i * ROWS + i]);
                trace = ROWS;
                assert_true(fabs(chosen.trace - trace) < 1e-9 && fabs(chosen.error - left) < 1e-9 * trace);
                kl_landmarks_clear(&chosen);
                csr_free(&entries);
                free(a);
                kl_kernel_free(kernel);
            }
}

/* trace(K - K_S K_SS^-1 K_S') by elimination */
static double trace_left(const double *k, int64_t n, const kl_landmarks *chosen)
{
    double *a = malloc((size_t)(n * n) * sizeof *a), sum = 0;
    memcpy(a, k, (size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < chosen->count; i++)
        if (a[chosen->row[i] * n + chosen->row[i]] > 1e-10)
            eliminate(n, a, chosen->row[i]);
    for (int64_t i = 0; i < n; i++)
        sum += fmax(0, a[i * n + i]);
    free(a);
    return sum;
}

/* Clustered rows, most of them in one place: where knowing the data pays. */
static void clustered(float *x)
{
    syn_rows_float(ROWS, D, x);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < D; j++)
            x[i * D + j] = x[i * D + j] * (i % 10 == 0 ? 1.0f : 0.02f) + (float)(i % 7 == 0 ? 1 : 0);
}

static double median_of_five(double *v)
{
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            if (v[j] < v[i]) {
                double w = v[i];
                v[i] = v[j];
                v[j] = w;
            }
    return v[2];
}

static void landmarks_that_know_the_data_leave_less_of_the_trace(void **state)
{
    static float x[ROWS * D];
    double left[3][5];
    kl_kernel *kernel = kernel_of("gaussian:gamma=1");
    (void)state;
    clustered(x);
    kl_batch rows = dense_batch(ROWS, D, x);
    double *k = gram(kernel, ROWS, D, x);
    for (uint64_t seed = 0; seed < 5; seed++)
        for (int way = 0; way < 3; way++) {
            kl_landmarks chosen = {0};
            kl_random from = {seed, 0, KL_DRAW_LANDMARK};
            if (way == 0)
                assert_int_equal(kl_landmarks_pivoted(kernel, &rows, D, 20, &from, NULL, &chosen), KLIFT_OK);
            else if (way == 1)
                assert_int_equal(kl_landmarks_spread(kernel, &rows, D, 20, &from, NULL, &chosen), KLIFT_OK);
            else
                assert_int_equal(kl_landmarks_uniform(ROWS, 20, &from, &chosen), KLIFT_OK);
            assert_int_equal(chosen.count, 20);
            left[way][seed] = trace_left(k, ROWS, &chosen);
            kl_landmarks_clear(&chosen);
        }
    double pivoted = median_of_five(left[0]), spread = median_of_five(left[1]), uniform = median_of_five(left[2]);
    print_message("trace left by 20 landmarks of %d: rpcholesky %.3f, kmeans++ %.3f, uniform %.3f\n", ROWS, pivoted, spread, uniform);
    assert_true(pivoted < 0.8 * uniform && spread < 0.9 * uniform);
    free(k);
    kl_kernel_free(kernel);
}

/* Four different rows, many times each. */
static void equal_rows_are_chosen_once(void **state)
{
    static float x[ROWS * D];
    kl_kernel *kernel = kernel_of("gaussian:gamma=1");
    (void)state;
    for (int64_t i = 0; i < ROWS * D; i++)
        x[i] = (float)(i / D % 4) * (1 + (float)(i % D));
    kl_batch rows = dense_batch(ROWS, D, x);
    for (int way = 0; way < 2; way++) {
        kl_landmarks chosen = {0};
        kl_random from = {1, 0, KL_DRAW_LANDMARK};
        if (way == 0)
            assert_int_equal(kl_landmarks_pivoted(kernel, &rows, D, 50, &from, NULL, &chosen), KLIFT_OK);
        else
            assert_int_equal(kl_landmarks_spread(kernel, &rows, D, 50, &from, NULL, &chosen), KLIFT_OK);
        assert_int_equal(chosen.count, 4);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++)
                assert_true(chosen.row[i] % 4 != chosen.row[j] % 4);
        kl_landmarks_clear(&chosen);
    }
    kl_kernel_free(kernel);
}

static void a_kernel_of_low_rank_ends_the_choice(void **state)
{
    static float x[ROWS * D];
    kl_kernel *kernel = kernel_of("linear");
    kl_landmarks chosen = {0};
    kl_random from = {1, 0, KL_DRAW_LANDMARK};
    (void)state;
    syn_rows_float(ROWS, D, x);
    kl_batch rows = dense_batch(ROWS, D, x);
    assert_int_equal(kl_landmarks_pivoted(kernel, &rows, D, 50, &from, NULL, &chosen), KLIFT_OK);
    assert_int_equal(chosen.count, D);
    kl_landmarks_clear(&chosen);
    memset(x, 0, sizeof x);
    assert_int_equal(kl_landmarks_pivoted(kernel, &rows, D, 50, &from, NULL, &chosen), KLIFT_OK);
    assert_int_equal(chosen.count, 0); /* K = 0 */
    kl_landmarks_clear(&chosen);
    kl_kernel_free(kernel);
}

/* ---- real data: KLIFT_DATA names a folder with pendigits/, adult/ and mnist/ ---- */

/* What is left of the trace by rows given: a plain partial Cholesky, column by column. */
static double trace_left_by(const kl_kernel *kernel, const kl_side *sample, int64_t columns, const kl_landmarks *chosen)
{
    int64_t n = sample->rows.rows, rank = 0;
    double *f = malloc((size_t)(n * chosen->count) * sizeof *f), *left = malloc((size_t)n * sizeof *left), *k = malloc((size_t)n * sizeof *k), sum = 0;
    void *scratch = malloc((size_t)kl_block_scratch(kernel, n, 1, columns));
    kl_block_diagonal(kernel, sample, columns, left, scratch);
    for (int64_t c = 0; c < chosen->count; c++) {
        int64_t p = chosen->row[c];
        kl_side pivot = {kl_batch_part(&sample->rows, p, 1), sample->norm + p};
        kl_block_values(kernel, sample, &pivot, columns, k, 1, scratch);
        for (int64_t t = 0; t < rank; t++)
            for (int64_t i = 0; i < n; i++)
                k[i] -= f[t * n + i] * f[t * n + p];
        if (k[p] < 1e-12)
            continue;
        double root = sqrt(k[p]);
        for (int64_t i = 0; i < n; i++) {
            f[rank * n + i] = k[i] / root;
            left[i] -= f[rank * n + i] * f[rank * n + i];
        }
        rank++;
    }
    for (int64_t i = 0; i < n; i++)
        sum += fmax(0, left[i]);
    free(f);
    free(left);
    free(k);
    free(scratch);
    return sum;
}

static void compare_on(const char *path, const char *text, int64_t wanted)
{
    kl_reader *reader;
    kl_survey survey;
    kl_kernel *kernel = kernel_of(text);
    double left[2][5];
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 1, 4096, NULL, &survey), KLIFT_OK);
    assert_int_equal(kl_kernel_fit(kernel, &survey), KLIFT_OK);
    kl_batch rows = kl_rows_view(&survey.sample);
    double *norm = malloc((size_t)rows.rows * sizeof *norm);
    kl_block_norms(&rows, norm);
    kl_side side = {rows, norm};
    for (uint64_t seed = 0; seed < 5; seed++) {
        kl_landmarks pivoted = {0}, uniform = {0};
        kl_random from = {seed, 0, KL_DRAW_LANDMARK};
        assert_int_equal(kl_landmarks_pivoted(kernel, &rows, survey.columns, wanted, &from, NULL, &pivoted), KLIFT_OK);
        assert_int_equal(kl_landmarks_uniform(rows.rows, wanted, &from, &uniform), KLIFT_OK);
        left[0][seed] = trace_left_by(kernel, &side, survey.columns, &pivoted);
        left[1][seed] = trace_left_by(kernel, &side, survey.columns, &uniform);
        assert_true(fabs(left[0][seed] - pivoted.error) < 1e-6 * pivoted.trace);
        kl_landmarks_clear(&pivoted);
        kl_landmarks_clear(&uniform);
    }
    double a = median_of_five(left[0]), b = median_of_five(left[1]);
    print_message("%s, %lld landmarks: trace left on 4096 rows, median of 5: rpcholesky %.3f, uniform %.3f\n", path, (long long)wanted, a, b);
    assert_true(a < b);
    free(norm);
    kl_survey_clear(&survey);
    kl_reader_free(reader);
    kl_kernel_free(kernel);
}

static void pivots_leave_less_of_the_trace_than_uniform_rows_on_real_data(void **state)
{
    static const char *const files[][2] = {{"pendigits/train.svm", "gaussian"}, {"adult/train.svm", "gaussian:gamma=0.0125"}, {"mnist/t10k-images-idx3-ubyte", "gaussian"}};
    const char *folder = getenv("KLIFT_DATA");
    (void)state;
    for (int i = 0; i < 3; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "", files[i][0]);
        FILE *file = folder != NULL ? fopen(path, "rb") : NULL;
        if (file == NULL) {
            print_message("skipped: landmarks of %s (set KLIFT_DATA to a folder with it)\n", files[i][0]);
            continue;
        }
        fclose(file);
        compare_on(path, files[i][1], 128);
        compare_on(path, files[i][1], 512);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pivots_equal_those_of_a_plain_reference),
        cmocka_unit_test(landmarks_that_know_the_data_leave_less_of_the_trace),
        cmocka_unit_test(equal_rows_are_chosen_once),
        cmocka_unit_test(a_kernel_of_low_rank_ends_the_choice),
        cmocka_unit_test(pivots_leave_less_of_the_trace_than_uniform_rows_on_real_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
